"""Functions that NumPy lacks: SciPy's if it is installed, else a function of `math` applied element by element, if any."""

import functools

import numpy as np


@functools.cache
def scipy_function(name, substitute=None):
    """SciPy's ufunc, imported when it is first needed, or `substitute` if SciPy is missing."""
    try:
        import scipy.special
    except ImportError:
        if substitute is None:
            raise ImportError(f"gradspec: {name} needs SciPy, which is not installed: pip install scipy") from None
        return substitute
    return getattr(scipy.special, name)


def one_by_one(function):
    """Lift a function of Python floats to arrays; float32 is kept."""
    loop = np.frompyfunc(function, 1, 1)

    def apply(x):
        x = np.asarray(x)
        if x.dtype.kind == "c":
            name = f"{function.__name__} of complex numbers"
            raise ImportError(f"gradspec: {name} needs SciPy, which is not installed: pip install scipy")
        with np.errstate(invalid="ignore"):  # math.* raises the flag on NaN
            y = np.asarray(loop(x))
        return y.astype(x.dtype if x.dtype.kind == "f" else np.float64)

    return apply


def scipy_linalg(name):
    """The module `scipy.linalg`; an error if it is missing names the operator `name`."""
    try:
        import scipy.linalg
    except ImportError:
        raise ImportError(f"gradspec: {name} needs SciPy, which is not installed: pip install scipy") from None
    return scipy.linalg
