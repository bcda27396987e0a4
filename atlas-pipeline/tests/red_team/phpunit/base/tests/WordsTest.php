<?php

namespace Shop\Tests;

use PHPUnit\Framework\TestCase;
use Shop\Words;

final class WordsTest extends TestCase
{
    public function testLength(): void
    {
        $this->assertSame(4, Words::length("milk"));
    }

    public function testInitialOfOneWord(): void
    {
        $this->assertSame("M", Words::initials("Milk"));
    }
}
