from setuptools import find_packages, setup

setup(
    name="ledger",
    packages=find_packages("src"),
    package_dir={"": "src"},
    python_requires=">=3.9",
    install_requires=["attrs>=21"],
)
