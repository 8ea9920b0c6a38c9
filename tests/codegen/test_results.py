"""Result dtypes: what an entry may state, what follows by default, and that the forward keeps it."""

from __future__ import annotations

import numpy as np

from codegen.spec.results import result_dtype
from tests.asked import each

ENTRY = """\
- op: f({arguments}) -> {outputs}
  doc: F.
  dtype: {dtype}
  forward: kernels.f(x)
  nondifferentiable: true
  samples: one
"""
REFUSED = {
    "an unknown input": ("x", "y", "flaot", ("14:10", "unknown dtype 'flaot'; did you mean 'float'?")),
    "an unknown result": ("x", "y", "float -> real(z)", ("14:19", "unknown result dtype 'real(z)'; did you mean 'real(x)'?")),
    "an unknown counterpart": (
        "x", "y", "real -> complx(x)", ("14:18", "unknown result dtype 'complx(x)'; did you mean 'complex(x)'?")
    ),
    "an argument that is no array": ("x, int n=0", "y", "any -> n", ("14:17", "unknown result dtype 'n'")),
    "too few": ("x", "y, z", "float -> real(x)", ("14:16", "states 1 result dtypes for 2 outputs")),
    "too many": ("x", "y, _z", "float -> real(x), _", ("14:16", "states 2 result dtypes for 1 output")),
    "none": ("x", "y", "float ->", ("14:16", "states 0 result dtypes for 1 output")),
    "the default everywhere": ("x", "y, z", "float -> _, _", ("14:16", "every result has the default: write float")),
    "a Mask is bool": ("x", "Mask y", "any -> bool", ("14:17", "bool is what y has by default: write _")),
    "an Index is intp": ("x", "y, Index z", "any -> real(x), int", ("14:26", "int is what z has by default: write _")),
    "integers of an entry for them": ("x", "y", "any -> given", ("14:17", "given is for the arrays of float and real, "
                                      "which make floats of integers")),
    "a Mask as given": ("x", "Mask y", "real -> either", ("14:18", "either is for the arrays of float and real, "
                                      "which make floats of integers")),
    "the only array": ("x, Mask m", "y", "any -> x", ("14:17", "x is what y has by default: write _")),
}


@each("case", REFUSED)
def test_refused(small, case):
    arguments, outputs, dtype, (place, message) = REFUSED[case]
    text = small.refusal("read", ENTRY.format(arguments=arguments, outputs=outputs, dtype=dtype))
    assert text.splitlines()[0] == f"derivatives.yaml:{place}: error: f: dtype: {message}"


F4, F8, C8, I8, I4 = map(np.dtype, ("float32", "float64", "complex64", "int64", "int32"))
PROMISED = [
    ("a, b", "y", "any", {"a": F4, "b": F8}, {}, [F8]),
    ("a, b", "y", "any", {"a": F4, "b": C8}, {}, [C8]),
    ("a, b", "y", "any", {"a": F4, "b": 2.0}, {}, [F4]),
    ("a, b", "y", "any", {"a": I4, "b": 2.0}, {}, [F8]),
    ("a, b", "y", "any -> a", {"a": F4, "b": F8}, {}, [F4]),
    ("a, b", "y", "any -> real(b)", {"a": F4, "b": C8}, {}, [F4]),
    ("a, b", "y", "any -> real(b)", {"a": F4, "b": I4}, {}, [I4]),
    ("a, Array? b", "y", "float", {"a": F4, "b": None}, {}, [F4]),
    ("Array[] x", "y", "any", {"x": [F4, F8, 1.0]}, {}, [F8]),
    ("x", "y", "real -> complex(x)", {"x": F4}, {}, [C8]),
    ("x", "y", "real -> complex(x)", {"x": F8}, {}, [np.dtype(complex)]),
    ("x", "y", "real -> complex(x)", {"x": I8}, {}, [np.dtype(complex)]),
    ("a, b", "y", "any -> complex(b)", {"a": F8, "b": C8}, {}, [C8]),
    ("x", "y", "complex -> real(x)", {"x": C8}, {}, [F4]),
    ("x", "y", "float", {"x": I8}, {}, [F8]),
    ("x", "y", "real", {"x": I4}, {}, [None]),
    ("x, Mask m", "y", "float", {"x": 3, "m": None}, {}, [F8]),
    ("a, b", "y", "float -> given", {"a": I8, "b": I4}, {}, [I8]),
    ("a, b", "y", "real -> given", {"a": I8, "b": 0.5}, {}, [F8]),
    ("a, b", "y, z", "real -> either, given", {"a": I4, "b": I4}, {}, [None, I4]),
    ("a, b", "y", "real -> either", {"a": F4, "b": I4}, {}, [F8]),
    ("x", "y", "real -> real(x)", {"x": I8}, {}, [F8]),
    ("a, b", "y", "real -> complex(_)", {"a": F4, "b": F4}, {}, [np.dtype(np.complex64)]),
    ("x", "y", "real -> real(x)", {"x": I4}, {}, [None]),
    ("x", "y", "any", {"x": I8}, {}, [I8]),
    ("x", "Mask y, Index z, w", "float -> _, _, real(x)", {"x": C8}, {}, [np.dtype(bool), np.dtype(np.intp), F4]),
    ("x", "y, z", "float -> int, bool", {"x": C8}, {}, [np.dtype(np.intp), np.dtype(bool)]),
    ("x, DType? dtype=None", "y", "any -> dtype", {"x": F4}, {"dtype": "complex64"}, [C8]),
    ("x, DType? dtype=None", "y", "any -> dtype", {"x": F4}, {"dtype": None}, [F4]),
    ("int n, DType? dtype=None", "y", "any -> dtype", {}, {"n": 3, "dtype": None}, [F8]),
    ("Scalar n, DType? dtype=None", "y", "any -> dtype", {}, {"n": 3, "dtype": None}, [I8]),
    ("x, Scalar n", "y", "any", {"x": I4}, {"n": 2.5}, [I4]),
]  # fmt: skip


@each(("arguments", "outputs", "dtype", "inputs", "statics", "expected"), PROMISED)
def test_promised(small, arguments, outputs, dtype, inputs, statics, expected):
    op = small.read(ENTRY.format(arguments=arguments, outputs=outputs, dtype=dtype)).ops["f"]
    assert [result_dtype(op, i, inputs, statics) for i in range(len(expected))] == expected


def test_defaults_of_a_family_state_results_too(small):
    entry = ENTRY.format(arguments="x", outputs="y", dtype="float").replace("  dtype: float\n", "")
    small_entry = "---\nfamily: real_parts\nabout: R.\ndefaults: {dtype: any -> real(x), shape: _}\nops:\n" + entry
    op = small.read(ENTRY.format(arguments="x", outputs="y", dtype="any").replace("f(", "g(") + small_entry).ops["f"]
    assert (op.dtype, op.result_dtypes) == ("any", ("real(x)",))
