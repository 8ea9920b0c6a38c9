"""NumPy in formulas: allow functions that compute a result from their arguments and have no other effect.

Decides which names are allowed: files, printing, settings, random state and code are excluded.  Other names are rejected, and so
are names that a later NumPy adds unless they are functions of arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

MODULES = ("linalg", "fft")  # modules of numpy that formulas may use
REDUCTIONS = ("accumulate", "outer", "reduce", "reduceat")  # of a universal function; `at` writes
# Allowed beside ufuncs and array functions, which NumPy dispatches on their arrays: array creation and queries of dtypes.
MAKERS = frozenset(
    "arange array asanyarray asarray ascontiguousarray asfortranarray bartlett blackman broadcast_shapes "
    "diag_indices empty eye fftfreq finfo full hamming hanning identity iinfo indices isdtype isscalar issubdtype "
    "kaiser ones promote_types rfftfreq tri tril_indices triu_indices zeros".split()
)
# Array functions that do not compute: they write to a file or to an argument.
WRITERS = frozenset("copyto fill_diagonal place put put_along_axis putmask save savetxt savez savez_compressed".split())
# Attributes and methods that do not modify their array.
METHODS = tuple(
    "T all any argmax argmin argpartition argsort astype choose clip compress conj conjugate copy cumprod cumsum "
    "diagonal dot dtype flatten imag item itemsize mT max mean min nbytes ndim nonzero prod ravel real repeat "
    "reshape round searchsorted shape size squeeze std strides sum swapaxes take tolist trace transpose var view".split()
)


def is_pure(owner: Any, name: str) -> bool:
    """Whether a formula may name `name` of NumPy, one of its modules, or a universal function."""
    if isinstance(owner, np.ufunc):
        return name in REDUCTIONS
    value = getattr(owner, name, None)
    if owner is np and name in MODULES:
        return True
    if owner is not np and owner not in (getattr(np, module) for module in MODULES) or name.startswith("_"):
        return False
    if isinstance(value, (np.ufunc, int, float)) or value is None:  # None is np.newaxis
        return True
    if isinstance(value, type) and issubclass(value, np.generic) or name in MAKERS:
        return True
    return type(value) is type(np.sum) and name not in WRITERS
