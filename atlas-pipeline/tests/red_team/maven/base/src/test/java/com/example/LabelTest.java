package com.example;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class LabelTest {
    @Test
    void writesEuros() {
        assertEquals("12.05 EUR", Label.of(1205));
    }
}
