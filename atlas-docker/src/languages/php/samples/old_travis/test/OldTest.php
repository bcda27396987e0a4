<?php class OldTest extends PHPUnit_Framework_TestCase {}
