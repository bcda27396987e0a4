from unittest import TestCase


class Tags(TestCase):
    pass
