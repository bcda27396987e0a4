"""Sums of a cart, in cents."""

from shop.pricing import subtotal, total

__all__ = ["subtotal", "total"]
