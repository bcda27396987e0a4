"""Runs the methods of unittest's classes in reverse order."""

import unittest

unittest.TestLoader.sortTestMethodsUsing = staticmethod(lambda a, b: (a < b) - (a > b))
