from setuptools import setup

setup(name="django-tags", version="1.0", packages=["tags"], install_requires=["Django>=4.2"])
