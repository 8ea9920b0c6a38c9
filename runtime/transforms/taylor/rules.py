"""Taylor rules: compute operators on truncated power series.

Each function here is one way, named in the operator's entry.  It gets the level, the operator and its arguments, and returns
series with coefficients that are computed on demand.  A nonlinear operator has the derivative y' = jvp(x, y; x'), its jvp formula
evaluated on series: coefficient n of y is coefficient n - 1 of y', divided by n.  The operators of the formula use these rules
again.  Equal operators on equal operands are computed once, so sine and cosine, or a quotient and its divisor, are a closed
system, and the cost is polynomial in the order.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...generated.tensor import Tensor
from ...methods.dual_level import formula_level
from ...support.dispatch import ops
from ..batching.batched import Batched, is_row
from ..batching.level_tensor import LevelTensor
from .series import first_of, flat, is_series, series, total


def constant(level: Any, places: tuple, call: Any, args: tuple) -> Any:
    """Apply the operator to the value only: the result is constant."""
    return call(*first_of(args, level))


def terms(level: Any, places: tuple, call: Any, args: tuple) -> Any:
    """Apply the operator to each coefficient."""
    if len(places) > 1 or type(args[places[0]]) in (tuple, list):
        return _joint(level, places, call, args)
    place = places[0]
    x, others = args[place], first_of(args, level)

    def on(value: Any) -> Any:
        return call(*others[:place], value, *others[place + 1 :])

    def coefficient(number: int) -> Any:
        value = x.term(number)
        return None if value is None else on(value)

    return _built(level, on(x.known(0)), coefficient, x.degree, x.is_zero(0))


def _joint(level: Any, places: tuple, call: Any, args: tuple) -> Any:
    """`terms` for several operands, some without coefficients: by the jvp, which is the operator on tangents."""
    first, formula = _formula(level, call, args)
    if formula is None:
        return first
    primals = first_of(_given(args, formula.inputs), level)

    def coefficient(number: int) -> Any:
        values = tuple([_tangent(level, arg, number) for arg in args])
        if all(value is None for value in values):
            return None
        return _unpacked(formula(formula.outputs, primals, values), first)

    degrees = {value.degree for value in flat(args) if is_series(value, level)}
    if len(degrees) > 1 and level.summed is not None:
        raise RuntimeError("laplacian: an operator whose derivative is that of a larger one cannot be a part of it; use the "
                           "trace of hessian(function)")  # fmt: skip
    return _built(level, first, coefficient, max(degrees))


def _tangent(level: Any, value: Any, number: int) -> Any:
    """A coefficient of an operand, or of several; absent ones become zeros unless all are absent."""
    if type(value) is tuple or type(value) is list:
        if not any(is_series(item, level) and item.term(number) is not None for item in value):
            return None
        return [item.known(number) if is_series(item, level) else ops.zeros_like(item) for item in value]
    return value.term(number) if is_series(value, level) else None


def products(level: Any, places: tuple, call: Any, args: tuple) -> Any:
    """Sum over pairs of coefficients."""
    factors = [place for place in places if is_series(args[place], level)]
    others = list(first_of(args, level))
    degree = sum(args[place].degree for place in factors)

    def coefficient(number: int) -> Any:
        return total(level, degree + number, [on(split) for split in _splits(number, len(factors))])

    def on(split: tuple) -> Any:
        if any(args[place].is_zero(number) for place, number in zip(factors, split)):
            return None
        found = list(others)
        for place, number in zip(factors, split):
            found[place] = args[place].term(number)
            if found[place] is None:
                return None
        return call(*found)

    return _built(level, call(*others), coefficient, degree, any(args[place].is_zero(0) for place in factors))


def _splits(number: int, count: int) -> Iterator[tuple[int, ...]]:
    """All ways to write a number as a sum."""
    if count == 1:
        yield (number,)
        return
    for first in range(number + 1):
        for rest in _splits(number - first, count - 1):
            yield (first, *rest)


def recurrence(level: Any, places: tuple, call: Any, args: tuple) -> Any:
    """Evaluate the jvp formula on series, order by order."""
    first, formula = _formula(level, call, args)
    if formula is None:
        return first
    degree, slopes = _degree(level, args), []  # the derivatives of the outputs, computed on demand

    def slope() -> Any:
        if not slopes:
            tangents = tuple([_derivative(level, arg) for arg in args])
            outputs = tuple(result) if isinstance(result, tuple) else (result,)
            slopes.append(_unpacked(formula(outputs, _given(args, formula.inputs), tangents), first))
        return slopes[0]

    def coefficient(number: int) -> Any:
        return _each(slope(), lambda found: _divided(level, found, number))

    result = _built(level, first, coefficient, degree)  # its own derivative may refer to it
    return result


def elementwise(level: Any, places: tuple, call: Any, args: tuple) -> Any:
    """`recurrence`; in a Laplacian, once for each value instead of once for each value and path.

    The coefficients c of f(x + t) in t are the same for all paths.  The series f(x + t x1 + t^2 x2) has the coefficients c1 x1
    and c1 x2 + c2 x1^2.  Of the latter, later operators only need the sum over the paths.
    """
    movers = [arg for arg in args if is_series(arg, level)]
    x = movers[0]
    if len(movers) > 1 or x.rule is not None or x.dtype.kind != "f" or not is_row(x.term(1), level.summed):
        return recurrence(level, places, call, args)
    straight = level.remembered("straight", (x,), lambda: series([x.known(0), ops.ones_like(x.known(0))], level, x))
    along = call(*[straight if arg is x else arg for arg in args])
    if not is_series(along, level):
        return along

    def coefficient(number: int) -> Any:
        parts = [(along.term(1), x.term(number))]
        if number == 2:
            parts.append((along.term(2), ops.sum(ops.square(x.term(1).inside), 0)))
        return total(level, number, [ops.multiply(c, term) for c, term in parts if c is not None and term is not None])

    return _built(level, along.known(0), coefficient, x.degree)


def coefficients(level: Any, places: tuple, call: Any, args: tuple, name: str, least: int) -> Any:
    """Apply the operator that the entry names to all coefficients, along a last axis; `recurrence` up to the order `least`.

    In a summed vmap the last coefficient of the operand is the sum over the paths; each path then gets an equal share of it.
    """
    x = args[places[0]]
    if level.order <= least:
        return recurrence(level, places, call, args)
    known: list[Any] = []

    def term(number: int) -> Any:
        found = x.known(number)
        if level.summed is not None and x.degree + number == level.order and is_row(x.term(1), level.summed):
            found = ops.multiply(found, 1 / level.summed.size)
        return found

    def coefficient(number: int) -> Any:
        if number >= len(known):  # an operand with a rule may depend on the result: request no coefficient beyond `number`
            last = number if x.rule is not None else level.order
            if all(x.term(i) is None for i in range(1, last + 1)):
                return None
            found = getattr(ops, name)(ops.stack([term(i) for i in range(last + 1)], -1))
            known[:] = [found[..., i] for i in range(last + 1)]
        return total(level, x.degree + number, [known[number]])

    return _built(level, call(x.known(0)), coefficient, x.degree)


def solution(level: Any, places: tuple, call: Any, args: tuple) -> Any:
    """Apply the operator to the remainder of each coefficient of its first place.

    y = F(b, z) solves M(b, y) = z, where M is linear in both.  So the next coefficient of y is F(b, .) of the remainder of z
    after the previous coefficients.  The jvp in b is - F(b, M(b_t, y)).  It is evaluated with b minus its first coefficient in
    place of b_t; meanwhile F(b, .) returns its argument unchanged.
    """
    place = places[0]
    z, others = args[place], list(first_of(args, level))
    first, formula = _formula(level, call, args)
    degree, moved = _degree(level, args), []

    def coefficient(number: int) -> Any:
        if not moved:
            rests = tuple([None if i == place or i not in places else _without_first(level, arg) for i, arg in enumerate(args)])
            if any(rest is not None for rest in rests):
                given = _given(args, formula.inputs)
                level.given_back = [given[i] for i in places[1:]], place
                try:
                    moved.append(formula((result,), given, rests)[0])
                finally:
                    level.given_back = None
            else:
                moved.append(None)
        rest = moved[0].term(number) if moved[0] is not None else None
        left = total(level, degree + number, [z.term(number) if is_series(z, level) else None, rest])
        return None if left is None else call(*others[:place], left, *others[place + 1 :])

    result = _built(level, first, coefficient, degree)
    return result


def _without_first(level: Any, value: Any) -> Any:
    """A series with its first coefficient replaced by zero."""
    if not is_series(value, level):
        return None
    return series([None], level, value, value.term, value.degree)


def _divided(level: Any, slope: Any, number: int) -> Any:
    """Coefficient `number` of a series, from its derivative."""
    if not is_series(slope, level):
        return slope if number == 1 else None
    found = slope.term(number - 1)
    return found if found is None or number == 1 else ops.multiply(found, 1 / number)


def _derivative(level: Any, value: Any) -> Any:
    """The derivative of an operand, or of several; absent ones become zeros."""
    if type(value) is tuple or type(value) is list:
        if not any(is_series(item, level) for item in value):
            return None
        return [_derivative(level, item) if is_series(item, level) else ops.zeros_like(item) for item in value]
    if not is_series(value, level):
        return None

    def rule(number: int) -> Any:
        term = value.term(number + 1)
        return term if term is None or not number else ops.multiply(term, number + 1)

    return level.remembered("derivative", (value,), lambda: series([], level, value, rule, value.degree + 1))


def _formula(level: Any, call: Any, args: tuple) -> tuple[Any, Any]:
    """The operator's result for the first coefficients, and its jvp formula."""
    primals = first_of(args, level)
    if not any(isinstance(value, LevelTensor) for value in flat(primals)):
        return _asked(call, primals)
    return call(*primals), _asked(call, _plain(primals))[1]


