<?php

namespace Shop\Tests;

use PHPUnit\Framework\TestCase;
use Shop\Words;

final class MoreTest extends TestCase
{
    public function testNothing(): void
    {
        $this->assertSame('', Words::initials(''));
    }

    public function testLater(): void
    {
        $this->markTestSkipped('not decided');
    }

    public function testThatIsWrong(): void
    {
        $this->assertSame(1, Words::length('ab'));
    }
}
