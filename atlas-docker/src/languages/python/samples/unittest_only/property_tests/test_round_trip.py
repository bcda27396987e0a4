import unittest


class RoundTrip(unittest.TestCase):
    pass
