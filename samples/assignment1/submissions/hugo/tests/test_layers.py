def test_linear():
    pass
