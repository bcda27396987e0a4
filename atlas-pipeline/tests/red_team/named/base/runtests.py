"""Runs the tests by a script, as django does."""

import sys
import unittest

if __name__ == "__main__":
    suite = unittest.TestLoader().discover("tests", top_level_dir=".")
    result = unittest.TextTestRunner().run(suite)
    sys.exit(not result.wasSuccessful())
