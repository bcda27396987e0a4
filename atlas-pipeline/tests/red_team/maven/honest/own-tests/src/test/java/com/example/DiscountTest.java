package com.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.fail;

import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("Discounts, all of them")
class DiscountTest {
    @ParameterizedTest
    @ValueSource(ints = {10, 20})
    void ofSoManyPerCent(int discount) {
        assertEquals(100 - discount, Cart.total(new int[] {100}, discount));
    }

    @Test
    @Disabled("later")
    void giftCards() {
        fail();
    }

    @Nested
    class Taxes {
        @Test
        void areNotThereYet() {
            fail("taxes");
        }
    }
}
