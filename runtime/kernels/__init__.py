"""Kernels: forwards that are not a single NumPy expression; they take and return arrays and do not depend on autograd.

Kernels have the arguments of the formulas that call them, with arrays for tensors; a docstring has sections only for facts that
neither these types nor the operator's entry state.

A module names its kernels in `__all__`; the generator collects these names in one table.  Compiled kernels are imported at once,
kernels in Python when the first operator needs them.
"""

from importlib import import_module

from ..generated.kernel_names import COMPILED, PYTHON
from ..support.extension import offer
from ..support.lazy_import import later

offer(__name__)
for _module, _names in COMPILED.items():
    globals().update((name, getattr(import_module(f"{__name__}.{_module}"), name)) for name in _names)
__getattr__ = later(__name__, PYTHON)
