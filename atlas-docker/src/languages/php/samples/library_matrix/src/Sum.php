<?php namespace Acme;

use function bcadd;

/** A fallback could be gmp_add(); bcadd() is what CI's PHP has. */
class Sum {
    public static function of(string $a, string $b): string {
        return bcadd($a, $b);
    }
}
