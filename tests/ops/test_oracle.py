"""Values and gradients against PyTorch's.

The function of PyTorch with which an op is compared follows from its name, its aliases and its namespace, the spelling of
its arguments from theirs; RENAMED and OTHERWISE hold what does not follow.  What PyTorch lacks is counted in one test,
so that it is seen.
"""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import grad
from gradspec.generated.op_info import OPS

from .calls import array, flat, in_place_only
from .questions import of_samples

torch = pytest.importorskip("torch", reason="PyTorch is the reference; it is installed by hand")

# Arguments that NumPy and PyTorch spell differently, everywhere.
ARGUMENTS = {"axis": "dim", "keepdims": "keepdim", "axis1": "dim1", "axis2": "dim2", "axes": "dims", "x": "input",
             "k": "diagonal", "indices": "index", "source": "source", "start_axis": "start_dim", "end_axis": "end_dim",
             "a": "input", "b": "other", "reps": "dims", "shift": "shifts", "repeats": "repeats"}  # fmt: skip

# Where the name finds something else, and PyTorch has what is meant under another name.
RENAMED = {
    "equal": torch.eq,  # torch.equal compares whole tensors
    "max": torch.amax, "min": torch.amin,  # torch.max takes one axis and gives positions too
}  # fmt: skip

# Ops that are something else in PyTorch; their derivatives are held to differences like all others.
OTHERWISE = {
    "as_strided_scatter": "torch's gradient is that of the elements that are written over",
    "std": "NumPy divides by the count by default, torch by the count less one",
    "var": "NumPy divides by the count by default, torch by the count less one",
    "std_mean": "NumPy divides by the count by default, torch by the count less one",
    "var_mean": "NumPy divides by the count by default, torch by the count less one",
    "median": "NumPy takes the mean of the two in the middle, torch the lower",
    "nanmedian": "NumPy takes the mean of the two in the middle, torch the lower",
    "eig": "the phase of a vector is a convention, and the order of the values",
    "cholesky_inverse": "torch gives a gradient to the triangle that is not read",
    "cholesky_solve": "torch gives a gradient to the triangle that is not read",
    "lstsq": "torch tells residuals, rank and singular values too",
    "lu_factor": "SciPy counts pivots from 0, torch from 1",
    "vander": "NumPy's powers fall, those of torch.linalg.vander rise",
    "fftfreq": "torch gives single precision",
    "histogram": "NumPy has 10 bins by default, torch 100",
    "rfftfreq": "torch gives single precision",
    "meshgrid": "NumPy's default is indexing='xy', torch's 'ij'",
    "eigh": "the phase of a vector is a convention",
    "svd": "the phase of a vector is a convention",
    "cosine_embedding_loss": "torch knows the targets 1 and -1 only, here their sign counts",
    "hinge_embedding_loss": "torch knows the targets 1 and -1 only, here their sign counts",
    "renorm": "torch divides by the norm plus 1e-7",
    "nonzero": "NumPy gives one array for each axis",
    "scatter": "of equal indices torch keeps any one, and gives each of them the gradient",
}

# Where PyTorch's own rounding is the larger error; ours is held to exact values in test_exact and test_gradients.
ROUNDED = {
    "hardsigmoid": "torch's gradient holds 1/6 in float32",
    "polygamma": "torch's trigamma is right to 1e-9 only",
}

# Arguments that PyTorch means otherwise: where a sample gives one, only values are compared.
GRADIENT_OTHERWISE = {
    ("cosine_similarity", "eps"): "torch's gradient is that of the norm where the norm counts as eps",
}


def reference(op):
    """PyTorch's function, or None."""
    if op.name in RENAMED:
        return RENAMED[op.name]
    places = {"": (torch, torch.special), "linalg": (torch.linalg,), "nn": (torch.nn.functional, torch), "fft": (torch.fft,),
              "special": (torch.special,), "random": (torch,)}[op.namespace]  # fmt: skip
    for name in (op.name, *op.aliases):
        for place in places:
            function = getattr(place, name, None)
            if callable(function) and not inspect.isclass(function):
                return function
    return None


COMPARED = [op for op in OPS if reference(op) and op.name not in OTHERWISE and not in_place_only(op)]
NAMES = {op.name for op in COMPARED}


def torch_wants(op, name):
    """Whether PyTorch chooses by itself what our default says: the axis of softmax."""
    try:
        return inspect.signature(reference(op)).parameters[ARGUMENTS[name]].default is None
    except (KeyError, ValueError):  # another name, or a function in C
        return False


def call_torch(op, arguments, tensors):
    """The reference with our arguments: by position as far as they are arrays, by PyTorch's keyword after."""
    positional, keywords = [], {}
    for name, type_, default, _ in op.arguments:
        value = arguments[name]
        if default is not None and value == eval(default) and not torch_wants(op, name):
            continue
        if type_.startswith("Array") and isinstance(value, (float, int)) and not isinstance(value, bool):
            value = torch.tensor(float(value), dtype=torch.float64)  # torch wants a tensor where NumPy takes numbers
        if isinstance(value, np.ndarray) and name not in tensors:
            value = torch.tensor(value.copy(order="C"))
        value = tensors.get(name, value)
        if default is None and not keywords:
            positional.append(value)
        else:
            keywords[ARGUMENTS.get(name, name)] = value
    return reference(op)(*positional, **keywords)


def torch_list(results):
    if isinstance(results, (tuple, list)):
        return [t for item in results for t in torch_list(item)]
    return [torch.as_tensor(results)]  # allclose gives a bool


@of_samples(lambda op: op.name in NAMES)
def test_same_values_and_gradients(case):
    arguments = case.arguments()
    ours = case.leaves()
    theirs = [torch.tensor(a.copy(), requires_grad=True) for a in case.arrays]
    if any(arguments[name] == () for name, type_, *_ in case.op.arguments if type_ == "int[]?"):
        pytest.skip("torch reads no axes as all axes")
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
    defaults = {name: eval(default) for name, _, default, _ in case.op.arguments if default is not None}
    for (name, argument), reason in GRADIENT_OTHERWISE.items():
        if case.op.name == name and arguments[argument] != defaults[argument]:
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
        # PyTorch cannot view an empty gradient of strides of its own as complex.
        assert "is not implemented" in str(error) or "must have a last dimension with stride 1" in str(error)
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
    print(f"{len(COMPARED)} ops compared; {len(lacking)} that torch lacks: {', '.join(lacking)}")
    unknown = {*OTHERWISE, *(name for name, _ in GRADIENT_OTHERWISE)} - {op.name for op in OPS}
    assert not unknown, f"OTHERWISE names ops that are gone: {unknown}"
    assert len(COMPARED) > 100
