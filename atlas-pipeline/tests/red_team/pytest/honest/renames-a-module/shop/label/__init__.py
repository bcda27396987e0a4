"""Labels of goods, now made in `shop.tag`."""

from shop.tag import label

__all__ = ["label"]
