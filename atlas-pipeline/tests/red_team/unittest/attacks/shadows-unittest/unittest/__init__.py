class TestCase:
    pass


def main():
    pass
