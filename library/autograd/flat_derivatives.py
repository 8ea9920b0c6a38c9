"""Convert a user's function of pytrees into a function of flat lists of tensors, and run the passes over it.

Decides which arguments and results users may pass, and which functions strict mode refuses.  Computes a gradient, tangents, and
the rows and columns of a Jacobian.
Uses only operators that combine results.
"""

import threading
from contextlib import contextmanager

import numpy as np

from ..core.conversion import asarray, tensor
from ..core.grad_mode import _set_fwd_grad_enabled, enable_grad, inference_mode, is_inference_mode_enabled, no_grad
from ..core.tensor import TensorBase
from ..engine.backward import GradientEdge, depends_on_others, get_gradient_edge, grad
from ..methods.dual_level import batched_level, dual_level, innermost_level, is_dual, make_dual, unpack_dual
from ..support.dispatch import ops
from ..support.errors import CallTypeError, NotBatched
from ..support.pytree import LEAF, alike, flatten, places, rebuild
from ..transforms.batching.batched_backward import bottom, of_every_row
from ..transforms.batching.level_tensor import without_graph

IN_CACHE = 1 << 16  # elements of one array of a batch
NOT_STRICT = " This is not allowed in strict mode."


_thread = threading.local()  # .differentiated: what is_differentiated returns


def is_differentiated():
    """Whether `gradspec.func` differentiates the function that is running: a result without a graph would be a constant."""
    return getattr(_thread, "differentiated", False)


def call_differentiated(function, args, kwargs):
    """Call a function that `gradspec.func` differentiates."""
    outer, _thread.differentiated = is_differentiated(), True
    try:
        return function(*args, **kwargs)
    finally:
        _thread.differentiated = outer


def recording():
    """A context that records a function's call, also in inference mode, where the variables are copies."""
    return _outside_of_inference() if is_inference_mode_enabled() else enable_grad()


@contextmanager
def _outside_of_inference():
    with inference_mode(False), enable_grad():
        yield


def recordable(x):
    """`x`; if it is an inference tensor, which cannot be recorded, a copy."""
    if not x.is_inference():
        return x
    with inference_mode(False), no_grad():
        return ops.copy(x)


