"""Set up one call of a function that is being differentiated.

Decides which arguments are variables, which values may be variables, and when a result keeps its graph.  It does if code outside
can differentiate it: by an argument that requires grad, by a tensor that the function closes over, or by the tangent of an outer
level.  `autograd.flat_derivatives` runs the passes.
"""

import operator
import threading

import numpy as np

from ..autograd.flat_derivatives import UserFunction, call_differentiated, recordable, with_tangents, without_history
from ..core.conversion import asarray
from ..core.grad_mode import is_grad_enabled
from ..core.tensor import TensorBase
from ..engine.backward import depends_on_others, get_gradient_edge
from ..methods.dual_level import innermost_level
from ..saved.copy_slices import cut_history, first_histories, note_first
from ..support.dispatch import ops
from ..support.errors import CallTypeError, CallValueError
from ..support.pytree import flatten, places, rebuild
from ..transforms.batching.batched_backward import of_every_row

CALLED = {
    "grad": "grad_and_value(f)(*args)", "value_and_grad": "grad_and_value(f)(*args)", "vjp": "vjp(f, *primals)",
    "jacrev": "vjp(f, *primals): jacrev", "jvp": "jvp(f, primals, tangents)", "jacfwd": "jvp(f, primals, tangents): jacfwd",
}  # fmt: skip


def chosen(caller, func, argnums, argnum=None):
    """`argnums`, or HIPS autograd's `argnum`; an error if the call follows PyTorch's function of the same name."""
    if isinstance(func, TensorBase):
        raise TypeError(f"{caller}: a function is needed, got a Tensor; gradients of what has been computed are "
                        "gs.autograd.grad(outputs, inputs)")  # fmt: skip
    if argnum is not None:
        if argnums != 0:
            raise TypeError(f"{caller}: give argnums or argnum, not both: they are two names for the same")
        argnums = argnum
    if isinstance(argnums, (TensorBase, np.ndarray)) and argnums.dtype.kind not in "iu":
        raise TypeError(f"{caller}: argnums must be an int or a tuple of ints, got {type(argnums).__name__}; the point is an "
                        f"argument of the result: {caller}(func)(x)")  # fmt: skip
    return argnums


def positions(caller, argnums, count):
    """The positions that `argnums` names among `count` arguments, and whether it is a single one."""
    single = not isinstance(argnums, (tuple, list))
    found = []
    for number in (argnums,) if single else argnums:
        try:
            i = operator.index(number)
        except TypeError:
            raise CallTypeError(f"{caller}: argnums must be int or Tuple of ints, got {argnums!r}") from None
        if not -count <= i < count:
            raise CallValueError(f"{caller}: argnums names argument {i}, but only {count} positional inputs were given; a "
                                 "keyword argument is never differentiated")  # fmt: skip
        found.append(i % count)
    if len(set(found)) != len(found):
        raise CallValueError(f"{caller}: argnums must be unique, and they name an argument twice: {argnums!r}")
    if not found:
        raise CallValueError(f"{caller}: argnums must be non-empty: there is nothing to differentiate by")
    return found, single


_thread = threading.local()  # .keeping: the `Keeping` of the innermost call


class Keeping:
    """Tells users' rules whether the enclosing call keeps its graph: tensors that a rule reads are in no graph.

    Attributes
    ----------
    leaves : list of Tensor or None
        The variables of the call if its results lose their graph, because nothing else was found to differentiate them by.
    """

    leaves: list | None = None


def current_keeping():
    """The `Keeping` of the innermost call that runs in this thread, or None."""
    return getattr(_thread, "keeping", None)


