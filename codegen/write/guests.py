"""Write the module of another package's operators: its entries as functions that `gradspec.operators` turns into operators.

Decides the files of a package: the module, its stub, its page and its tests; `compiled.py` writes the Cython modules.  The
wording of the mathematics is shared with gradspec's own operators.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import Path

from ..package import Package
from ..rules.statements import composite_statements, forward_statements, jvp_statements, vjp_statements
from ..spec.expression import Foreign, Helper, walk
from ..spec.formula import formulas_of, grad_names
from ..spec.model import Argument, Derived, Op, Saved, Signature, Spec
from ..spec.table import table
from . import compiled, docstring_maths, layout, sections, stubs, taylor_table, vmap_table
from .arguments import Bindings
from .examples import example
from .files import Templates
from .printer import OnTensors, lines

FORMAT = 1  # version of the generated module; library/operators/facts.py has the same and rejects other versions
_BY = "python -m gradspec.codegen"
MODULE, STUB, PAGE, TESTS = "operators.py", "operators.pyi", "OPS.md", "tests/test_operators.py"


class _Spelled(OnTensors):
    """Formulas that call gradspec's operators, and the operators of their own module, by name."""

    plus, minus = "made_.plus", "made_.minus"

    def __init__(self, signatures: dict[str, Signature], own: Iterable[str], saved: Iterable[Saved] = ()):
        super().__init__(signatures, saved)
        self.own = set(own)

    def op(self, name: str) -> ast.expr:
        return ast.parse(f"own_.{name}" if name in self.own else f"made_.ops.{name}", mode="eval").body

    def metadata(self, name: str, attribute: str) -> ast.expr:
        if Saved.of(name, attribute).field in self.fields:
            return super().metadata(name, attribute)
        return ast.parse(f"made_.{attribute}_of({name})", mode="eval").body


class GuestText(Bindings):
    """One operator, for the templates."""

    function_beside: tuple[str, ...] = ()

    def __init__(self, op: Op, spec: Spec, place: str, alias: str, program: str = ""):
        super().__init__(op)
        self.place, self.alias, self.program = place, alias, program
        self._own = spec.ops.keys()
        self._signatures = {name: known.signature for name, known in {**table().operators, **spec.by_spelling}.items()}

    def _spell(self, saved: Iterable[Saved] = ()) -> _Spelled:
        return _Spelled(self._signatures, self._own, saved)

    @property
    def derived(self) -> Derived | None:
        return self.op.derived

    @property
    def forward_lines(self) -> list[str]:
        statements = composite_statements if self.op.composite else forward_statements
        return lines(statements(self.op), self._spell(), self.op)

    @property
    def saved(self) -> list[tuple[str, str, tuple[str, ...]]]:
        """The values that the backward rule reads, each with the inputs whose gradients read it."""
        if self.derived is None:
            return []
        readers = self.derived.saved_for
        return [(s.name, s.kind, tuple(n for n, parts in readers.items() if s in parts)) for s in self.derived.saved]

    @property
    def vjp_parameters(self) -> str:
        return ", ".join(["wanted_", *(s.field for s in self.derived.saved), *grad_names(self.op)])

    @property
    def vjp_lines(self) -> list[str]:
        start = [f"{' = '.join(f'grad_{a.name}' for a in self.arrays)} = None"] if len(self.arrays) > 1 else []
        found = lines(vjp_statements(self.op, unpack=False), self._spell(self.derived.saved), self.op)
        return [*start, *found, f"return ({', '.join(f'grad_{a.name}' for a in self.arrays)},)"]

    @property
    def jvp_parameters(self) -> str:
        return ", ".join([*self.names, *(o.name for o in self.outputs), *(f"{a.name}_t" for a in self.arrays)])

    @property
    def jvp_lines(self) -> list[str]:
        found = lines(jvp_statements(self.op), self._spell(), self.op)
        return [*found, f"return ({', '.join(f'{o.name}_t' if o.name in self.derived.jvp else 'None' for o in self.outputs)},)"]

    @property
    def functions(self) -> str:
        """The functions that `define` gets beside the facts."""
        vjp = [f"vjp_{self.name}"] if self.derived else []
        return ", ".join([f"forward_{self.name}", *vjp, *([f"jvp_{self.name}"] if self.derived and self.derived.jvp else [])])

    @property
    def facts(self) -> list[str]:
        """`name=value` for each fact that differs from its default."""
        op, batch = self.op, vmap_table.mapped(self.op)
        found: dict[str, object] = dict(
            signature=self.signature.source, module="__name__", outputs=repr(tuple((o.name, str(o.type)) for o in self.outputs)),
            form=op.form,
        )  # fmt: skip
        rest = dict(
            dtype=op.dtype, linear=op.linear, saved=tuple(self.saved), batch=() if batch is None else eval(batch.record),
            series=taylor_table.series(op), variants=tuple(v for v in op.variants if v in ("inplace", "out")), doc=self.docstring,
            rules=tuple(docstring_maths.notes(op)[1:]), samples=tuple(s.source for s in op.samples),
            examples=tuple((e.call.source, e.value.source) for e in op.examples),
            kinks=tuple((k.call.source, k.value.source) for k in op.kinks), domain=op.domain and op.domain.source,
            program=self.program,
        )  # fmt: skip
        plain = {"module", "outputs"}
        lines = [f"{key}={value if key in plain else repr(value)}," for key, value in found.items()]
        lines += ["arguments=(", *(f"    {self._argument(a)}" for a in self.arguments), "),"]
        return lines + [line for key, value in rest.items() if value for line in _laid_out(key, value)]

    @staticmethod
    def _argument(a: Argument) -> str:
        default = "made_.REQUIRED" if a.default is None else a.default
        return f"made_.Argument({a.name!r}, {str(a.type)!r}, {default}{', True' * a.keyword_only}),"

    @property
    def saved_names(self) -> str:
        return ", ".join(s.field for s in self.derived.saved) if self.derived else ""

    @property
    def result_type(self) -> str:
        """The type of the result in a stub: several results are a plain tuple."""
        found = [stubs.output_type(o) for o in self.visible]
        return found[0] if len(found) == 1 else f"tuple[{', '.join(found)}]"

    @property
    def inplace_parameters(self) -> str:
        return stubs.function_parameters(self).partition(", *, out:")[0].replace(": Operand", ": Tensor", 1)

    @property
    def result_class(self) -> None:
        """None: several results are a plain tuple."""

    @property
    def docstring(self) -> str:
        """The sections of numpydoc."""
        parts = [self.doc, *(["", "Parameters", "----------", *sections.parameters(self)] if self.arguments else [])]
        if "out" in self.op.variants:
            parts += ["out : Tensor, optional", "    Where the result is written."]
        parts += ["", "Returns", "-------", *sections.returns(self), "", "Notes", "-----", *docstring_maths.notes(self.op)]
        if self.op.ref:
            parts += ["", "References", "----------", self.op.ref]
        if self.place and (session := example(self, self.alias)):
            given = "" if self.alias == self.place else f" as {self.alias}"
            parts += ["", "Examples", "--------", f">>> import {self.place}{given}", *session]
        return "\n".join(parts)


