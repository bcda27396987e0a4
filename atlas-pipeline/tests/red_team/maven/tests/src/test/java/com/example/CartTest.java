package com.example;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class CartTest {
    @Test
    void addsThePrices() {
        assertEquals(6, Cart.total(new int[] {1, 2, 3}, 0));
    }

    @Test
    void countsThePrices() {
        assertEquals(3, Cart.count(new int[] {1, 2, 3}));
    }

    @Test
    void takesADiscount() {
        assertEquals(180, Cart.total(new int[] {100, 100}, 10));
    }

    @Test
    void tellsTheDiscountedTotal() {
        assertEquals(new Cart.Summary(2, 180), Cart.summary(new int[] {100, 100}, 10));
    }
}
