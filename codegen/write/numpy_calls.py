"""NumPy's calls: map the parameters of each NumPy function to the arguments of an operator.

Derives the mapping from the two signatures: required arguments by position, the others by name, or by position if NumPy has the
name as a keyword only.  Depends on no function and no operator by name.  Parameters that the operator lacks are handled by the
runtime.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

from ..spec.model import Argument, Op
from ..spec.numpy_signatures import NumpyFunction, Parameter, numpy_signatures
from .arguments import Positions, name_of

_ANY_NUMBER = 99  # positional arguments
_NOTHING_STATED = ("None", "?")
_OF_SUBCLASSES = ("subok", "like", "device", "casting")  # parameters without a meaning for a tensor


def universal(ops: list[Op]) -> dict[str, str]:
    """Universal function -> operator whose required arguments and outputs match the function's inputs and outputs."""
    return {
        name: op.name
        for name, op in _answered(ops)
        if (function := numpy_signatures().get(name)) and function.is_universal
        and function.inputs == len(_required(op)) and function.outputs == len(op.signature.visible)
    }  # fmt: skip


def special(ops: list[Op]) -> dict[str, str]:
    """Each name in the namespace of special functions -> operator; these are SciPy's names if SciPy has the function."""
    found = {name: op.name for op in ops for name in (op.name, *op.aliases) if op.namespace == "special" and name[0] != "_"}
    found |= {name: op.name for op in ops for namespace, name in op.elsewhere if namespace == "special"}
    return dict(sorted(found.items()))


def functions(ops: list[Op]) -> dict[str, NumpyCall]:
    """Function -> its call in terms of the operator."""
    table = numpy_signatures()
    calls = {name: NumpyCall(table[name], op) for name, op in _answered(ops) if name in table and not table[name].is_universal}
    return dict(sorted(calls.items()))


def method(op: Op) -> NumpyCall | None:
    """The function whose further parameters the operator's method also takes, if it has each of the operator's arguments.

    The further parameters are keywords.
    """
    call = of_the_same_name(op)
    if call is None or call.starred or {a.name for a in op.signature.arguments} - {*call.pairs.values(), *call.own}:
        return None
    return call if call.beside else None


def of_the_same_name(op: Op) -> NumpyCall | None:
    """The function with a name of the operator."""
    table = numpy_signatures()
    names = {op.name, *op.aliases, f"{op.namespace}.{op.name}"}
    own = [name for name in op.numpy if name in names and name in table and not table[name].is_universal]
    return NumpyCall(table[own[0]], op) if own and not op.inplace_only else None


def in_numpys_order(parameters: list[str], order: Sequence[str]) -> Positions:
    """Give the parameters that NumPy takes by position NumPy's places, among them keywords of the operator.

    The operator's own order remains if another parameter than a last truth value would move: values do not tell the orders apart.
    """
    star = parameters.index("*") if "*" in parameters else len(parameters)
    own, known = parameters[:star], {name_of(p): p for p in parameters if p != "*"}
    placed = [known[name] for name in itertools.takewhile(known.__contains__, order)]
    shared = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(own, placed)))
    moved = own[shared:]
    swapped = None
    if moved:
        if len(moved) > 1 or len(placed) == shared or not moved[0].endswith(("=False", "= False")) or placed[shared].endswith(("False", "True")):
            return Positions(parameters)
        swapped = name_of(placed[shared]), name_of(moved[0])
    keywords = [p for p in [*own, *parameters[star + 1 :]] if p not in placed]
    needs_star = keywords and not keywords[0].startswith("**")
    return Positions([*placed, *(["*"] if needs_star else []), *keywords], swapped)


def _answered(ops: list[Op]) -> Iterator[tuple[str, Op]]:
    """Each NumPy name that an operator implements; of two operators, the one with this name."""
    owners: dict[str, Op] = {}
    for op in ops:
        for name in op.numpy:
            if name not in owners or f"{op.namespace}.{op.name}".lstrip(".") == name:
                owners[name] = op
    yield from sorted(owners.items())


def _required(op: Op) -> list[Argument]:
    return [a for a in op.signature.arguments if a.default is None]


