from shop.label import label


def test_label():
    assert label(" green tea ", 250) == "Green Tea: 2.50"


def test_label_of_nothing():
    assert label("", 0) == ": 0.00"
