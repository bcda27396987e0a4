import unittest


class Width(unittest.TestCase):
    pass
