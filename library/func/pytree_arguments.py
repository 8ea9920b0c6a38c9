"""Nests of arrays that functions with a body take and give: every array and number of them is a Tensor.

Owns what may stand in such a nest, and the carry of a loop, whose form, shapes and dtypes stay what they were.  A None is a leaf
without numbers, and stays one.
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
    """Leaves as Tensors in the same memory; None stays None.  `named` are their places, for a message."""
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
    """The leaves of a nest as Tensors, its form, and the places of the leaves as one would write them."""
    leaves, form = flatten(nest)
    named = places(form, name)
    return as_leaves(leaves, caller, named), form, named


def as_tensors(nest, caller, name):
    """A nest with Tensors for its arrays and numbers."""
    leaves, form, _ = tensors_of(nest, caller, name)
    return rebuild(form, leaves)


def type_key(leaf):
    return leaf is not None and (leaf.shape, leaf.dtype)


def type_of(leaf):
    """Dtype and shape, as messages show them."""
    return "None" if leaf is None else f"{leaf.dtype.name}[{', '.join(map(str, leaf.shape))}]"


class Carry:
    """What a step of a loop hands on to the next.

    A number that a loop starts with takes the dtype that the first step gives it.  What the body writes to in place is copied
    before the next step: results of the steps before keep their numbers.

    Parameters
    ----------
    caller, body : str
        The public function's name and that of its argument, for messages.
    start
        A nest of arrays, tensors and numbers, which is copied.
    """

    def __init__(self, caller, body, start):
        self.caller, self.body = caller, body
        leaves, self.form, self.places = tensors_of(start, caller, "init")
        self.leaves = [None if leaf is None else ops.copy(leaf) for leaf in leaves]
        self.numbers = [isinstance(leaf, (int, float, complex)) and not isinstance(leaf, bool) for leaf in flatten(start)[0]]
        self.first = True
        self.written = is_inference_mode_enabled()  # whether the body writes to what it is given; no write is counted there
        self.versions = []

    def given(self):
        """The nest for the next step."""
        if self.written:
            self.leaves = [None if leaf is None else ops.copy(leaf) for leaf in self.leaves]
        else:
            self.versions = versions(self.leaves)
        return rebuild(self.form, self.leaves)

    def take(self, nest):
        """What a step returned."""
        found, form = flatten(nest)
        if not alike(form, self.form):
            before, after = (", ".join(names) or "nothing" for names in (self.places, places(form, "init")))
            raise CallTypeError(f"{self.caller}: {self.body} carry input and carry output must have equal types, but they are "
                                f"nests of different form: it was given {before}, and returned {after}; return the carry "
                                "as it came")  # fmt: skip
        found = as_leaves(found, self.caller, self.places)
        for i, (old, new) in enumerate(zip(self.leaves, found)):
            if type_key(old) != type_key(new):
                self.differs(i, old, new)
        self.written = self.written or self.versions != versions(self.leaves)
        self.leaves, self.first = found, False

    @contextmanager
    def on_trial(self):
        """A step inside is taken back: nothing is left of it but the dtype of what was a number."""
        start, self.written = self.leaves, True
        yield
        self.leaves = [leaf if leaf is None else ops.astype(leaf, new.dtype) for leaf, new in zip(start, self.leaves)]

    def differs(self, i, old, new):
        """Refuse a leaf of another type, unless it is a number that has none yet."""
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
        """The carry as the caller gets it."""
        return rebuild(self.form, self.leaves)


def versions(leaves):
    """How often each tensor was written to; nobody counts it in inference mode."""
    return [None if leaf is None or leaf.is_inference() else leaf._version for leaf in leaves]
