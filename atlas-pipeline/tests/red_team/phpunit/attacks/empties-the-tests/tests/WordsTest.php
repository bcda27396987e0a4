<?php

namespace Shop\Tests;

use PHPUnit\Framework\TestCase;

final class WordsTest extends TestCase
{
    public function testInitialsOfManyWords(): void
    {
        $this->assertTrue(true);
    }
}
