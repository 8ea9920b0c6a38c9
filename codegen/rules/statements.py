"""Statements: in which order, and under which conditions, the parts of a formula are computed.

Owns one placement for forward, composite, vjp and jvp, which the generated code and the checker share.  A let stands before its
first use.  If one branch of a conditional alone reads it, it stands inside that branch; if its readers are wanted under a
condition, under that condition.  Terms of an absent cotangent or tangent are left out.

A rule is linear in its cotangents or tangents, so it is a sum of terms.  Each term therefore reads one cotangent or tangent, or
lets made of the same one, and is absent if that is.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from ..spec.expression import STATIC, Conditional, Expression, Metadata, Name, lets_in, names_of, terms, walk
from ..spec.formula import grad_names
from ..spec.model import Location, Op, Saved

RESULT = "return"


@dataclass(frozen=True)
class Assign:
    """`name = value`; None where `present` is None, and added to what `name` holds where `adds`."""

    name: str
    value: Expression
    present: str = ""
    adds: bool = False
    subtracts: bool = False  # the value is a term that is taken away


@dataclass(frozen=True)
class Unpack:
    """What a node saved, under its name."""

    saved: Saved


@dataclass(frozen=True)
class Branch:
    """One of two blocks, by a static test."""

    test: Expression
    body: tuple[Statement, ...]
    orelse: tuple[Statement, ...]
    at: Location | None = None


@dataclass(frozen=True)
class Wanted:
    """A block for gradients of which at least one is wanted: those of `inputs`."""

    inputs: tuple[str, ...]
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class Present:
    """A block for terms of which at least one is there: of `names`, cotangents or tangents, one is not absent."""

    names: tuple[str, ...]
    body: tuple[Statement, ...]


Statement = Assign | Unpack | Branch | Wanted | Present


@dataclass(frozen=True)
class Target:
    """A name to compute, and for what: empty conditions mean that it is always wanted."""

    name: str
    value: Expression | Saved
    inputs: tuple[str, ...] = ()  # whose gradients it serves
    present: tuple[str, ...] = ()  # the cotangents or tangents whose terms read it
    is_branch: bool = False  # what it alone reads stands inside it

    @property
    def absorbs(self) -> bool:
        return self.is_branch or isinstance(self.value, Conditional)


def forward_statements(op: Op) -> tuple[Statement, ...]:
    """What computes the op: its forward or composite, else its kernel that writes in place."""
    formula = op.forward or op.composite or op.inplace
    return _Placement(op.let_expressions).block([Target(RESULT, formula.expression)])


def vjp_statements(op: Op, inputs: Iterable[str] | None = None, unpack: bool = True, last: str = "") -> tuple[Statement, ...]:
    """The cotangents `grad_<input>` of some inputs, of all that have a rule where None is given; that of `last` comes last."""
    rules = {name: rule for name, rule in op.derived.vjp.items() if inputs is None or name in set(inputs)}
    rules = dict(sorted(rules.items(), key=lambda item: item[0] == last))
    grads, arrays = grad_names(op), op.signature.arrays
    # With a list of arrays the number of inputs is not known, and every gradient is computed.
    several = [a.name for a in arrays] if len(arrays) > 1 and not any(a.type.is_list for a in arrays) else []
    targets = [Target(f"grad_{name}", rule, (name,) if several else ()) for name, rule in rules.items()]
    absent = grads if len(grads) > 1 else ()
    return _Placement(op.let_expressions, absent, several, op.derived.saved if unpack else ()).block(targets)


def jvp_statements(op: Op) -> tuple[Statement, ...]:
    """The tangents `<output>_t`."""
    tangents = [f"{a.name}_t" for a in op.signature.arrays]
    targets = [Target(f"{name}_t", rule) for name, rule in op.derived.jvp.items()]
    return _Placement(op.let_expressions, tangents if len(tangents) > 1 else ()).block(targets)


def check_terms(op: Op, what: str, rules: Mapping[str, Expression]) -> list[tuple[str, str, Location]]:
    """What keeps written rules from being sums of terms that can be absent: (key of the formula, message, place)."""
    names = list(grad_names(op)) if what == "cotangent" else [f"{a.name}_t" for a in op.signature.arrays]
    placement = _Placement(op.let_expressions, names)
    used = {let for rule in rules.values() for let in lets_in(rule, op.let_expressions)}
    lets = {f"let: {name}": rule for name, rule in op.let_expressions.items() if name in used}
    found: list[tuple[str, str, Location]] = []
    for key, rule in [*lets.items(), *rules.items()]:
        for leaf in _leaves(rule):
            if key in lets and not placement.absentees(leaf):
                continue
            for term, _ in terms(leaf):
                origins = placement.origins(term)
                if len(origins) != 1:
                    listed = " and ".join(f"'{name}'" for name in sorted(origins))
                    several = f"a term with the {what}s {listed}: write one term for each"
                    found.append((key, several if origins else f"a term without a {what}", term.at or op.location))
    return found


def _leaves(rule: Expression) -> list[Expression]:
    """The rule itself, or the branches of an outermost conditional."""
    return _leaves(rule.body) + _leaves(rule.orelse) if isinstance(rule, Conditional) else [rule]


class _Placement:
    """Places what an op defines, the values that its node saved and its lets, around targets."""

    def __init__(self, lets: Mapping[str, Expression], absent: Iterable[str] = (), inputs: Iterable[str] = (),
                 saved: Iterable[Saved] = ()):  # fmt: skip
        self.absent, self.inputs = tuple(absent), tuple(inputs)
        # Saved values first: lets read them.
        self.definitions: dict[str, Expression | Saved] = {s.field: s for s in saved} | dict(lets)
        self._found: dict[int, tuple[Expression | Saved, set[str]]] = {}  # by identity, so each item is held

    # What may be absent.

    def absentees(self, rule: Expression) -> list[str]:
        """What a rule reads directly that may be absent: a cotangent or tangent, or a let that is made of some."""
        return [name for name in names_of(rule) if name in self.absent or self._roots(Name(name))]

    def origins(self, term: Expression) -> set[str]:
        """What decides whether a term is absent."""
        return {self._origin(name) for name in self.absentees(term)}

    def _origin(self, name: str) -> str:
        """A let of a single term is absent where what that reads is; a sum stands for itself."""
        parts = [term for leaf in _leaves(self.definitions[name]) for term in (terms(leaf),)] if name in self.definitions else []
        if parts and all(len(summands) == 1 for summands in parts):
            origins = {origin for ((term, _),) in parts for origin in self.origins(term)}
            if len(origins) == 1:
                return origins.pop()
        return name

    def _roots(self, rule: Expression | Saved) -> set[str]:
        """The cotangents or tangents that something is made of."""
        return self._parts(rule) & set(self.absent)

    def _read_under(self, name: str, reader: Target | None, rule: Expression) -> set[str]:
        """The cotangents or tangents without which `rule` does not read `name`; all of them where it always does."""
        if not self._roots(rule):
            return set(reader.present or self.absent if reader is not None else self.absent)
        if isinstance(rule, Conditional) and name in self._parts(rule.test):
            return set(self.absent)
        read = [term for leaf in _leaves(rule) for term, _ in terms(leaf) if name in self._reads(term)]
        return set().union(*(self._roots(term) or self.absent for term in read))

    # What needs what.

    def _reads(self, item: Expression | Saved) -> set[str]:
        """What an item reads itself: definitions, and what may be absent."""
        if id(item) not in self._found:
            self._found[id(item)] = item, set() if isinstance(item, Saved) else self._read_by(item)
        return self._found[id(item)][1]

    def _read_by(self, item: Expression) -> set[str]:
        described = {node.name for node in walk(item) if isinstance(node, Metadata)}
        lets = {name for name in described if isinstance(self.definitions.get(name), Expression)}
        return {n for n in _read(item) if n in self.definitions or n in self.absent} | lets

    def _parts(self, item: Expression | Saved, known: Iterable[str] = ()) -> set[str]:
        """What an item needs, through lets too, beside what is known."""
        found: set[str] = set()
        pending = [item]
        while pending:
            for name in self._reads(pending.pop()) - found - set(known):
                found.add(name)
                pending.extend([self.definitions[name]] if name in self.definitions else [])
        return found

    def _certain(self, item: Expression | Saved) -> set[str]:
        """The definitions that an item needs whichever way its conditionals go."""
        if isinstance(item, Conditional):
            return self._certain(item.test) | (self._certain(item.body) & self._certain(item.orelse))
        read = [name for name in self._reads(item) if name in self.definitions]
        return {*read}.union(*(self._certain(self.definitions[name]) for name in read))

    # Placement.

    def block(self, targets: list[Target], known: frozenset[str] = frozenset()) -> tuple[Statement, ...]:
        """The statements that compute the targets; what is `known` stands above them."""
        return self._placed([target.name for target in targets], self._level(targets, known), known)

    def _placed(self, names: Iterable[str], level: Mapping[str, Target], known: frozenset[str]) -> tuple[Statement, ...]:
        """The statements of some items of a level, each after what it needs and as late as that allows."""
        statements: list[Statement] = []
        placed = set(known)

        def place(target: Target) -> None:
            if target.name in placed:
                return
            needed = self._parts(target.value, known)
            for name in self.definitions:
                if name in level and name in needed and name != target.name:
                    place(level[name])
            for statement in self._one(target, frozenset(placed)):
                _append(statements, () if set(target.inputs) == set(self.inputs) else target.inputs, target.present, statement)
            placed.add(target.name)

        for name in names:
            place(level[name])
        return tuple(statements)

    def _level(self, targets: list[Target], known: frozenset[str]) -> dict[str, Target]:
        """The targets and the definitions that stand beside them; others belong into the one conditional that reads them."""
        level = {target.name: target for target in targets}
        owners = {target.name: target for target in targets}  # item -> the item at this level that it stands with
        needed = {name for target in targets for name in self._parts(target.value, known)} - level.keys()
        items = {target.name: target.value for target in targets}
        for name in reversed(self.definitions):
            if name not in needed:
                continue
            readers = {owners[other].name: owners[other] for other, item in items.items() if name in self._reads(item)}
            items[name] = self.definitions[name]
            alone = next(iter(readers.values())) if len(readers) == 1 else None
            if alone is not None and alone.absorbs:
                owners[name] = alone
                continue
            inputs: set[str] = set().union(*(reader.inputs for reader in readers.values()))
            always = any(not reader.inputs for reader in readers.values())
            under = set() if self._roots(self.definitions[name]) else set().union(*(
                self._read_under(name, level.get(other), item) for other, item in items.items() if name in self._reads(item)
            ))  # fmt: skip
            level[name] = Target(
                name, self.definitions[name], () if always else tuple(i for i in self.inputs if i in inputs),
                () if under == set(self.absent) else tuple(n for n in self.absent if n in under),
            )  # fmt: skip
            owners[name] = level[name]
        return level

    def _one(self, target: Target, known: frozenset[str]) -> list[Statement]:
        """The statements of one target, whatever its condition."""
        value = target.value
        if isinstance(value, Saved):
            return [Unpack(value)]
        if isinstance(value, Conditional):
            return self._branch(target, value, known)
        if not self.absentees(value):
            return [Assign(target.name, value)]
        summands = terms(value)
        if len(summands) == 1:
            present = self.absentees(value)[0]
            return [Assign(target.name, value, "" if isinstance(value, Name) else present)]
        first, *rest = [Assign(target.name, term, self.absentees(term)[0], subtracts=minus) for term, minus in summands]
        if isinstance(first.value, Name) and not first.subtracts:
            first = replace(first, present="")
        return [first, *(replace(term, adds=True) for term in rest)]

    def _branch(self, target: Target, value: Conditional, known: frozenset[str]) -> list[Statement]:
        """A conditional as two blocks; what the test or every way through both of them reads stands before it.

        A let of arrays that some way does without is computed in the ways that read it, so that nothing is computed for nothing.
        """
        inside = copy.copy(self)
        inside.inputs = ()
        then, orelse = (Target(word, part, is_branch=True) for word, part in (("then", value.body), ("else", value.orelse)))
        level = inside._level([Target("if", value.test), then, orelse], known)
        always = {*self._certain(value), *self._parts(value.test)}
        static = {name for name in level if name in self.definitions and not _makes_arrays(self.definitions[name])}
        always.update(*(self._parts(self.definitions[name]) for name in static))
        shared = [name for name in self.definitions if name in level and (name in always or name in static)]
        before = inside._placed(shared, level, known)
        known = known | {*shared}
        branches = (inside.block([Target(target.name, part)], known) for part in (value.body, value.orelse))
        return [*before, Branch(value.test, *branches, value.at)]


def _makes_arrays(item: Expression | Saved) -> bool:
    """Whether it costs something to compute an item."""
    return not isinstance(item, Saved) and item.kind != STATIC


def _read(value: Expression) -> set[str]:
    """The names, and the fields of metadata, that an expression reads."""
    found = set()
    for node in walk(value):
        if isinstance(node, Name):
            found.add(node.name)
        elif isinstance(node, Metadata):
            found.add(Saved.of(node.name, node.attribute).field)
    return found


def _append(statements: list[Statement], inputs: tuple[str, ...], present: tuple[str, ...], statement: Statement) -> None:
    """Adds a statement under its conditions, to the last block where that has the same."""
    for kind, condition in ((Present, present), (Wanted, inputs)):
        if condition:
            statement = kind(condition, (statement,))
    _merge(statements, statement)


def _merge(statements: list[Statement], statement: Statement) -> None:
    last = statements[-1] if statements else None
    match last, statement:
        case (Wanted(inputs, body), Wanted(same, (inner,))) if inputs == same:
            merged = list(body)
            _merge(merged, inner)
            statements[-1] = Wanted(inputs, tuple(merged))
        case (Present(names, body), Present(same, (inner,))) if names == same:
            statements[-1] = Present(names, (*body, inner))
        case _:
            statements.append(statement)
