<?php namespace Acme\Cache\Tests;
class CacheTest extends \PHPUnit\Framework\TestCase { public function testOne() { $this->assertTrue(true); } }
