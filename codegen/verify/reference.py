"""References: compute an operator's value at one point to any number of digits, and its derivatives by difference quotients.

Evaluates an entry's forward in mpmath: elementary functions by their NumPy names, operators by their own forwards, and the
entry's `reference:` if the forward is a kernel.  Never reads a derivative of the spec.  Needs mpmath, which is imported with
this module; only tests import it.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from functools import cache
from types import CodeType
from typing import Any

import mpmath
from mpmath import mp, mpf

from ..spec.constants import CONSTANTS
from ..spec.expression import Call, Conditional, Constant, Expression, Foreign, Helper, Metadata, Name, Operation, Sequence, walk
from ..spec.formula import COMPARISON
from ..spec.model import Op, Spec

AGREE = mpf(10) ** -16
ALIKE = mpf(10) ** -8  # tolerance between values on either side of a point
MANY = 10**6  # exponent above which a power by logarithms is faster
LOG2_10 = math.log2(10)
INFINITE = (20, 40, 80)  # powers of ten on the way to infinity
FEW_DIGITS = 150  # digits of special functions, which are slow
MORE_DIGITS = (110, 150, 400, 700)  # digits for numbers that are very small compared to the value


class NoReference(Exception):
    """An entry whose value mpmath cannot compute."""


def _where(test: Any, a: Any, b: Any) -> Any:
    return a if test else b


def _round(x: mpf, decimals: int = 0) -> mpf:
    return mp.nint(x * mpf(10) ** decimals) / mpf(10) ** decimals


def _power(a: mpf, b: mpf) -> mpf:
    if a == 0:
        return mpf(1) if b == 0 else mpf(0) if b > 0 else mp.inf
    if not MANY < abs(b) < mp.inf or b != mp.floor(b) or mp.isinf(a) or isinstance(a, mpmath.mpc):
        return a**b
    # The number of squarings grows with the exponent's digits; mpmath itself uses logarithms only for other exponents.
    with mp.extraprec(mp.mag(b) + max(mp.mag(mp.log(abs(a))), 0) + 20):
        size = mp.exp(b * mp.log(abs(a)))
    return -size if a < 0 and b % 2 else +size


def _fmod(a: mpf, b: mpf) -> mpf:
    quotient = a / b
    return a - b * (mp.floor(quotient) if quotient > 0 else mp.ceil(quotient))


def _logaddexp(a: mpf, b: mpf, base: Any = None) -> mpf:
    if a == b:
        return a + (mp.log(2) if base is None else 1)
    high, low = max(a, b), min(a, b)
    scale = 1 if base is None else mp.log(base)
    if high and (low - high) * scale < mp.mag(high) - mp.prec - 10:
        return +high  # the other term is below its last digit
    return high + mp.log1p(mp.exp((low - high) * scale)) / scale


# The keys are NumPy's names; mpmath uses the names of mathematics.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": abs, "absolute": abs, "add": lambda a, b: a + b, "arccos": mp.acos, "arccosh": mp.acosh, "arcsin": mp.asin,
    "arcsinh": mp.asinh, "arctan": mp.atan, "arctan2": mp.atan2, "arctanh": mp.atanh,
    "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)), "ceil": mp.ceil, "clip": lambda x, low=None, high=None: x if x != x else min(
        max(x, -mp.inf if low is None else low), mp.inf if high is None else high),
    "conjugate": lambda x: x, "copysign": lambda a, b: -abs(a) if b < 0 else abs(a), "cos": mp.cos, "cosh": mp.cosh,
    "deg2rad": lambda x: x * mp.pi / 180, "divide": lambda a, b: a / b, "exp": mp.exp, "exp2": lambda x: mpf(2) ** x,
    "expm1": mp.expm1, "floor": mp.floor, "floor_divide": lambda a, b: mp.floor(a / b), "fmax": max, "fmin": min, "fmod": _fmod,
    "heaviside": lambda a, b: b if a == 0 else mpf(a > 0), "hypot": mp.hypot, "log": mp.log, "log10": mp.log10,
    "log1p": mp.log1p, "log2": lambda x: mp.log(x, 2), "logaddexp": _logaddexp, "logaddexp2": lambda a, b: _logaddexp(a, b, 2),
    "maximum": max, "minimum": min, "multiply": lambda a, b: a * b, "negative": lambda x: -x, "positive": lambda x: x,
    "power": _power, "rad2deg": lambda x: x * 180 / mp.pi, "real": lambda x: x, "remainder": lambda a, b: a - b * mp.floor(a / b),
    "round": _round, "sign": mp.sign, "sin": mp.sin, "sinh": mp.sinh, "sqrt": mp.sqrt, "square": lambda x: x * x,
    "subtract": lambda a, b: a - b, "tan": mp.tan, "tanh": mp.tanh, "trunc": lambda x: mp.sign(x) * mp.floor(abs(x)),
    "where": _where, "isnan": mp.isnan, "isinf": mp.isinf, "equal": lambda a, b: a == b, "not_equal": lambda a, b: a != b,
    "greater": lambda a, b: a > b, "greater_equal": lambda a, b: a >= b, "less": lambda a, b: a < b,
    "less_equal": lambda a, b: a <= b,
}  # fmt: skip
_OPERATORS: dict[str, Callable[..., Any]] = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b, "**": _power,
    "//": lambda a, b: mp.floor(a / b), "%": lambda a, b: a - b * mp.floor(a / b), "&": lambda a, b: a and b,
    "|": lambda a, b: a or b, "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b, "==": lambda a, b: a == b, "!=": lambda a, b: a != b, "is": lambda a, b: a is b,
    "is not": lambda a, b: a is not b, "and": lambda a, b: a and b, "or": lambda a, b: a or b,
}  # fmt: skip
_UNARY: dict[str, Callable[[Any], Any]] = {"-": lambda x: -x, "~": lambda x: not x, "not": lambda x: not x}
_NAMES = {name: getattr(mpmath, name) for name in dir(mpmath) if not name.startswith("_")}


# Functions that mpmath computes to thousands of digits quickly.
ELEMENTARY = {
    "abs", "cosh", "cospi", "exp", "floor", "log", "log1p", "max", "min", "mpf", "nint", "sech", "sincpi", "sqrt", "tanh",
}  # fmt: skip


class Reference:
    """The operators of a spec as functions of mpmath's numbers."""

    functions: Mapping[str, Callable[..., Any]] = FUNCTIONS
    operators: Mapping[str, Callable[..., Any]] = _OPERATORS
    names: Mapping[str, Any] = {**_NAMES, "abs": abs, "min": min, "max": max}

    def __init__(self, spec: Spec):
        self.ops = spec.ops

    def value(self, op: Op, arguments: Mapping[str, Any]) -> Any:
        """The result of an operator for real numbers, in mpmath's current precision."""
        names = self.all_of(op, arguments)
        if op.reference is not None:
            return eval(_compiled(op.reference.tree), {"__builtins__": {}}, {**self.names, **names})
        formula = op.composite or op.forward
        if formula is None or formula.expression is None:
            raise NoReference(op.name)
        for name, let in op.lets.items() if op.composite else ():
            names[name] = _Later(self, let.expression, names)
        return self.of(formula.expression, names)

    def digits(self, op: Op) -> int:
        """The largest number of digits that may be requested."""
        if op.reference is not None:
            called = {node.func.id for node in ast.walk(op.reference.tree) if isinstance(node, ast.Call)}
            return 10**4 if called <= ELEMENTARY else FEW_DIGITS
        formulas = [op.composite, *op.lets.values()] if op.composite else [op.forward]
        calls = [node for formula in formulas for node in walk(formula.expression) if isinstance(node, Call) and node.op]
        return min((self.digits(self.ops[call.op]) for call in calls), default=10**4)

    def of(self, expression: Expression, names: Mapping[str, Any]) -> Any:
        match expression:
            case Name(name):
                value = names[name]
                return value() if isinstance(value, _Later) else value
            case Constant(value):
                return value
            case Conditional(test, body, orelse):
                return self.of(body if self.of(test, names) else orelse, names)
            case Call("", arguments, symbol):
                return self._operate(symbol, [self.of(a, names) for a in arguments])
            case Call(name, arguments):
                op = self.ops[name]
                given = {p.name: self.of(a, names) for p, a in zip(op.signature.arguments, arguments) if a is not None}
                return self.value(op, given)
            case Operation(operators, operands):
                values = [self.of(operand, names) for operand in operands]
                if len(values) > 2:
                    return all(self._operate(o, [a, b]) for o, a, b in zip(operators, values, values[1:]))
                return self._operate(operators[0], values)
            case Foreign("np" | "kernels", (name,), arguments, keywords) if (
                arguments is not None and name in self.functions and not keywords
            ):
                return self.functions[name](*(self.of(a, names) for a in arguments))
            case Helper("is_complex"):
                return False
            case Helper(function, (word,)) if function.startswith("checked_"):
                return self.of(word, names)
            case Metadata(_, "dtype"):
                return float
            case Sequence(items):
                return tuple(self.of(item, names) for item in items)
            case Foreign(root, path):
                raise NoReference(f"{'.'.join((root, *path))} is not among FUNCTIONS; state the value with `reference:`")
        raise NoReference(f"{expression}")

    def later(self, expression: Expression, names: Mapping[str, Any]) -> _Later:
        """A let, to be evaluated when it is read."""
        return _Later(self, expression, names)

    def all_of(self, op: Op, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments, with defaults for missing ones."""
        return {**{a.name: a.given for a in op.signature.arguments if a.default is not None}, **arguments}

    def _operate(self, symbol: str, values: list[Any]) -> Any:
        return _UNARY[symbol](values[0]) if len(values) == 1 else self.operators[symbol](*values)


class _Later:
    """A let, evaluated when it is read."""

    def __init__(self, reference: Reference, expression: Expression, names: Mapping[str, Any]):
        self.reference, self.expression, self.names = reference, expression, names

    def __call__(self) -> Any:
        return self.reference.of(self.expression, self.names)


def power_of_ten(exponent: int) -> mpf:
    """A power of two close to the power of ten; it needs no multiplications of thousands of digits."""
    return mp.ldexp(1, round(exponent * LOG2_10))


@cache
def _compiled(tree: ast.expr) -> CodeType:
    return compile(ast.Expression(tree), "<reference>", "eval")


def number(value: Any) -> float:
    """The nearest double; NaN for complex or undefined values."""
    if isinstance(value, mpmath.mpc):
        return math.nan if value.imag else number(value.real)
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def derivatives(function: Callable[[Any], Any], x: float, inside: Callable[[Any], bool],
                limit: int = 10**4, beside: float = 1.0) -> tuple[float, float, float, tuple[float, ...]] | None:  # fmt: skip
    """Value, first and second derivative at a point, and the one-sided derivatives at a kink; None if nothing converges.

    At infinity these are the limits, and at an edge of the domain the derivatives from inside.  `limit` is the highest
    number of digits, and `beside` is another number in the function.
    """
    if math.isinf(x):
        return _at_infinity(function, x, inside, limit, beside)
    # Enough digits to distinguish 1 + x * x from 1, and for a step from x that is small compared to 1.
    decades = _decades(x) + _decades(beside)
    first, second = 50 + int(6.2 * decades), 70 + int(6.5 * decades)
    tried = [first, second, *(digits for digits in MORE_DIGITS if digits > second)]
    return _settled(function, mpf(x), inside, [d for d in tried if d <= limit] if second <= limit else [limit - 20, limit])


def _decades(x: float) -> float:
    return abs(math.log10(abs(x))) if x else 0


def _settled(function: Callable[[Any], Any], x: Any, inside: Callable[[Any], bool], tried: list[int]) -> Any:
    """Try the numbers of digits in turn, until two of them give more than the rounding error of a constant."""
    found = []
    for digits in tried:
        with mp.workdps(digits):
            try:
                last = _quotients(function, x, inside, digits)
            except (ZeroDivisionError, ValueError, OverflowError):
                return None
            if last is None:
                return None
            found.append(last)
            if len(found) > 1 and all(f[3] for f in found[-2:]) and all(map(_agree, found[-2][1:3], last[1:3])):
                break
    (_, *before, _, _), (value, *after, _, kink) = found[-2:]
    first, second = map(_limit, before, after)
    kink = tuple(map(_limit, found[-2][4], kink)) if len(found[-2][4]) == len(kink) else ()
    kink = kink if len(set(kink)) > 1 else ()
    if len(found) == len(tried) and digits < MORE_DIGITS[-1] and not found[-1][3]:
        first, second = (v or math.nan for v in (first, second))  # a 0 may be due to too few digits
    return number(value), first, second if math.isfinite(first) else math.nan, kink


def _quotients(function: Callable[[Any], Any], x: Any, inside: Callable[[Any], bool], digits: int) -> Any:
    """Value, difference quotients for a step that is small compared to x, whether both are known, and the slopes at a kink."""
    h = (abs(x) or mpf(1)) * power_of_ten(-(digits // 4))
    f = {k: function(x + k * h) for k in (0, 1, 2, -1, -2) if k == 0 or inside(x + k * h)}
    if not all(isinstance(v, (int, float)) or mp.isfinite(v) for v in f.values()):
        return None
    size = max(map(abs, f.values()))
    slopes = {side: side * (4 * f[side] - f[2 * side] - 3 * f[0]) / (2 * h) for side in (1, -1) if 2 * side in f}
    bends = {side: (f[0] - 2 * f[side] + f[2 * side]) / h**2 for side in slopes}
    if len(slopes) == 2:
        slopes[0], bends[0] = (f[1] - f[-1]) / (2 * h), (f[1] - 2 * f[0] + f[-1]) / h**2
    if not slopes:
        return None
    which = 0 if 0 in slopes else min(slopes)
    bound = size * power_of_ten(8 - digits) / h
    kink = () if len(slopes) == 1 or _agree(slopes[1], slopes[-1], ALIKE, bound) else (slopes[-1], slopes[1])
    if len(slopes) == 3 and not _agree(bends[1], bends[-1], ALIKE, bound / h):
        bends[0] = mp.nan  # the second derivative jumps
    lost = _lost(slopes[which] * h, size, digits), _lost(bends[which] * h**2, size, digits)
    return f[0], 0 if lost[0] else slopes[which], 0 if lost[1] else bends[which], not any(lost), kink


def _lost(difference: Any, size: Any, digits: int) -> bool:
    """Whether a difference is only the rounding error of a constant, or of a line."""
    return not mp.isnan(difference) and abs(difference) <= size * power_of_ten(24 - digits)


def _agree(a: Any, b: Any, tolerance: Any = AGREE, least: Any = 0) -> bool:
    return a == b or abs(a - b) <= tolerance * max(abs(a), abs(b)) + least


def _limit(coarse: Any, fine: Any) -> float:
    """The limit of quotients: a number, an infinity if they grow with finer steps, else NaN."""
    if _agree(coarse, fine) or number(coarse) == number(fine):
        return number(fine)
    if abs(fine) > 1.2 * abs(coarse) and mp.sign(fine) == mp.sign(coarse):
        return math.copysign(math.inf, fine)
    return math.nan


def _at_infinity(function: Callable[[Any], Any], x: float, inside: Callable[[Any], bool], limit: int, beside: float) -> Any:
    """The limits, from growing numbers; None if the value has no limit."""
    found = []
    for power in (power + round(_decades(beside)) for power in INFINITE):
        digits = min(5 * power + 100, limit)
        with mp.workdps(digits):
            place = mp.sign(x) * (mpf(10) ** power + mpf(0.3))
            if not inside(place):
                return None
            try:
                found.append(_quotients(function, place, inside, digits))
            except (ZeroDivisionError, ValueError, OverflowError):
                return None
    if None in found:
        return None
    value, first, second = (_limit_far([f[i] for f in found]) for i in range(3))
    if math.isnan(value):
        return None
    # Compared to a value that grows so fast, differences vanish.
    return (value, *(math.nan if math.isinf(value) and not v else v for v in (first, second)), ())


def _limit_far(values: list[Any]) -> float:
    numbers = list(map(number, values))
    if numbers[-1] == numbers[-2]:
        return numbers[-1]
    steps = list(zip(values, values[1:]))
    if len({mp.sign(v) for v in values}) == 1 and all(abs(a) * 1.5 < abs(b) for a, b in steps):
        return math.copysign(math.inf, values[-1])
    return 0.0 if all(abs(b) * 1000 < abs(a) for a, b in steps) else math.nan


def domain_test(op: Op, names: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], bool]:
    """Whether numbers are in the closure of an entry's domain."""
    if op.domain is None:
        return lambda values: True
    code = _closed(op.domain.source)
    functions = {"abs": abs, "real": lambda x: x, "floor": mp.floor, "round": mp.nint, "isfinite": mp.isfinite, **CONSTANTS}
    return lambda values: bool(eval(code, {"__builtins__": {}}, {**functions, **names, **values}))


@cache
def _closed(domain: str) -> CodeType:
    tree = _Closed().visit(ast.parse(domain, mode="eval"))
    return compile(ast.fix_missing_locations(tree), "<domain>", "eval")


class _Closed(ast.NodeTransformer):
    """A condition with its boundary: < becomes <=, and != becomes true."""

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        if any(isinstance(o, ast.NotEq) for o in node.ops):
            return ast.Constant(True)
        node.ops = [{ast.Lt: ast.LtE, ast.Gt: ast.GtE}.get(type(o), type(o))() for o in node.ops]
        return node


assert set(_OPERATORS) >= {symbol for symbol, _ in COMPARISON.values()}
