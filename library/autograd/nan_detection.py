"""Locate the origin of NaN and infinity: a listener finds the first operator that computes one from ordinary numbers.

Decides whether a result has a value that its operands lacked, and words the answer.  No operator runs twice.
"""

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..core.events import Event, Listener
from ..core.non_operator_events import array_of
from ..core.provenance import GENERATED
from ..core.tensor import TensorBase


def arrays_in(values: Any) -> Iterator[np.ndarray]:
    """The floating-point arrays among operands or results, also inside sequences."""
    for value in values if isinstance(values, (tuple, list)) else (values,):
        if isinstance(value, (tuple, list)):
            yield from arrays_in(value)
            continue
        if isinstance(value, TensorBase):
            value = array_of(value)
        if isinstance(value, (np.ndarray, np.generic, float, complex)):
            array = np.asarray(value)
            if array.dtype.kind in "fc":
                yield array


def is_ordinary(array: np.ndarray) -> bool:
    """Whether all numbers are finite, by one sum; False also if finite numbers sum to infinity."""
    with np.errstate(all="ignore"):
        return bool(np.isfinite(array.sum()) or np.isfinite(array).all())


def found_in(values: Any) -> str:
    """The worst value among some arrays: "NaN", "infinity", or ""."""
    worst = ""
    for array in arrays_in(values):
        if not is_ordinary(array):
            if np.isnan(array).any():
                return "NaN"
            worst = "infinity"
    return worst


def target_of(event: Event) -> Any:
    """The target that an operator writes to; None if it creates a new tensor."""
    if event.kind != "operator" or not event.name.endswith(("_", ".out")):
        return None
    return event.inputs[0 if event.name.endswith("_") else -1]


def operands_of(event: Event) -> tuple[str, ...]:
    """The operands as text, without an operand that was overwritten."""
    target = target_of(event)
    return tuple("written over" if value is target and target is not None else extent(value) for value in event.inputs)


def extent(value: Any) -> str:
    """An operand as short text: dtype, shape and range of values."""
    arrays = list(arrays_in(value))
    if not arrays:
        return repr(value) if not isinstance(value, TensorBase) else f"{value.dtype}{list(value.shape)}"
    if isinstance(value, (float, complex)):
        return repr(value)
    if isinstance(value, (tuple, list)):
        return "[" + ", ".join(map(extent, value)) + "]"
    (array,) = arrays
    if array.size == 0:
        return f"{array.dtype}{list(array.shape)}, empty"
    size = np.abs(array) if array.dtype.kind == "c" else array
    return f"{array.dtype}{list(array.shape)} from {size.min():.6g} to {size.max():.6g}" + (
        " in absolute value" if array.dtype.kind == "c" else "")


class Origin(NamedTuple):
    """The first result with a NaN or an infinity that its operands did not have.

    Attributes
    ----------
    what : str
        "NaN" or "infinity".
    operator : str
        The operator, or the class of a custom Function or of its node.
    backward : str
        The node whose rule ran the operator; "" in a forward.
    line : tuple or None
        File, line number and function; in a backward, the location of the forward call that recorded the node.
    operands : tuple of str
        Dtype, shape and range of each operand.
    formula : str
        Rule of the node, as in the spec; "" in a forward.
    """

    what: str
    operator: str
    backward: str
    line: tuple[str, int, str] | None
    operands: tuple[str, ...]
    formula: str

    def __str__(self) -> str:
        text = f"{self.what} was made by {self.operator}"
        if self.backward:
            text += f" in the backward of {self.backward}, which was recorded"
        if self.line is not None:
            file, line, function = self.line
            text += f' at\n  File "{file}", line {line}, in {function}'
        text += "".join(f"\n  operand {i}: {operand}" for i, operand in enumerate(self.operands))
        return text + (f"\n  rule: {self.formula}" if self.formula else "")


class trace_nans(Listener):
    """Find the first operator, forward or backward, whose result has a NaN or an infinity that its operands did not have.

    Meanwhile, backward passes run operator by operator.  After the first finding, nothing more is examined.

    Parameters
    ----------
    error : bool
        Whether the operator raises. By default a warning is issued when the `with` block ends.
    infinity : bool
        Whether an infinity counts; NaN always does.

    Attributes
    ----------
    origin : Origin or None
        The finding; `str` of this object describes it.

    Raises
    ------
    FloatingPointError
        At the operator, if `error` is set.

    Examples
    --------
    >>> x = gs.tensor([0.0, 1.0], requires_grad=True)
    >>> with gs.autograd.trace_nans(infinity=False) as found:
    ...     (x / x).sum().backward()
    >>> found.origin.operator
    'divide'
    """

    by_operator = True

    def __init__(self, error: bool = False, infinity: bool = True) -> None:
        self.error, self.infinity = error, infinity
        self.origin: Origin | None = None
        self._before: dict[Event, str] = {}  # for an operator that overwrites an operand: the worst value in its operands

    def begin(self, event: Event) -> None:
        if target_of(event) is not None:
            self._before[event] = found_in(event.inputs if event.name.endswith("_") else event.inputs[:-1])

    def end(self, event: Event) -> None:
        before = self._before.pop(event, None)
        if self.origin is not None or event.error is not None or not self._is_judged(event):
            return
        what = found_in(event.outputs)
        if not what or (what == "infinity" and not self.infinity):
            return
        had = found_in(event.inputs) if before is None else before
        if had == "NaN" or had and what == "infinity":
            return
        self.origin = self._origin(event, what)
        if self.error:
            event.error = FloatingPointError(str(self.origin))
        self.stop()

    @staticmethod
    def _is_judged(event: Event) -> bool:
        """Whether to examine the event: operators and custom Functions.  A generated node is examined by its operators."""
        if event.kind == "node":
            return not type(event.node).__module__.startswith(GENERATED) and bool(event.node.next_functions)
        return event.kind in ("operator", "function")

    @staticmethod
    def _origin(event: Event, what: str) -> Origin:
        around = event
        while around is not None and around.kind != "node":
            around = around.parent
        if around is None:
            return Origin(what, event.name, "", event.line, operands_of(event), "")
        generated = type(around.node).__module__.startswith(GENERATED)
        rule = " ".join((type(around.node).__doc__ or "").split()) if generated else ""
        line = around.line if generated or around is event else event.line
        return Origin(what, event.name, around.name, line, operands_of(event), rule)

    def __exit__(self, *exc_info: object) -> None:
        super().__exit__(*exc_info)
        if self.origin is not None and not self.error:
            warnings.warn(str(self.origin), RuntimeWarning, stacklevel=2)

    def __str__(self) -> str:
        return "nothing was found" if self.origin is None else str(self.origin)