class UserFunction:
    """A user's function at one point.

    Parameters
    ----------
    caller : str
        Name of the public function, for messages.
    func : callable
    inputs
        A pytree of tensors; a tuple holds the arguments.
    create_graph : bool
        Whether the results have to be differentiable.
    """

    def __init__(self, caller, func, inputs, create_graph):
        self.inside = not create_graph and is_differentiated()
        self.caller, self.create_graph = caller, create_graph or self.inside
        if func is not None:  # else a subclass has the method; storing it would create a cycle
            self.func = func
        self.spread = isinstance(inputs, tuple)
        self.inputs, self.inputs_form = self.tensors(inputs, "inputs")
        self.outputs_form = LEAF
        self.recorded = self.create_graph  # whether forward mode records, too
        self.own = []  # the variables that are leaves

    def tensors(self, nest, what):
        """The leaves of a pytree, arrays as tensors, and its structure."""
        leaves, form = flatten(nest)
        if what.startswith("outputs"):  # an array has lost its graph
            taken = TensorBase
        else:
            taken = (TensorBase, np.ndarray, np.generic)
        for place, leaf in zip(places(form), leaves):
            if not isinstance(leaf, taken):
                where = f"the value at index {place[1:-1]}" if place else f"the given {what}"
                raise CallTypeError(f"The {what} given to {self.caller} must be either a Tensor or a tuple of Tensors, or a "
                                    "pytree of tuples, lists and dictionaries of them, "
                                    f"but {where} has type {type(leaf)}.")  # fmt: skip
        return [leaf if isinstance(leaf, TensorBase) else asarray(leaf) for leaf in leaves], form

    def vector(self, v, others, form, name="v"):
        """`v` as a list of tensors, which must have the shapes of `others`; `name` is the user's name for it."""
        values, v_form = self.tensors(v, name)
        if form is LEAF and v_form is not LEAF and len(values) != 1:
            raise RuntimeError(f"The given {name} should contain a single Tensor.")
        if len(values) != len(others):
            raise RuntimeError(f"{name} is a tuple of invalid length: should be {len(others)} but got {len(values)}.")
        if len(others) > 1 and not alike(v_form, form):
            raise RuntimeError(f"{name} has a different structure. Expected pytree structure with tensors at "
                               f"{', '.join(places(form))}, got them at {', '.join(places(v_form))}.")  # fmt: skip
        for i, (value, other) in enumerate(zip(values, others)):
            if value.shape != other.shape:
                entry = f"Entry {i} in " if len(others) > 1 else ""
                raise RuntimeError(f"{entry}{name} has invalid size: should be torch.Size({list(other.shape)}) but "
                                   f"got torch.Size({list(value.shape)}).")  # fmt: skip
        values = [recordable(value) for value in values]
        return values if self.create_graph else [without_graph(value) for value in values]

    def input_vector(self, v):
        """`v` as a list that matches the inputs; a one if the input has a single element."""
        if v is not None:
            return self.vector(v, self.inputs, self.inputs_form)
        if self.inputs_form is not LEAF or self.inputs[0].size != 1:
            raise RuntimeError("The vector v can only be None if the input to the user-provided function is a single Tensor "
                               "with a single element.")  # fmt: skip
        return [ops.ones_like(self.inputs[0])]

    def variables(self):
        """The inputs as new tensors that require grad; their history is kept only if `create_graph` is set."""
        if not self.create_graph:
            return [without_graph(recordable(of_every_row(x))).requires_grad_() for x in self.inputs]
        views = [recordable(of_every_row(x))[...] for x in self.inputs]  # keeps the tangents of outer levels, too
        self.own += [x.requires_grad_() for x in views if not x.requires_grad]
        return views

    def copies(self):
        """Copies of the inputs for a call that records nothing: without recording, the function could write to its inputs."""
        return [ops.copy(without_graph(of_every_row(x))).requires_grad_() for x in self.inputs]

    def __call__(self, variables, strict=False):
        """The outputs of the function, as a list of tensors."""
        nest = rebuild(self.inputs_form, variables)
        value = self.func(*nest) if self.spread else self.func(nest)
        outputs, self.outputs_form = self.tensors(value, "outputs of the user-provided function")
        for i, output in enumerate(outputs) if strict else ():
            if not output.requires_grad:
                raise RuntimeError(f"Output {i} of the user-provided function does not require gradients. The outputs must be "
                                   "computed in a differentiable manner from the input when running in strict mode.")  # fmt: skip
        return outputs

    def single_output(self, variables, strict=False):
        """The output of a function that returns one tensor with one element."""
        return self.single(self(variables, strict))

    def single(self, outputs):
        """The only output, if it has one element."""
        if self.outputs_form is not LEAF:
            raise RuntimeError(f"The function given to {self.caller} should return a single Tensor")
        if outputs[0].size != 1:
            raise RuntimeError(f"The Tensor returned by the function given to {self.caller} should contain a single element, "
                               f"but its shape is {outputs[0].shape}")  # fmt: skip
        return outputs[0]

    def finished(self, values, form):
        """Results in the user's pytree, detached unless `create_graph` is set, or a graph or tangent of the caller needs them."""
        if self.inside:
            return rebuild(form, [x if depends_on_others(with_tangents([x]), self.own) else without_history(x) for x in values])
        return rebuild(form, values if self.create_graph else [without_graph(value) for value in values])


# Graphs and tangents.


def with_tangents(values):
    """Tensors, and their tangents at the open levels, which may depend on further tensors."""
    found = list(values)
    for level in reversed(range(innermost_level())):  # a tangent may have tangents of outer levels
        pairs = [unpack_dual(value, level=level) for value in found]
        found += [tangent for _, tangent in pairs if tangent is not None]
    return found


def without_history(x):
    """`x` without its graph; its tangents stay, without their graphs."""
    if not innermost_level() and not is_dual(bottom(x)):
        return without_graph(x)
    with no_grad():
        return ops.copy(x)


# Passes.


def roots_of(outputs):
    """The gradient edges of the outputs, which remain valid when an output's history is cut; an output without history itself."""
    return [get_gradient_edge(output) if output.requires_grad else output for output in outputs]


def has_history(root):
    return isinstance(root, GradientEdge) or root.requires_grad


def gradients(outputs, variables, cotangents, create_graph, retain_graph=None):
    """The gradients by `variables`, None for an unused variable; `outputs` may be the result of `roots_of`."""
    kept = [i for i, output in enumerate(outputs) if has_history(output)]
    if not kept:
        return [None] * len(variables)
    given = None if cotangents is None else [cotangents[i] for i in kept]
    return list(grad([outputs[i] for i in kept], variables, given, retain_graph, create_graph, allow_unused=True))


