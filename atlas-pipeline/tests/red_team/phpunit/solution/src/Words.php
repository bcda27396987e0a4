<?php

namespace Shop;

class Words
{
    /** The first letter of each word. */
    public static function initials(string $name): string
    {
        $words = preg_split('/\s+/', $name, -1, PREG_SPLIT_NO_EMPTY);

        return implode('', array_map(fn ($word) => substr($word, 0, 1), $words));
    }

    public static function length(string $name): int
    {
        return strlen($name);
    }
}
