"""Pytrees of arrays for functions with a body: convert every array and number to a Tensor.

Checks the leaves of such a pytree, and holds the carry of a loop, whose structure, shapes and dtypes must not change.  None is a
leaf without numbers, and stays None.
"""

from contextlib import contextmanager

import numpy as np

from ..core.conversion import asarray
from ..core.grad_mode import is_inference_mode_enabled
from ..core.tensor import TensorBase
from ..support.dispatch import ops
from ..support.errors import CallTypeError
from ..support.pytree import alike, flatten, places, rebuild

NUMBERS = (np.ndarray, np.generic, bool, int, float, complex)


def as_leaves(leaves, caller, named):
    """Leaves as Tensors that share their memory; None stays None.  `named` are their paths, for messages."""
    found = []
    for i, leaf in enumerate(leaves):
        if not isinstance(leaf, TensorBase) and leaf is not None:
            if not isinstance(leaf, NUMBERS):
                raise CallTypeError(f"{caller}: {named[i]} is of type {type(leaf).__name__}; it must hold arrays, tensors and "
                                    "numbers, in tuples, lists and dictionaries; let the function close over anything else"
                                    )  # fmt: skip
            leaf = asarray(leaf)
        found.append(leaf)
    return found


def tensors_of(nest, caller, name):
    """The leaves of a pytree as Tensors, its structure, and the paths of the leaves as Python expressions."""
    leaves, form = flatten(nest)
    named = places(form, name)
    return as_leaves(leaves, caller, named), form, named


def as_tensors(nest, caller, name):
    """A pytree with Tensors for its arrays and numbers."""
    leaves, form, _ = tensors_of(nest, caller, name)
    return rebuild(form, leaves)


def type_key(leaf):
    return leaf is not None and (leaf.shape, leaf.dtype)


def type_of(leaf):
    """Dtype and shape, in the form of messages."""
    return "None" if leaf is None else f"{leaf.dtype.name}[{', '.join(map(str, leaf.shape))}]"


class Carry:
    """The carry of a loop, from one step to the next.

    A number at the start of a loop takes the dtype that the first step returns for it.  If the body writes to its argument in
    place, the carry is copied before the next step, so that the results of earlier steps keep their numbers.

    Parameters
    ----------
    caller, body : str
        The public function's name and the name of its argument, for messages.
    start
        A pytree of arrays, tensors and numbers, which is copied.
    """

    def __init__(self, caller, body, start):
        self.caller, self.body = caller, body
        leaves, self.form, self.places = tensors_of(start, caller, "init")
        self.leaves = [None if leaf is None else ops.copy(leaf) for leaf in leaves]
        self.numbers = [isinstance(leaf, (int, float, complex)) and not isinstance(leaf, bool) for leaf in flatten(start)[0]]
        self.first = True
        self.written = is_inference_mode_enabled()  # whether the body writes to its argument; unknown in inference mode
        self.versions = []

    def given(self):
        """The carry for the next step."""
        if self.written:
            self.leaves = [None if leaf is None else ops.copy(leaf) for leaf in self.leaves]
        else:
            self.versions = versions(self.leaves)
        return rebuild(self.form, self.leaves)

    def take(self, nest):
        """Take over the carry that a step returned."""
        found, form = flatten(nest)
        if not alike(form, self.form):
            before, after = (", ".join(names) or "nothing" for names in (self.places, places(form, "init")))
            raise CallTypeError(f"{self.caller}: {self.body} carry input and carry output must have equal types, but they are "
                                f"pytrees of different structure: it was given {before}, and returned {after}; return the carry "
                                "as it came")  # fmt: skip
        found = as_leaves(found, self.caller, self.places)
        for i, (old, new) in enumerate(zip(self.leaves, found)):
            if type_key(old) != type_key(new):
                self.differs(i, old, new)
        self.written = self.written or self.versions != versions(self.leaves)
        self.leaves, self.first = found, False

    @contextmanager
    def on_trial(self):
        """Undo a step inside the context, except for the dtype that a number has taken."""
        start, self.written = self.leaves, True
        yield
        self.leaves = [leaf if leaf is None else ops.astype(leaf, new.dtype) for leaf, new in zip(start, self.leaves)]

    def differs(self, i, old, new):
        """Refuse a leaf of a different type, unless it was a number, whose dtype is not fixed yet."""
        if old is None or new is None or old.shape != new.shape:
            what, way_out = "shapes", "start with the shape that the body gives, or return the shape that it was given"
        elif old.dtype == new.dtype or self.first and self.numbers[i] and np.can_cast(old.dtype, new.dtype, "same_kind"):
            return
        else:
            what = "dtypes"
            way_out = f"start with x.astype('{new.dtype.name}'), or return the carry as y.astype('{old.dtype.name}')"
        raise CallTypeError(f"{self.caller}: {self.body} carry input and carry output must have equal types, but they differ: "
                            f"{self.places[i]} is {type_of(old)} before the step and {type_of(new)} after it, so the {what} do "
                            f"not match; {way_out}")  # fmt: skip

    def result(self):
        """The final carry."""
        return rebuild(self.form, self.leaves)


def versions(leaves):
    """The version counter of each tensor; None in inference mode, which does not count writes."""
    return [None if leaf is None or leaf.is_inference() else leaf._version for leaf in leaves]
