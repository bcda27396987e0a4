<?php class Page {}
