package com.example.sum;

/** Takes discounts. */
public final class Discounts {
    private Discounts() {
    }

    /** The amount, less a discount in per cent. */
    public static int take(int amount, int discount) {
        return amount * (100 - discount) / 100;
    }
}
