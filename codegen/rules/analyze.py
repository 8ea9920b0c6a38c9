"""Analysis: check each entry, resolve its formulas and derive its rules.

Decides for each derivative form which formulas an entry needs, which names each formula may use and which kind its value has.
Runs no formula: numeric checks are in `verify.check`.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from ..errors import ErrorList, SpecError, did_you_mean
from ..package import Package
from ..spec.ast_walk import by_depth
from ..spec.claims import claims, is_function
from ..spec.constants import CONSTANTS
from ..spec.expression import ARRAY, STATIC, Call, Constant, Expression, lets_in
from ..spec.formula import bind_call, called_by, calls_in, declared_kind, formulas_of, grad_names
from ..spec.formula import lets_in as lets_read
from ..spec.library import Library, read_library, unused_helpers
from ..spec.model import WITHOUT_RULE, Family, Formula, Op, Signature, Spec
from ..spec.order import misplaced_lets
from ..spec.samples import ARRAY_PARTS, DOMAIN_FUNCTIONS, MAKER_CONSTANTS, MAKERS, STATED
from ..spec.shapes import Mismatch, Shape, Unknown, infer, reduces_to, shape_of, show, symbolic
from .calls import without
from .derive import derive, tangents_in
from .queries import HELPER, Answers, Asked
from .resolve import Resolver, Vocabulary
from .statements import check_terms

_A = {"samples": "a sample", "examples": "an example", "kinks": "a kink"}
ANY = "c"  # any positive number, in a law of an op that lacks an argument of this name
WITH_VJP = ("linear", "multilinear", "vjp_jvp")


def analyze(spec: Spec, place: Package | Path | str = ".", library: Library | None = None, errors: ErrorList | None = None,
            known: dict[str, Answers] | None = None, progress: Callable[[str], None] = str) -> Spec:  # fmt: skip
    """The spec with its formulas resolved and `derived` filled in.

    Errors are raised together, or added to `errors`, which may hold errors of reading.  In that case the rejected entries and
    their callers are left out.  `known` maps each family that is already analysed to the answers its analysis depends on, and is
    updated.
    """
    library = library or read_library(Package.at(place))
    given, errors = errors, ErrorList(spec.file, spec.source, spec.further) if errors is None else errors
    refused, known = {error.op for error in errors.errors}, {} if known is None else known
    for file, source in library.formulas.items():
        errors.add_source(file, source)
    analysis, families, called = Analysis(spec, library), [], set()
    for family in spec.families:
        if family.name in known and analysis.asked.same(known[family.name]):
            families.append(analysis.check_taken(family, errors))
        else:
            sound = [op for op in family.ops if op.name not in refused and called_by(op).isdisjoint(refused - spec.ops.keys())]
            families.append(replace(family, ops=tuple(analysis.op(op, errors) for op in sound)))
            progress(family.name)
            known[family.name] = analysis.asked.answers()
            called |= {name for op in family.ops for name in called_by(op).union(*(law.calls for law in op.laws))}
        called |= {name for kind, name in known[family.name] if kind == HELPER}
    for helper in unused_helpers(library, called) if not refused else ():
        errors.add(f"no formula calls the helper '{helper.name}'", helper.location)
    if given is None:
        errors.raise_if_any()
    return without(replace(spec, families=tuple(families)), {error.op for error in errors.errors})


class Analysis:
    """The names and shapes of all entries of a spec, so that each entry can be analysed by itself."""

    def __init__(self, spec: Spec, library: Library):
        self.asked = Asked(spec.ops.values(), library)
        known = {**library.operators, **spec.by_spelling}
        self._shapes = {spelling: (op.signature, shape_of(op)) for spelling, op in known.items() if op.shape}

    def op(self, op: Op, errors: ErrorList, calls: bool = True) -> Op:
        """The op, resolved and with `derived` filled in if it has no errors; `calls`: whether to check samples and examples."""
        return self._of(op, errors).run(calls)

    def check_taken(self, family: Family, errors: ErrorList) -> Family:
        """Report operator names that have another meaning, which may be new since the family was analysed."""
        for op in family.ops:
            self._of(op, errors).check_taken()
        return family

    def _of(self, op: Op, errors: ErrorList) -> _OpAnalysis:
        return _OpAnalysis(op, self.asked.vocabulary, self.asked.library, self._shapes, errors)


class _OpAnalysis:
    def __init__(self, op: Op, vocabulary: Vocabulary, library: Library, shapes: Mapping[str, tuple[Signature, Shape]],
                 errors: ErrorList):  # fmt: skip
        self.op, self.vocabulary, self.library, self.shapes, self.errors = op, vocabulary, library, shapes, errors
        self.arguments = {a.name for a in op.signature.arguments}
        self.outputs, self.grads = {o.name for o in op.signature.outputs}, set(grad_names(op))
        self.tangents = {f"{a.name}_t" for a in op.signature.arrays}
        self.generators = {*op.signature.generators}
        self.overwritten = {a.name for a in op.signature.arguments[:1] if op.inplace_only}
        self.kinds = {item.name: declared_kind(item) for item in [*op.signature.arguments, *op.signature.outputs]}
        self.kinds |= {name: self.kinds[output] for name, output in grad_names(op).items()}
        self.kinds |= {f"{a.name}_t": self.kinds[a.name] for a in op.signature.arrays}
        self.resolved: dict[str, Expression] = {}  # by key

    def run(self, calls: bool = True) -> Op:
        before = len(self.errors.errors)
        self.check_taken()
        self._check_forward()
        if self.op.jet and self.op.jet[0] not in self.shapes:
            self.report(f"'{self.op.jet[0]}' is no operator", "jet")
        self._resolve_all()
        for name, wrong in misplaced_lets(self.op):
            self.report(wrong, f"let: {name}", self.op.lets[name].location)
        self._check_hidden()
        if calls:
            self._check_samples()
        if self.op.form in ("partial", "unimplemented", *WITH_VJP):
            self._check_rules()
        if len(self.errors.errors) > before:
            return self.op
        self.op = self._with_expressions()
        if self.op.form in ("composite", *WITHOUT_RULE):
            return self.op
        with self.errors.catch(self.op.name):
            self._check_terms()
            derived = derive(self.op, self.vocabulary)
            if self.op.form == "vjp_jvp":
                self._check_tangents()
            if self.op.form in WITH_VJP:
                self._check_results()
            return replace(self.op, derived=derived)
        return self.op

    def _with_expressions(self) -> Op:
        """The op whose formulas hold their resolved expressions."""
        op = self.op

        def whole(key: str, formula: Formula | None) -> Formula | None:
            return formula and replace(formula, expression=self.resolved[key])

        return replace(
            op,
            **{key: whole(key, getattr(op, key)) for key in ("forward", "inplace", "placed", "composite", "rows")},
            parts=whole("vmap", op.parts),
            lets={name: whole(f"let: {name}", formula) for name, formula in op.lets.items()},
            partials={(o, i): whole(f"d{o}/d{i}", formula) for (o, i), formula in op.partials.items()},
            vjp={name: whole(f"vjp: {name}", formula) for name, formula in op.vjp.items()},
            jvp={name: whole(f"jvp: {name}", formula) for name, formula in op.jvp.items()},
            laws=tuple(whole(f"law: {law.source}", law) for law in op.laws),
        )  # fmt: skip

    def report(self, message: str, key: str, at: object = None, suggestion: str = "") -> None:
        at = at or self.op.places.get(key.partition(":")[0], self.op.location)
        self.errors.add(message, at, self.op.name, key, suggestion=suggestion)

    def check_taken(self) -> None:
        """Report operator names that hand-written functions or methods have, unless the function wraps the operator."""
        op, held = self.op, self.library.attributes
        spellings = {op.name, *op.aliases} if {"method", "property"} & {*op.variants} else set()
        public = self.library.public - {name for name in self.library.around if name.rpartition(".")[2] == op.name}
        for claim in claims(op):
            is_method = claim.name in spellings or claim.key == "variants"
            found = [f"gradspec.{claim.name}"] if claim.name in public and is_function(op, claim.name) else []
            for what in found + [f"a tensor's .{claim.name}"] * (is_method and claim.name in held):
                self.errors.add(f"{what} is something else already", claim.at, op.name, claim.key)

    def _check_forward(self) -> None:
        op = self.op
        if op.composite is not None and op.inplace:
            self.report("a composite is its own forward", "inplace")
        if op.composite is not None and op.forward and not ast.unparse(op.forward.tree).startswith("kernels."):
            self.report("a composite is its own forward, unless a kernel computes it where nothing is recorded", "forward")
        if op.composite is None and op.forward is None and not (op.inplace_only and op.inplace):
            self.report("missing: the NumPy expression or kernel that computes the op", "forward")
        if op.inplace is not None and not op.inplace_only and "inplace" not in op.variants:
            self.report("the op has no variant 'inplace'", "inplace")
        elif op.inplace is not None and not ast.unparse(op.inplace.tree).startswith("kernels."):
            self.report("a call of a kernel that writes into the first argument", "inplace", op.inplace.location)
        if op.placed is not None and (op.forward is None or not ast.unparse(op.placed.tree).startswith("kernels.")):
            self.report("a call of a kernel, beside a forward that gives the same", "placed")
        if op.inplace_only and not op.signature.arrays[:1] == op.signature.arguments[:1]:
            self.report("an op whose name ends in '_' writes into its first argument, which is not an Array", "op")

    # Names.

    def _resolve_all(self) -> None:
        uses: dict[str, list[str]] = {let: [] for let in self.op.lets}
        formulas = formulas_of(self.op)
        for key, formula in formulas.items():
            if not key.startswith("let:"):
                for let in lets_read(formula, self.op.lets):
                    uses[let].append(key)
        above: set[str] = set()
        for let, keys in uses.items():
            formula = self.op.lets[let]
            if not keys:
                self.report("no formula names it", f"let: {let}", formula.location)
            else:
                names = set.intersection(*map(self._names, keys))
                self._resolve(f"let: {let}", formula, names | above, all(map(_is_numpy, keys)))
                self.kinds[let] = self.resolved[f"let: {let}"].kind
            above.add(let)
        for key, formula in formulas.items():
            if not key.startswith("let:"):
                self._resolve(key, formula, self._names(key) | self.op.lets.keys(), _is_numpy(key))
        for law in self.op.laws:
            self._resolve_law(law)

    def _resolve_law(self, law: Formula) -> None:
        """Resolve a law: an equation between arrays, over the op's arguments and outputs."""
        key, names = f"law: {law.source}", self.arguments | {o.name for o in self.op.signature.visible}
        before = len(self.errors.errors)
        self._resolve(key, law, names | {ANY}, numpy=False)
        if not law.names & self.outputs and self.op.name not in {call.func.id for call in calls_in(law.tree)}:
            self.report(f"says nothing of {self.op.name}, which is not called, nor of what it gives", key, law.location)
        elif not isinstance(self.resolved[key], Call) and len(self.errors.errors) == before:
            self.report("is no equation between arrays", key, law.location)

    def _names(self, key: str) -> set[str]:
        """The names, except lets, that the formula under `key` may use."""
        key = key.partition(":")[0]
        if _is_numpy(key) or key in ("composite", "rows", "vmap"):
            return self.arguments
        names = (self.arguments | self.outputs) - self.generators
        if key == "vjp":
            names |= self.grads
        if key == "jvp":
            names |= self.tangents
        return names - self.overwritten

    def _resolve(self, key: str, formula: Formula, names: set[str], numpy: bool) -> None:
        elsewhere = {name: f"'{name}' is a cotangent, which only a vjp has" for name in self.grads}
        elsewhere |= {name: f"'{name}' is a tangent, which only a jvp has" for name in self.tangents}
        elsewhere |= {name: f"'{name}' is an output, which does not exist yet" for name in self.outputs}
        elsewhere |= {name: f"let '{name}' is defined below" for name in self.op.lets}
        if "grad" not in self.grads and len(self.op.signature.visible) > 1:
            elsewhere["grad"] = f"there are several outputs: write {' or '.join(sorted(self.grads))}"
        for name in self.generators:
            elsewhere[name] = f"'{name}' draws other numbers after the forward: save an output"
        for name in self.overwritten:
            elsewhere[name] = f"'{name}' is overwritten by the op: only its shape and dtype are left"
        resolver = Resolver(self.vocabulary, self.library, self.errors, self.op.name, key, self.kinds, names, elsewhere, numpy,
                            formula.location.file)  # fmt: skip
        resolver.metadata_only = self.overwritten - names
        resolver.ints = {a.name for a in self.op.signature.arguments if a.type.base == "int" and not a.type.is_list}
        self.resolved[key] = Constant(None)
        with self.errors.catch(self.op.name, key):
            self.resolved[key] = resolver(formula.tree)

    def _check_hidden(self) -> None:
        """Report hidden outputs that no formula of the entry reads."""
        named = {name for formula in formulas_of(self.op).values() for name in formula.names}
        for output in self.op.signature.outputs:
            if output.hidden and output.name not in named:
                self.report(f"'{output.name}' is not returned, and no formula names it", "op", output.location)

    # Samples and domain.

    def _check_samples(self) -> None:
        op = self.op
        if not op.samples:
            self.report("missing: an op without samples is not tested", "samples")
        for sample in op.samples:
            self._check_call(sample, "samples")
        for key, stated in [*(("examples", e) for e in op.examples), *(("kinks", k) for k in op.kinks)]:
            self._check_call(stated.call, key)
            self._check_functions(stated.value, set(STATED), key)
            for name in sorted(stated.value.names - STATED.keys()):
                self.report(f"unknown name '{name}'", key, stated.value.location, did_you_mean(name, STATED))
        if op.kinks and not op.differentiable:
            self.report("the op has no derivative to state", "kinks")
        if op.domain is not None and self.arguments & op.domain.names:
            self._check_functions(op.domain, set(DOMAIN_FUNCTIONS), "domain")
            for name in sorted(op.domain.names - self.arguments - CONSTANTS.keys()):
                self.report(f"unknown name '{name}'", "domain", op.domain.location, did_you_mean(name, self.arguments))
        elif op.domain is not None and "domain" in op.places:
            self.report("names no argument of the op", "domain", op.domain.location)

    def _check_words(self, sample: Formula) -> None:
        """Report names other than makers and constants in a sample, and attributes other than those in ARRAY_PARTS."""
        for node in by_depth(sample.tree):
            if isinstance(node, ast.Call) and not isinstance(node.func, ast.Name):
                raise SpecError("a sample calls makers only", node)
            if isinstance(node, ast.Attribute) and node.attr not in ARRAY_PARTS:
                near = did_you_mean(node.attr, ARRAY_PARTS)
                raise SpecError(f".{node.attr} is not for samples", node, suggestion=near)
        for name in sorted(sample.names.difference(MAKER_CONSTANTS)):
            raise SpecError(f"unknown name '{name}'", sample.location, suggestion=did_you_mean(name, MAKER_CONSTANTS))

    def _check_call(self, call: Formula, key: str) -> None:
        with self.errors.catch(self.op.name, key):
            if not (isinstance(call.tree, ast.Call) and ast.unparse(call.tree.func) == "f"):
                raise SpecError(f"{_A[key]} is a call f(...)", call.location)
            self._check_functions(call, {*MAKERS, "f"}, key)
            self._check_words(call)
            try:
                bind_call(call.tree, self.op.signature)
            except SpecError as error:
                message = error.message.replace("f ", f"{self.op.name} ", 1)
                raise SpecError(f"{call.source}: {message}", self.op.places[key]) from None

    def _check_functions(self, formula: Formula, known: set[str], key: str) -> None:
        for call in calls_in(formula.tree):
            if call.func.id not in known:
                message = f"unknown function '{call.func.id}'"
                self.report(message, key, call.func, did_you_mean(call.func.id, known))

    # Rules.

    def _check_rules(self) -> None:
        op, inputs = self.op, [a.name for a in self.op.signature.arrays]
        outputs = [o.name for o in op.signature.outputs if o.differentiable]
        if not inputs or not outputs:
            what = "output" if inputs else "input"
            self.report(f"no {what} can carry a gradient: write nondifferentiable: true", "op")
            return
        if op.form == "partial":
            for (output, name), formula in op.partials.items():
                key = f"d{output}/d{name}"
                self._check_known(key, formula, output, outputs, "output")
                self._check_known(key, formula, name, inputs, "input")
            for output, name in itertools.product(outputs, inputs):
                if (output, name) not in op.partials:
                    self.report(f"input '{name}' has no rule", f"d{output}/d{name}")
            for item in (*op.signature.arrays, *op.signature.outputs):
                if item.type.is_list:
                    self.report(f"a partial is between elements, and '{item.name}' is a list: write vjp and jvp", "op")
            return
        if op.form == "unimplemented":
            return
        if self.generators and op.form in ("linear", "multilinear"):
            self.report("its jvp would call the op, which draws other numbers: write vjp and jvp", op.form)
        for name, formula in op.vjp.items():
            self._check_known(f"vjp: {name}", formula, name, inputs, "input")
        for name in inputs:
            if name not in op.vjp:
                self.report(f"input '{name}' has no rule", "vjp")
            if op.form in ("linear", "multilinear") and name not in getattr(op, op.form):
                self.report(f"input '{name}' is not named: write vjp and jvp if the op is not {op.form} in it", op.form)
        if op.form == "vjp_jvp":
            for name, formula in op.jvp.items():
                self._check_known(f"jvp: {name}", formula, name, outputs, "output")
            for name in outputs:
                if name not in op.jvp:
                    self.report(f"output '{name}' has no rule", "jvp")

    def _check_known(self, key: str, formula: Formula, name: str, known: list[str], what: str) -> None:
        if name in known:
            return
        signature = self.op.signature
        item = signature.argument(name) or signature.output(name)
        if item is None:
            self.report(f"'{name}' is not an {what}", key, formula.location, did_you_mean(name, known))
        else:
            what = "not returned, and" if name.startswith("_") else f"{item.type}, which"
            self.report(f"'{name}' is {what} has no derivative", key, formula.location)

    def _check_terms(self) -> None:
        """Report rules that are not sums of terms, where each term is absent if its tangent or cotangent is absent."""
        for key, what, rules in (("jvp", "tangent", self.op.jvp), ("vjp", "cotangent", self.op.vjp)):
            written = {f"{key}: {name}": formula.expression for name, formula in rules.items()}
            for place, message, at in check_terms(self.op, what, written):
                self.report(message, place, at)

    def _check_tangents(self) -> None:
        used = {name for formula in self.op.jvp.values() for name in tangents_in(self.op, formula.expression)}
        for argument in self.op.signature.arrays:
            if argument.name not in used:
                self.report(f"input '{argument.name}' has no rule: no term has '{argument.name}_t'", "jvp")

    def _check_results(self) -> None:
        """Report cotangents of a wrong kind, or of a wrong shape if the called ops declare shapes."""
        signature = self.op.signature
        words = {ARRAY: "an array", STATIC: "a static value"}
        for name, formula in self.op.vjp.items():
            key, wanted = f"vjp: {name}", declared_kind(signature.argument(name))
            kind = formula.expression.kind
            if kind != wanted:
                got, want = words.get(kind, "a list of arrays"), words.get(wanted, "a list of arrays")
                self.report(f"gives {got}, and '{name}' is {want}", key, formula.location)
            elif self.op.shape:
                self._check_shape(key, name, formula)

    def _check_shape(self, key: str, name: str, formula: Formula) -> None:
        known = symbolic(shape_of(self.op), self.op.signature)
        known |= {grad: known[output] for grad, output in grad_names(self.op).items() if output in known}
        lets = self.op.let_expressions
        try:
            for let in lets_in(formula.expression, lets):
                known[let] = infer(lets[let], known, self.shapes.get)
            got = infer(formula.expression, known, self.shapes.get)
        except Unknown:
            return
        except Mismatch as mismatch:
            self.report(f"shapes do not fit: {mismatch}", key, formula.location)
            return
        if name in known and not reduces_to(got, known[name]):
            self.report(f"has the shape {show(got)}, and '{name}' has {show(known[name])}", key, formula.location)


def _is_numpy(key: str) -> bool:
    return key in ("forward", "inplace", "placed")