def _asked(call: Any, primals: tuple) -> tuple[Any, Any]:
    if (own := getattr(call, "asked", None)) is not None:  # an operator without a wrapper of the library's
        return own(primals)
    with formula_level() as level:
        return call(*map(level.carrying, primals)), level.found()


def _plain(value: Any) -> Any:
    """Each batch replaced by its first row, and each series of other levels by its first coefficient.

    The formula, and the converted arguments, are obtained for these values.
    """
    if type(value) is tuple or type(value) is list:
        return type(value)([_plain(item) for item in value])
    rows = 0
    while isinstance(value, LevelTensor):
        rows += type(value) is Batched
        value = value.below
    return value.detach()[(0,) * rows] if rows else value


def _given(args: tuple, converted: tuple) -> tuple:
    """The arguments as the operator converts them, except for tensors, which are unchanged."""
    return tuple([_mixed(arg, found) for arg, found in zip(args, converted)])


def _mixed(arg: Any, found: Any) -> Any:
    if isinstance(arg, Tensor):
        return arg
    if type(arg) in (tuple, list) and type(found) in (tuple, list) and len(arg) == len(found):
        return type(found)([_mixed(one, other) for one, other in zip(arg, found)])
    return found


def _degree(level: Any, args: tuple) -> int:
    """The degree of the first coefficient: an operator is linear in each operand of degree 1 or more, so degrees add up."""
    return sum(value.degree for value in flat(args) if is_series(value, level))


