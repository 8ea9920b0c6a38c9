"""Operators that are defined outside the library, from an entry's facts and functions.

Defines how such an operator is called: recorded, on batches, on Taylor series, in place, with `out=`.  The library's own
operators are generated wrappers, which do not depend on these.
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

MODULES: dict[str, Module] = {}  # the modules of defined operators, by name


class Module:
    """The operators of one module by name, for calls from one another's formulas."""

    def __init__(self, name: str) -> None:
        self.__name__ = name


def module(name: str, made: int) -> Module:
    """Register a module that is being imported; refused if it was generated for another version of the library.

    Parameters
    ----------
    name : str
        Of the module.
    made : int
        The format of generated modules at the time of its generation.
    """
    check_format(made, name)
    MODULES[name] = found = Module(name)
    return found


class Operator:
    """An operator: callable, with all features of the library's own operators.

    Attributes
    ----------
    facts : Facts
        The facts of its entry.
    proofs : tuple of (str, str)
        The checks at its definition and their comparisons; empty if its package's own check and tests did them.
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
        """The computed function, its derivative, and the comparisons that were made."""
        from .page import text

        return text(self)

    def _repr_html_(self) -> str:
        from .page import html

        return html(self)

    # Calls.

    def _applied(self, *inputs: Any) -> Any:
        mapping = current_mapping()
        if mapping is not None and (found := mapping.call(self.facts.key, _Wrapper(self), inputs)) is not NotImplemented:
            return found
        return self.parts(*inputs)

    def parts(self, *inputs: Any) -> Any:
        """The visible results for converted arguments that are neither batched nor series."""
        results = self.results(*inputs)
        count = len(self.facts.visible)
        return results[0] if count == 1 else results[:count]

    def results(self, *inputs: Any) -> tuple:
        """All results, including hidden ones."""
        if self.facts.form == "composite":
            found = self.forward(*inputs)
            return tuple(map(_tensors, found)) if len(self.facts.outputs) > 1 else (_tensors(found),)
        flat, counts = apart(inputs)
        sizes: list[tuple] = []
        outputs = self._function.apply(self, counts, sizes, *flat)
        return tuple([list(o) if type(o) is tuple else o for o in joined(outputs, sizes[0])])

    def direct(self, inputs: tuple) -> Any:
        """The forward's results, as tensors with their own memory."""
        found = self.computed(*map(_array, inputs))
        return tuple(map(_tensors, found)) if type(found) is tuple else _tensors(found)

    def computed(self, *inputs: Any) -> Any:
        """The forward's results for arrays."""
        return of_forward(self.forward(*inputs), *inputs)

    def tangents(self, inputs: tuple, results: tuple, moved: tuple) -> tuple:
        """The tangent of each result, from the tangents of the arguments; None means zero."""
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
        """The function of a rule; an error for an entry that is `unimplemented`."""
        found = getattr(self, kind)
        if found is None:
            raise NotImplementedError(f"{self.facts.name}: it has a derivative, and its entry lacks the rule")
        return found

    def _still(self, value: Any) -> Any:
        """A zero for an absent tangent, in a call of an operator that is linear in several arguments jointly."""
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
    """An operator as a vmap or a jet calls it: its arguments are converted already."""

    def __init__(self, operator: Operator) -> None:
        self.operator, self.parts = operator, operator.parts

    def __call__(self, *inputs: Any) -> Any:
        return self.operator._applied(*inputs)

    def asked(self, primals: tuple) -> tuple[Any, Any]:
        """The results and the formula of their tangents, for series."""
        facts = self.operator.facts
        if facts.form == "unimplemented" or len(facts.visible) < len(facts.outputs):
            why = "its entry lacks a rule" if facts.form == "unimplemented" else "its rules read a result that is not returned"
            raise NotImplementedError(f"jet: {facts.name} takes no series: {why}")
        results = self.operator.results(*primals)
        result = results[0] if len(results) == 1 else results
        return result, _Formula(self.operator, results, primals)


class _Formula:
    """The tangents of a call, in the form that series call."""

    def __init__(self, operator: Operator, outputs: tuple, inputs: tuple) -> None:
        self.operator, self.outputs, self.inputs = operator, outputs, inputs

    def __call__(self, outputs: tuple, inputs: tuple, tangents: tuple) -> tuple:
        return self.operator.tangents(inputs, outputs, tangents)


def define(facts: Facts, forward: Callable[..., Any], vjp: Callable[..., Any] | None = None,
           jvp: Callable[..., Any] | None = None) -> Operator:  # fmt: skip
    """Create an operator from the facts and functions that are generated from an entry.

    Parameters
    ----------
    facts : Facts
    forward : callable
        On arrays; for a composite entry, the formula on tensors.
    vjp : callable, optional
        Takes the wanted gradients as bits (bit i: gradient of array i), the saved values, and the cotangents of the results;
        returns a gradient, or None, for each array.
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
    """The form of an operator that writes its result into its first argument, and returns it."""
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
    """Find a defined operator by name, for unpickling."""
    import importlib

    if module not in MODULES:
        importlib.import_module(module)
    return getattr(MODULES[module], name)


def _filled(tangent: Any, value: Any) -> Any:
    """The tangent of a list of arrays with zeros for absent ones; None if all are absent."""
    if type(tangent) not in (tuple, list):
        return tangent
    if all(item is None for item in tangent):
        return None
    return [ops.zeros_like(of) if item is None else item for item, of in zip(tangent, value)]


def _array(value: Any) -> Any:
    """An argument in the form that a forward takes."""
    if isinstance(value, (list, tuple)):
        return type(value)([_array(item) for item in value])
    return value.detach().numpy() if isinstance(value, TensorBase) else value


def _tensors(found: Any) -> Any:
    """A result of a composite as tensors; it may be a plain number."""
    return [_tensors(item) for item in found] if isinstance(found, (list, tuple)) else asarray(found)


def _check_fit(target: Any, result: Any, name: str) -> None:
    if result.shape != target.shape:
        raise RuntimeError(f"{name}: output with shape {list(target.shape)} doesn't match the broadcast shape "
                           f"{list(result.shape)}")  # fmt: skip
    if not np.can_cast(result.dtype, target.dtype, casting="same_kind"):
        raise TypeError(f"{name}: result type {result.dtype} can't be cast to the target's dtype {target.dtype}")

