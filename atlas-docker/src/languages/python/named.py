"""Runs a program of the repository whose unittest runner prints a dot for each test: here it prints its name."""

import inspect
import os
import runpy
import sys
import unittest

begin = unittest.TextTestRunner.__init__
takes = inspect.signature(begin)


def begin_named(self, *args, **kwargs):
    given = takes.bind(self, *args, **kwargs)
    given.arguments["verbosity"] = max(2, given.arguments.get("verbosity") or 0)
    begin(*given.args, **given.kwargs)


unittest.TextTestRunner.__init__ = begin_named
del sys.argv[0]
sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
runpy.run_path(sys.argv[0], run_name="__main__")
