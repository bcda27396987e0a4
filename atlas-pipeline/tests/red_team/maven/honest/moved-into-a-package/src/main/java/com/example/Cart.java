package com.example;

import com.example.sum.Discounts;

/** Sums prices. */
public final class Cart {
    private Cart() {
    }

    /** What a cart comes to. */
    public record Summary(int count, int total) {
    }

    /** The sum of the prices, less a discount in per cent. */
    public static int total(int[] prices, int discount) {
        int sum = 0;
        for (int price : prices) {
            sum += price;
        }
        return Discounts.take(sum, discount);
    }

    /** How many prices there are. */
    public static int count(int[] prices) {
        return prices.length;
    }

    /** Both. */
    public static Summary summary(int[] prices, int discount) {
        return new Summary(count(prices), total(prices, discount));
    }
}