class NumpyCall:
    """One NumPy function, with the operator that implements it."""

    def __init__(self, function: NumpyFunction, op: Op):
        self.name, self.op = function.name, op
        self.starred = any(p.kind == "*" for p in function.parameters[:1])
        self.takes_more = any(p.kind == "**" for p in function.parameters)
        self.named = [p for p in function.parameters if not p.kind.startswith("*")]
        self.pairs = self._pairs(list(op.signature.arguments), self.named)

    def _pairs(self, arguments: list[Argument], parameters: list[Parameter]) -> dict[str, str]:
        """NumPy's parameter -> the operator's argument."""
        by_place = [p for p in parameters if p.kind == "positional" and not self.starred]
        pairs = {p.name: a.name for p, a in zip(by_place, _required(self.op))}
        for place, a in enumerate(arguments):
            if a.name in pairs.values():
                continue
            same = next((p for p in parameters if p.name == a.name and p.name not in pairs), None)
            if same is not None:
                pairs[same.name] = a.name
            if (same is None or same.kind == "keyword") and place < len(by_place) and not a.keyword_only:
                other = by_place[place]
                if other.name not in pairs and other.name not in {a.name for a in arguments} and _alike(other, a):
                    pairs[other.name] = a.name
        return pairs

    @property
    def required(self) -> int:
        """The number of arguments that must be given by position."""
        return 0 if self.starred else len(_required(self.op))

    @property
    def leading(self) -> int:
        """The number of first arguments that NumPy and the operator share; -1 if their defaults differ."""
        if self.given:
            return -1
        if self.starred:
            return _ANY_NUMBER
        count = 0
        for p, a in zip(self.named, self.op.signature.arguments):
            if p.kind != "positional" or a.keyword_only or self.pairs.get(p.name) != a.name:
                break
            count += 1
        return count

    @property
    def own(self) -> list[str]:
        """The operator's keywords that NumPy's function lacks."""
        names = {p.name for p in self.named}
        return [a.name for a in self.op.signature.arguments if a.keyword_only and a.name not in {*names, *self.pairs.values()}]

    @property
    def keywords(self) -> tuple[str, ...]:
        """The keywords with the same meaning for both."""
        same = [p for p, a in self.pairs.items() if p == a]
        if self.takes_more:
            optional = [a.name for a in self.op.signature.arguments if a.default is not None]
            same += [name for name in optional if name not in {*same, *self.pairs.values()}]
        return (*same, *[name for name in self.own if name not in same])

    @property
    def parameters(self) -> tuple[tuple[str, str | None], ...]:
        """NumPy's parameters in order, each with the matching argument or None."""
        return tuple((p.name, self.pairs.get(p.name)) for p in self.named)

    @property
    def order(self) -> list[str]:
        """The parameters that NumPy takes by position, by the operator's names for them."""
        return [self.pairs.get(p.name, p.name) for p in self.named if p.kind == "positional"]

    @property
    def beside(self) -> list[str]:
        """The parameters that a method takes by name in addition: the operator lacks them."""
        return [name for name, argument in self.parameters if argument is None and name not in _OF_SUBCLASSES]

    @property
    def names(self) -> dict[str, str]:
        """The operator's arguments after the first, each with NumPy's name for it if there is one."""
        first = {argument: parameter for parameter, argument in reversed(self.pairs.items())}
        return {a.name: first.get(a.name, a.name) for a in self.op.signature.arguments[1:]}

    @property
    def spelled(self) -> str:
        """The parameters in one line: in `a=x axis dtype=`, a is the argument x, axis is axis, and dtype has no argument."""
        return " ".join(name if name == argument else f"{name}={argument or ''}" for name, argument in self.parameters)

    @property
    def public_name(self) -> str:
        return f"{self.op.namespace}.{self.op.name}".lstrip(".")

    @staticmethod
    def sources(values: Mapping[str, str]) -> str:
        """A dict of Python sources as Python source."""
        return "{" + ", ".join(f'"{name}": {source}' for name, source in values.items()) + "}"

    @property
    def positional(self) -> int:
        return sum(p.kind == "positional" for p in self.named)

    @property
    def defaults(self) -> Mapping[str, str]:
        """The defaults of the parameters that the operator lacks."""
        return {p.name: p.default for p in self.named if p.name not in self.pairs and p.default not in (None, *_NOTHING_STATED)}

    @property
    def given(self) -> Mapping[str, str]:
        """NumPy's defaults for arguments whose own default is different."""
        given = {}
        for p in self.named:
            argument = self.op.signature.argument(self.pairs.get(p.name, ""))
            if argument and argument.default is not None and p.default not in (None, *_NOTHING_STATED, argument.default):
                given[argument.name] = p.default
        return given


def _alike(parameter: Parameter, argument: Argument) -> bool:
    """Whether a parameter and an argument at the same position may correspond: their defaults are compatible."""
    if parameter.default in (None, "?", argument.default):
        return True
    return parameter.default == "None" and argument.default == "None"
