"""Order: an open jet, and the dispatch of operators, writes and passes to the coefficients of its series.

Operators reach it by the same hook in the wrappers as a vmap; levels of both kinds nest.  The derivative of an output's
coefficient m by an input's coefficient j is coefficient m - j of the derivative.  So one pass from all coefficients, with the
cotangent's coefficients in reverse order, computes all coefficients of the gradient.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from ...core.events import current_mapping, set_mapping
from ...engine import backward as engine
from ...engine.backward import GradientEdge, get_gradient_edge
from ...generated.series import SERIES
from ...generated.tensor import Tensor
from ...methods.dual_level import make_dual, unpack_dual
from ...support.dispatch import ops
from ..batching.batched import Level, batched, each, inside_of, is_row, is_view_of, spread, stands_as
from ..batching.batched_backward import everywhere
from ..batching.vmap_levels import Mapping
from .rules import WAYS, key_of
from .series import Series, first_of, flat, is_read_only, is_series, series, share_memory, zeros


class Order:
    """One open jet.

    Attributes
    ----------
    order : int
        Number of the last coefficient that is kept.
    number : int
        Position among the open levels of the thread; the outermost has 1.
    summed : Level or None
        A vmap whose rows are summed in the last coefficient.
    memo : dict or None
        Results computed for one operator of the function; while it is set, coefficients are computed on demand.
    is_open : bool
    alive : int
        Number of tensors that are series of this level.
    """

    def __init__(self, order: int, number: int, summed: Level | None = None) -> None:
        self.order, self.number, self.summed, self.is_open, self.alive = order, number, summed, True, 0
        self.memo: dict[Any, Any] | None = None
        self.given_back: tuple[list, int] | None = None  # while the formula of a solution runs: operands, place of the right side

    # Operators.

    def call(self, name: str, wrapper: Any, inputs: tuple) -> Any:
        """The result of an operator with a series among its operands."""
        if not self.is_open:
            raise RuntimeError(f"{name}: a tensor of a jet was used after that jet had ended: it represents a series; "
                               "return it from the function, and use what jet returns")  # fmt: skip
        if name.endswith("_"):
            return self.written(name, wrapper, inputs)
        if name.endswith(".out"):
            out = inputs[-1]
            ops.copy_(out, getattr(ops, name[:-4])(*inputs[:-1]))
            return out
        way, places, *more = SERIES.get(name) or ("unlisted", tuple(range(len(inputs))))
        if way == "parts":
            result = wrapper.parts(*inputs)
            return result if self.memo is not None else each(result, lambda tensor: self.made(tensor, inputs))
        inputs = tuple([arg if i in places else first_of(arg, self) for i, arg in enumerate(inputs)])
        if self.memo is not None:
            if not any(is_series(value, self) for value in flat(inputs)):
                return wrapper(*inputs)
            if self.given_back is not None and way == "solution":
                operands, place = self.given_back
                if place == places[0] and all(inputs[i] is one for i, one in zip(places[1:], operands, strict=True)):
                    return inputs[place]
            return self.remembered(name, inputs, lambda: WAYS[way](self, places, wrapper, inputs, *more))
        used = [value for value in flat(inputs) if is_series(value, self)]
        if not used or way == "constant" or way != "terms" and all(value.is_constant() for value in used):
            return self.whole(wrapper(*first_of(inputs, self)))
        self.memo = {}
        try:
            result = self.remembered(name, inputs, lambda: WAYS[way](self, places, wrapper, inputs, *more))
            found = [item for item in flat((result,)) if is_series(item, self)]
            shares = any(share_memory(item.known(0), value.known(0)) for item in found for value in used)
            for value in used if shares else ():
                value.terms[:] = value.all_known()  # a write to a view is a write to its base
            result = self.whole(result)
            if not shares:
                self.part_memory(found, used)
            return result
        finally:
            for made in self.memo.values():
                for item in flat((made[0],)):
                    if isinstance(item, Series):
                        item.rule = None
            self.memo = None

    def remembered(self, name: str, inputs: tuple, compute: Any) -> Any:
        """An intermediate result of a formula: the same operator on the same operands is computed once."""
        assert self.memo is not None
        key = (name, *map(key_of, inputs))
        if key not in self.memo:
            self.memo[key] = compute(), inputs  # the inputs keep the ids in the key valid
        return self.memo[key][0]

    def whole(self, result: Any) -> Any:
        """A result with all coefficients; a constant tensor becomes a series with zero coefficients, so it may be written to."""
        if isinstance(result, (tuple, list)):
            found = [self.whole(item) for item in result]
            return type(result)(*found) if hasattr(result, "_fields") else type(result)(found)
        if is_series(result, self):
            return result.complete()
        if isinstance(result, Tensor) and result.dtype.kind in "fc":
            return series([result], self, result).complete()
        return result

    def made(self, value: Any, operands: Sequence[Any]) -> Any:
        """The result of an operator on series, even without coefficients, as a series that may be written to."""
        if is_series(value, self) or value.dtype.kind not in "fc":
            return value
        for operand in operands:
            if is_series(operand, self):
                value = stands_as(value, operand.known(0))
        return series([value], self, value).complete()

    def part_memory(self, found: list, used: list) -> None:
        """Give results that are not views their own memory, also if a coefficient is an operand's."""
        for value in found:
            for number, term in enumerate(value.terms):
                if term is not None and (is_read_only(term) or any(share_memory(term, one.terms[number]) for one in used)):
                    value.terms[number] = ops.copy(term)

    def lifted(self, value: Any, outer: Sequence[Any]) -> Series:
        """A value as a series whose coefficients may all require grad."""
        outer = [level for level in outer if level is not self.summed]
        if not is_series(value, self):
            return series([everywhere(value, outer)], self, value).complete()
        found = [batched(everywhere(term.inside, outer), self.summed) if is_row(term, self.summed) else everywhere(term, outer)
                 for term in value.all_known()]  # fmt: skip
        if any(term.requires_grad for term in found):
            found = [term if term.requires_grad else ops.copy(term).requires_grad_() for term in found]
        return series(found, self, value)

    # Writes.

    def written(self, name: str, wrapper: Any, inputs: tuple) -> Any:
        """An operator in place: each coefficient is written to."""
        target = inputs[0]
        if not is_series(target, self) or self.memo is not None:
            raise RuntimeError(f"jet: {name} is not possible, because it writes a series into a tensor without "
                               "coefficients. Use the operator that is not in place, or begin with a series: zeros_like(x) of an "
                               "x that jet was given")  # fmt: skip
        way, places, *_ = SERIES.get(name, ("", ()))
        if way == "terms":
            for number in range(self.order + 1):
                wrapper(self.room(target, number), *[self.part(arg, number, i in places) for i, arg in enumerate(inputs) if i])
            return target
        if way:
            wrapper(*first_of(inputs, self))
            for number in range(1, self.order + 1):
                if target.terms[number] is not None:
                    ops.zero_(target.terms[number])
            return target
        value = getattr(ops, name[:-1])(*inputs)
        if is_series(value, self) and is_view_of(value, target):
            target.become(value)
            return target
        if value.shape != target.shape:
            raise RuntimeError(f"jet: {name} would give a series the shape {value.shape} in place of {target.shape}; use "
                               "the operator that is not in place")  # fmt: skip
        self.store(target, value)
        return target

    def room(self, target: Series, number: int) -> Any:
        """A coefficient to write to, at the levels of the first one."""
        if target.term(number) is None:
            found, like = zeros(target, number), inside_of(target.known(0), self.summed)
            if is_row(found, self.summed):
                target.terms[number] = batched(stands_as(found.inside, like), self.summed)
            else:
                target.terms[number] = stands_as(found, like)
        return target.terms[number]

    def store(self, target: Series, value: Any) -> None:
        """Write all coefficients; a missing coefficient has no views and is created."""
        for number in range(self.order + 1):
            term = value.term(number) if is_series(value, self) else value if number == 0 else None
            if target.terms[number] is None:
                target.terms[number] = None if term is None else ops.astype(ops.copy(term), target.dtype)
            elif term is None:
                ops.zero_(target.terms[number])
            else:
                ops.copy_(target.terms[number], term)

    def part(self, arg: Any, number: int, moves: bool) -> Any:
        """An operand's part in the write of one coefficient."""
        if not moves or number == 0:
            return first_of(arg, self)
        if is_series(arg, self):
            return arg.known(number)
        return ops.zeros_like(arg) if isinstance(arg, Tensor) else 0.0

    # Passes.

    def insides(self, value: Any) -> list:
        return list(current_mapping().insides([term for term in value.terms if term is not None]))

    def gradient_edge(self, tensor: Any) -> Any:
        edges = [get_gradient_edge(inside_of(term, self.summed)) if term.requires_grad else None for term in tensor.all_known()]
        found = SeriesEdge(*next(edge for edge in reversed(edges) if edge is not None))
        found.level, found.edges, found.like = self, edges, tensor
        return found

    def grad(self, outputs: Sequence[Any], inputs: Sequence[Any], grads: Sequence[Any] | None, retain_graph: Any,
             create_graph: bool, unused: bool, is_grads_batched: bool, materialize_grads: bool) -> Any:  # fmt: skip
        """Gradients by series, in one pass for all coefficients."""
        roots, cotangents = [], []
        for i, output in enumerate(outputs):
            tensor = output.like if isinstance(output, SeriesEdge) else output
            grad = ops.ones_like(first_of(tensor, self)) if grads is None or grads[i] is None else grads[i]
            terms = tensor.complete().terms if is_series(tensor, self) else [tensor]
            starts = output.edges if tensor is not output else [t if t is not None and t.requires_grad else None for t in terms]
            for number, (term, start) in enumerate(zip(terms, starts)):
                value = grad.term(self.order - number) if is_series(grad, self) else grad if number == self.order else None
                if start is not None and value is not None:
                    roots.append(inside_of(start, self.summed))
                    cotangents.append(self.beside(value, term, is_grads_batched))
        targets: list[Any] = []
        for i, value in enumerate(inputs):
            if not is_series(value, self) and not isinstance(value, SeriesEdge):
                raise RuntimeError(f"jet: input {i} of grad() is not a series, but the output is: its gradient would be the "
                                   "gradient of the last coefficient. Use gs.grad(function), or make it an argument")  # fmt: skip
            if isinstance(value, SeriesEdge):
                targets += value.edges
            else:
                targets += [inside_of(term, self.summed) for term in value.all_known()]
        if roots:
            found = engine.grad(roots, targets, cotangents, retain_graph, create_graph, True, is_grads_batched)
        else:
            found = [None] * len(targets)
        results = []
        for i, value in enumerate(inputs):
            terms = list(found[i * (self.order + 1) : (i + 1) * (self.order + 1)])[::-1]
            like = value.like if isinstance(value, SeriesEdge) else value
            results.append(self.gathered(terms, like, unused, materialize_grads, is_grads_batched))
        return tuple(results)

    def beside(self, value: Any, term: Any, many: bool) -> Any:
        """One cotangent or many, without the summed vmap: its rows are an axis if the coefficient has rows, else summed."""
        if is_row(term, self.summed):
            found = spread(value, self.summed).inside
            return ops.moveaxis(found, 0, 1) if many else found
        return ops.sum(value.inside, 0) if is_row(value, self.summed) else value

    def gathered(self, terms: list, like: Any, unused: bool, materialize: bool, many: bool) -> Any:
        """The gradient by one input, or a batch of gradients."""
        if all(term is None for term in terms):
            if not (unused or materialize):
                raise RuntimeError("One of the differentiated Tensors appears to not have been used in the graph. Set "
                                   "allow_unused=True if this is the desired behavior.")  # fmt: skip
            return ops.zeros_like(like) if materialize else None
        if self.summed is not None:
            terms = [batched(ops.moveaxis(term, 1, 0) if many else term, self.summed)
                     if term is not None and 0 < number < self.order else term for number, term in enumerate(terms)]  # fmt: skip
        return series(terms, self, next(term for term in terms if term is not None))

    # Forward mode.

    def make_dual(self, primal: Any, tangent: Any, level: Any) -> Any:
        return self.joined(primal, tangent, lambda one, other: make_dual(one, other, level=level))

    def push(self, dual_level: Any, primal: Any, tangents: Any) -> Any:
        return self.joined(primal, tangents, dual_level.push)

    def joined(self, primal: Any, tangent: Any, join: Any) -> Series:
        """A series whose coefficients carry the coefficients of a tangent."""
        primal, tangent = (x if is_series(x, self) else series([x], self, x).complete() for x in (primal, tangent))
        pairs = [(primal.terms[i] if other is None else primal.known(i), other) for i, other in enumerate(tangent.terms)]
        return series([one if other is None else join(one, other) for one, other in pairs], self, primal)

    def unpack_dual(self, tensor: Any, level: Any) -> Any:
        return self.parted(tensor, lambda term: unpack_dual(term, level=level))

    def pushed(self, dual_level: Any, tensor: Any) -> Any:
        return self.parted(tensor, dual_level.pushed)

    def parted(self, tensor: Any, part: Any) -> Any:
        """The series of primals, and the series of tangents, of a series of dual coefficients."""
        found = [(None, None) if term is None else tuple(part(term)) for term in tensor.complete().terms]
        tangents = [tangent for _, tangent in found]
        like = next((tangent for tangent in tangents if tangent is not None), None)
        return series([primal for primal, _ in found], self, tensor), None if like is None else series(tangents, self, like)

    # Refusals.

    def refuse(self, what: str, way: str) -> NoReturn:
        raise RuntimeError(f"jet: {what} is not possible, because inside of jet a tensor represents the coefficients of a "
                           f"series; {way}")  # fmt: skip

    def refuse_left(self, method: str) -> NoReturn:
        raise RuntimeError(f"jet: {method}() of a tensor would lose its coefficients; write operators on the tensor itself. A "
                           "comparison gives a plain tensor, so `if x > 0` works")  # fmt: skip


class SeriesEdge(GradientEdge):
    """The gradient edges of a series."""

    level: Order
    edges: list
    like: Any


@contextmanager
def opened(order: int, rows: int = 0) -> Iterator[Order]:
    """Open a jet inside of the open levels; with `rows`, along that many paths at once, which are summed at the end."""
    mapping = current_mapping()
    if mapping is None:
        mapping = Mapping()
        set_mapping(mapping)
    summed = Level(rows, len(mapping.levels) + 1, "error") if rows else None
    own: list[Any] = [summed] if summed else []
    level = Order(order, len(mapping.levels) + len(own) + 1, summed)
    own.append(level)
    mapping.levels.extend(own)
    try:
        yield level
    finally:
        for one in own:
            mapping.levels.remove(one)
            one.is_open = False
        mapping.left = [one for one in (*mapping.left, *own) if one.alive]
        if not mapping.levels and not mapping.left:
            set_mapping(None)
