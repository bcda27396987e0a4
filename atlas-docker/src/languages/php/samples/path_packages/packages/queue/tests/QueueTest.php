<?php namespace Acme\Queue\Tests;
class QueueTest extends \PHPUnit\Framework\TestCase { public function testOne() { $this->assertTrue(true); } }
