<?php namespace Acme\Mail\Tests;
class MailTest extends \PHPUnit\Framework\TestCase { public function testOne() { $this->assertTrue(true); } }
