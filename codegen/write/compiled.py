"""Write the Cython modules of a package's operators, from gradspec's own templates with the package's names.

Decides the differences: the operators are the package's own, a forward's result is copied if it shares memory with an argument,
and the public functions are in the module beside them.
"""

from __future__ import annotations

from ..package import COMPILED, Package
from ..spec.model import Family, Op, Spec
from ..spec.table import table
from .arguments import Bindings
from .files import MODULE, Templates
from .op_info import program_of
from .programs import Elementwise
from .wrapper import OpText


class CompiledText(OpText):
    """One operator of a package, for the templates of gradspec's own operators."""

    result_class: None = None  # several results are a plain tuple
    function_beside: tuple[str, ...] = ()  # no NumPy function is dispatched to it
    placed = Bindings.placed

    def __init__(self, op: Op, elementwise: Elementwise):
        self.returned = f"return of_forward({{}}, {', '.join(a.name for a in op.signature.arguments)})"
        super().__init__(op, {name: known.signature for name, known in elementwise.ops.items()}, elementwise.ops, elementwise)
        self.may_share_memory = bool(op.composite)  # whether gradspec's operators return views is not known here

    @property
    def public_inplace(self) -> list[str]:
        return [f"{self.name}_"] if self.writes_in_place else []

    @property
    def inplace_parameters(self) -> str:
        return ", ".join(self._parameter_list(self.arguments, out=False))


def texts(spec: Spec) -> dict[str, CompiledText]:
    """The operators of a package by name."""
    elementwise = Elementwise({**table().operators, **spec.by_spelling}, spec.ops)
    return {op.name: CompiledText(op, elementwise) for op in spec.ops.values()}


def programs(spec: Spec) -> dict[str, str]:
    """Name -> the forward in calls of gradspec's operators, if it consists of inner loops alone: replays fuse it."""
    return {name: program_of(text) for name, text in texts(spec).items()}


def render(spec: Spec, package: Package, by: str) -> dict[str, str]:
    """The path of each file below a package's folder -> its text."""
    ops = list(texts(spec).values())
    nodes = [op for op in ops if op.has_node]
    templates = Templates(package, by, place=f"{package.name}.operators")
    family = Family(MODULE, f"the operators of {package.name}.", tuple(spec.ops.values()), ops[0].op.location)
    called = {name for op in ops for name in op.forward_calls} - spec.ops.keys()  # its own forwards are in the same module
    used = {name for op in nodes for name in op.node_forwards}
    context = {"family": family, "ops": ops, "nodes": nodes}
    found = {}
    for folder, loaded in ("kernels", called), ("functions", used), ("variable_type", set()):
        for suffix in ("pyx", "pxd") if folder != "functions" or nodes else ():
            found[f"{folder}/{MODULE}.{suffix}"] = templates.rendered(
                f"{MODULE}.{suffix}", f"{folder}.{suffix}.j2", loaded=_loaded(loaded, spec), **context)  # fmt: skip
        found[f"{folder}/__init__.py"] = ""
    found["__init__.py"] = ""
    return {f"{COMPILED}/{name}": text for name, text in found.items()}


def _loaded(names: set[str], spec: Spec) -> list[Op]:
    """The operators with some names, sorted by name."""
    known = {**table().operators, **spec.by_spelling}
    return [known[name] for name in sorted(names)]
