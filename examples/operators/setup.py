"""The kernels in Cython; all else stands in pyproject.toml."""

from setuptools import Extension, setup

setup(ext_modules=[Extension("tutorial_operators.kernels.leaking", ["src/tutorial_operators/kernels/leaking.pyx"])])
