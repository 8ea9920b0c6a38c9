"""Read one entry of the spec: its keys, their order and their values, with the defaults of the family.

Defines the grammar of an entry, and decides its derivative form.  Must not depend on the meaning of a formula: that is analysis.
"""

from __future__ import annotations

import ast
import operator
import re
from dataclasses import replace

import yaml

from ..errors import ErrorList, SpecError, did_you_mean
from .calls import FURTHER_KEYS, CallReader
from .cases import ELSE, by_cases
from .claims import Claims
from .constants import folded
from .formula import names_in, parse_formula
from .mapping_keys import PARTIAL, PARTIAL_KEY, Items, slot_of
from .model import LAWS, NAMESPACES, TESTED, VARIANTS, VMAPS, Formula, Location, Op, Signature, Text
from .names import check_name, check_value_name, generated_names, shortened
from .numpy_names import function_named, numpy_names
from .ranks import KEY
from .results import parse_dtype
from .shapes import parse_shape
from .signature import parse_signature

DEFAULT_KEYS = ("args", "namespace", "variants", "domain", "dtype", "shape", "nondifferentiable", "samples")
ENTRY_KEYS = (
    "op", KEY, "doc", "args", "ref", "unlike", "factor", "cast", "pair", "alias", "numpy", "namespace", "operator", "variants",
    "view", "domain", "dtype", "shape", "forward", "over", "inplace", "placed", "composite", "reference", "let", PARTIAL,
    "linear", "multilinear",
    "nondifferentiable", "unimplemented", "vjp", "jvp", "batched", "rows", "vmap", "jet", "law", "breaks", "samples",
    "examples", "kinks",
)  # fmt: skip
PUBLIC_KEYS = {  # keys about the public function
    "args", "unlike", "factor", "cast", "pair", "alias", "numpy", "namespace", "operator", "variants",
}  # fmt: skip
FORM_KEYS = ("composite", PARTIAL, "linear", "multilinear", "vjp", "jvp", "nondifferentiable", "unimplemented")
OPERATOR_METHODS = {name for name in vars(operator) if re.fullmatch("__[a-z]+__", name)} | {"__divmod__"}