def _laid_out(key: str, value: object) -> list[str]:
    """`key=value,` in lines of limited length."""
    if isinstance(value, str) and "\n" in value:
        return [f"{key}=(", *(f"    {line!r}" for line in value.splitlines(keepends=True)), "),"]
    if isinstance(value, tuple):
        *parts, last = [f"{key}=({item}" if i == 0 else item for i, item in enumerate(layout.items(value))]
        return list(layout.packed([*parts, f"{last}),"], "", "    "))
    return [f"{key}={value!r},"]


def render(spec: Spec, package: Package) -> dict[str, str]:
    """The path of each file below the root of a package -> its text."""
    alias = package.name.rpartition(".")[2]
    programs = compiled.programs(spec) if package.cython else {}
    texts = {f.name: [GuestText(op, spec, package.name, alias, programs.get(op.name, "")) for op in f.ops] for f in spec.families}
    templates = Templates(package, _BY, maths=docstring_maths, mapped=vmap_table, series=taylor_table, stubs=stubs, format=FORMAT)
    context = {"families": spec.families, "views": texts, "needs": _needs(spec), "public": _public(spec), "tests": TESTS,
               "names": [op.name for op in spec.ops.values() if not op.private],
               "samples": sum(len(op.samples) for op in spec.ops.values())}  # fmt: skip
    folder = package.generated
    cython = compiled.render(spec, package, _BY) if package.cython else {}
    return {
        **{f"{folder}/{name}": text for name, text in cython.items()},
        f"{folder}/{MODULE}": templates.rendered(MODULE, "guests_compiled.py.j2" if cython else "guests.py.j2", **context),
        f"{folder}/{STUB}": templates.rendered(STUB, "guests.pyi.j2", **context),
        PAGE: templates.rendered(PAGE, "guests.md.j2", **context),
        TESTS: templates.rendered(TESTS, "guests_tests.py.j2", **context),
    }


def generate(spec: Spec, package: Package) -> list[Path]:
    """Write the files of a package; return the files whose text changed."""
    changed = []
    for name, text in render(spec, package).items():
        path = package.path(name)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            changed.append(path)
    return changed


def stale(spec: Spec, package: Package) -> list[str]:
    """The files of a package that differ from the rendered ones."""
    wanted = {package.path(name): (name, text) for name, text in render(spec, package).items()}
    return sorted(name for path, (name, text) in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != text)


def render_one(spec: Spec) -> str:
    """The module of a spec that is not in a package."""
    package = Package(Path(), name="", spec=spec.file)
    texts = {f.name: [GuestText(op, spec, "", "") for op in f.ops] for f in spec.families}
    context = {"families": spec.families, "views": texts, "needs": set(), "public": _public(spec)}
    return Templates(package, _BY, format=FORMAT).rendered(MODULE, "guests.py.j2", **context)


def _needs(spec: Spec) -> set[str]:
    """The package's own modules that the formulas use."""
    nodes = [node for op in spec.ops.values() for formula in formulas_of(op).values() for node in walk(formula.expression)]
    kernels = any(isinstance(node, Foreign) and node.root == "kernels" for node in nodes)
    found = {"kernels"} if kernels else set()
    return found | ({"formulas"} if any(isinstance(node, Helper) for node in nodes) else set())


def _public(spec: Spec) -> list[str]:
    """The public names of a package, in rows."""
    found: list[str] = []
    for op in spec.ops.values():
        for name in () if op.private else (op.name, *op.aliases):
            found += [name, *([f"{name}_"] if "inplace" in op.variants else [])]
    return list(layout.packed(layout.items(sorted(found)), "", ""))
