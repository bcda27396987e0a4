<?php class AppTest extends PHPUnit\Framework\TestCase {}
