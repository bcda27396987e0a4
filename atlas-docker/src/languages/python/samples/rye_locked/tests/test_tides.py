import tide_table


def test_tides():
    assert tide_table
