"""Differentiate a function at one point by central differences.

Decides which inputs are checked and which are refused, and computes the differences.  The Jacobian of one input and one output is
an array (elements of the input, elements of the output).  The real and the imaginary part of a complex number are separate
elements.
"""

import warnings

import numpy as np

from ..core.tensor import TensorBase


class Differences:
    """One function at one point."""

    def __init__(self, func, inputs, eps, atol, rtol, nondet_tol, check_grad_dtypes):
        self.func, self.inputs, self.eps, self.atol, self.rtol = func, as_tuple(inputs), eps, atol, rtol
        self.nondet_tol, self.check_grad_dtypes = nondet_tol, check_grad_dtypes
        self.checked = [i for i, value in enumerate(self.inputs) if is_checked(value)]
        for i in self.checked:
            _check_input(i, self.inputs[i])
        if not self.checked:
            raise ValueError("gradcheck expects at least one input tensor to require gradient, but none of them have "
                             "requires_grad=True.")  # fmt: skip
        self.variables = [self.inputs[i] for i in self.checked]
        self.numerical_by_input, self.moved = {}, {}

    def evaluate(self):
        """The floating-point outputs: tensors with their graph."""
        return [o for o in as_tuple(self.func(*self.inputs)) if isinstance(o, TensorBase) and o.dtype.kind in "fc"]

    # Differences.

    def change(self, array, where, step):
        """The change of the outputs per unit of `step` when `array[where]` changes by `step`."""
        kept = array[where].copy()
        try:
            array[where] = kept + step
            ahead = [o.detach().numpy().copy() for o in self.evaluate()]
            array[where] = kept - step
            behind = [o.detach().numpy().copy() for o in self.evaluate()]
        finally:
            array[where] = kept
        for one, other in zip(ahead, behind):
            for what in ("shape", "dtype"):
                if getattr(one, what) != getattr(other, what):
                    raise AssertionError(f"Expected `func` to return outputs with the same {what} when inputs are perturbed "
                                         f"on index {where} by {self.eps}, but got: {what}s {getattr(one, what)} and "
                                         f"{getattr(other, what)}.")  # fmt: skip
        return [(one - other) / (2 * self.eps) for one, other in zip(ahead, behind)]

    def numerical(self, i):
        """For each output, its derivatives by the elements of input `i`: one array for each part of the input."""
        if i not in self.numerical_by_input:
            array = self.inputs[i].data.numpy()
            parts = (1.0, 1j) if array.dtype.kind == "c" else (1.0,)
            rows = [[self.change(array, where, self.eps * part) for where in np.ndindex(array.shape)] for part in parts]
            sizes = [o.size for o in self.evaluate()]
            self.numerical_by_input[i] = [
                [np.array([row[k].ravel() for row in part]).reshape(array.size, size) for part in rows]
                for k, size in enumerate(sizes)
            ]
        return self.numerical_by_input[i]


def _check_input(i, value):
    if value.dtype not in (np.float64, np.complex128):
        warnings.warn(f"Input #{i} requires gradient and is not a double precision floating point or complex. This check will "
                      "likely fail if all the inputs are not of double precision floating point or complex.",
                      stacklevel=4)  # fmt: skip
    if value.size and any(stride == 0 and size > 1 for stride, size in zip(value.strides, value.shape)):
        raise RuntimeError(f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                           "non-overlapping to be able to compute the numerical gradients correctly. You should call copy() "
                           "on the input before passing it to gradcheck.")  # fmt: skip
    if not value.data.numpy().flags.writeable:
        raise RuntimeError(f"The {i}th input is read-only. gradcheck moves its inputs in place; you should call copy() on the "
                           "input before passing it to gradcheck.")  # fmt: skip


def as_tuple(value):
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def is_checked(value):
    """Whether derivatives by `value` are compared."""
    return isinstance(value, TensorBase) and value.requires_grad


def random_like(value, random):
    real = random.uniform(0.1, 1, value.shape)
    return (real + 1j * random.uniform(0.1, 1, value.shape) if value.dtype.kind == "c" else real).astype(value.dtype)


def normal_like(value, random):
    """Random numbers of both signs, because a nonlinear function may look linear on positive numbers."""
    real = random.normal(size=value.shape)
    return (real + 1j * random.normal(size=value.shape) if value.dtype.kind == "c" else real).astype(value.dtype)


def inner(x, y):
    """The real inner product, with complex numbers as pairs of reals."""
    return float(np.sum(np.conj(x) * y).real)
