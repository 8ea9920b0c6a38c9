from typing import Any

import numpy as np

from .tensor import TensorBase

def array_of(tensor: TensorBase) -> np.ndarray[Any, Any]: ...
