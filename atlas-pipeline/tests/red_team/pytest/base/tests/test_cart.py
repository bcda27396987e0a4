from shop.cart import subtotal, total


def test_subtotal():
    assert subtotal([(3, 2), (4, 1)]) == 10


def test_empty():
    assert subtotal([]) == 0


def test_total_without_discount():
    assert total([(10, 1)]) == 10
