"""Wrappers: what the templates of forwards and wrappers see of an operator.

Owns the lines of a forward, whether it is a plain ufunc, and what an in-place write has to keep.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..rules.sharing import shared_inputs
from ..rules.statements import forward_statements
from ..spec.expression import renamed
from ..spec.model import Argument, Op, Signature
from . import numpy_calls
from .node import NodeText
from .numpy_calls import NumpyCall
from .printer import OnArrays, OnTensors, lines
from .programs import Elementwise, Program, inner_loops


class OpText(NodeText):
    """One op as the templates see it."""

    public_inplace: tuple[str, ...] = ()  # the functions that write in place: the library's are methods
    returned = "return as_array({})"  # how a forward ends

    def __init__(self, op: Op, signatures: Mapping[str, Signature], ops: Mapping[str, Op],
                 elementwise: Elementwise | None = None):  # fmt: skip
        super().__init__(op, signatures, ops, elementwise)
        self.may_share_memory = bool(op.composite) and bool(shared_inputs(op, ops))
        self.forward_calls: set[str] = set()  # what its forward calls on arrays
        self.forward_programs: list[Program] = []
        self.forward_lines = self._forward_lines()

    @property
    def numpy_method(self) -> NumpyCall | None:
        """NumPy's function whose parameters the method takes by name."""
        return None if self.takes_star else numpy_calls.method(self.op)

    @property
    def whole_method_parameters(self) -> str:
        """The parameters of the method: the operator's, then NumPy's."""
        more = self.numpy_method.beside if self.numpy_method else []
        star = ["*"] if more and not any(a.keyword_only for a in self.arguments) else []
        return ", ".join([self.method_parameters, *star, *(f"{name}=None" for name in more)])

    @property
    def function_beside(self) -> list[str]:
        """What the function takes of NumPy's function of its name beside the operator's arguments, as the method does."""
        more = self.numpy_method.beside if self.numpy_method and self.op.signature.arrays else []
        return [name for name in more if name != "out" or "out" not in self.op.variants]

    @property
    def whole_public_parameters(self) -> str:
        """The parameters of the function: the operator's, then NumPy's."""
        star = ["*"] if self.function_beside and "*" not in self.public_parameters else []
        return ", ".join([self.public_parameters, *star, *(f"{name}=None" for name in self.function_beside)])

    @property
    def numpy_method_arguments(self) -> str:
        """What the method and the function pass on: the operator's arguments under NumPy's names, and the others."""
        own = ", ".join(f"{theirs}={ours}" for ours, theirs in self.numpy_method.names.items())
        return f"dict({own}), dict({', '.join(f'{name}={name}' for name in self.numpy_method.beside)})"

    @property
    def pointwise(self) -> str | None:
        """`np.exp` or `kernels.sigmoid` where the forward is that, by inner loops, on the arguments as they are."""
        return None if self.name in self.own else ".".join(inner_loops(self.op)) or None

    @property
    def ufunc(self) -> str | None:
        """The same where it is NumPy's, which may write into memory that exists."""
        return self.pointwise if self.pointwise and self.pointwise.startswith("np.") else None

    @property
    def ufunc_facts(self) -> str:
        """What a Ufunc is told beside its name: the dtypes that it takes, if not all, and its operands, if not x or a and b."""
        names = [a.name for a in self.arguments]
        facts = [self.op.claim] if self.op.claim else []
        facts += [] if names in (["x"], ["a", "b"]) else [f"operands={tuple(names)}"]
        return "".join(f", {fact}" for fact in facts)

    @property
    def ufunc_method(self) -> str:
        return "unary" if len(self.arguments) == 1 else "binary"

    def _forward_lines(self) -> list[str]:
        """The body of the forward on arrays: lets, then the result."""
        # A composite is made of forwards, which give arrays; NumPy gives scalars for 0-d results.
        spell = self.spell(OnArrays, returned="return {}" if self.op.composite else self.returned)
        spell.elementwise, spell.owner = self.elementwise, self.name
        found = lines(forward_statements(self.op), spell, self.op)
        self.forward_calls, self.forward_programs = spell.forwards, spell.programs
        return found

    def composite_lines(self) -> list[str]:
        """The composite on tensors."""
        return lines(forward_statements(self.op), self.spell(OnTensors), self.op)

    def _readers(self) -> list[Argument]:
        """The inputs whose gradients are computed from the value that an in-place write destroys."""
        first = self.arguments[0].name
        names = {name for s in self.saved if (s.name, s.kind) == (first, "input") for name in self.needed_by(s)}
        return [a for a in self.arrays if a.name in names and not a.type.is_list]

    @property
    def readers(self) -> str:
        """Bit i: the gradient of array i reads the old value.  One bit more: tangents alone do.  A composite may do anything."""
        if self.op.form == "composite":
            return bin(2 ** len(self.arrays) - 1)
        if not self.derived:
            return "0"
        tangents = self.arguments[0].name in self.jvp_names
        mask = sum(1 << self.arrays.index(a) for a in self._readers())
        return bin(mask or tangents << len(self.arrays))

    @property
    def copies_first(self) -> str:
        """When an in-place kernel needs a copy of what it writes over, as an expression of the wrapper."""
        if self.lacks_rule or not self._readers() and self.arguments[0].name not in self.jvp_names:
            return "False"
        return " or ".join(["state_.flags & DUAL != 0", *(f"needs_grad(state_, {a.name})" for a in self._readers())])

    @property
    def is_differentiable(self) -> bool:
        """Whether a result may have to be recorded."""
        return self.records or self.op.composite is not None

    def inplace_forward_on(self, written: str) -> str:
        """The in-place kernel's call, writing into the array `written`."""
        names = {a.name: self.array_argument(a) for a in self.arguments} | {self.arguments[0].name: written}
        return self.spell(OnArrays)(renamed(self.op.inplace.expression, names))