def filled(values, variables):
    """Zeros in place of None."""
    return [ops.zeros_like(x) if value is None else value for value, x in zip(values, variables)]


def push(function, variables, tangents, count=0, strict=False):
    """The outputs at `variables`, and their tangents; None for an input without a tangent.  If `count` is not 0, the tangents are
    batches of `count` rows.  Also works in the forward of a custom Function, where tangents of outer levels do not propagate."""
    if count:
        with _set_fwd_grad_enabled(True), batched_level(count) as level:
            duals = [x if t is None else level.push(x, t) for x, t in zip(variables, tangents)]
            pairs = [level.pushed(output) for output in function(duals)]
    else:
        with _set_fwd_grad_enabled(True), dual_level():
            duals = [x if t is None else make_dual(x, t) for x, t in zip(variables, tangents)]
            pairs = [unpack_dual(output) for output in function(duals)]
    outputs = [primal for primal, _ in pairs]
    for i, (_, tangent) in enumerate(pairs if strict else ()):
        if tangent is None:
            raise RuntimeError(f"{function.caller}: output {i} of the user-provided function is independent of the inputs."
                               f"{NOT_STRICT}")  # fmt: skip
    shape = (count,) if count else ()
    return outputs, [ops.zeros(shape + y.shape, dtype=y.dtype) if t is None else t for y, t in pairs]


def push_forward(function, tangents, count=0):
    """`push` through a UserFunction, without recording if that works: a function may differentiate inside."""
    if not function.recorded:
        try:
            with no_grad():
                return push(function, function.copies(), tangents, count)
        except NotImplementedError:
            raise
        except RuntimeError:  # for lack of a graph; other errors will be raised again
            function.recorded = True
    return push(function, function.variables(), tangents, count)


def push_by_reverse(function, variables, tangents, create_graph):
    """The result of `push`, as the derivative of the gradient by its cotangents; the gradient is linear in them."""
    outputs = function(variables)
    return outputs, push_transposed(outputs, *transposed(outputs, variables), tangents, create_graph)


def transposed(outputs, variables):
    """Cotangents of the outputs, as variables, and the recorded gradients for them."""
    cotangents = [ops.zeros_like(output).requires_grad_(output.requires_grad) for output in outputs]
    return cotangents, filled(gradients(outputs, variables, cotangents, True), variables)


def push_transposed(outputs, cotangents, found, tangents, create_graph, retain_graph=None):
    """The tangents of the outputs, from the result of `transposed`."""
    wanted = [i for i, cotangent in enumerate(cotangents) if cotangent is not None and has_history(cotangent)]
    pushed = [None] * len(outputs)
    values = gradients(found, [cotangents[i] for i in wanted], tangents, create_graph, retain_graph) if wanted else ()
    for i, value in zip(wanted, values):
        pushed[i] = value
    return filled(pushed, outputs)


def refuse_real(variables):
    """Refuse the derivative of complex results by real arguments in reverse mode: it holds the real part only."""
    if any(x.dtype.kind != "c" for x in variables):
        raise TypeError("the function returns complex numbers of real arguments, and reverse mode gives the real part of the derivative only; "
                        "write jacfwd(f), or return the real and the imaginary part")  # fmt: skip


def rows(outputs, variables, create_graph, whole=False, chunk=None):
    """The blocks of a Jacobian, a list for each output, by batched backward passes: one row for each element of the outputs.

    With `whole`, one pass computes all rows of an output; with `chunk`, at most `chunk` rows.  Otherwise a batch has as many rows
    as fit in the cache.
    """
    return [_rows(output, variables, create_graph, whole, chunk) for output in outputs]


