<?php

require __DIR__ . '/../vendor/autoload.php';
Tester\Environment::setup();
Tester\Assert::same(2, 1 + 1);
