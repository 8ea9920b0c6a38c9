"""Values and gradients against PyTorch's.

The function of PyTorch with which an op is compared follows from its name, its aliases and its namespace, the spelling of
its arguments from theirs; RENAMED and OTHERWISE hold what does not follow.  What PyTorch lacks is counted in one test,
so that it is seen.
"""

from __future__ import annotations

import inspect
import re
from functools import cache

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import grad
from gradspec.generated.op_info import OPS
from tests.elsewhere.listed import OTHERWISE
from tests.later import later

from .calls import array, flat, in_place_only
from .questions import of_samples

torch = later("torch", "PyTorch is the reference; it is installed by hand")

# Arguments that NumPy and PyTorch spell differently, everywhere.
ARGUMENTS = {"axis": "dim", "keepdims": "keepdim", "axis1": "dim1", "axis2": "dim2", "axes": "dims", "x": "input",
             "k": "diagonal", "indices": "index", "source": "source", "start_axis": "start_dim", "end_axis": "end_dim",
             "a": "input", "b": "other", "reps": "dims", "shift": "shifts", "repeats": "repeats"}  # fmt: skip
ARGUMENTS_OF_FFT = {"axes": "dim"}

# Where the name finds something else, and PyTorch has what is meant under another name.
RENAMED = {
    "equal": "eq",  # torch.equal compares whole tensors
    "max": "amax", "min": "amin",  # torch.max takes one axis and gives positions too
}  # fmt: skip

# Where PyTorch's own rounding is the larger error; ours is held to exact values in test_exact and test_gradients.
ROUNDED = {
    "hardsigmoid": "torch's gradient holds 1/6 in float32",
    "polygamma": "torch's trigamma is right to 1e-9 only",
}


def repeats(places):
    """Whether a row of places names one of them twice."""
    rows = np.atleast_2d(places).reshape(-1, np.atleast_1d(places).shape[-1])
    return any(len({*row}) < len(row) for row in rows.tolist())


def is_longer(source, indices):
    """Whether a source goes beyond its indices along some axis."""
    return any(n > m for n, m in zip(np.shape(source)[::-1], np.shape(indices)[::-1]))


# Arguments of samples where only values are compared: PyTorch means something else by them, or its gradient is wrong.
GRADIENT_OTHERWISE = {
    "cosine_similarity": (lambda given: given["eps"] != 1e-8, "torch's gradient is that of the norm where the norm counts as eps"),
    "index_copy": (lambda given: repeats(given["indices"]), "torch gives each of several sources of one place its gradient"),
    "ldexp": (lambda given: np.min(given["b"]) < 0, "torch's slope at a negative whole exponent is 0"),
    "max_unpool1d": (lambda given: repeats(given["indices"]), "torch gives each of several sources of one place its gradient"),
    "scatter_add": (lambda given: is_longer(given["source"], given["indices"]), "torch refuses gradients of a source that is longer than its indices"),
    "scatter_reduce": (lambda given: is_longer(given["source"], given["indices"]), "torch refuses gradients of a source that is longer than its indices"),
}  # fmt: skip


# Arguments of samples where PyTorch's values are wrong.
VALUE_OTHERWISE = {
    "bincount": (lambda given: np.iscomplexobj(given["weights"]), "it drops the imaginary parts of weights"),
}


def reference(op):
    """PyTorch's function, or None."""
    if op.name in RENAMED:
        return getattr(torch, RENAMED[op.name])
    places = {"": (torch, torch.special), "linalg": (torch.linalg,), "nn": (torch.nn.functional, torch), "fft": (torch.fft,),
              "special": (torch.special,), "random": (torch,)}[op.namespace]  # fmt: skip
    for name in (op.name, *op.aliases):
        for place in places:
            function = getattr(place, name, None)
            if callable(function) and not inspect.isclass(function):
                return function
    return None


def comparable(op):
    return op.name not in OTHERWISE and not in_place_only(op)


@cache
def compared():
    """The names of the ops that PyTorch has; asked when a test runs, for collecting has no need of PyTorch."""
    return {op.name for op in OPS if comparable(op) and reference(op)}


def torch_wants(op, name):
    """Whether PyTorch chooses by itself what our default says: the axis of softmax."""
    try:
        return inspect.signature(reference(op)).parameters[ARGUMENTS[name]].default is None
    except (KeyError, ValueError):  # another name, or a function in C
        return False


def is_default(value, default):
    """Whether an argument has its default; an array or a list never has."""
    return default is not None and not isinstance(value, (np.ndarray, list)) and value == eval(default)


def as_torch(value, type_):
    """A constant argument as PyTorch takes it: a tensor, where NumPy takes an array, a number or a list of them."""
    if type_ == "Array[]":
        return [as_torch(item, "Array") for item in value]
    if type_ in ("DType", "DType?") and value is not None:
        return getattr(torch, np.dtype(value).name)
    numbers = isinstance(value, (float, int, list)) and not isinstance(value, bool)
    if type_.startswith("Array") and numbers and np.asarray(value).dtype.kind in "if":
        return torch.tensor(np.asarray(value, np.float64))
    if isinstance(value, np.ndarray) or type_ == "Index" and isinstance(value, (int, list)):
        return torch.tensor(np.array(value, order="C"))
    return value


