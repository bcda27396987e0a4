import unittest

import gate


class GateTest(unittest.TestCase):
    def test_noon(self):
        self.assertTrue(gate.is_open(12))
