from setuptools import setup

setup(name="p", packages=["p"], install_requires=["Django>=4.2"])
