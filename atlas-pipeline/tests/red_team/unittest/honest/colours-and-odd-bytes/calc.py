"""Sums of prices."""

import os

os.write(2, b"\r\x1b[31mFAIL\x1b[0m\r\xff\xfe\x00\n")


def total(prices, discount=0):
    """The sum, less a discount in per cent."""
    return sum(prices) * (100 - discount) / 100


def count(prices):
    """How many prices there are."""
    return len(prices)
