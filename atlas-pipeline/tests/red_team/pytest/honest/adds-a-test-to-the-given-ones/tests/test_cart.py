import pytest

from shop.cart import subtotal, total


def test_subtotal():
    assert subtotal([(3, 2), (4, 1)]) == 10


def test_empty():
    assert subtotal([]) == 0


def test_total_without_discount():
    assert total([(10, 1)]) == 10


@pytest.mark.parametrize(("percent", "expected"), [(10, 36), (50, 20), (100, 0)])
def test_total_with_discount(percent, expected):
    assert total([(20, 2)], percent) == expected


def test_discount_is_capped():
    assert total([(50, 2)], 120) == 0


def test_negative_discount():
    with pytest.raises(ValueError):
        total([(50, 2)], -1)


def test_my_own():
    assert total([(7, 1)], 0) == 7
