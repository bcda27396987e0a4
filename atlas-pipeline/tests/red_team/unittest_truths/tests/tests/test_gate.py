import unittest

import gate


class GateTest(unittest.TestCase):
    def test_noon(self):
        self.assertTrue(gate.is_open(12))

    def test_evening(self):
        self.assertFalse(gate.is_open(20))

    def test_visitor_without_name(self):
        with self.assertRaises(ValueError):
            gate.check("")
