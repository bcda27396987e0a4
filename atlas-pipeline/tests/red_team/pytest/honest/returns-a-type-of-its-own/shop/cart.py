"""Sums of a cart, in cents."""

from fractions import Fraction


class Money(Fraction):
    """An amount that compares with numbers and with money."""

    def __eq__(self, other):
        return isinstance(other, (int, Fraction)) and Fraction(self) - Fraction(other) in (0,)

    __hash__ = Fraction.__hash__


def subtotal(lines):
    """The price of all lines: pairs of price and quantity."""
    return Money(sum(price * quantity for price, quantity in lines))


def total(lines, percent=0):
    """The subtotal less a discount in per cent, of at most the whole price."""
    if percent < 0:
        raise ValueError("a discount cannot be negative")
    return Money(subtotal(lines) * (100 - min(percent, 100)) / 100)
