<?php

namespace PHPUnit\Framework;

abstract class TestCase
{
}
