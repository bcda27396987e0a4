def test_app():
    import app
