#!/usr/bin/php
<?php
// Symfony's runner fetches a PHPUnit when it is asked to install; this one is here.
if (($argv[1] ?? '') === 'install') {
    exit(0);
}
// Debian's PHPUnit, with the libraries that Debian's packages have brought.
foreach (file('/opt/atlas/substitutes/autoload', FILE_IGNORE_NEW_LINES) as $autoload) {
    require_once $autoload;
}
require '/usr/bin/phpunit';
