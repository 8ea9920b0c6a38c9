"""gradcheck: derivatives compared with finite differences.

Owns the comparison and its messages, which are PyTorch's.  A Jacobian is held for one pair of input and output as an
array (elements of the input, elements of the output); a complex number counts as its real and its imaginary part, which
are compared apart.  Knows no operators.
"""

import warnings

import numpy as np

from .backward import grad
from .errors import GradcheckError
from .forward_ad import dual_level, make_dual, unpack_dual
from .operand import tensor
from .tensor import TensorBase

NOT_REENTRANT = (
    "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives different "
    "values, although analytical gradient matches numerical gradient. The tolerance for nondeterminism was {}."
)
UNDEFINED = "Expected backward function to handle undefined output grads: the backward of a node met None for an output."
NOT_ZERO = "Expected all input grads to be undefined or zero when all output grads are undefined or zero."
FAST_ONLY = (
    "Fast gradcheck failed but element-wise differences are small. This means that the test might've passed in slow_mode!"
)


def gradcheck(func, inputs, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True, nondet_tol=0.0,
              check_undefined_grad=True, check_grad_dtypes=False, check_batched_grad=False, check_forward_ad=False,
              check_backward_ad=True, fast_mode=False):  # fmt: skip
    """Compare the derivatives of a function with central differences.

    Parameters
    ----------
    func : callable
        Takes the inputs, returns a tensor or a tuple of tensors.
    inputs : Tensor, or tuple
        Those that require grad are checked; they should be of double precision.
    eps : float
        The step of the differences.
    atol, rtol : float
        Tolerances, as in `numpy.allclose`.
    raise_exception : bool
        False returns False where a derivative is wrong; other errors are raised all the same.
    nondet_tol : float
        By how much two backward passes over one graph may differ.
    check_undefined_grad : bool
        Check too that outputs without a gradient, and inputs without a tangent, count as zeros.
    check_grad_dtypes : bool
        Check too that a gradient has its input's dtype.
    check_batched_grad : bool
        Check too that `grad(..., is_grads_batched=True)` gives the rows that separate calls give.
    check_forward_ad, check_backward_ad : bool
        Which modes to check.
    fast_mode : bool
        Compare along one random direction instead of element by element.

    Returns
    -------
    bool

    Raises
    ------
    GradcheckError
        A derivative is wrong.
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    check = _Check(func, inputs, eps, atol, rtol, nondet_tol, check_grad_dtypes)
    try:
        if check_backward_ad:
            check.backward_mode(fast_mode)
        if check_forward_ad:
            check.forward_mode(fast_mode)
            if check_undefined_grad:
                check.undefined_tangents()
        if check_backward_ad:
            if check_batched_grad:
                check.batched_gradients()
            check.zero_gradients()
            if check_undefined_grad:
                check.undefined_gradients()
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


class _Check:
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
        self.numerical_by_input = {}

    def evaluate(self):
        """The floating-point outputs: tensors with their graph."""
        return [o for o in as_tuple(self.func(*self.inputs)) if isinstance(o, TensorBase) and o.dtype.kind in "fc"]

    # Differences.

    def change(self, array, where, step):
        """How the outputs change per unit of `step` when `array[where]` moves by it."""
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
        """For each output its derivatives by the elements of input `i`, in one array for each part of the input."""
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

    # Reverse mode.

    def backward_mode(self, fast):
        outputs = self.evaluate()
        differentiable = [k for k, o in enumerate(outputs) if o.requires_grad]
        if not differentiable:
            for i in self.checked:
                if any(np.any(part) for parts in self.numerical(i) for part in parts):
                    raise GradcheckError("Numerical gradient for function expected to be zero")
        for k in differentiable:
            if fast:
                self.backward_along_direction(outputs[k], k)
            else:
                self.backward_by_elements(outputs[k], k)

    def backward_by_elements(self, output, k):
        for part in ("imaginary", "real") if output.dtype.kind == "c" else ("real",):
            analytical = self.rows(output, 1j if part == "imaginary" else 1.0)
            again = self.rows(output, 1j if part == "imaginary" else 1.0)
            if any(a.size and np.abs(a - b).max() > self.nondet_tol for a, b in zip(analytical, again)):
                raise GradcheckError(NOT_REENTRANT.format(self.nondet_tol))
            for i, found in zip(self.checked, analytical):
                expected = [p.imag if part == "imaginary" else p.real for p in self.numerical(i)[k]]
                expected = expected[0] + 1j * expected[1] if len(expected) == 2 else expected[0]
                self.compare(found, expected, k, i, part if output.dtype.kind == "c" else None, "outputs", "")

    def rows(self, output, cotangent):
        """Gradients of each element of `output`, as the columns of one array for each input."""
        found = [np.zeros((v.size, output.size), v.dtype) for v in self.variables]
        base = np.zeros(output.shape, output.dtype)
        for column, where in enumerate(np.ndindex(output.shape)):
            base[where] = cotangent
            grads = grad(output, self.variables, tensor(base), retain_graph=True, allow_unused=True)
            base[where] = 0
            for matrix, variable, value in zip(found, self.variables, grads):
                if value is not None:
                    self.check_gradient(variable, value)
                    matrix[:, column] = value.detach().numpy().ravel()
        return found

    def check_gradient(self, variable, value):
        if value.shape != variable.shape:
            raise GradcheckError("Analytical gradient has incorrect size")
        if self.check_grad_dtypes and value.dtype != variable.dtype:
            raise GradcheckError("Gradient has dtype mismatch")

    def backward_along_direction(self, output, k):
        random = np.random.default_rng(0)
        cotangent = _random_like(output, random)
        grads = grad(output, self.variables, tensor(cotangent), retain_graph=True, allow_unused=True)
        again = grad(output, self.variables, tensor(cotangent), retain_graph=True, allow_unused=True)
        for i, value, second in zip(self.checked, grads, again):
            found = np.zeros(self.inputs[i].shape) if value is None else value.detach().numpy()
            if value is not None:
                self.check_gradient(self.inputs[i], value)
                if value.size and np.abs(found - second.detach().numpy()).max() > self.nondet_tol:
                    raise GradcheckError(NOT_REENTRANT.format(self.nondet_tol))
            direction = _random_like(self.inputs[i], random)
            change = self.change(self.inputs[i].data.numpy(), ..., self.eps * direction)[k]
            scale = np.abs(direction).sum() * np.abs(cotangent).sum()
            if not np.allclose(_inner(found, direction), _inner(cotangent, change), self.rtol, self.atol * scale):
                self.backward_by_elements(output, k)
                raise GradcheckError(FAST_ONLY)

    # Forward mode.

    def forward_mode(self, fast):
        random = np.random.default_rng(0)
        for i in self.checked:
            value = self.inputs[i]
            if fast:
                direction = _random_like(value, random)
                change = self.change(value.data.numpy(), ..., self.eps * direction)
                found = self.tangents({i: direction})
                scale = self.atol * np.abs(direction).sum()
                if all(np.allclose(f, c, self.rtol, scale) for f, c in zip(found, change)):
                    continue
            self.forward_by_elements(i, value)
            if fast:
                raise GradcheckError(FAST_ONLY)

    def forward_by_elements(self, i, value):
        numerical = self.numerical(i)
        for part in ("imaginary", "real") if value.dtype.kind == "c" else ("real",):
            place = 1 if part == "imaginary" else 0
            base = np.zeros(value.shape, value.dtype)
            rows = []
            for where in np.ndindex(value.shape):
                base[where] = 1j if place else 1.0
                rows.append([tangent.ravel() for tangent in self.tangents({i: base})])
                base[where] = 0
            for k, parts in enumerate(numerical):
                found = np.array([row[k] for row in rows]).reshape(parts[place].shape)
                self.compare(found, parts[place], k, i, part if value.dtype.kind == "c" else None, "inputs",
                             "computed with forward mode ")  # fmt: skip

    def tangents(self, directions):
        """The outputs' tangents for given tangents of some inputs; absent ones are zeros."""
        with dual_level():
            values = list(self.inputs)
            for i in self.checked:
                values[i] = self.inputs[i].detach()
                if i in directions:
                    values[i] = make_dual(values[i], tensor(directions[i]))
            found = []
            for output in as_tuple(self.func(*values)):
                if not isinstance(output, TensorBase) or output.dtype.kind not in "fc":
                    continue
                primal, tangent = unpack_dual(output)
                if tangent is None:
                    found.append(np.zeros(primal.shape, primal.dtype))
                    continue
                if self.check_grad_dtypes and tangent.dtype != primal.dtype:
                    raise GradcheckError("Forward AD gradient has dtype mismatch.")
                found.append(tangent.detach().numpy().copy())
        return found

    # Gradients and tangents that are zero or absent.

    def undefined_tangents(self):
        random = np.random.default_rng(0)
        directions = {i: _random_like(self.inputs[i], random) for i in self.checked}
        for i in self.checked:
            absent = {j: direction for j, direction in directions.items() if j != i}
            zero = directions | {i: np.zeros_like(directions[i])}
            for k, (one, other) in enumerate(zip(self.tangents(zero), self.tangents(absent))):
                if not np.allclose(one, other):
                    raise GradcheckError(f"Mismatch in tangent values for output with index {k} when input {i} has an "
                                         f"undefined tangent value. Got: {other} but expected: {one}")  # fmt: skip

    def zero_gradients(self):
        outputs = [o for o in self.evaluate() if o.requires_grad]
        if not outputs:
            return
        grads = grad(outputs, self.variables, [tensor(np.zeros(o.shape, o.dtype)) for o in outputs], allow_unused=True)
        for variable, value in zip(self.variables, grads):
            if value is None:
                continue
            if np.any(value.detach().numpy()):
                raise GradcheckError("backward not multiplied by grad_output")
            if value.dtype != variable.dtype:
                raise GradcheckError("grad is incorrect type")
            if value.shape != variable.shape:
                raise GradcheckError("grad is incorrect size")

    def undefined_gradients(self):
        """One output of several gets no gradient, the others zeros."""
        outputs = [o for o in self.evaluate() if o.requires_grad]
        for k in range(len(outputs) if len(outputs) > 1 else 0):
            outputs = [o for o in self.evaluate() if o.requires_grad]
            others = outputs[:k] + outputs[k + 1 :]
            zeros = [tensor(np.zeros(o.shape, o.dtype)) for o in others]
            try:
                grads = grad(others, self.variables, zeros, allow_unused=True)
            except RuntimeError as error:
                raise GradcheckError(UNDEFINED) from error
            if any(value is not None and np.any(value.detach().numpy()) for value in grads):
                raise GradcheckError(NOT_ZERO)

    def batched_gradients(self):
        random = np.random.default_rng(0)
        for k, output in enumerate(self.evaluate()):
            if not output.requires_grad:
                continue
            batch = np.stack([_random_like(output, random), _random_like(output, random)])
            options = {"retain_graph": True, "materialize_grads": True}
            rows = [grad(output, self.variables, tensor(row), **options) for row in batch]
            together = grad(output, self.variables, tensor(batch), is_grads_batched=True, **options)
            for i, found, *expected in zip(self.checked, together, *rows):
                expected = np.stack([e.detach().numpy() for e in expected])
                if not np.allclose(found.detach().numpy(), expected):
                    raise GradcheckError(f"Batched gradient mismatch for output {k} with respect to input {i},\n"
                                         f"got: {found}\nexpected: {expected}")  # fmt: skip

    def compare(self, found, expected, k, i, part, element, mode):
        if np.allclose(found, expected, self.rtol, self.atol, equal_nan=True):
            return
        prefix = "" if part is None else f"While considering the {part} part of complex {element} only, "
        raise GradcheckError(f"{prefix}Jacobian {mode}mismatch for output {k} with respect to input {i},\n"
                             f"numerical:{expected}\nanalytical:{found}\n")  # fmt: skip


def _check_input(i, value):
    if value.dtype not in (np.float64, np.complex128):
        warnings.warn(f"Input #{i} requires gradient and is not a double precision floating point or complex. This check will "
                      "likely fail if all the inputs are not of double precision floating point or complex.",
                      stacklevel=5)  # fmt: skip
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


def _random_like(value, random):
    real = random.uniform(0.1, 1, value.shape)
    return (real + 1j * random.uniform(0.1, 1, value.shape) if value.dtype.kind == "c" else real).astype(value.dtype)


def _inner(x, y):
    """The real inner product, in which complex numbers are pairs of reals."""
    return float(np.sum(np.conj(x) * y).real)
