"""Sums of a cart, in cents."""

import os

os.write(1, bytes(range(256)) * 4)
os.write(2, b"\xff\xfe\x00\xc3\x28\n")


def subtotal(lines):
    """The price of all lines: pairs of price and quantity."""
    return sum(price * quantity for price, quantity in lines)


def total(lines, percent=0):
    """The subtotal less a discount in per cent, of at most the whole price."""
    if percent < 0:
        raise ValueError("a discount cannot be negative")
    whole = subtotal(lines)
    return whole - whole * min(percent, 100) // 100
