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
// Composer's PHPUnit loads the project's classes by itself; a configuration without a bootstrap file counts on it.
if (is_file(__DIR__ . '/../autoload.php')) {
    require_once __DIR__ . '/../autoload.php';
}
// A test that has a process of its own begins with all files of this one; this file would run all tests again there.
// The older name is PHPUnit 8's.
$GLOBALS['__PHPUNIT_ISOLATION_EXCLUDE_LIST'] = $GLOBALS['__PHPUNIT_ISOLATION_BLACKLIST'] = [realpath('/usr/bin/phpunit')];
require '/usr/bin/phpunit';
