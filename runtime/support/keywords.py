"""Keywords: accept other libraries' names of parameters, such as `dim=` for `axis=` and `keepdim=` for `keepdims=`.

Holds the tables of renamed keywords and of keywords without effect here, and reads calls with such keywords.  `keywords.h` uses
the same tables in compiled functions, when a keyword is not one of the function's own: other calls have no overhead.  The spec
marks operators that differ from PyTorch's operator of the same name (`unlike`).
"""

import sys
from collections.abc import Collection, Mapping

from .dispatch import ops

# PyTorch's keywords, and NumPy's if they differ, with the parameters that they may mean; the first existing parameter is used.
# `axis1:offset` is used only if there is an `offset` as well: `dim1` is the first axis of diagonal, but the second of swapaxes.
_RENAMED = {
    "dim": "axis axes", "dims": "axis axes reps", "keepdim": "keepdims", "dim0": "axis1", "dim1": "axis1:offset axis2",
    "dim2": "axis2", "start_dim": "start_axis", "end_dim": "end_axis", "size": "shape", "diagonal": "k", "offset": "k",
    "shifts": "shift", "steps": "num", "end": "stop b:weight", "a_min": "min", "a_max": "max",
    "input": "b:unitriangular b:l x:b a:x x a indices", "a": "x", "A": "x a", "other": "b x:a", "exponent": "b",
    "mat1": "a", "mat2": "b", "mat": "a", "vec": "b",
    "vec1": "a", "vec2": "b", "batch1": "a", "batch2": "b", "tensor1": "a", "tensor2": "b", "input1": "a", "input2": "b:a",
    "x1": "a", "x2": "b", "B": "b", "tensor": "b", "tensors": "arrays", "condition": "mask",
    "index": "indices", "indices": "index sections", "values": "value b:a", "value": "source:indices", "src": "source", "hx": "h",
    "LU": "lu", "LU_data": "lu", "LU_pivots": "pivots", "p": "ord d", "unbiased": "correction", "ddof": "correction",
    "correction": "ddof", "interpolation": "method", "weight": "weights", "split_sizes": "sizes sections",
    "split_size": "sections", "split_size_or_sections": "sections", "indices_or_sections": "sections",
    "tensor_indices_or_sections": "sections", "count": "n:p", "prob": "p:n", "median": "loc:scale", "sigma": "scale:loc",
    "atol": "tol", "stride": "strides", "storage_offset": "offset", "real": "a", "imag": "b", "abs": "a", "angle": "b",
    "x": "a:mask", "y": "b:mask", "elements": "x", "test_elements": "test", "element": "x:test", "test_element": "test",
    "logits": "x", "mean": "loc", "std": "scale", "row": "n:k", "col": "m:k", "train": "training", "fullgraph": "strict",
    "fill_value": "value", "num_samples": "n", "n": "n_rows", "m": "n_cols", "N": "n_rows", "M": "n_cols",
    "argnum": "argnums", "argnums": "argnum",
}  # fmt: skip
RENAMED = {
    name: tuple(tuple(sys.intern(part) if part else None for part in meant.partition(":")[::2]) for meant in meanings.split())
    for name, meanings in _RENAMED.items()
}

# Conversions of a renamed keyword's value, if the parameter has a different type.
CONVERTED = {"unbiased": int}

# Keywords with values that have no effect here.
IDLE = {
    "device": (None, "cpu"), "pin_memory": (None, False), "non_blocking": (None, False, True), "layout": (None,),
    "memory_format": (None, "preserve_format", "contiguous_format", "channels_last", "channels_last_3d"), "reduce": (None,),
    "inplace": (False,), "return_indices": (False,), "sparse_grad": (False, True), "sparse": (False,),
    "sorted": (True, False), "as_tuple": (True,), "out_int32": (False,), "return_complex": (True,),
    "optimize": (True, False, "greedy", "optimal"), "precision": (None,),
    "pivot": (True,), "driver": (None,), "size_average": (None,), "dtype": (None,), "out": (None,),
    "prepend": (None,), "append": (None,), "hard": (False,), "mode": ("reduced",),
}  # fmt: skip

# Operators that differ from PyTorch's of the same name: the argument that resolves the difference, if any, and the suggestion.
UNLIKE: dict[str, tuple[str, str]] = {}


def differ(operators: dict[str, tuple[str, str]]) -> None:
    """Register the operators of a module that differ from PyTorch's."""
    UNLIKE.update(operators)


def meant(name: str, known: Collection[str]) -> str | None:
    """The known parameter that another library's keyword means."""
    for parameter, beside in RENAMED.get(name, ()):
        if parameter in known and (beside is None or beside in known):
            return parameter
    return None


def multiplied(value: object, factor: object) -> object:
    """An argument times a keyword's value, such as `b` of `add(a, b, alpha=2)`; two numbers give a weakly typed number."""
    if isinstance(value, (int, float, complex)) and isinstance(factor, (int, float, complex)):
        return factor * value
    return ops.multiply(value, factor)


def converted(value: object, dtype: object) -> object:
    """An argument cast to a keyword's dtype, such as `x` of `softmax(x, dtype=gs.float32)`."""
    return ops.astype(value, dtype)


def is_idle(name: str, value: object) -> bool:
    """Whether a keyword with this value has no effect."""
    return any(value is one or isinstance(value, str) and value == one for one in IDLE.get(name, ()))


def renamed(keywords: Mapping[str, object], known: Collection[str], function: str) -> dict[str, object]:
    """The keywords of a call under the names of the parameters; unknown ones are unchanged.

    Parameters
    ----------
    keywords : mapping
        The call's keywords and their values.
    known : collection of str
        The parameters.
    function : str
        Name of the function, for the error if two keywords mean one parameter.

    Returns
    -------
    dict
    """
    found: dict[str, object] = {}
    for name, value in keywords.items():
        parameter = name if name in known else meant(name, known)
        if parameter is None and is_idle(name, value):
            continue
        parameter = parameter or name
        if parameter in found:
            raise TypeError(f"{function}() got multiple values for keyword argument '{parameter}'")
        found[parameter] = CONVERTED[name](value) if name in CONVERTED and parameter != name else value
    return found
