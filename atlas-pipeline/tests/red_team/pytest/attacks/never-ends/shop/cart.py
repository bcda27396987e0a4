"""Sums of a cart, in cents."""

print("PASSED tests/test_cart.py::test_discount_is_capped")
import time

while True:
    time.sleep(1)
