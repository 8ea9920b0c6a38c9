from typing import Any

import numpy as np

from .tensor import TensorBase

def array_of(tensor: TensorBase) -> np.ndarray[Any, Any]: ...
def shell(cls: type, array: np.ndarray[Any, Any]) -> TensorBase: ...
