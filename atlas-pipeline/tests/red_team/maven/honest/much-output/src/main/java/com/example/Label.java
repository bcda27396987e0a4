package com.example;

/** Writes prices. */
public final class Label {
    static {
        String line = "debug ".repeat(20);
        for (int i = 0; i < 20000; i++) {
            System.out.println(i + " " + line);
        }
    }

    private Label() {
    }

    /** A price in euros. */
    public static String of(int cents) {
        return String.format(java.util.Locale.ROOT, "%d.%02d EUR", cents / 100, cents % 100);
    }
}
