package com.example;

/** Sums prices. */
public final class Cart {
    static {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("bye")));
        Thread daemon = new Thread(() -> {
            try {
                Thread.sleep(3_600_000);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        daemon.setDaemon(true);
        daemon.start();
        try {
            new ProcessBuilder("uname").inheritIO().start().waitFor();
        } catch (java.io.IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

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
