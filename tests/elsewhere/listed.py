"""The lists beside this file, and the namespace here that has the names of a module elsewhere."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path

LISTS = sorted(Path(__file__).parent.glob("*.txt"))
# Where somebody looks for the names of a module that is not here.
HOMES = {"": "", "torch": "", "jax": "", "autograd": "", "numpy": "", "autograd.numpy": "", "jax.numpy": "", "jax.nn": "nn",
         "jax.random": "random", "jax.lax": "lax", "autograd.numpy.random": "random", "numpy.random": "random"}  # fmt: skip


def counterpart(module: str) -> str | None:
    """The namespace here that stands for a module elsewhere; None without one."""
    if module in HOMES:
        return HOMES[module]
    if module.startswith("scipy."):
        return module
    path = re.sub(r"^(torch|jax|autograd|numpy)\.|^", "", module, count=1)
    for inner in (path, re.sub(r"^(numpy|scipy|lax)\.", "", path)):
        try:
            importlib.import_module(f"gradspec.{inner}")
            return inner
        except ImportError:
            continue
    return None


def home(module: str) -> str:
    """The namespace here where somebody looks for the names of a module elsewhere: the main one without a counterpart."""
    return counterpart(module) or ""


def modules() -> Iterator[tuple[str, list[str]]]:
    """Each module elsewhere, with its public names."""
    for path in LISTS:
        for line in path.read_text().splitlines():
            module, _, names = line.partition(":")
            yield module, names.split()


# Operators that are something else in PyTorch.
OTHERWISE = {
    "as_strided_scatter": "torch's gradient is that of the elements that are written over",
    "std": "NumPy divides by the count by default, torch by the count less one",
    "var": "NumPy divides by the count by default, torch by the count less one",
    "median": "NumPy takes the mean of the two in the middle, torch the lower",
    "nanmedian": "NumPy takes the mean of the two in the middle, torch the lower",
    "eig": "the phase of a vector is a convention, and the order of the values",
    "cholesky_inverse": "torch gives a gradient to the triangle that is not read",
    "cholesky_solve": "torch gives a gradient to the triangle that is not read",
    "lstsq": "torch tells residuals and rank for some drivers alone, and takes no vector b",
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

# Other functions of the same name that are something else.
DIFFERENT = {
    "torch.equal": "torch.equal compares whole tensors",
    "jax.numpy.linalg.eigh": "jax takes the mean of the matrix and its adjoint, NumPy one triangle",
    "scipy.special.yn": "SciPy's takes whole orders",
    "jax.numpy.argpartition": "the order within a part is another",
}


def difference(name: str, operator: str) -> str:
    """What differs between the function of that name elsewhere and the operator; empty if nothing does."""
    return DIFFERENT.get(name) or (OTHERWISE.get(operator, "") if name.startswith("torch.") else "")
