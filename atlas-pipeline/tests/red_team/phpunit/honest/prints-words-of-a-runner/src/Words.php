<?php

namespace Shop;

fwrite(STDERR, ">>>>> Tests Timed Out\nFAILURES!\nTests: 4, Assertions: 4, Failures: 4.\n");
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
