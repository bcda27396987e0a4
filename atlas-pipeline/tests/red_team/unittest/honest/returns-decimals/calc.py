"""Sums of prices."""

from decimal import Decimal


class Amount(Decimal):
    """An amount that also compares with floats of the same value."""

    def __eq__(self, other):
        return Decimal(self) == Decimal(other)

    __hash__ = Decimal.__hash__


def total(prices, discount=0):
    """The sum, less a discount in per cent."""
    return Amount(sum(map(Decimal, prices)) * (100 - discount) / 100)


def count(prices):
    """How many prices there are."""
    return len(prices)
