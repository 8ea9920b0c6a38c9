"""Operators that are defined outside of the library: what `define` makes of an entry's facts and functions.

Owns how such an operator is called: recorded, on batches, on Taylor series, in place, with `out=`.  The library's own operators
are generated wrappers, which know nothing of these.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import gradspec  # noqa: F401 (waits for it)
import gradspec.func  # noqa: F401 (as well)

from ..core.conversion import asarray
from ..core.events import current_mapping
from ..core.grad_mode import is_grad_enabled, no_grad
from ..core.tensor import TensorBase
from ..func.closures import has_tangent
from ..generated.series import SERIES
from ..support.dispatch import ops
from ..transforms.batching.rules import Record
from ..transforms.batching.vmap_levels import RECORDS
from .arguments import Conversion
from .facts import Facts, check_format
from .recorded import Recorded, apart, joined
from .results import of_forward

MODULES: dict[str, Module] = {}  # of what has been defined, by name


class Module:
    """The operators of one module by name, as the formulas of one another call them."""

    def __init__(self, name: str) -> None:
        self.__name__ = name


def module(name: str, made: int) -> Module:
    """The operators of a module that is being imported; refused where it was generated for another library.

    Parameters
    ----------
    name : str
        Of the module.
    made : int
        The format of generated modules that it was written in.
    """
    check_format(made, name)
    MODULES[name] = found = Module(name)
    return found


class Operator:
    """An operator: called as a function, with everything that the library's own have.

    Attributes
    ----------
    facts : Facts
        What its entry says.
    proofs : tuple of (str, str)
        What was checked when it was defined, and by what; empty where that was done by its package's own check and tests.
    """

    def __init__(self, facts: Facts, forward: Callable[..., Any], vjp: Callable[..., Any] | None = None,
                 jvp: Callable[..., Any] | None = None) -> None:  # fmt: skip
        self.facts, self.forward, self.vjp, self.jvp = facts, forward, vjp, jvp
        self.proofs: tuple[tuple[str, str], ...] = ()
        self.__name__ = self.__qualname__ = facts.name
        self.__module__, self.__doc__ = facts.module, facts.doc
        self._converted = Conversion(facts)
        self.__signature__ = self._converted.signature
        words = facts.name.strip("_").split("_")
        node = "".join(word[:1].upper() + word[1:] for word in words)
        self._function = type(node, (Recorded,), {"__module__": facts.module})
        RECORDS[facts.key] = Record(facts.key, *facts.batch)
        SERIES[facts.key] = facts.series

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        inputs, out = self._converted(args, kwargs)
        if out is not None:
            return self._write_out(out, inputs)
        return self._applied(*inputs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        return f"<operator {self.facts.signature} of {self.facts.module}>"

    def __reduce__(self) -> Any:
        return find, (self.facts.module, self.facts.name)

    @property
    def page(self) -> str:
        """What it computes, its derivative, and what was compared with what."""
        from .page import text

        return text(self)

    def _repr_html_(self) -> str:
        from .page import html

        return html(self)

    # How it is called.

    def _applied(self, *inputs: Any) -> Any:
        mapping = current_mapping()
        if mapping is not None and (found := mapping.call(self.facts.key, _Wrapper(self), inputs)) is not NotImplemented:
            return found
        return self.parts(*inputs)

    def parts(self, *inputs: Any) -> Any:
        """What it gives for converted arguments that stand for nothing else."""
        results = self.results(*inputs)
        count = len(self.facts.visible)
        return results[0] if count == 1 else results[:count]

    def results(self, *inputs: Any) -> tuple:
        """All results, hidden ones too."""
        if self.facts.form == "composite":
            found = self.forward(*inputs)
            return tuple(map(_tensors, found)) if len(self.facts.outputs) > 1 else (_tensors(found),)
        flat, counts = apart(inputs)
        sizes: list[tuple] = []
        outputs = self._function.apply(self, counts, sizes, *flat)
        return tuple([list(o) if type(o) is tuple else o for o in joined(outputs, sizes[0])])

    def direct(self, inputs: tuple) -> Any:
        """What the forward gives, as tensors in memory of their own."""
        found = self.computed(*map(_array, inputs))
        return tuple(map(_tensors, found)) if type(found) is tuple else _tensors(found)

    def computed(self, *inputs: Any) -> Any:
        """What the forward gives for arrays."""
        return of_forward(self.forward(*inputs), *inputs)

    def tangents(self, inputs: tuple, results: tuple, moved: tuple) -> tuple:
        """The tangent of each result, from those of the arguments; None stands for none."""
        facts = self.facts
        if facts.linear:
            still = [self._still(value) if a.name in facts.linear and t is None else value if t is None else t
                     for a, value, t in zip(facts.arguments, inputs, moved)]  # fmt: skip
            return self.results(*still)
        named = [_filled(t, value) for a, value, t in zip(facts.arguments, inputs, moved) if a.name in facts.arrays]
        if not facts.moving:
            return (None,) * len(facts.outputs)
        return self.rule("jvp")(*inputs, *results, *named)

    def rule(self, kind: str) -> Callable[..., Any]:
        """The function of a rule, which an entry that is `unimplemented` lacks."""
        found = getattr(self, kind)
        if found is None:
            raise NotImplementedError(f"{self.facts.name}: it has a derivative, and its entry lacks the rule")
        return found

    def _still(self, value: Any) -> Any:
        """A tangent that is absent, in a call of what is linear in several arguments."""
        if isinstance(value, (list, tuple)):
            return tuple([self._still(item) for item in value])
        return ops.zeros_like(value) if isinstance(value, TensorBase) else 0 * value

    def _write_out(self, out: Any, inputs: tuple) -> Any:
        name = self.facts.name
        if not isinstance(out, TensorBase):
            raise TypeError(f"{name}: argument 'out' must be a Tensor, got {type(out).__name__}")
        leaves = [out, *[value for value in apart(inputs)[0] if isinstance(value, TensorBase)]]
        if is_grad_enabled() and any(leaf.requires_grad for leaf in leaves):
            raise RuntimeError(f"{name}: functions with out=... arguments don't support automatic differentiation, but one of "
                               "the arguments requires grad. Use the result instead of out=, or no_grad().")  # fmt: skip
        if any(has_tangent(leaf) for leaf in leaves):
            raise RuntimeError(f"{name}: an out= function cannot be used in forward mode: it would drop the tangent")
        with no_grad():
            result = self._applied(*inputs)
            _check_fit(out, result, name)
            ops.copy_(out, result)
        return out


class _Wrapper:
    """An operator where a vmap or a jet stands in front of it: its arguments are converted already."""

    def __init__(self, operator: Operator) -> None:
        self.operator, self.parts = operator, operator.parts

    def __call__(self, *inputs: Any) -> Any:
        return self.operator._applied(*inputs)

    def asked(self, primals: tuple) -> tuple[Any, Any]:
        """What it gives, and its formula of tangents, for series."""
        facts = self.operator.facts
        if facts.form == "unimplemented" or len(facts.visible) < len(facts.outputs):
            why = "its entry lacks a rule" if facts.form == "unimplemented" else "its rules read a result that is not returned"
            raise NotImplementedError(f"jet: {facts.name} takes no series: {why}")
        results = self.operator.results(*primals)
        result = results[0] if len(results) == 1 else results
        return result, _Formula(self.operator, results, primals)


class _Formula:
    """The tangents of a call, as series ask for them."""

    def __init__(self, operator: Operator, outputs: tuple, inputs: tuple) -> None:
        self.operator, self.outputs, self.inputs = operator, outputs, inputs

    def __call__(self, outputs: tuple, inputs: tuple, tangents: tuple) -> tuple:
        return self.operator.tangents(inputs, outputs, tangents)


def define(facts: Facts, forward: Callable[..., Any], vjp: Callable[..., Any] | None = None,
           jvp: Callable[..., Any] | None = None) -> Operator:  # fmt: skip
    """An operator of the facts and functions that are generated from an entry.

    Parameters
    ----------
    facts : Facts
    forward : callable
        Of arrays; the formula on tensors where the entry is a composite.
    vjp : callable, optional
        Takes which gradients are wanted (bit i: that of array i), what was saved, and the cotangents of the results; returns a
        gradient, or None, for each array.
    jvp : callable, optional
        Takes the arguments, the results and the tangents of the arrays; returns a tangent, or None, for each result.

    Returns
    -------
    Operator
    """
    found = Operator(facts, forward, vjp, jvp)
    setattr(MODULES.setdefault(facts.module, Module(facts.module)), facts.name, found)
    return found


def in_place(operator: Operator) -> Callable[..., Any]:
    """The operator that writes its result into its first argument, which is returned."""
    if hasattr(operator, "in_place"):  # it is compiled
        return operator.in_place
    name = f"{operator.facts.name}_"

    def write(*args: Any, **kwargs: Any) -> Any:
        inputs, _ = operator._converted(args, kwargs)
        target = inputs[0]
        first = args[0] if args else kwargs[operator.facts.arguments[0].name]
        if target is not first:
            raise TypeError(f"{name}: the first argument is changed and must be a Tensor, got {type(first).__name__}")
        result = operator._applied(*inputs)
        _check_fit(target, result, name)
        return ops.copy_(target, result)

    write.__name__ = write.__qualname__ = name
    write.__module__ = operator.facts.module
    returns = "Returns\n-------\nTensor\n    The first argument."
    write.__doc__ = f"{operator.facts.name}, written into its first argument.\n\n{returns}"
    write.__signature__ = operator.__signature__.replace(  # type: ignore[attr-defined]
        parameters=[p for p in operator.__signature__.parameters.values() if p.name != "out"])  # fmt: skip
    return write


def find(module: str, name: str) -> Operator:
    """An operator that has been defined, which is how one is unpickled."""
    import importlib

    if module not in MODULES:
        importlib.import_module(module)
    return getattr(MODULES[module], name)


def _filled(tangent: Any, value: Any) -> Any:
    """The tangent of a list of arrays, of which absent ones are zeros; None where all are absent."""
    if type(tangent) not in (tuple, list):
        return tangent
    if all(item is None for item in tangent):
        return None
    return [ops.zeros_like(of) if item is None else item for item, of in zip(tangent, value)]


def _array(value: Any) -> Any:
    """An argument as a forward takes it."""
    if isinstance(value, (list, tuple)):
        return type(value)([_array(item) for item in value])
    return value.detach().numpy() if isinstance(value, TensorBase) else value


def _tensors(found: Any) -> Any:
    """A result of a composite, which may have come to a plain number."""
    return [_tensors(item) for item in found] if isinstance(found, (list, tuple)) else asarray(found)


def _check_fit(target: Any, result: Any, name: str) -> None:
    if result.shape != target.shape:
        raise RuntimeError(f"{name}: output with shape {list(target.shape)} doesn't match the broadcast shape "
                           f"{list(result.shape)}")  # fmt: skip
    if not np.can_cast(result.dtype, target.dtype, casting="same_kind"):
        raise TypeError(f"{name}: result type {result.dtype} can't be cast to the target's dtype {target.dtype}")

