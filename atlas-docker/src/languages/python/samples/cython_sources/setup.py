from setuptools import Extension, setup

setup(
    name="fast",
    packages=["fast"],
    ext_modules=[Extension("fast._pack", sources=["fast/_pack.c"], include_dirs=["."])],
)
