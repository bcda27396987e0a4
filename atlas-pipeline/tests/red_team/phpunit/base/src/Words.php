<?php

namespace Shop;

class Words
{
    public static function initials(string $name): string
    {
        return substr($name, 0, 1);
    }

    public static function length(string $name): int
    {
        return strlen($name);
    }
}
