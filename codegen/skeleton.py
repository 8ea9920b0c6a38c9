"""Skeleton entries, for `python -m codegen new`: an example for each derivative form."""

from __future__ import annotations

from .errors import ErrorList, SpecError
from .spec import model
from .spec.model import Location, Signature, Spec, Text
from .spec.signature import parse_signature

FORMS = tuple(form.removesuffix("_jvp") for form in model.FORMS)  # as the command line spells them
_MULTILINEAR = "multilinear"
_LITERALS = {
    "Array": "[1.0, 2.0]", "Const": "[1.0, 2.0]", "Index": "[0, 1]", "Mask": "[True, False]", "Scalar": "2.0", "int": "0",
    "float": "2.0", "bool": "True", "str": "'word'", "DType": "'float64'",
}  # fmt: skip


def skeleton(op: str, form: str, spec: Spec) -> str:
    """A well-formed entry without its mathematics; `op` is a name or a signature."""
    source = op if "(" in op else f"{op}({'a, b' if form == _MULTILINEAR else 'x'})"
    source = source if "->" in source else f"{source} -> y"
    errors = ErrorList("OP", source)
    signature = None
    with errors.catch(op.partition("(")[0], "op"):
        signature = parse_signature(Text(source, "OP", tuple((1, i + 1) for i in range(len(source) + 1))))
        _refuse_known(signature, spec)
    errors.raise_if_any()
    head = [f"- op: {source}", "  doc: What it computes, in one line.", *_shape(signature, form)]
    return "\n".join([*head, *_rules(signature, form), *_example(signature)])


def _refuse_known(signature: Signature, spec: Spec) -> None:
    name = signature.name
    owner = spec.by_spelling.get(name)
    if owner is not None:
        place = f"{owner.location.file}:{owner.location.line}"
        raise SpecError(f"'{name}' has an entry already: {place}", Location("OP", 1, 1))


def _shape(signature: Signature, form: str) -> list[str]:
    """The line of shapes; an elementwise operator has the shape of its family."""
    if form == "partial":
        return []
    arrays = [a for a in signature.arguments if a.type.base in ("Array", "Index", "Mask")]
    names = ", ".join(a.name + "[]" * a.type.is_list for a in arrays)
    results = ", ".join("_" + "[]" * o.type.is_list for o in signature.outputs)
    return [f"  shape: {names} -> {results}      # such as (..., m, n) -> (..., n); _ where it depends on values"]


def _example(signature: Signature) -> list[str]:
    """A call of literals, as help() shows it; random results have no value to state."""
    if signature.name.startswith("_") or signature.generators:
        return []
    needed = [(a, f"[{_LITERALS[a.type.base]}]" if a.type.is_list else _LITERALS[a.type.base])
              for a in signature.arguments if a.default is None and not a.type.optional]  # fmt: skip
    call = ", ".join(f"{a.name}={literal}" if a.keyword_only and not a.variadic else literal for a, literal in needed)
    value = ", ".join(_LITERALS["Array"] for _ in signature.visible)
    return ["  examples:", f"    f({call}): {value if len(signature.visible) == 1 else f'({value})'}      # its exact value"]


def _rules(signature: Signature, form: str) -> list[str]:
    name = signature.name.strip("_")
    inputs = [a.name for a in signature.arrays]
    outputs = [o.name for o in signature.outputs if o.differentiable]
    grad = "grad" if len(signature.visible) == 1 else f"grad_{signature.outputs[0].name}"
    call = ", ".join(f"{a.name}={a.name}" if a.keyword_only else a.name for a in signature.arguments)
    forward = f"  forward: np.{name}({call})      # an expression on NumPy arrays, or kernels.{name}({call})"
    vjp = ["  vjp:", *(f"    {i}: {grad}      # the cotangent of {i}; what it names is saved" for i in inputs)]
    match form:
        case "partial":
            return [forward, *(f"  d{o}/d{i}: 1      # element by element; what it names is saved"
                               for o in outputs for i in inputs)]  # fmt: skip
        case "linear" | "multilinear":
            return [forward, f"  {form}: [{', '.join(inputs)}]", *vjp]
        case "vjp":
            tangents = " + ".join(f"{i}_t" for i in inputs)
            rule = "      # a sum of terms, one tangent in each"
            if len(signature.visible) == 1:
                return [forward, *vjp, f"  jvp: {tangents}{rule}"]
            return [forward, *vjp, "  jvp:", *(f"    {o}: {tangents}{rule}" for o in outputs)]
        case "composite":
            return [f"  composite: {' + '.join(inputs)}      # written with other operators of this file"]
    return [forward, f"  {form}: true"]
