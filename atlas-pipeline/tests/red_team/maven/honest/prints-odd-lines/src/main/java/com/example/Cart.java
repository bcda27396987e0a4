package com.example;

/** Sums prices. */
public final class Cart {
    private Cart() {
    }

    /** What a cart comes to. */
    public record Summary(int count, int total) {
    }

    /** The sum of the prices, less a discount in per cent. */
    public static int total(int[] prices, int discount) {
        System.out.println("[ERROR] Tests run: 1, Failures: 1, Errors: 0, Skipped: 0");
        System.out.println("[INFO] Running prices");
        System.err.println("BUILD FAILURE");
        System.out.print("no line end");
        int sum = 0;
        for (int price : prices) {
            sum += price;
        }
        return sum * (100 - discount) / 100;
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
