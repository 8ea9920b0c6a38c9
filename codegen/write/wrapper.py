"""Wrappers: compute the template fields for an operator's forward and its wrapper.

Decides the lines of a forward, whether it is a plain ufunc, and which value an in-place write must keep.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..rules.sharing import shared_inputs
from ..rules.statements import composite_statements, forward_statements
from ..spec.expression import renamed
from ..spec.model import Argument, Op, Signature
from . import numpy_calls
from .arguments import Positions, with_keywords
from .node import NodeText
from .numpy_calls import NumpyCall
from .printer import OnArrays, OnTensors, lines
from .programs import Elementwise, Program, inner_loops


class OpText(NodeText):
    """One op, for the templates."""

    public_inplace: tuple[str, ...] = ()  # functions that write in place; gradspec's are methods
    returned = "return as_array({})"  # the form of a forward's return statement

    def __init__(self, op: Op, signatures: Mapping[str, Signature], ops: Mapping[str, Op],
                 elementwise: Elementwise | None = None):  # fmt: skip
        super().__init__(op, signatures, ops, elementwise)
        self.may_share_memory = bool(op.composite) and bool(shared_inputs(op, ops))
        self.forward_calls: set[str] = set()  # the forwards that its forward calls on arrays
        self.forward_programs: list[Program] = []
        self.forward_lines = self._forward_lines()

    @property
    def numpy_method(self) -> NumpyCall | None:
        """NumPy's function whose further parameters the function and the method take; not a method of ints, `x.reshape(2, 3)`."""
        return numpy_calls.method(self.op)

    @property
    def method_positions(self) -> Positions:
        """The parameters of the method: the operator's and NumPy's."""
        if self.takes_star:
            return Positions([self.method_parameters])
        more = self.numpy_method.beside if self.numpy_method else []
        return self.placed(["self", *with_keywords(self._parameter_list(self.arguments[1:], out=False), more)], "self")

    @property
    def function_beside(self) -> list[str]:
        """The further parameters of NumPy's function that the function takes by name, like the method."""
        more = self.numpy_method.beside if self.numpy_method and self.op.signature.arrays else []
        return [name for name in more if name != "out" or "out" not in self.op.variants]

    @property
    def positions(self) -> Positions:
        """The parameters of the function: the operator's and NumPy's."""
        return self.placed(with_keywords(self._parameter_list(self.arguments), self.function_beside))

    def placed(self, parameters: list[str], *first: str) -> Positions:
        """Parameters in the order of NumPy's function of this name, if there is one; `first` replaces its first parameter."""
        call = numpy_calls.of_the_same_name(self.op)
        if call is None or call.starred or self.arguments and self.arguments[0].variadic:
            return Positions(parameters)
        return numpy_calls.in_numpys_order(parameters, [*first, *call.order[len(first) :]])

    @property
    def numpy_method_arguments(self) -> str:
        """The arguments that the method and the function pass on: the operator's by NumPy's names, and NumPy's further ones."""
        own = ", ".join(f"{theirs}={ours}" for ours, theirs in self.numpy_method.names.items())
        return f"dict({own}), dict({', '.join(f'{name}={name}' for name in self.numpy_method.beside)})"

    @property
    def pointwise(self) -> str | None:
        """`np.exp` or `kernels.sigmoid` if the forward is this function, by inner loops, on the unchanged arguments."""
        return None if self.name in self.own else ".".join(inner_loops(self.op)) or None

    @property
    def ufunc(self) -> str | None:
        """The same if it is NumPy's function, which can write into an existing buffer."""
        return self.pointwise if self.pointwise and self.pointwise.startswith("np.") else None

    @property
    def one_pass(self) -> tuple[str, list[str]] | None:
        """The ufunc or the program that is the whole forward, and its operands: it can write into an operand."""
        if self.pointwise:
            return f"{self.name}_ufunc", self.forward_arguments
        if len(self.forward_programs) != 1 or len(self.op.signature.outputs) != 1:
            return None
        program, arguments = self.forward_programs[0], {a.name: self.array_argument(a) for a in self.arguments}
        if any(f"{program.name}.run(" not in line for line in self.forward_lines) or not set(program.inputs) <= set(arguments):
            return None
        return program.name, [arguments[name] for name in program.inputs]

    @property
    def broadcast_arguments(self) -> list[str]:
        """The operands that the shape of the result is broadcast from, but the first one, as arrays."""
        names = re.findall(r"\w+", (self.op.shape or "").partition("-> broadcast")[2])
        return [self.array_argument(a) for a in self.arguments[1:] if a.name in names]

    @property
    def ufunc_facts(self) -> str:
        """The arguments of a Ufunc beside its name: its dtypes, if not all, and its operands, if not x or a and b."""
        names = [a.name for a in self.arguments]
        facts = [self.op.claim] if self.op.claim else []
        facts += [] if names in (["x"], ["a", "b"]) else [f"operands={tuple(names)}"]
        return "".join(f", {fact}" for fact in facts)

    @property
    def ufunc_method(self) -> str:
        return "unary" if len(self.arguments) == 1 else "binary"

    def _forward_lines(self) -> list[str]:
        """The body of the forward on arrays: lets, then the result."""
        # A composite calls forwards, which return arrays; NumPy returns scalars for 0-d results.
        spell = self.spell(OnArrays, returned=self.returned if self.op.forward else "return {}")
        spell.elementwise, spell.owner = self.elementwise, self.name
        found = lines(forward_statements(self.op), spell, self.op)
        self.forward_calls, self.forward_programs = spell.forwards, spell.programs
        return found

    def composite_lines(self) -> list[str]:
        """The composite on tensors."""
        return lines(composite_statements(self.op), self.spell(OnTensors), self.op)

    def _readers(self) -> list[Argument]:
        """The inputs whose gradients need the value that an in-place write destroys."""
        first = self.arguments[0].name
        names = {name for s in self.saved if (s.name, s.kind) == (first, "input") for name in self.needed_by(s)}
        return [a for a in self.arrays if a.name in names and not a.type.is_list]

    @property
    def readers(self) -> str:
        """Bit i: the gradient of array i reads the old value.  The next bit: tangents alone do.  A composite sets all bits i."""
        if self.op.form == "composite":
            return bin(2 ** len(self.arrays) - 1)
        if not self.derived:
            return "0"
        tangents = self.arguments[0].name in self.jvp_names
        mask = sum(1 << self.arrays.index(a) for a in self._readers())
        return bin(mask or tangents << len(self.arrays))

    @property
    def copies_first(self) -> str:
        """The condition in the wrapper for copying an array before an in-place kernel overwrites it."""
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
