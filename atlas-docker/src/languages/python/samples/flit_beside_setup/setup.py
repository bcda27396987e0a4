import os
from setuptools import setup

ext_modules = []
if os.environ.get("LEAF_COMPILE") == "1":
    from mypyc.build import mypycify

    ext_modules = mypycify(["src/leaf/__init__.py"])
setup(ext_modules=ext_modules)