class Point(UserFunction):
    """A function at one point, for one call.

    Parameters
    ----------
    caller : str
        The public function's name, for messages.
    func : callable
    args : tuple
    kwargs : dict
    argnums : int or tuple of int
        The variables among `args`.
    has_aux : bool
        Whether `func` returns a pair (output, aux); only the output is differentiated.
    """

    def __init__(self, caller, func, args, kwargs=None, argnums=0, has_aux=False):
        self.numbers, self.alone = positions(caller, argnums, len(args))
        self.args, self.kwargs, self.has_aux, self.aux = args, kwargs or {}, has_aux, None
        self.function = func
        self.enabled = is_grad_enabled()
        super().__init__(caller, None, tuple(args[i] for i in self.numbers), True)
        self.values = []  # the variables as the passes see them; `func` may get copies
        self.leaves = []  # the variables that were created by this call
        self.written = []  # weak references to the tensors that the function has written to

    def func(self, *variables):
        args = list(self.args)
        for i, variable in zip(self.numbers, variables):
            args[i] = variable
        value = call_differentiated(self.function, args, self.kwargs)
        if not self.has_aux:
            return value
        if not isinstance(value, tuple) or len(value) != 2:
            raise CallTypeError(f"{self.called}: output of function f should be a tuple: (output, aux) if has_aux=True, and it "
                                f"returned {f'a tuple of {len(value)}' if isinstance(value, tuple) else type(value).__name__}"
                                )  # fmt: skip
        value, self.aux = value
        return value

    def tensors(self, nest, what):
        leaves, form = flatten(nest)
        if what.startswith("outputs"):
            if nest is None or not leaves:
                raise CallTypeError(f"{self.called}: Expected f to be a function that has non-empty output, got {nest!r}")
            for leaf, place in zip(leaves, places(form)):
                if not isinstance(leaf, TensorBase):  # an array has lost its graph
                    raise CallTypeError(f"{self.called}: expected f(*primals) to return only tensors, got type {type(leaf)}"
                                        f"{place and f' at {place}'}; a constant is gradspec.asarray(number), "
                                        "anything else goes with has_aux=True")  # fmt: skip
            return leaves, form
        return [self.variable(leaf, what, place) for leaf, place in zip(leaves, places(form))], form

    def variable(self, leaf, what, place):
        """A leaf of the arguments, or of a vector, as a tensor."""
        if isinstance(leaf, (TensorBase, np.ndarray, np.generic, float, complex, int)):
            value = asarray(leaf)
            if value.dtype.kind in "fc":
                return value
            if what != "inputs" and value.dtype.kind in "iu":
                return asarray(value, dtype=float)
            type_ = f"has dtype {value.dtype}"
        else:
            type_ = f"is of type {type(leaf).__name__}"
        if what == "inputs":
            number, _, rest = place[1:].partition("]")
            place, what = f"argument {self.numbers[int(number)]}", rest
        else:
            place, what = "the given " + what, place
        raise CallTypeError(f"{self.caller}: {place} of the function is differentiated, so it must hold floating point or "
                            f"complex numbers, arrays or tensors, in tuples, lists and dictionaries; {what or 'it'} {type_}. "
                            "Write a float, or pass what is not to be differentiated as an argument that argnums does not name."
                            )  # fmt: skip

    # The variables.

    @property
    def called(self):
        """The call as messages show it, in PyTorch's words."""
        return CALLED.get(self.caller, f"{self.caller}(f)(*args)")

    def record(self):
        """Call the function on variables and return its outputs.  Sets `kept`: whether results keep their graph."""
        self.values, self.leaves, given = [], [], []
        for x in map(of_every_row, self.inputs):
            if self.enabled and x.requires_grad:
                self.values.append(x[...])
                given.append(ops.copy(self.values[-1]))  # the function may write to it
                continue
            x = recordable(x)
            # The tangents of `x` keep their history, which belongs to an outer level.
            leaf = (ops.copy(x) if self.enabled and innermost_level() else without_history(x)).requires_grad_()
            self.leaves.append(leaf)
            self.values.append(leaf)
            given.append(leaf)
        outer, keeping = current_keeping(), Keeping()
        _thread.keeping = keeping
        try:
            with first_histories() as self.written:
                outputs = self.apart(self(given))
        finally:
            _thread.keeping = outer
        connected = len(self.leaves) < len(self.values) or depends_on_others(with_tangents(outputs), self.leaves)
        self.kept = self.enabled and connected
        if self.enabled and not connected:
            keeping.leaves = self.leaves
        # Only formulas that run on tensors propagate the tangents of outer levels.
        self.recorded = self.kept or innermost_level() > 0
        return outputs

    def shared(self, x):
        """An input for a single call in forward mode: the argument itself, which the function may write to, or a copy.

        A tensor that requires grad, or is not itself among the arguments, is copied.
        """
        if x.requires_grad or not any(x is leaf for leaf in flatten(self.args)[0]):
            return ops.copy(x)
        return x

    def apart(self, values):
        """The values, with a view for each leaf: `freeze` clears `requires_grad` of leaves, so they would get no gradient."""
        return [value[...] if value.is_leaf and value.requires_grad else value for value in values]

    def record_single(self):
        """`record` for a function whose output must be a single real number."""
        output = self.single(self.record())
        self.refuse_unless(output, "f", "grad can be implicitly created only for real scalar outputs")
        return output

    def refuse_unless(self, output, kinds, reason):
        """Raise an error unless the dtype kind of an output is in `kinds`; gradients of integers or bools would be zeros."""
        if output.dtype.kind not in kinds:
            way_out = "what is no output goes with has_aux=True"
            if output.dtype.kind == "c":
                way_out = "real, imag or abs makes real numbers of it"
            raise CallTypeError(f"{self.called}: {reason} but got {output.dtype}; {way_out}")

    def edges(self):
        """The gradient edges of the variables, which stay valid when the leaves are frozen."""
        return [get_gradient_edge(value) for value in self.values]

    def freeze(self, released=True):
        """Clear `requires_grad` of the call's own leaves, so that later passes do not reach them or values computed from them.

        A tensor that the function has written to keeps its value.  Its history is cut if it depends on these leaves only: the
        next call would append to it.  If not `released`, the graph is kept for later products.
        """
        for leaf in self.leaves:
            leaf.requires_grad_(False)
        for reference in self.written:
            tensor = reference()
            if tensor is not None and tensor.requires_grad:
                if depends_on_others([tensor], self.leaves):
                    note_first(tensor)  # its history belongs to an outer call
                else:
                    cut_history(tensor, released and not self.kept)
        self.written = []

    # Results.

    def result(self, values, form):
        """The results for the user: values without their graph unless it is kept."""
        return self.nest([self.cut(value) for value in values], form)

    def nest(self, values, form):
        return rebuild(form, values)

    def cut(self, value):
        if self.kept or not value.requires_grad:
            return value
        if self.recorded and self.enabled and depends_on_others([value], self.leaves):  # a user's rule has read other tensors
            return value
        return without_history(value)

    def auxiliary(self):
        """The auxiliary result of the function."""
        leaves, form = flatten(self.aux)
        return rebuild(form, [self.cut(leaf) if isinstance(leaf, TensorBase) else leaf for leaf in leaves])

    def by_argument(self, found):
        """The results for each leaf of the arguments, as one pytree or a tuple of them, like `argnums`."""
        nest = rebuild(self.inputs_form, found)
        return nest[0] if self.alone else nest