class EntryReader(CallReader):
    """Reads entries one by one, and holds the names that earlier entries claimed."""

    def __init__(self, errors: ErrorList):
        super().__init__(errors)
        self.further: dict[str, Items] = {}  # family -> operator -> its further samples and examples
        self.claims = Claims()
        self.names: set[str] = set()  # arguments, outputs and lets of the entry that is being read

    def entry(self, family: str, node: yaml.Node, defaults: Items, further: Items) -> Op:
        if not isinstance(node, yaml.MappingNode) or not node.value or node.value[0][0].value != "op":
            raise SpecError("an entry starts with 'op:'", self._location(node))
        text = self._text(node.value[0][1])
        try:
            signature = parse_signature(text)
        except SpecError as error:
            error.op, error.key = re.match(r"\w*", text.value)[0], "op"
            raise
        name = signature.name
        own = self.items(node, ENTRY_KEYS, op=name, what="an entry")
        self.names = {item.name for item in (*signature.arguments, *signature.outputs)}
        if "let" in own and isinstance(own["let"][1], yaml.MappingNode):
            self.names |= {name.value for name, _ in own["let"][1].value}
        form, own_form = "", [key for key in FORM_KEYS if key in own or key == PARTIAL and _partials(own)]
        with self.errors.catch(name):
            form = self._form(own, own_form, defaults, signature)
        # A family default does not apply if the entry has its own form, or is private and the key is public.
        idle = {*(["nondifferentiable"] if own_form else []), *(PUBLIC_KEYS if name.startswith("_") else [])}
        items = {k: v for k, v in defaults.items() if k not in idle} | own
        for key in PUBLIC_KEYS & own.keys() if name.startswith("_") else ():
            message = f"a private operator is called by formulas only: leave `{key}:` out"
            self.errors.add(message, self._location(own[key][0]), name, key)
        if "doc" not in items:
            self.errors.add("missing: one line that says what the op computes", signature.location, name, "doc")
        if "shape" not in items:
            message = "missing: shapes of the inputs and outputs, _ where one depends on values"
            self.errors.add(message, signature.location, name, "shape")
        op = Op(family, signature, form, "", signature.location)
        more = self.items(further[name][1], FURTHER_KEYS, op=name, what="further samples") if name in further else {}
        op = replace(op, places={key: self._location(value) for key, (_, value) in (more | items).items()})
        fields: dict[str, object] = {"variants": _variants(op, []), "partials": {}}
        for key, (_, value) in items.items():
            with self.errors.catch(name, key):
                if match := PARTIAL_KEY.match(key):
                    fields["partials"][match.group(1, 2)] = self._formula(value)
                elif key == "args":
                    fields["args"] = self._args(op, *(self.items_of("args", keys, op.name) for keys in (defaults, own)))
                else:
                    fields |= self._field(op, key, value, own=key in own)
        for key, (_, value) in more.items():
            with self.errors.catch(name, key):
                fields[key] = (*fields.get(key, ()), *self._further(op, key, value, fields.get(key, ())))
        op = replace(op, **fields)
        op = replace(op, numpy=numpy_names(op, stated="numpy" in own), samples=self._all_samples(op))
        for claim, owner in self.claims.taken(op):
            what = "has an entry already" if owner.key == "op" and owner.op == owner.name else f"is a name of {owner.op} already"
            self.errors.add(f"'{claim.name}' {what}: {owner.at}", claim.at, op.name, claim.key)
        return op

    def _form(self, own: Items, keys: list[str], defaults: Items, signature: Signature) -> str:
        if "nondifferentiable" in keys and self._text(own["nondifferentiable"][1]).value == "false":
            keys = [key for key in keys if key != "nondifferentiable"]
        elif not keys and "nondifferentiable" in defaults:
            return "nondifferentiable"
        forms = {
            (): "", (PARTIAL,): "partial", ("linear", "vjp"): "linear", ("multilinear", "vjp"): "multilinear",
            ("vjp", "jvp"): "vjp_jvp", ("composite",): "composite", ("nondifferentiable",): "nondifferentiable",
            ("unimplemented",): "unimplemented",
        }  # fmt: skip
        form = forms.get(tuple(keys))
        if form:
            return form
        if not keys:
            forms_text = "d<output>/d<input>, linear, multilinear, vjp and jvp, composite, nondifferentiable, unimplemented"
            raise SpecError(f"no derivative: write one of {forms_text}", signature.location)
        where = next(self._location(node) for key, (node, _) in own.items() if slot_of(key) == keys[-1])
        if keys in (["vjp"], ["jvp"], ["linear"], ["multilinear"]):
            partner = {"vjp": "jvp, linear or multilinear"}.get(keys[0], "vjp")
            raise SpecError(f"'{keys[0]}' is not enough alone; it needs {partner}", where)
        raise SpecError(f"more than one derivative form: {', '.join(keys)}", where)

    def _field(self, op: Op, key: str, node: yaml.Node, own: bool) -> dict[str, object]:
        """The fields of Op that one key of an entry sets."""
        match key:
            case "doc":
                return {"doc": self._doc(node)}
            case "ref":
                return {"ref": self._line(node)}
            case "unlike":
                return {"unlike": self._unlike(op, node)}
            case "factor":
                return {"factor": self._factor(op, node)}
            case "cast":
                return {"cast": self._array_input(op.signature, self._text(node))}
            case "pair":
                return {"pair": self._pair(op, self._text(node))}
            case "numpy":
                text = self._text(node)
                return {"numpy": () if text.value == "false" else (function_named(text),)}
            case "alias":
                return self._aliases(op, self._words(node))
            case "nondifferentiable":
                self._choice(self._text(node), ("true", "false"), "value")
            case "unimplemented":
                self._choice(self._text(node), ("true",), "value")
            case "batched":
                if op.form not in ("linear", "multilinear", "vjp_jvp"):
                    raise SpecError("there is no vjp of which it says something", self._location(node))
                return {"batched": bool(self._choice(self._text(node), ("true",), "value"))}
            case "rows":
                if op.form != "linear" or len(op.signature.arrays) != 1 or len(op.signature.outputs) != 1:
                    raise SpecError("is for an op that is linear in its only array and has one output", self._location(node))
                return {"rows": self._formula(node)}
            case "vmap":
                if isinstance(node, yaml.ScalarNode) and re.fullmatch(r"[\w-]+", node.value):
                    return {"vmap": self._choice(self._text(node), VMAPS, "way")}
                return {"parts": self._formula(node)}
            case "jet":
                return {"jet": self._jet(op, self._text(node))}
            case "operator":
                return {"operator": self._operator(op, self._text(node))}
            case "namespace":
                return {key: self._choice(self._text(node), NAMESPACES, key)}
            case "dtype":
                return dict(zip(("dtype", "result_dtypes"), parse_dtype(self._text(node), op.signature)))
            case "variants":
                words = self._words(node)
                return {"variants": _variants(op, [self._variant(op, word, own) for word in words])}
            case "view":
                return {"view": self._array_input(op.signature, self._text(node))}
            case "shape":
                parse_shape(text := self._text(node), op.signature)
                return {"shape": text.value}
            case "domain" | "reference":
                return {key: parse_formula(self._text(node))}
            case "forward" | "inplace" | "placed" | "composite":
                return {key: self._formula(node)}
            case "over":
                if len(op.signature.visible) != 1:
                    raise SpecError("is for an op with one output", self._location(node))
                return {"over": tuple(self._array_input(op.signature, word) for word in self._words(node))}
            case "linear" | "multilinear":
                return {key: tuple(self._array_input(op.signature, word) for word in self._words(node))}
            case "let" | "vjp":
                return {"lets" if key == "let" else "vjp": self._formulas(op, node, key)}
            case "jvp":
                return {"jvp": self._jvp(op, node)}
            case "samples":
                return {"samples": self._samples(op, node)}
            case "law":
                return {"laws": tuple(map(self._law, self._sequence(node)))}
            case "breaks":
                items = self.items(node, (*LAWS, *TESTED), key=key, op=op.name)
                return {key: {name: self._reason(value) for name, (_, value) in items.items()}}
            case "examples" | "kinks":
                stated = self._stated(op, key, node)
                if key == "examples":
                    self._check_shown(op, key, [example.call.location for example in stated])
                return {key: stated}
        return {}

    def _args(self, op: Op, lines: Items, own: Items) -> dict[str, str]:
        """The description of each argument, in the order of the signature, from the family's defaults and the entry."""
        known = [a.name for a in op.signature.arguments]
        for name in own.keys() - set(known):
            near = did_you_mean(name, known)
            self.errors.add(f"no argument '{name}'", self._location(own[name][0]), op.name, "args", suggestion=near)
        lines = lines | own
        return {name: self._line(lines[name][1]) for name in known if name in lines}

    def _unlike(self, op: Op, node: yaml.Node) -> tuple[str, str]:
        """`unlike: WORDS`, or `unlike: {argument: WORDS}` about calls without that argument."""
        if not isinstance(node, yaml.MappingNode):
            return "", self._line(node)
        arguments = [a.name for a in op.signature.arguments]
        items = self.items(node, arguments, key="unlike", op=op.name)
        if len(items) != 1:
            raise SpecError("one argument is expected", self._location(node))
        return next((name, self._line(value)) for name, (_, value) in items.items())

    def _factor(self, op: Op, node: yaml.Node) -> tuple[str, str]:
        """`factor: {alpha: b}`: a keyword of the public functions, and the array that it multiplies."""
        items = self.items(node, key="factor", op=op.name)
        if len(items) != 1:
            raise SpecError("one keyword and one array are expected", self._location(node))
        (name, (key, value)), = items.items()
        check_value_name(name, self._location(key))
        if name in self.names:
            raise SpecError(f"'{name}' is an argument or a result already", self._location(key))
        return name, self._array_input(op.signature, self._text(value))

    def _pair(self, op: Op, text: Text) -> str:
        """`pair: maximum`: the operator of two arrays that a call means if its second argument is a tensor."""
        arguments = op.signature.arguments
        if len(arguments) < 2 or not arguments[0].is_array or arguments[1].is_array:
            raise SpecError("is for an op of one array, whose second argument is none", text.location)
        return text.value

    def _jet(self, op: Op, text: Text) -> tuple[str, int]:
        """`jet: _det_coefficients beyond 2`: the operator of all coefficients, and the last order that does not need it."""
        found = re.fullmatch(r"(\w+) beyond (\d+)", text.value)
        if found is None:
            raise SpecError("names an operator and an order: _det_coefficients beyond 2", text.location)
        if len(op.signature.arguments) != 1 or len(op.signature.outputs) != 1:
            raise SpecError("is for an op of one array alone that has one output", text.location)
        return found[1], int(found[2])

    def _aliases(self, op: Op, words: list[Text]) -> dict[str, object]:
        """`alias: [expit, nn.sigmoid, .relu]`: an alias, one in another namespace, and one in the main namespace."""
        elsewhere = []
        for text in words:
            namespace, dot, name = text.value.rpartition(".")
            if dot and namespace not in NAMESPACES:
                near = did_you_mean(namespace, NAMESPACES)
                raise SpecError(f"unknown namespace '{namespace}'", text.location, suggestion=near)
            check_name(name, text.location)
            if f"alias {text.value}" in op.places:
                raise SpecError(f"'{text.value}' occurs twice", text.location)
            op.places[f"alias {text.value}"] = text.location
            if dot:
                elsewhere.append((namespace, name))
        return {"aliases": tuple(t.value for t in words if "." not in t.value), "elsewhere": tuple(elsewhere)}

    def _formulas(self, op: Op, node: yaml.Node, key: str) -> dict[str, Formula]:
        formulas = {}
        for name, (key_node, value) in self.items(node, key=key, op=op.name).items():
            with self.errors.catch(op.name, f"{key}: {shortened(name)}"):
                if key == "let":
                    self._check_let(name, self._location(key_node), op.signature)
                formulas[name] = self._formula(value)
        return formulas

    def _formula(self, node: yaml.Node) -> Formula:
        """A formula of the current entry, plain or by cases, with its constants folded."""
        if isinstance(node, yaml.MappingNode):
            formula = by_cases([(self._text(case), self._text(value)) for case, value in node.value], self._location(node))
        else:
            formula = parse_formula(self._text(node))
        tree = folded(formula.tree, self.names)
        return replace(formula, tree=tree, names=frozenset(names_in(tree)))

    def _law(self, node: yaml.Node) -> Formula:
        formula = self._formula(node)
        if not (isinstance(formula.tree, ast.Compare) and len(formula.tree.ops) == 1 and isinstance(formula.tree.ops[0], ast.Eq)):
            raise SpecError("a law is an equation: left == right", formula.location)
        return formula

    def _check_let(self, name: str, at: Location, signature: Signature) -> None:
        check_value_name(name, at, let=True)
        taken = {a.name: "an argument already" for a in signature.arguments}
        taken |= {o.name: "an output already" for o in signature.outputs}
        taken |= {f"{a.name}_t": "a tangent already" for a in signature.arrays}
        taken |= generated_names([*signature.arguments, *signature.outputs])
        if name in taken:
            raise SpecError(f"'{name}' is {taken[name]}", at)

    def _jvp(self, op: Op, node: yaml.Node) -> dict[str, Formula]:
        """`jvp: FORMULA` for one visible output, a formula for each output if there are several."""
        single = len(op.signature.visible) == 1
        by_output = isinstance(node, yaml.MappingNode) and ELSE not in [key.value for key, _ in node.value]
        if single and (by_output or isinstance(node, yaml.SequenceNode)) or not single and not by_output:
            wanted = "there is one output: write jvp: FORMULA" if single else "write one formula for each output"
            raise SpecError(wanted, self._location(node))
        return {op.signature.outputs[0].name: self._formula(node)} if single else self._formulas(op, node, "jvp")

    def _reason(self, node: yaml.Node) -> Text:
        """One line of text, which must not be empty."""
        self._line(node)
        return self._text(node)

    def _operator(self, op: Op, text: Text) -> str:
        if text.value not in OPERATOR_METHODS:
            near = did_you_mean(text.value, OPERATOR_METHODS)
            raise SpecError(f"'{text.value}' is not an operator method", text.location, suggestion=near)
        return text.value

    def _choice(self, text: Text, known: tuple[str, ...], what: str) -> str:
        if text.value not in known:
            raise SpecError(f"unknown {what} '{text.value}'", text.location, suggestion=did_you_mean(text.value, known))
        return text.value

    def _variant(self, op: Op, text: Text, own: bool) -> str | None:
        """The variant, or None if a family default does not fit this op."""
        name, signature = self._choice(text, VARIANTS, "variant"), op.signature
        first = signature.arguments[0].type if signature.arguments else None
        problem = ""
        on_array = first is not None and not first.is_list and first.base in ("Array", "Mask", "Index")
        if name in ("method", "bound", "property", "inplace") and not on_array:
            problem = "needs an array as first argument"
        elif name in ("inplace", "out") and (len(signature.outputs) > 1 or signature.outputs[0].type.is_list):
            problem = "needs a single output"
        elif name in ("inplace", "out") and op.inplace_only:
            problem = "cannot be: the op is in place already"
        if problem and own:
            raise SpecError(f"variant '{name}' {problem}", text.location)
        return None if problem else name

    def _array_input(self, signature: Signature, text: Text) -> str:
        names = [a.name for a in signature.arrays]
        if text.value not in names:
            near = did_you_mean(text.value, names)
            raise SpecError(f"'{text.value}' is not an array input", text.location, suggestion=near)
        return text.value


def _partials(items: Items) -> bool:
    return any(PARTIAL_KEY.match(key) for key in items)


def _variants(op: Op, names: list[str | None]) -> tuple[str, ...]:
    """The variants of an op: `method` if it is in place only, `function` unless it is bound or a property; none if private."""
    wanted = {*names, *(["method"] if op.inplace_only else [] if {"property", "bound"} & {*names} else ["function"])}
    wanted |= {"method"} if "bound" in wanted else set()
    return () if op.private else tuple(name for name in VARIANTS if name in wanted)
