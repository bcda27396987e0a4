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
}
