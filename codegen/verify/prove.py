"""Prove the first and second tangents of each elementwise operator, by comparison with sympy's derivatives of its value.

The value comes from `forward` or `reference`, the tangents from the rules.  A proof of second order therefore covers the rules of
the operators that a partial calls.  Needs sympy, which is imported with this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import sympy

from ..spec.expression import Call, Constant, Expression, Metadata, Name
from ..spec.model import Op, Spec
from .proofs import CONVENTION, PROVED, TESTED
from .reference import Reference


class Disproved(Exception):
    """A rule that differs from sympy's derivative as a formula."""


def _where(test: Any, a: Any, b: Any) -> Any:
    return sympy.Piecewise((a, test), (b, True))


class Symbolic(Reference):
    """The operators of a spec as functions of sympy's expressions."""

    functions: Mapping[str, Callable[..., Any]] = {
        "absolute": sympy.Abs, "add": lambda a, b: a + b, "array": lambda x, dtype: x, "arccos": sympy.acos,
        "arccosh": sympy.acosh, "arcsin": sympy.asin,
        "arcsinh": sympy.asinh, "arctan": sympy.atan, "arctan2": sympy.atan2, "arctanh": sympy.atanh, "cos": sympy.cos,
        "cbrt": sympy.cbrt, "conjugate": lambda x: x, "cosh": sympy.cosh, "deg2rad": lambda x: x * sympy.pi / 180,
        "divide": lambda a, b: a / b, "exp": sympy.exp, "exp2": lambda x: 2**x, "expm1": lambda x: sympy.exp(x) - 1,
        "hypot": lambda a, b: sympy.sqrt(a * a + b * b), "log": sympy.log, "log10": lambda x: sympy.log(x) / sympy.log(10),
        "log1p": lambda x: sympy.log(1 + x), "log2": lambda x: sympy.log(x) / sympy.log(2),
        "logaddexp": lambda a, b: sympy.log(sympy.exp(a) + sympy.exp(b)), "multiply": lambda a, b: a * b,
        "logaddexp2": lambda a, b: sympy.log(2**a + 2**b) / sympy.log(2), "negative": lambda x: -x, "positive": lambda x: x,
        "power": lambda a, b: a**b, "rad2deg": lambda x: x * 180 / sympy.pi, "real": lambda x: x, "sign": sympy.sign,
        "sin": sympy.sin, "sinh": sympy.sinh, "sqrt": sympy.sqrt, "square": lambda x: x * x, "subtract": lambda a, b: a - b,
        "tan": sympy.tan, "tanh": sympy.tanh, "where": _where, "equal": sympy.Eq, "greater": lambda a, b: a > b,
        "isinf": lambda x: sympy.false, "isnan": lambda x: sympy.false, "isfinite": lambda x: sympy.Integer(1),
    }  # fmt: skip
    operators: Mapping[str, Callable[..., Any]] = {
        **Reference.operators,
        "**": lambda a, b: a**b,
        "==": lambda a, b: a is b or sympy.Eq(a, b),  # also for dtypes
        "&": sympy.And,
        "|": sympy.Or,
    }
    names: Mapping[str, Any] = {
        name: getattr(sympy, name)
        for name in ("acos", "cosh", "digamma", "erf", "erfc", "erfinv", "exp", "log", "loggamma", "pi", "sech", "sqrt", "tanh")
    } | {"psi": sympy.polygamma, "log1p": lambda x: sympy.log(1 + x), "abs": sympy.Abs,
         "sincpi": lambda x: sympy.sin(sympy.pi * x) / (sympy.pi * x)}  # fmt: skip

    def tangent(self, op: Op, arguments: Mapping[str, Any], tangents: Mapping[str, Any]) -> Any:
        """The tangent of the result, by the rules of the entry."""
        arguments = self.all_of(op, arguments)
        if op.composite:
            return self.dual(op.composite.expression, op, arguments, tangents)[1]
        if op.derived.joint_linear:
            return self.value(op, {**arguments, **{name: tangents.get(name, 0) for name in op.derived.joint_linear}})
        (rule,) = op.derived.jvp.values()
        return self.of(rule, self._known(op, arguments) | {f"{name}_t": t for name, t in tangents.items()})

    def second(self, op: Op, arguments: Mapping[str, Any], name: str) -> Any:
        """The tangent of the tangent, when one input moves."""
        arguments = self.all_of(op, arguments)
        (rule,) = op.derived.jvp.values()
        return self.dual(rule, op, {**arguments, **{f"{a.name}_t": int(a.name == name) for a in op.signature.arrays}},
                         {name: 1})[1]  # fmt: skip

    def dual(self, expression: Expression, op: Op, arguments: Mapping[str, Any], tangents: Mapping[str, Any]) -> tuple[Any, Any]:
        """The value of a formula of an entry, and its tangent."""
        match expression:
            case Name(name) if name in op.lets:
                return self.dual(op.lets[name].expression, op, arguments, tangents)
            case Name(name) if name in arguments:
                return arguments[name], tangents.get(name, 0)
            case Name():
                given = {k: v for k, v in arguments.items() if not k.endswith("_t")}
                return self.value(op, given), self.tangent(op, given, tangents)
            case Constant() | Metadata():
                return self.of(expression, arguments), 0
            case Call(name, parts) if name:
                called = self.ops[name]
                pairs = {p.name: self.dual(a, op, arguments, tangents)
                         for p, a in zip(called.signature.arguments, parts) if a is not None}  # fmt: skip
                values = {k: v for k, (v, _) in pairs.items()}
                moving = {a.name: pairs[a.name][1] for a in called.signature.arrays if a.name in pairs}
                if not any(t != 0 for t in moving.values()) or not called.differentiable:
                    return self.value(called, values), 0
                return self.value(called, values), self.tangent(called, values, moving)
        return self.of(expression, self._known(op, arguments)), 0

    def _known(self, op: Op, arguments: Mapping[str, Any]) -> dict[str, Any]:
        known = {f"{a.name}_t": 0 for a in op.signature.arrays} | dict(arguments)
        given = {k: v for k, v in arguments.items() if not k.endswith("_t")}
        known[op.signature.outputs[0].name] = self.value(op, given)
        for name, let in op.lets.items():
            known[name] = self.later(let.expression, known)
        return known


