def test_label():
    pass


def test_label_of_nothing():
    pass
