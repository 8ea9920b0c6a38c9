"""Runs the rows of scipy_rows.py and prints what came of each, a line of JSON: a process of its own, for SCIPY_ARRAY_API.

Each is called with ndarrays, with tensors, and with moved ndarrays for the differences.  It is "right"; or "refused"; or "warned" of,
where a plain number came out of it; or its gradient is "undefined", which is NaN to see; or "wrong", or "detached" without a word.
"""

import importlib
import json
import re
import sys
import warnings

import numpy as np
import scipy
import scipy_rows
from test_numpy_calls import differences_of, numbers, values, weighted

import gradspec as gs

RNG = np.random.default_rng(5)
OPERANDS = {
    "x": RNG.normal(size=(4, 6)), "v": RNG.normal(size=6), "w": RNG.normal(size=6), "u": RNG.uniform(0.1, 0.9, 6), "p": RNG.uniform(0.5, 2.5, 6),
    "s": RNG.normal(size=(3, 3)) + 4 * np.eye(3), "r": RNG.normal(size=4), "c": np.array(0.7), "y": RNG.normal(size=24), "y2": RNG.normal(size=(4, 6)),
    "t": RNG.normal(size=4),
}  # fmt: skip
CONSTANTS = {"sos": np.array([[0.2, 0.1, 0.3, 1.0, -0.5, 0.1]]), "b": np.array([0.3, 0.2]), "a": np.array([1.0, -0.4]), "zero": np.array(0.0),
             "one": np.array(1.0), "w2": np.arange(6.0), "i": np.arange(6), "lab": np.array([0, 1, 0, 1])}  # fmt: skip


def modules(which):
    names = {
        "scipy": ["special", "stats", "signal", "fft", "cluster", "integrate", "optimize", "differentiate", "interpolate", "ndimage", "linalg",
                  "constants", "spatial"],
        "sklearn": ["metrics", "preprocessing", "decomposition", "linear_model", "discriminant_analysis"],
    }[which]  # fmt: skip
    found = {name: importlib.import_module(f"{which}.{name}") for name in names}
    inner = {"scipy": "cluster.vq cluster.hierarchy optimize.elementwise spatial.transform spatial.distance", "sklearn": "metrics.pairwise"}
    for name in inner[which].split():
        importlib.import_module(f"{which}.{name}")
    return found


def run(call, operands, names):
    return eval(call, {**names, **operands})


def outcome(call, names):
    constants = {name: gs.asarray(value) for name, value in CONSTANTS.items()}
    expected = values(run(call, {**CONSTANTS, **{name: value.copy() for name, value in OPERANDS.items()}}, names))
    leaves = {name: gs.tensor(value, requires_grad=True) for name, value in OPERANDS.items()}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = run(call, {**constants, **leaves}, names)
        except Exception as error:
            return "refused", f"{type(error).__name__}: {error}"
    lost = [str(w.message) for w in caught if "is a plain number" in str(w.message)]
    if lost:
        return "warned", lost[0]
    for value, wanted in zip(values(result), expected, strict=True):
        if not np.allclose(value, wanted, rtol=1e-7, atol=1e-9):
            return "wrong", f"value {value} for {wanted}"
    recorded = [part for part in numbers(result) if isinstance(part, gs.Tensor) and part.requires_grad]
    if recorded:
        try:
            weighted(recorded).backward()
        except NotImplementedError as error:
            return "refused", str(error)
    named = set(re.findall(r"\w+", call))
    for name in OPERANDS:
        found = np.zeros_like(OPERANDS[name]) if leaves[name].grad is None else leaves[name].grad.numpy()
        if name in named:
            wanted = differences_of(lambda arrays: values(run(call, {**CONSTANTS, **arrays}, names)), OPERANDS, name)
        else:
            wanted = np.zeros_like(OPERANDS[name])  # the call cannot depend on it
        if not np.isfinite(found).all():
            return "undefined", f"gradient of {name}: {found}"
        if not np.allclose(found, wanted, rtol=1e-4, atol=1e-6):
            return ("wrong" if recorded else "detached"), f"gradient of {name}: {found} for {wanted}"
    return "right", ""


if __name__ == "__main__":
    which = sys.argv[1]
    if which == "sklearn":
        import sklearn

        sklearn.set_config(array_api_dispatch=True)
    names = {"np": np, "scipy": scipy, **modules(which)}
    for call in scipy_rows.calls(getattr(scipy_rows, which.upper())):
        try:
            with np.errstate(all="ignore"):
                kind, words = outcome(call, names)
        except Exception as error:
            kind, words = "broken", f"{type(error).__name__}: {error}"
        print(json.dumps([call, kind, words[:300]]))
