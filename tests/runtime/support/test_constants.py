"""Dtypes and constants by their names: what NumPy's dtype objects and the Array API say."""

import math

import numpy as np

import gradspec as gs
from gradspec.support import constants
from tests.asked import each

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "complex64", "complex128"]

PYTORCH = {"cdouble": "complex128", "cfloat": "complex64", "double": "float64", "float": "float32", "float16": "float16", "half": "float16",
           "int": "int32", "long": "int64", "short": "int16"}  # fmt: skip


@each("name", PYTORCH)
def test_pytorchs_names(name):
    assert getattr(gs, name) == np.dtype(PYTORCH[name])


@each("name", DTYPES)
def test_a_dtype_is_numpys_object(name):
    dtype = getattr(gs, name)
    assert isinstance(dtype, np.dtype) and dtype == np.dtype(name) and dtype.name == name
    assert gs.zeros((1,), dtype=dtype).dtype == dtype and hash(gs.zeros((1,), dtype=dtype).dtype) == hash(dtype)


def test_constants():
    assert (gs.e, gs.pi, gs.inf, gs.newaxis) == (math.e, math.pi, math.inf, None) and math.isnan(gs.nan)
    assert sorted(constants.__all__) == sorted([*DTYPES, *PYTORCH, "e", "inf", "nan", "newaxis", "pi"])
