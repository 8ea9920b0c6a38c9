"""Normalise the results of forwards from other packages: arrays with their own memory, never tensors.

The library's own forwards are trusted in both respects.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.tensor import TensorBase


def of_forward(found: Any, *given: Any) -> Any:
    """A result as an array, or several as a tuple or list of arrays; none of them shares memory with an argument.

    Raises
    ------
    TypeError
        A result is a tensor: values in a kernel's closure would get no gradient.
    """
    if type(found) is np.ndarray and found.base is None:
        return found.copy() if any([found is one for one in given]) else found
    if isinstance(found, (tuple, list)):
        parts = [of_forward(one, *given) for one in found]
        return parts if isinstance(found, list) else tuple(parts)
    if isinstance(found, TensorBase):
        raise TypeError("its forward gave a tensor in the place of an array: what a kernel closes over gets no gradient; "
                        "make it an argument, or close over its detach().numpy()")  # fmt: skip
    array = np.asarray(found)
    arrays = [one for item in given for one in (item if isinstance(item, (tuple, list)) else (item,))]
    shared = any([np.may_share_memory(array, one) for one in arrays if isinstance(one, np.ndarray)])
    return array.copy() if shared else array
