from django.test import SimpleTestCase


class T(SimpleTestCase):
    def test_it(self):
        pass
