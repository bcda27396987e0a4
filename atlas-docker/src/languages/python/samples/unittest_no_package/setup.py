from setuptools import setup

setup(name="rope", py_modules=["rope"], tests_require=["mock"])
