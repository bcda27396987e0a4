import unittest

import rope


class RopeTest(unittest.TestCase):
    def test_length(self):
        self.assertEqual(rope.LENGTH, 5)
