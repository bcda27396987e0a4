"""Sums of a cart, in cents."""

import sys

for step in range(200):
    print(f"\r\x1b[32mloading {step}\x1b[0m", end="", file=sys.stderr)
print("\x1b[2J\x1b[H\x1b[31mFAILED\x1b[0m")


def subtotal(lines):
    """The price of all lines: pairs of price and quantity."""
    return sum(price * quantity for price, quantity in lines)


def total(lines, percent=0):
    """The subtotal less a discount in per cent, of at most the whole price."""
    if percent < 0:
        raise ValueError("a discount cannot be negative")
    whole = subtotal(lines)
    return whole - whole * min(percent, 100) // 100
