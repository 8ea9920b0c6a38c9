"""Read derivatives.yaml into the model: documents, presets, families and the order of their entries.

Defines the parts of a family, and finds the file of its further samples.  entry.py reads the entries.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import yaml

from ..errors import ErrorList, SpecError, did_you_mean
from .documents import check_characters, documents
from .entry import DEFAULT_KEYS, EntryReader
from .formula import parse_formula
from .mapping_keys import Items
from .model import Family, Location, Op, Spec
from .names import check_name
from .order import misplaced, owners
from .ranks import KEY, Words, words_of
from .shape_samples import alike
from .source_files import FOLDER, texts
from .table import GRAMMAR, Table, given_calls

FAMILY_KEYS = ("family", "about", "small", "defaults", "ops")
HEAD_KEYS = ("grammar", "presets", "shapes")  # keys of the first document, all optional


def read(path: str | os.PathLike[str]) -> Spec:
    source, further = texts(path)
    return read_text(source, Path(path).name, further)


class Stale(Exception):
    """The families that were kept and the families that were read claim the same name: all must be read again."""


def read_text(source: str, file: str = "derivatives.yaml", further: Mapping[str, str] = MappingProxyType({}),
              errors: ErrorList | None = None, kept: Mapping[range, Family] = MappingProxyType({}),
              progress: Callable[[str], None] = str, offered: Table | None = None) -> Spec:  # fmt: skip
    """The spec of a text and of the texts of further samples; the lines of families in `kept` are not read again.

    Errors are raised together, or added to `errors`; of a rejected entry only the signature is valid.  `offered` is gradspec's
    table, for the spec of another package: its shapes give samples, and the spec must state its grammar.
    """
    given, errors = errors, ErrorList(file, source, further) if errors is None else errors
    spec = Spec((), file, source, further=dict(further))
    with errors.catch():
        for name, text in (*further.items(), (file, source)):
            check_characters(text, name)
        reader = _Reader(errors)
        reader.offer(offered, file)
        spec = reader.spec(source, file, further, kept, progress)
        if not spec.families and not errors:
            errors.add("this file has no family of operators", Location(file, 1, 1))
    if given is None:
        errors.raise_if_any()
    return spec


def _without(source: str, kept: Mapping[range, Family]) -> str:
    """The text with the lines of kept families replaced by empty lines."""
    if not kept:
        return source
    lines = source.split("\n")
    for part in kept:
        lines[part.start - 1 : part.stop - 1] = [""] * len(part)
    return "\n".join(lines)


class _Reader(EntryReader):
    """Reads a whole spec."""

    states_grammar = False  # whether the spec must state its grammar

    def offer(self, table: Table | None, file: str) -> None:
        """Add the presets and the samples by shape from another spec's table."""
        if table is not None:
            self.states_grammar = True
            self.presets |= {name: given_calls(calls, file) for name, calls in table.presets.items()}
            self.given |= {alike(shape): tuple(call for name in names for call in self.presets[name])
                           for shape, names in table.shapes.items()}  # fmt: skip

    def spec(self, source: str, file: str, further: Mapping[str, str], kept: Mapping[range, Family],
             progress: Callable[[str], None]) -> Spec:  # fmt: skip
        known = {family.name for family in kept.values()}
        for name, text in further.items():
            with self.errors.catch():
                if Path(name).stem not in known:
                    self.further[Path(name).stem] = self._file(text, name)
        families: list[Family] = []
        above = [*kept.items()]
        for number, document in enumerate(documents(_without(source, kept), file)):
            while above and above[0][0].start <= document.start_mark.line:
                families.append(self._known(above.pop(0)[1], families))
            with self.errors.catch():
                if number == 0:
                    self._check_grammar(document, file)
                if number == 0 and self._is_head(document):
                    self._read_head(document)
                else:
                    families.append(self._family(document, {family.name for family in families}))
                    progress(families[-1].name)
        for _, family in above:
            families.append(self._known(family, families))
        self._check_order(families)
        for name in self.further.keys() - {family.name for family in families} if not self.errors else ():
            near = did_you_mean(name, [family.name for family in families])
            self.errors.add(f"there is no family '{name}'", Location(f"{FOLDER}/{name}.yaml", 1, 1), suggestion=near)
        return Spec(tuple(families), file, source, self.presets, dict(further))

    def _known(self, family: Family, others: list[Family]) -> Family:
        """A family that was read before; it claims its names again."""
        if any(family.name == other.name for other in others):
            raise Stale(family.name)
        for op in family.ops:
            if taken := [*self.claims.taken(op)]:
                raise Stale(*taken)
        return family

    def _file(self, source: str, file: str) -> Items:
        """The content of a file of further samples: operator -> its samples and examples."""
        nodes = [*documents(source, file)]
        if len(nodes) != 1:
            raise SpecError("one document is expected: operators with 'samples:' and 'examples:'", Location(file, 1, 1))
        return self.items(nodes[0], what="a file of further samples")

    def _is_head(self, node: yaml.Node) -> bool:
        return isinstance(node, yaml.MappingNode) and bool(node.value) and all(key.value in HEAD_KEYS for key, _ in node.value)

    def _check_grammar(self, node: yaml.Node, file: str) -> None:
        """Check the stated version of the grammar; a spec of another package must state one."""
        pairs = node.value if isinstance(node, yaml.MappingNode) else []
        stated = next((value for key, value in pairs if key.value == "grammar"), None)
        if stated is None and self.states_grammar:
            message = f"a spec begins with the version of its grammar: grammar: {GRAMMAR}"
            self.errors.add(message, Location(file, 1, 1), "", "grammar")
        elif stated is not None and (text := self._text(stated)).value != str(GRAMMAR):
            newer = text.value.isdecimal() and int(text.value) > GRAMMAR
            way = "install a newer gradspec" if newer else "docs/grammar.md says what became of it, if it was ever one"
            self.errors.add(f"grammar {text.value} is not read: this gradspec reads grammar {GRAMMAR}; {way}", text.location, "",
                            "grammar")  # fmt: skip

    def _read_head(self, node: yaml.MappingNode) -> None:
        items = self.items(node, HEAD_KEYS, what="what stands above the families")
        for name, (_, calls) in self.items_of("presets", items).items():
            with self.errors.catch("", f"presets: {name}"):
                self.presets[name] = tuple(parse_formula(self._text(call)) for call in self._sequence(calls))
        for shape, (key, names) in self.items_of("shapes", items).items():
            with self.errors.catch("", f"shapes: {shape}"):
                if alike(shape) in self.given:
                    raise SpecError("stands above already, with other names", self._location(key))
                self.given[alike(shape)] = tuple(call for name in self._words(names) for call in self._preset(name))

    def _family(self, node: yaml.Node, others: set[str]) -> Family:
        items = self.items(node, FAMILY_KEYS, what="a family")
        for key in ("family", "about", "ops"):
            if key not in items:
                raise SpecError(f"a family needs '{key}:'", self._location(node))
        name = self._text(items["family"][1])
        check_name(name.value, name.location)
        if name.value in others:
            raise SpecError(f"there is a family '{name.value}' already", name.location)
        about = self._doc(items["about"][1])
        defaults = self.items(items["defaults"][1], DEFAULT_KEYS, key="defaults", ordered=False) if "defaults" in items else {}
        ops, names, further = [], [], self.further.get(name.value, {})
        for entry in self._sequence(items["ops"][1]):
            for words in self._ranks(entry):
                self.words = words
                with self.errors.catch():
                    ops.append(self.entry(name.value, entry, defaults, further))
                names.append(self._name_of(entry))
            self.words = {}
        self._check_further(further, names)
        self._check_described(ops, defaults)
        self._check_nodes(ops)
        small = "small" in items and bool(self._choice(self._text(items["small"][1]), ("true",), "value"))
        return Family(name.value, about, tuple(ops), name.location, small)

    def _ranks(self, entry: yaml.Node) -> list[Words]:
        """The words for the placeholders of an entry: none, or one mapping for each of its ranks."""
        keys = entry.value if isinstance(entry, yaml.MappingNode) else []
        ranks = next((value for key, value in keys if key.value == KEY), None)
        if ranks is None:
            return [{}]
        with self.errors.catch(re.match(r"\w*", self._text(keys[0][1]).value)[0], KEY):
            return words_of(self._text(ranks), self._text(keys[0][1]))
        return []

    def _name_of(self, entry: yaml.Node) -> str:
        """The name of an entry's operator, even if the rest of the entry cannot be read."""
        first = entry.value[0][1] if isinstance(entry, yaml.MappingNode) and entry.value else None
        return re.match(r"\w*", self._text(first).value)[0] if isinstance(first, yaml.ScalarNode) else ""

    def _check_further(self, further: Items, names: list[str]) -> None:
        """Report operators of a file of further samples that are unknown or not in the order of the family."""
        last = ""
        for name, (node, _) in further.items():
            if name not in names:
                near = did_you_mean(name, names)
                self.errors.add(f"no operator '{name}' in the family", self._location(node), suggestion=near)
            elif last and names.index(name) < names.index(last):
                self.errors.add(f"the order is that of the entries: it belongs above '{last}'", self._location(node), name)
            else:
                last = name

    def _check_order(self, families: list[Family]) -> None:
        """Report misplaced entries; the callers of private operators are known only if all entries could be read."""
        readable = not self.errors
        owner_of = owners(op for family in families for op in family.ops) if readable else {}
        for family in families:
            for op, wrong in misplaced([op for op in family.ops if readable or not op.private], owner_of):
                self.errors.add(wrong, op.location, op.name, "op")

    def _check_described(self, ops: list[Op], defaults: Items) -> None:
        known = dict.fromkeys(a.name for op in ops for a in op.signature.arguments)
        for name, (node, _) in self.items_of("args", defaults).items():
            if name not in known:
                near, at = did_you_mean(name, known), self._location(node)
                self.errors.add(f"no operator of the family has an argument '{name}'", at, "", "args", suggestion=near)

    def _check_nodes(self, ops: list[Op]) -> None:
        """Report operators with the same Node name, such as `f` and `_f`."""
        owners: dict[str, Op] = {}
        for op in ops:
            owner = owners.setdefault(op.node, op)
            if owner.name != op.name:
                self.errors.add(f"its node is {op.node}, which is that of {owner.name}", op.location, op.name, "op")
