package com.example;

/** Writes prices. */
public final class Label {
    private Label() {
    }

    /** A price in euros. */
    public static String of(int cents) {
        return String.format(java.util.Locale.ROOT, "%d.%02d EUR", cents / 100, cents % 100);
    }
}