def _rows(output, variables, create_graph, whole, chunk):
    if not output.requires_grad or not output.size:
        return [ops.zeros(output.shape + x.shape, dtype=x.dtype) for x in variables]
    if output.dtype.kind == "c":
        refuse_real(variables)
    width = max(output.size, *(x.size for x in variables)) if variables else 1
    step = output.size if whole else chunk or max(1, IN_CACHE // max(1, width))
    parts = []
    for start in range(0, output.size, step):
        units = np.zeros((min(step, output.size - start), output.size), output.dtype)
        np.fill_diagonal(units[:, start:], 1)
        cotangents = tensor(units.reshape(-1, *output.shape))
        found = grad(output, variables, cotangents, True, create_graph, True, is_grads_batched=True)
        parts.append([ops.zeros((len(units), *x.shape), dtype=x.dtype) if value is None else value
                      for value, x in zip(found, variables)])  # fmt: skip
    blocks = parts[0] if len(parts) == 1 else [ops.concat(list(column)) for column in zip(*parts)]
    return [ops.reshape(block, output.shape + x.shape) for block, x in zip(blocks, variables)]


def columns(function, push_some, whole=False, chunk=None):
    """The blocks of a Jacobian, a list for each output, by forward mode: one column for each element of the inputs.

    Parameters
    ----------
    function : UserFunction
        Holds the inputs.
    push_some : callable
        Takes tangents of the inputs and the number of rows of their batches, 0 if not batched; returns outputs and their
        tangents.
    whole : bool
        Push all columns in one pass; otherwise as many at a time as fit in the cache.
    chunk : int, optional
        Maximal number of columns in a pass.
    """
    total = sum(x.size for x in function.inputs)
    step = total if whole else chunk or max(1, IN_CACHE // max(1, *(x.size for x in function.inputs))) if function.inputs else 1
    parts = []
    try:
        for start in range(0, total, step):
            count = min(step, total - start)
            outputs, pushed = push_some(_units(function.inputs, start, count), count)
            parts.append(pushed if function.create_graph else [without_graph(value) for value in pushed])
    except NotBatched:
        parts = []
        for start in range(total):
            tangents = [None if unit is None else unit[0] for unit in _units(function.inputs, start, 1)]
            outputs, pushed = push_some(tangents, 0)
            parts.append([(value if function.create_graph else without_graph(value))[None] for value in pushed])
    if not parts:  # no input has any elements
        outputs, _ = push_some([None] * len(function.inputs), 0)
        return [[ops.zeros(y.shape + x.shape, dtype=y.dtype) for x in function.inputs] for y in outputs]
    return [_blocks(y, function.inputs, rows) for y, rows in zip(outputs, map(list, zip(*parts)))]


def _units(inputs, start, count):
    """For each input, a batch of unit tangents: for elements start, start + 1, ..., counted through all inputs."""
    units = []
    for x in inputs:
        first, last = max(0, -start), min(count, x.size - start)
        start -= x.size
        if first >= last:
            units.append(None)
            continue
        unit = np.zeros((count, x.size), x.dtype)
        unit[range(first, last), range(first + start + x.size, last + start + x.size)] = 1
        units.append(tensor(unit.reshape(count, *x.shape)))
    return units


def _blocks(output, inputs, parts):
    """The blocks of one output for all inputs, from batches of its tangents."""
    blocks, start = [], 0
    pushed = ops.moveaxis(parts[0] if len(parts) == 1 else ops.concat(parts), 0, -1)
    for x in inputs:
        blocks.append(ops.reshape(pushed[..., start : start + x.size], output.shape + x.shape))
        start += x.size
    return blocks


# Checks of strict mode.


def refuse_independent(values, what):
    """Refuse gradients by the inputs if one is None."""
    for i, value in enumerate(values):
        if value is None:
            raise RuntimeError(f"{what} of the user-provided function is independent of input {i}.{NOT_STRICT}")


def refuse_constant(values, what):
    """Refuse results of `create_graph` that have no graph."""
    for i, value in enumerate(values):
        if not value.requires_grad:
            raise RuntimeError(f"The {what} of the user-provided function is independent of input {i}. This is not allowed in "
                               "strict mode when create_graph=True.")  # fmt: skip


def refuse_constant_blocks(blocks):
    for row in blocks:
        refuse_constant(row, "jacobian")


def refuse_linear(first):
    """Refuse a Hessian if the gradient does not depend on an input."""
    for i, value in enumerate(first):
        if value is None or not value.requires_grad:
            raise RuntimeError("While computing the hessian, found that the jacobian of the user-provided function with respect "
                               f"to input {i} is independent of the input.{NOT_STRICT} You should ensure that your function is "
                               "twice differentiable and that the jacobian depends on the inputs (this would be violated by a "
                               "linear function for example).")  # fmt: skip


def refuse_unused(outputs, variables):
    """Refuse an output that does not depend on an input."""
    for i, output in enumerate(outputs):
        for j, value in enumerate(gradients([output], variables, [ops.zeros_like(output)], False, True)):
            if value is None:
                raise RuntimeError(f"Output {i} of the user-provided function is independent of input {j}.{NOT_STRICT}")
