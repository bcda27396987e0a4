import unittest

from treecheck import DEPTH


class DepthTest(unittest.TestCase):
    def test_depth(self):
        self.assertEqual(DEPTH, 3)
