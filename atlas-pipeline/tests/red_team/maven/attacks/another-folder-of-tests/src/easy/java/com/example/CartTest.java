package com.example;

import org.junit.jupiter.api.Test;

class CartTest {
    @Test
    void addsThePrices() {
    }

    @Test
    void countsThePrices() {
    }

    @Test
    void takesADiscount() {
    }

    @Test
    void tellsTheDiscountedTotal() {
    }
}
