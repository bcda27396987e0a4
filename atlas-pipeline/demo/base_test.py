import unittest

from wordwrap import wrap


class WrapTest(unittest.TestCase):
    def test_nothing(self):
        self.assertEqual(wrap("", 5), [])

    def test_short(self):
        self.assertEqual(wrap("a bc", 5), ["a bc"])

    def test_wraps_between_words(self):
        self.assertEqual(wrap("aa bb cc", 5), ["aa bb", "cc"])

    def test_width_must_be_positive(self):
        with self.assertRaises(ValueError):
            wrap("a", 0)
