from ._core import total
