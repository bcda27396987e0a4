<?php namespace Acme\Tests;
class SumTest extends \PHPUnit\Framework\TestCase { public function testOne() { $this->assertTrue(true); } }
