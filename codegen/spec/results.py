"""Result dtypes: `dtype: float -> real(x), _`.

Defines their grammar and computes the dtype of a result:

    dtype := IN ["->" OUT {"," OUT}]                          (one OUT for each output that callers receive)
    OUT   := "_" | "bool" | "int" | "given" | "either"        ("_" for the default)
           | ("real" | "complex") "(" (NAME | "_" | "either") ")" | NAME

By default a Mask is bool and an Index intp.  All other outputs have the promoted dtype of the Array inputs; Python numbers are
weak in it.  `real(x)` is the real counterpart of the dtype of x, `complex(x)` the complex one, and `x` the dtype of x itself.
`real(_)` and `complex(_)` are the counterparts of the default.  The name of a DType argument is the requested dtype, or the
default if the argument is None.  From integers alone, an entry with `float` or `real` computes floats, like sin.  With `given`
it computes integers, like dot; with `either` or `real(either)` the dtype depends on other arguments.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..errors import SpecError, did_you_mean
from .model import DTYPES, Op, Output, Signature, Text
from .signature import split

_FIXED = {"bool": np.dtype(np.bool_), "int": np.dtype(np.intp)}
_OF_TYPE = {"Mask": "bool", "Index": "int"}
_GIVEN, _EITHER = "given", "either"  # results of integer inputs, other than the default
_COUNTERPART = re.compile(r"(real|complex)\((\w+)\)$", re.ASCII)


def parse_dtype(text: Text, signature: Signature) -> tuple[str, tuple[str | None, ...]]:
    """The input dtypes, and the stated result dtypes, one for each visible output, or an empty tuple."""
    arrow = text.value.find("->")
    taken = text.part(0, arrow if arrow >= 0 else len(text.value))
    if taken.value not in DTYPES:
        raise SpecError(f"unknown dtype '{taken.value}'", taken.location, suggestion=did_you_mean(taken.value, DTYPES))
    if arrow < 0:
        return taken.value, ()
    parts = split(text.part(arrow + 2, len(text.value)))
    if len(parts) != len(signature.visible):
        count = f"{len(signature.visible)} output{'s' if len(signature.visible) > 1 else ''}"
        raise SpecError(f"states {len(parts)} result dtypes for {count}", text.at(arrow))
    found = tuple(_result(part, output, signature) for part, output in zip(parts, signature.visible))
    for part, word, output in zip(parts, found, signature.visible):
        if output.type.base == "Index" and word:
            raise SpecError(f"{output.name} is an Index, of integers: an array without a gradient is a Const", part.location)
        if word in (_GIVEN, _EITHER) and (taken.value not in ("float", "real") or output.type.base not in ("Array", "Const")):
            raise SpecError(f"{word} is for the arrays of float and real, which make floats of integers", part.location)
    if not any(found):
        raise SpecError(f"every result has the default: write {taken.value}", text.at(arrow))
    return taken.value, found


def _result(text: Text, output: Output, signature: Signature) -> str | None:
    if text.value == "_":
        return None
    names = [a.name for a in signature.arguments if a.type.base in ("Array", "Index", "Mask")]
    known = [*_FIXED, _GIVEN, _EITHER, *names, *_counterparts([*names, "_", _EITHER]), *_asked(signature)]
    if text.value not in known:
        near = did_you_mean(text.value, known)
        raise SpecError(f"unknown result dtype '{text.value}'", text.location, suggestion=near)
    alone = [a.name for a in signature.arrays] == [text.value]
    if text.value == _OF_TYPE.get(output.type.base) or alone and output.type.base in ("Array", "Const"):
        raise SpecError(f"{text.value} is what {output.name} has by default: write _", text.location)
    return text.value


def _asked(signature: Signature) -> list[str]:
    return [a.name for a in signature.arguments if a.type.base == "DType"]


def _counterparts(names: list[str]) -> list[str]:
    return [f"{kind}({name})" for kind in ("real", "complex") for name in names]


def choices(op: Op) -> list[str]:
    """The words that may follow `->` for a result of this op."""
    arrays = [a.name for a in op.signature.arrays]
    words = [_GIVEN] if op.dtype in ("float", "real") else []
    return [*_asked(op.signature), *arrays, *_counterparts([*arrays, "_"]), *words, *_FIXED]


def result_dtype(op: Op, index: int, inputs: Mapping[str, Any], statics: Mapping[str, Any]) -> np.dtype | None:
    """The dtype of one output of a call; None if none is promised.

    Parameters
    ----------
    op : Op
    index : int
        Index of the output.
    inputs : mapping
        For each Array, Index or Mask argument by name: its dtype, a Python number itself, a list of such values for
        a list argument, or None.
    statics : mapping
        The other arguments by name; only DType and Scalar arguments matter.

    Returns
    -------
    dtype or None
    """
    output = op.signature.outputs[index]
    stated = op.result_dtypes[index] if index < len(op.result_dtypes) else None
    return dtype_of(op, stated or _OF_TYPE.get(output.type.base), inputs, statics)


def dtype_of(op: Op, stated: str | None, inputs: Mapping[str, Any], statics: Mapping[str, Any]) -> np.dtype | None:
    """The dtype that a word after `->` means in a call; None means the default."""
    if stated in _FIXED:
        return _FIXED[stated]
    if stated in inputs:
        return _promoted(_flat([inputs[stated]]))
    if stated and (counterpart := _COUNTERPART.match(stated)):
        kind, name = counterpart.groups()
        names = [name] if name in inputs else [a.name for a in op.signature.arrays]
        whole = name == _EITHER
        found = dtype_of(op, name, inputs, statics) if whole else _promised(op, _promoted(_flat(map(inputs.get, names))))
        if found is None:
            return None
        return np.result_type(found, np.complex64) if kind == "complex" else np.zeros((), found).real.dtype
    if stated in _asked(op.signature) and statics[stated] is not None:
        return np.dtype(statics[stated])
    arguments = {base: [a.name for a in op.signature.arguments if a.type.base == base] for base in ("Array", "Index", "Scalar")}
    arrays = _flat(inputs[name] for name in arguments["Array"])
    numbers = _flat([*(inputs[name] for name in arguments["Index"]), *(statics[name] for name in arguments["Scalar"])])
    dtype = _promoted(arrays or numbers)
    if stated in (_GIVEN, _EITHER):
        return dtype if stated == _GIVEN or dtype.kind not in "iub" else None
    return _promised(op, dtype)


def _flat(values: Iterable[Any]) -> list[Any]:
    return [item for value in values for item in (value if isinstance(value, (list, tuple)) else [value]) if item is not None]


def _promoted(values: list[Any]) -> np.dtype:
    return np.result_type(*values) if values else np.dtype(np.float64)


def _promised(op: Op, dtype: np.dtype) -> np.dtype | None:
    """The dtype, or float64 for 64-bit integers if the entry computes floats; None for shorter integers, whose float is open."""
    if op.dtype not in ("float", "real") or dtype.kind not in "iub":
        return dtype
    return np.dtype(np.float64) if dtype.itemsize == 8 else None
