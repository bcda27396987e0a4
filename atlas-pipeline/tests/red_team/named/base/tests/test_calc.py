import unittest

import calc


class TotalTest(unittest.TestCase):
    def test_sum(self):
        self.assertEqual(calc.total([1, 2, 3]), 6)

    def test_count(self):
        self.assertEqual(calc.count([1, 2, 3]), 3)


if __name__ == "__main__":
    unittest.main()
