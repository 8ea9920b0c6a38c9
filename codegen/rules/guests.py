"""Check a spec of another package: report keys that are reserved for gradspec and names that are in use.

An operator of a package is a function of the package's module; gradspec does not know it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..errors import ErrorList
from ..spec.model import Location, Op, Spec
from ..spec.table import Table

_KEYS = {
    "namespace": "an operator of a package stands in the package's own module",
    "operator": "Python's operators between tensors are gradspec's",
    "numpy": "calls of NumPy's functions on tensors come to gradspec's operators",
    "factor": "an argument of the entry's own, by which its forward multiplies, says the same",
    "cast": "an argument `DType? dtype=None` of the entry's own says the same",
    "pair": "a package has no calls in which PyTorch means two operators",
    "view": "an operator of a package gives results in memory of their own",
    "inplace": "`variants: [inplace]` computes and writes; a kernel that writes by itself is gradspec's own",
    "jet": "what coefficients become is said of gradspec's own operators: another one runs through its derivatives",
    "placed": "a gradient that is placed is known to gradspec's engine alone",
}
_VARIANTS = ("method", "bound", "property")
_OF_MODULE, _BEGINNINGS = ("np", "math", "kernels", "formulas"), ("forward_", "vjp_", "jvp_")


def check_guest(spec: Spec, table: Table, others: Mapping[str, Location], errors: ErrorList) -> None:
    """Add the errors of a package's entries; `others` holds the places of the operators of other packages."""
    for op in spec.ops.values():
        for key, message, at in _refused(op):
            errors.add(message, at, op.name, key)
        for name in (op.name, *op.aliases):
            key = "op" if name == op.name else "alias"
            at = op.location if key == "op" else op.places.get("alias", op.location)
            if name in table.operators:
                there = table.operators[name].signature.source
                errors.add(f"'{name}' is an operator of gradspec already: gradspec.{name} is {there}", at, op.name, key)
            elif name in others:
                errors.add(f"'{name}' is an operator of another package already: {others[name]}", at, op.name, key)


def _refused(op: Op) -> Iterator[tuple[str, str, Location]]:
    for key, why in _KEYS.items():
        if key in op.places:
            yield key, why, op.places[key]
    for variant in (name for name in _VARIANTS if name in op.variants):
        at = op.places.get("variants", op.location)
        yield "variants", f"'{variant}' would stand on gradspec's Tensor: a package offers functions, 'inplace' and 'out'", at
    if op.elsewhere:
        yield "alias", "a name in another namespace is gradspec's to give", op.places.get("alias", op.location)
    if op.name in _OF_MODULE or op.name.startswith(_BEGINNINGS):
        yield "op", f"'{op.name}' is a name of the generated module", op.location
    if op.parts is not None:
        at = op.places.get("vmap", op.location)
        yield "vmap", "what a batch is made of is said of gradspec's own operators: a composite runs through its parts", at
    if op.inplace_only:
        yield "op", "an operator that works in place only is gradspec's own: write `variants: [inplace]`", op.location
    if op.signature.generators:
        yield "op", "random numbers are drawn by gradspec's operators: take what was drawn as an argument", op.location
