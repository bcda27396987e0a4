def test_post():
    import post_office
