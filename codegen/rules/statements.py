"""Statements: schedule the parts of a formula, in order and under conditions.

Computes one placement of statements for forward, composite, vjp and jvp, which the generated code and the checker share.  A let
is placed before its first use.  If only one branch of a conditional reads it, it is placed inside that branch.  If its readers
are needed only under a condition, it is placed under the same condition.  Terms of an absent cotangent or tangent are skipped.

A rule is linear in its cotangents or tangents, so it is a sum of terms.  Each term therefore depends on one cotangent or tangent,
directly or through lets, and is absent if that one is absent.
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
    """`name = value`; None if `present` is None; with `adds` the value is added to `name`."""

    name: str
    value: Expression
    present: str = ""
    adds: bool = False
    subtracts: bool = False  # the value is a term with a negative sign


@dataclass(frozen=True)
class Unpack:
    """Read a saved value of the node into a local variable."""

    saved: Saved


@dataclass(frozen=True)
class Branch:
    """One of two blocks, selected by a static test."""

    test: Expression
    body: tuple[Statement, ...]
    orelse: tuple[Statement, ...]
    at: Location | None = None


@dataclass(frozen=True)
class Wanted:
    """A block that runs if the gradient of at least one of `inputs` is wanted."""

    inputs: tuple[str, ...]
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class Present:
    """A block that runs if at least one of `names`, which are cotangents or tangents, is not absent."""

    names: tuple[str, ...]
    body: tuple[Statement, ...]


Statement = Assign | Unpack | Branch | Wanted | Present


@dataclass(frozen=True)
class Target:
    """A name to compute and its conditions; it is always computed if they are empty."""

    name: str
    value: Expression | Saved
    inputs: tuple[str, ...] = ()  # inputs whose gradients need it
    present: tuple[str, ...] = ()  # the cotangents or tangents whose terms read it
    is_branch: bool = False  # definitions that only this target reads are placed inside it

    @property
    def absorbs(self) -> bool:
        return self.is_branch or isinstance(self.value, Conditional)


def forward_statements(op: Op) -> tuple[Statement, ...]:
    """The statements that compute the op: from its forward or composite, or from its in-place kernel."""
    formula = op.forward or op.composite or op.inplace
    return _Placement(op.let_expressions).block([Target(RESULT, formula.expression)])


def composite_statements(op: Op) -> tuple[Statement, ...]:
    """The statements that compute a composite from other operators, even if it has a forward as well."""
    return _Placement(op.let_expressions).block([Target(RESULT, op.composite.expression)])


def vjp_statements(op: Op, inputs: Iterable[str] | None = None, unpack: bool = True, last: str = "") -> tuple[Statement, ...]:
    """The cotangents `grad_<input>` of `inputs`, or of all inputs that have a rule; the cotangent of `last` comes last."""
    rules = {name: rule for name, rule in op.derived.vjp.items() if inputs is None or name in set(inputs)}
    rules = dict(sorted(rules.items(), key=lambda item: item[0] == last))
    grads, arrays = grad_names(op), op.signature.arrays
    # With a list of arrays the number of inputs is unknown, and all gradients are computed.
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
    """Violations of the rule that each term depends on one cotangent or tangent: (key of the formula, message, place)."""
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
    """Places the definitions of an op, which are its saved values and its lets, before and inside the targets that read them."""

    def __init__(self, lets: Mapping[str, Expression], absent: Iterable[str] = (), inputs: Iterable[str] = (),
                 saved: Iterable[Saved] = ()):  # fmt: skip
        self.absent, self.inputs = tuple(absent), tuple(inputs)
        # Saved values first: lets read them.
        self.definitions: dict[str, Expression | Saved] = {s.field: s for s in saved} | dict(lets)
        self._found: dict[int, tuple[Expression | Saved, set[str]]] = {}  # by identity, so the items are kept alive

    # Absent cotangents and tangents.

    def absentees(self, rule: Expression) -> list[str]:
        """The names in a rule that may be absent: cotangents or tangents, and lets that depend on them."""
        return [name for name in names_of(rule) if name in self.absent or self._roots(Name(name))]

    def origins(self, term: Expression) -> set[str]:
        """The names whose absence makes a term absent."""
        return {self._origin(name) for name in self.absentees(term)}

    def _origin(self, name: str) -> str:
        """The origin of a let that is a single term; a let that is a sum is its own origin."""
        parts = [term for leaf in _leaves(self.definitions[name]) for term in (terms(leaf),)] if name in self.definitions else []
        if parts and all(len(summands) == 1 for summands in parts):
            origins = {origin for ((term, _),) in parts for origin in self.origins(term)}
            if len(origins) == 1:
                return origins.pop()
        return name

    def _roots(self, rule: Expression | Saved) -> set[str]:
        """The cotangents or tangents that an item depends on."""
        return self._parts(rule) & set(self.absent)

    def _read_under(self, name: str, reader: Target | None, rule: Expression) -> set[str]:
        """The cotangents or tangents whose terms in `rule` read `name`; all of them if `rule` always reads it."""
        if not self._roots(rule):
            return set(reader.present or self.absent if reader is not None else self.absent)
        if isinstance(rule, Conditional) and name in self._parts(rule.test):
            return set(self.absent)
        read = [term for leaf in _leaves(rule) for term, _ in terms(leaf) if name in self._reads(term)]
        return set().union(*(self._roots(term) or self.absent for term in read))

    # Dependencies.

    def _reads(self, item: Expression | Saved) -> set[str]:
        """The definitions and the possibly absent names that an item reads directly."""
        if id(item) not in self._found:
            self._found[id(item)] = item, set() if isinstance(item, Saved) else self._read_by(item)
        return self._found[id(item)][1]

    def _read_by(self, item: Expression) -> set[str]:
        described = {node.name for node in walk(item) if isinstance(node, Metadata)}
        lets = {name for name in described if isinstance(self.definitions.get(name), Expression)}
        return {n for n in _read(item) if n in self.definitions or n in self.absent} | lets

    def _parts(self, item: Expression | Saved, known: Iterable[str] = ()) -> set[str]:
        """All names that an item depends on, directly or through lets, except `known` ones."""
        found: set[str] = set()
        pending = [item]
        while pending:
            for name in self._reads(pending.pop()) - found - set(known):
                found.add(name)
                pending.extend([self.definitions[name]] if name in self.definitions else [])
        return found

    def _certain(self, item: Expression | Saved) -> set[str]:
        """The definitions that an item needs on every path through its conditionals."""
        if isinstance(item, Conditional):
            return self._certain(item.test) | (self._certain(item.body) & self._certain(item.orelse))
        read = [name for name in self._reads(item) if name in self.definitions]
        return {*read}.union(*(self._certain(self.definitions[name]) for name in read))

    # Placement.

    def block(self, targets: list[Target], known: frozenset[str] = frozenset()) -> tuple[Statement, ...]:
        """The statements that compute the targets; the definitions in `known` are already placed."""
        return self._placed([target.name for target in targets], self._level(targets, known), known)

    def _placed(self, names: Iterable[str], level: Mapping[str, Target], known: frozenset[str]) -> tuple[Statement, ...]:
        """The statements of some items of a level, each after its dependencies and as late as possible."""
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
        """The targets and the definitions on the same level; a definition that one conditional alone reads is left to it."""
        level = {target.name: target for target in targets}
        owners = {target.name: target for target in targets}  # item -> the item at this level that contains it
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
        """The statements of one target, without its condition."""
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
        """A conditional as two blocks, after the definitions that the test or all paths read.

        A let of arrays that some path does not read is computed only in the paths that read it.
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
    """Whether computing an item has a cost."""
    return not isinstance(item, Saved) and item.kind != STATIC


def _read(value: Expression) -> set[str]:
    """The names and the metadata fields that an expression reads."""
    found = set()
    for node in walk(value):
        if isinstance(node, Name):
            found.add(node.name)
        elif isinstance(node, Metadata):
            found.add(Saved.of(node.name, node.attribute).field)
    return found


def _append(statements: list[Statement], inputs: tuple[str, ...], present: tuple[str, ...], statement: Statement) -> None:
    """Append a statement under its conditions, or merge it into the last block if that has the same conditions."""
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
