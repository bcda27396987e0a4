from fast import pack


def test_pack():
    assert pack(1) == b"\0\0\0\1"