def call_torch(op, arguments, tensors):
    """The reference with our arguments: by position as far as they are arrays, by PyTorch's keyword after."""
    positional, keywords = [], {}
    spelled = ARGUMENTS | (ARGUMENTS_OF_FFT if op.namespace == "fft" else {}) | ({"q": "other"} if op.name == "zeta" else {})
    for name, type_, default, keyword_only in op.arguments:
        value = arguments[name]
        if is_default(value, default) and not torch_wants(op, name):
            continue
        value = tensors[name] if name in tensors else as_torch(value, type_)
        if default is None and not keywords and not keyword_only:
            positional.append(value)
        else:
            keywords[spelled.get(name, name)] = value
    return reference(op)(*positional, **keywords)


def torch_list(results):
    if isinstance(results, (tuple, list)):
        return [t for item in results for t in torch_list(item)]
    return [torch.as_tensor(results)]  # allclose gives a bool


@of_samples(comparable)
def test_same_values_and_gradients(case):
    if case.op.name not in compared():
        return
    arguments = case.arguments()
    ours = case.leaves()
    theirs = [torch.tensor(a.copy(), requires_grad=True) for a in case.arrays]
    if any(arguments[name] == () for name, type_, *_ in case.op.arguments if type_ == "int[]?"):
        pytest.skip("torch reads no axes as all axes")
    where, reason = VALUE_OTHERWISE.get(case.op.name, (lambda given: False, ""))
    if where(arguments):
        pytest.skip(f"torch does not take this call: {reason}")
    tensors = {}
    for (name, k), value in zip(case.places, theirs):
        if k is None:
            tensors[name] = value
        else:
            tensors.setdefault(name, []).append(value)
    try:
        reference_outputs = torch_list(call_torch(case.op, arguments, tensors))
    except (TypeError, RuntimeError, ValueError, NotImplementedError, IndexError, AttributeError) as error:  # of lists
        pytest.skip(f"torch does not take this call: {re.sub(chr(10) + '.*', '', str(error), flags=re.S)[:100]}")
    outputs = flat(case.apply(case.with_arrays(ours)))
    positions = reference_outputs[len(outputs) :]
    assert not any(z.is_floating_point() for z in positions)  # torch.sort tells the order too
    rounded = {"rtol": 1e-7} if case.op.name in ROUNDED else {}
    if [y.shape for y in outputs] == [(1,)] and reference_outputs[0].ndim == 0:
        np.testing.assert_allclose(array(outputs[0])[0], reference_outputs[0].detach().resolve_conj().numpy())
        pytest.skip("values agree; NumPy makes one element of a single number that it sums along an axis")
    for y, z in zip(outputs, reference_outputs):
        assert y.shape == tuple(z.shape)
        np.testing.assert_allclose(array(y), z.detach().resolve_conj().numpy(), **{"rtol": 1e-10, "atol": 1e-12} | rounded)
    where, reason = GRADIENT_OTHERWISE.get(case.op.name, (lambda given: False, ""))
    if where(arguments):
        pytest.skip(f"values agree; {reason}")
    live = [(y, z) for y, z in zip(outputs, reference_outputs) if z.requires_grad]
    if not live:
        return
    random = np.random.default_rng(2)
    weights = [random.uniform(0.5, 1.5, y.shape) + (0.3j if y.dtype.kind == "c" else 0) for y, _ in live]
    given = [torch.tensor(np.asarray(w)) for w in weights]
    try:
        wanted = torch.autograd.grad([z for _, z in live], theirs, given, materialize_grads=True)
    except RuntimeError as error:
        # PyTorch cannot view an empty gradient of strides of its own as complex, nor clip by bounds that broadcast beyond x, and its
        # cond() of another norm writes to the inverse that it has saved.
        known = ("is not implemented", "must have a last dimension with stride 1", "doesn't match the broadcast shape", "output 0 of LinalgInvEx")
        assert any(words in str(error) for words in known)
        pytest.skip(f"values agree; {error}")
    kept = [(y, gs.asarray(w.astype(y.dtype))) for w, (y, _) in zip(weights, live) if y.requires_grad]
    found = [gs.zeros_like(x.detach()) for x in ours]  # a constant needs no grad here; torch gives it zeros
    if kept:
        found = grad([y for y, _ in kept], ours, [w for _, w in kept], materialize_grads=True)
    for g, w in zip(found, wanted):
        if case.hermitian:  # torch leaves in what a Hermitian direction cannot see
            w = (w + w.mH) / 2
        np.testing.assert_allclose(array(g), w.detach().resolve_conj().numpy(), **{"rtol": 1e-8, "atol": 1e-10} | rounded)


def test_what_is_not_compared_is_known(record_property):
    """Nothing is left out silently: the ops that PyTorch lacks, and those that mean something else there."""
    lacking = sorted(op.name for op in OPS if reference(op) is None)
    record_property("no function in torch", ", ".join(lacking))
    print(f"{len(compared())} ops compared; {len(lacking)} that torch lacks: {', '.join(lacking)}")
    unknown = {*OTHERWISE, *GRADIENT_OTHERWISE, *VALUE_OTHERWISE} - {op.name for op in OPS}
    assert not unknown, f"OTHERWISE names ops that are gone: {unknown}"
    assert len(compared()) > 100
