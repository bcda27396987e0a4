<?php
require __DIR__ . "/../vendor/autoload.php";
if (getenv("CALCULATOR") === false) { exit(1); }
if (getenv("VARIANT") !== false) { ini_set("precision", "8"); }
