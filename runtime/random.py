"""Random numbers: the generator that random operators draw from.

Owns the library's own generator.  Knows nothing of operators.
"""

from __future__ import annotations

import numpy as np

_default = np.random.default_rng()


def as_generator(value, op, arg):
    """`value` if it is a `numpy.random.Generator`, the library's own where it is None.

    Parameters
    ----------
    value : numpy.random.Generator or None
    op, arg : str
        Operator and argument, for the message.

    Returns
    -------
    numpy.random.Generator
    """
    if value is None:
        return _default
    if not isinstance(value, np.random.Generator):
        raise TypeError(f"{op}: argument '{arg}' must be a numpy.random.Generator or None, got {type(value).__name__}")
    return value
