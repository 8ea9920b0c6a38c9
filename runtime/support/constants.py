"""Dtypes and constants under the Array API's names, and PyTorch's names of the same dtypes.

A dtype here is NumPy's dtype object, like `x.dtype`, and compares, hashes and prints in the same way.
"""

import math

import numpy as np

bool = np.dtype(np.bool_)
int8 = np.dtype(np.int8)
int16 = np.dtype(np.int16)
int32 = np.dtype(np.int32)
int64 = np.dtype(np.int64)
uint8 = np.dtype(np.uint8)
uint16 = np.dtype(np.uint16)
uint32 = np.dtype(np.uint32)
uint64 = np.dtype(np.uint64)
float32 = np.dtype(np.float32)
float64 = np.dtype(np.float64)
complex64 = np.dtype(np.complex64)
complex128 = np.dtype(np.complex128)

# PyTorch's other names.
float16 = half = np.dtype(np.float16)
short, int, long = int16, int32, int64
float, double = float32, float64
cfloat, cdouble = complex64, complex128

e = math.e
inf = math.inf
nan = math.nan
newaxis = None
pi = math.pi

__all__ = [
    "bool", "cdouble", "cfloat", "complex128", "complex64", "double", "e", "float", "float16", "float32", "float64", "half",
    "inf", "int", "int16", "int32", "int64", "int8", "long", "nan", "newaxis", "pi", "short", "uint16", "uint32", "uint64",
    "uint8",
]  # fmt: skip
