import unittest


def load_tests(loader, tests, pattern):
    return unittest.TestSuite()
