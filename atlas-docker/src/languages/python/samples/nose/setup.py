from setuptools import setup

setup(name="antique", packages=["antique"])