def _unpacked(found: tuple, like: Any) -> Any:
    """The tangents of the outputs in the form of the operator's result: one of them, a list, or several."""
    return found if isinstance(like, tuple) else found[0]


def _each(found: Any, change: Callable[[Any], Any]) -> Any:
    return [change(item) for item in found] if isinstance(found, (tuple, list)) else change(found)


def _built(level: Any, first: Any, coefficient: Callable[[int], Any], degree: int, is_zero: bool = False) -> Any:
    """Results with known first coefficients; `coefficient` computes the others, for all results at once.

    A first coefficient that is known to be zero is stored as None: a solution must not be asked for its factor.
    """
    if isinstance(first, Tensor):
        if first.dtype.kind not in "fc":
            return first
        first = total(level, degree, [first])
        return series([None if is_zero else first], level, first, lambda number: _fitted(coefficient(number), first), degree)
    if not isinstance(first, (tuple, list)):
        return first
    known: dict[int, Any] = {}

    def of(place: int, number: int) -> Any:
        if number not in known:
            known[number] = coefficient(number)
        return None if known[number] is None else _fitted(known[number][place], first[place])

    found = [
        series([None if is_zero else total(level, degree, [item])], level, item, lambda number, at=i: of(at, number), degree)
        if isinstance(item, Tensor) and item.dtype.kind in "fc" else item
        for i, item in enumerate(first)
    ]  # fmt: skip
    return _like(first, found)


def _like(first: Any, found: list) -> Any:
    """A sequence of results in the class of `first`, which may be a named tuple."""
    if type(first) is list:
        return found
    return tuple(found) if type(first) is tuple else type(first)(*found)


def _fitted(value: Any, like: Any) -> Any:
    """A coefficient in the shape and dtype of the value."""
    if value is None:
        return None
    if value.shape != like.shape:
        value = ops.broadcast_to(value, like.shape)
    if value.dtype != like.dtype:
        value = ops.astype(ops.real(value) if value.dtype.kind == "c" and like.dtype.kind != "c" else value, like.dtype)
    return value


def unlisted(level: Any, places: tuple, call: Any, args: tuple) -> Any:
    """An operator without an entry, such as one of a Cython extension: by the tangents that it pushes forward."""
    if _formula(level, call, args)[1] is None:
        raise NotImplementedError("jet: an operator that no entry has takes series only where it pushes tangents forward")
    return recurrence(level, places, call, args)


WAYS = {way.__name__: way for way in (coefficients, constant, elementwise, products, recurrence, solution, terms, unlisted)}
WAYS["refused"] = recurrence  # the operator itself raises the error when its formula is requested


def key_of(value: Any) -> Any:
    """A key for an operand: tensors by identity, anything else by value."""
    kind = type(value)
    if kind is tuple or kind is list:
        return (kind, *map(key_of, value))
    if kind is slice:
        return (kind, key_of(value.start), key_of(value.stop), key_of(value.step))
    if isinstance(value, (Tensor, np.ndarray)):
        return id(value)
    try:
        hash(value)
    except TypeError:
        return id(value)
    return (kind, value, str(value)) if kind is float else (kind, value)
