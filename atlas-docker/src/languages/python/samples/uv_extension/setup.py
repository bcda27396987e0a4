from setuptools import Extension, setup

setup(ext_modules=[Extension("fast_sum._core", ["fast_sum/_core.c"])])
