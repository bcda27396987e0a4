<?php namespace Acme\Cart\Tests;
class CartTest extends \PHPUnit\Framework\TestCase { public function testOne() { $this->assertTrue(true); } }
