import unittest

from leaf import green


class LeafTest(unittest.TestCase):
    def test_green(self):
        self.assertTrue(green())
