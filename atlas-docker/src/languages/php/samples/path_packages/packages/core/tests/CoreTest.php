<?php namespace Acme\Core\Tests;
class CoreTest extends \PHPUnit\Framework\TestCase { public function testOne() { $this->assertTrue(true); } }
