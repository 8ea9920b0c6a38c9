"""Compare derivatives of both modes with finite differences, for gradcheck.

Decides which derivatives are compared, and defines the messages, which are PyTorch's.
"""

import warnings

import numpy as np

from ..core.conversion import tensor
from ..core.error_nodes import UndefinedGrad
from ..core.tensor import TensorBase
from ..engine.backward import grad
from ..methods.dual_level import batched_level, dual_level, make_dual, unpack_dual
from ..support.errors import GradcheckError, NotBatched
from ..support.generator import numpy_random
from .differences import Differences, as_tuple, inner, random_like

NOT_REENTRANT = (
    "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives different "
    "values, although analytical gradient matches numerical gradient. The tolerance for nondeterminism was {}."
)
UNDEFINED = "Expected backward function to handle undefined output grads: a backward or a hook that met None raised {!r}."
NOT_ZERO = "Expected all input grads to be undefined or zero when all output grads are undefined or zero."
IS_DEFAULT = (
    "Backwards compatibility: New undefined gradient support checking feature is enabled by default, but it may break existing "
    'callers of this function. If this is true for you, you can call this function with "check_undefined_grad=False" to disable '
    "the feature"
)
FAST_ONLY = "Fast gradcheck failed but element-wise differences are small. This means that the test might've passed in slow_mode!"


class Agreement(Differences):
    """The derivatives of one function at one point."""

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
        random = numpy_random().default_rng(0)
        cotangent = random_like(output, random)
        grads = grad(output, self.variables, tensor(cotangent), retain_graph=True, allow_unused=True)
        again = grad(output, self.variables, tensor(cotangent), retain_graph=True, allow_unused=True)
        for i, value, second in zip(self.checked, grads, again):
            found = np.zeros(self.inputs[i].shape) if value is None else value.detach().numpy()
            if value is not None:
                self.check_gradient(self.inputs[i], value)
                if value.size and np.abs(found - second.detach().numpy()).max() > self.nondet_tol:
                    raise GradcheckError(NOT_REENTRANT.format(self.nondet_tol))
            direction, change = self.along(i)
            scale = np.abs(direction).sum() * np.abs(cotangent).sum()
            if not np.allclose(inner(found, direction), inner(cotangent, change[k]), self.rtol, self.atol * scale):
                self.backward_by_elements(output, k)
                raise GradcheckError(FAST_ONLY)

    def along(self, i):
        """A random direction of input `i`, and the change of the outputs along it; one for all outputs and both modes."""
        if i not in self.moved:
            direction = random_like(self.inputs[i], numpy_random().default_rng((1, i)))  # different from every cotangent
            self.moved[i] = direction, self.change(self.inputs[i].data.numpy(), ..., self.eps * direction)
        return self.moved[i]

    # Forward mode.

    def forward_mode(self, fast):
        for i in self.checked:
            value = self.inputs[i]
            if fast:
                direction, change = self.along(i)
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

    def tangents(self, directions, absent=(), count=0):
        """The outputs' tangents for the given tangents of some inputs.  The other inputs have zeros, or no tangents if `absent`.
        If `count` is not 0, the tangents are batches of `count` rows."""
        rows = (count,) if count else ()
        with batched_level(count) if count else dual_level() as level:
            push, pushed = (level.push, level.pushed) if count else (make_dual, unpack_dual)
            values = list(self.inputs)
            for i in self.checked:
                values[i] = self.inputs[i].detach()
                if i not in absent:
                    direction = directions.get(i)
                    zeros = np.zeros(rows + values[i].shape, values[i].dtype)
                    values[i] = push(values[i], tensor(zeros if direction is None else direction))
            found = []
            for output in as_tuple(self.func(*values)):
                if not isinstance(output, TensorBase) or output.dtype.kind not in "fc":
                    continue
                primal, tangent = pushed(output)
                if tangent is None:
                    found.append(np.zeros(rows + primal.shape, primal.dtype))
                    continue
                if self.check_grad_dtypes and tangent.dtype != primal.dtype:
                    raise GradcheckError("Forward AD gradient has dtype mismatch.")
                found.append(tangent.detach().numpy().copy())
        return found

    # Gradients and tangents that are zero or absent.

    def undefined_tangents(self):
        random = numpy_random().default_rng(0)
        directions = {i: random_like(self.inputs[i], random) for i in self.checked}
        for i in self.checked:
            others = {j: direction for j, direction in directions.items() if j != i}
            for k, (one, other) in enumerate(zip(self.tangents(others), self.tangents(others, absent=(i,)))):
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
        """Check the gradients without any output gradient; then those with one output gradient absent and the others zero."""
        count = len([o for o in self.evaluate() if o.requires_grad])
        for undefined in [range(count), *([k] for k in range(count if count > 1 else 0))]:
            outputs = [o for o in self.evaluate() if o.requires_grad]
            zeros = [tensor(np.zeros(o.shape, o.dtype)) for o in outputs]
            outputs = [UndefinedGrad()(o) if k in undefined else o for k, o in enumerate(outputs)]
            try:
                grads = grad(outputs, self.variables, zeros, allow_unused=True) if outputs else ()
            except Exception as error:
                warnings.warn(IS_DEFAULT, stacklevel=3)
                raise GradcheckError(UNDEFINED.format(error)) from error
            if any(value is not None and np.any(value.detach().numpy()) for value in grads):
                warnings.warn(IS_DEFAULT, stacklevel=3)
                raise GradcheckError(NOT_ZERO)

    def batched_gradients(self):
        random = numpy_random().default_rng(0)
        for k, output in enumerate(self.evaluate()):
            if not output.requires_grad:
                continue
            batch = np.stack([random_like(output, random), random_like(output, random)])
            options = {"retain_graph": True, "materialize_grads": True}
            rows = [grad(output, self.variables, tensor(row), **options) for row in batch]
            together = grad(output, self.variables, tensor(batch), is_grads_batched=True, **options)
            for i, found, *expected in zip(self.checked, together, *rows):
                expected = np.stack([e.detach().numpy() for e in expected])
                if not np.allclose(found.detach().numpy(), expected):
                    raise GradcheckError(f"Batched gradient mismatch for output {k} with respect to input {i},\n"
                                         f"got: {found}\nexpected: {expected}")  # fmt: skip

    def batched_tangents(self):
        """Push two tangents of an input at once, unless the function reads tangents itself: it would not accept a batch."""
        random = numpy_random().default_rng(0)
        for i in self.checked:
            batch = np.stack([random_like(self.inputs[i], random), random_like(self.inputs[i], random)])
            try:
                together = self.tangents({i: batch}, count=2)
            except NotBatched:
                return
            for k, (found, *rows) in enumerate(zip(together, *[self.tangents({i: row}) for row in batch])):
                if not np.allclose(found, np.stack(rows)):
                    raise GradcheckError(f"Batched forward gradient mismatch for output {k} with respect to input {i},\n"
                                         f"got: {found}\nexpected: {np.stack(rows)}")  # fmt: skip

    def compare(self, found, expected, k, i, part, element, mode):
        if np.allclose(found, expected, self.rtol, self.atol, equal_nan=True):
            return
        prefix = "" if part is None else f"While considering the {part} part of complex {element} only, "
        raise GradcheckError(f"{prefix}Jacobian {mode}mismatch for output {k} with respect to input {i},\n"
                             f"numerical:{expected}\nanalytical:{found}\n")  # fmt: skip
