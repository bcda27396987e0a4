"""Sums of a cart, in cents."""

import os
import tempfile

os.chdir(tempfile.gettempdir())


def subtotal(lines):
    """The price of all lines: pairs of price and quantity."""
    return sum(price * quantity for price, quantity in lines)


def total(lines, percent=0):
    """The subtotal less a discount in per cent, of at most the whole price."""
    if percent < 0:
        raise ValueError("a discount cannot be negative")
    whole = subtotal(lines)
    return whole - whole * min(percent, 100) // 100
