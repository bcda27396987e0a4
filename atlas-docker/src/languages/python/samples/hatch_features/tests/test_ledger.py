def test_sum():
    import babel
