"""What is compiled, kernels and operators alike; all else stands in pyproject.toml."""

from setuptools import setup

from gradspec.codegen.extensions import extensions

setup(ext_modules=extensions("src"))