def prove(spec: Spec) -> Iterator[tuple[str, str]]:
    """Each operator with partials, and the status of its rules.

    PROVED to second order as formulas; or TESTED, by differences alone, like all; or BY CONVENTION, if it also has kinks.
    """
    symbolic = Symbolic(spec)
    for op in spec.ops.values():
        if op.form == "partial" and len(op.signature.outputs) == 1 and op.forward is not None:
            yield op.name, _proved(op, symbolic)


def _proved(op: Op, symbolic: Symbolic) -> str:
    domain = op.domain.source if op.domain else ""
    symbols = {a.name: sympy.Symbol(a.name, real=True, positive=True if f"{a.name} > 0" in domain else None)
               for a in op.signature.arrays if a.default is None}  # fmt: skip
    given: dict[str, Any] = dict(symbols)
    if any(a.default is None and a.name not in given for a in op.signature.arguments):
        given |= {a.name: 1 for a in op.signature.arguments if a.name not in given}
    try:
        value = symbolic.value(op, given)
        for name, x in symbols.items():
            first = symbolic.tangent(op, given, {name: 1})
            _same(sympy.diff(value, x), first)
            _same(sympy.diff(value, x, 2), symbolic.second(op, given, name))
    except Exception:
        return CONVENTION if op.kinks else TESTED
    return PROVED


def _same(expected: Any, got: Any) -> None:
    """Raise Disproved unless the two expressions simplify to the same one."""
    difference = sympy.expand(sympy.sympify(expected - got))
    rounding = {f: 0 for f in difference.atoms(sympy.Float) if abs(f) < 1e-13}  # of constants, which are doubles in formulas
    difference = difference.xreplace(rounding)
    for change in (sympy.expand, _cancelled, lambda e: _cancelled(e.rewrite(sympy.exp)), _simplified):
        if change(difference) == 0:
            return
    raise Disproved(f"{difference}")


def _cancelled(expression: Any) -> Any:
    return sympy.cancel(sympy.together(sympy.expand_power_exp(expression)))


def _simplified(expression: Any) -> Any:
    """The simplified expression, if it is short: simplifying a long one takes minutes."""
    return sympy.simplify(expression) if sympy.count_ops(expression) < 40 else expression
