"""Extensions: compiled kernels and operators.  All other settings are in pyproject.toml."""

from setuptools import setup

from gradspec.codegen.extensions import extensions

setup(ext_modules=extensions("src"))
