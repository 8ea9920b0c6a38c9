"""Nodes: compute the template fields for an operator's backward node and its forward-mode rule.

Decides the fields of a node, the conditions for saving them, and the lines of both evaluations of a rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from ..rules.statements import jvp_statements, vjp_statements
from ..spec.expression import ARRAY, Call, Constant, Expression, Foreign, Name, substituted, values_in
from ..spec.formula import grad_names
from ..spec.model import Argument, Op, Saved, Signature
from .arguments import Bindings
from .batches import Batches
from .printer import OnArrays, OnTensors, Recorded, lines
from .programs import Elementwise, Program

Spelled = TypeVar("Spelled", bound=OnTensors)


def _returning(found: list[str], names: list[str], bracket: str = "{}") -> list[str]:
    """Lines that end by returning `names`; a single name that the last line assigns is returned directly."""
    if len(names) == 1 and found and found[-1].startswith(f"{names[0]} = "):
        return [*found[:-1], f"return {bracket.format(found[-1].removeprefix(f'{names[0]} = '))}"]
    return [*found, f"return {bracket.format(', '.join(names))}"]


class NodeText(Bindings):
    """The backward node and the jvp of one op, for the templates."""

    def __init__(self, op: Op, signatures: Mapping[str, Signature], ops: Mapping[str, Op],
                 elementwise: Elementwise | None = None):  # fmt: skip
        super().__init__(op)
        self.signatures, self.ops, self.derived = signatures, ops, op.derived
        self.elementwise = elementwise or Elementwise(ops)
        self.own = self.elementwise.own
        self.has_node = op.derived is not None and bool(op.derived.vjp)
        self.lacks_rule = op.form == "unimplemented"
        self.records = self.has_node or self.lacks_rule
        self.node_forwards: set[str] = set()  # the forwards that its rules call on arrays
        self.node_programs: list[Program] = []
        self.spends = False  # whether a kernel of its rules writes into the cotangent
        if self.has_node:
            self.on_arrays, self.on_tensors = self._evaluation(OnArrays), self._evaluation(Recorded)

    def spell(self, spelling: type[Spelled], saved: Iterable[Saved] = (), returned: str = "return {}") -> Spelled:
        """An instance of a Spelling class, for the formulas of this operator."""
        found = spelling(self.signatures, saved, returned)
        found.own = self.own
        return found

    @property
    def saved(self) -> tuple[Saved, ...]:
        return self.derived.saved

    @property
    def saved_variables(self) -> list[Saved]:
        """The saved values with a version check, saved-tensor hooks and release after backward."""
        return [s for s in self.saved if s.is_variable]

    @property
    def saved_indices(self) -> list[Saved]:
        return [s for s in self.saved if s.kind == "index"]

    @property
    def list_inputs(self) -> list[Argument]:
        return [a for a in self.arrays if a.type.is_list]

    @property
    def grad_outputs(self) -> list:
        """The outputs that have a gradient."""
        return [o for o in self.outputs if o.differentiable]

    @property
    def several_outputs(self) -> bool:
        return len(self.grad_outputs) > 1 or self.list_output

    @property
    def list_output(self) -> bool:
        return self.outputs[0].type.is_list

    def several(self, items: str) -> str:
        """The text of a list output."""
        return f"tuple({items})" if self.outputs[0].type.is_tuple else items

    def position(self, name: str) -> int:
        return [a.name for a in self.arrays].index(name)

    def guard(self, inputs: Iterable[str], owner: str = "self") -> str:
        """The condition that the gradient of one of `inputs` is wanted; empty if it is always wanted."""
        wanted = [a.name for a in self.arrays if a.name in set(inputs)]
        if self.list_inputs or len(wanted) == len(self.arrays):
            return ""
        return " or ".join(f"{owner}.needs({self.position(name)})" for name in wanted)

    def needed_by(self, saved: Saved) -> list[str]:
        return [name for name, values in self.derived.saved_for.items() if saved in values]

    def saves(self, after: bool) -> list[tuple[str, list[Saved]]]:
        """Guards with the values saved under each, for values that are known before the forward or `after` it."""
        found: dict[str, list[Saved]] = {"": []}
        for saved in self.saved if self.has_node else ():
            if after == (saved.kind == "output" or bool(self.signature.output(saved.name))):
                found.setdefault(self.guard(self.needed_by(saved), "node_"), []).append(saved)
        return [(guard, group) for guard, group in found.items() if group]

    @property
    def undefined_grads(self) -> list[tuple[str, int]]:
        """(name, output number) of each gradient that may be missing, if there are several."""
        return [(name, i) for i, name in enumerate(grad_names(self.op))]

    def _evaluation(self, spelling: type[OnTensors]) -> list[str]:
        """The lines of one evaluation of a node's formulas."""
        spell, last = self.spell(spelling, self.derived.saved), ""
        if isinstance(spell, OnArrays):
            last = self._spend(spell)
            self.spends = bool(last)
            spell.elementwise, spell.owner = self.elementwise, self.name
        found = lines(vjp_statements(self.op, last=last), spell, self.op)
        if isinstance(spell, OnArrays):
            self.node_forwards, self.node_programs = spell.forwards, spell.programs
        return found if self.list_inputs else _returning(found, self.grad_names)

    def _spend(self, spell: OnArrays) -> str:
        """The input whose gradient one kernel computes, if the rule is a single call `f(grad, ...)`; else "".

        A `placed` kernel returns a value that is added to an existing gradient.  An in-place kernel may write into the
        cotangent's buffer if no other reference sees it; nothing reads the cotangent afterwards.
        """
        for name, rule in self.derived.vjp.items() if len(grad_names(self.op)) == 1 and not self.list_output else ():
            callee = self.ops.get(rule.op) if isinstance(rule, Call) else None
            if callee and callee.placed and len(self.arrays) == 1:
                spell.spent[id(rule)] = substituted(callee.placed.expression, _given(callee.signature, rule.arguments))
                return name
            if callee and callee.inplace and not callee.inplace_only and rule.arguments[0] == Name("grad", kind=ARRAY):
                spare = Foreign("spare", (), (Name("self"), Name("grad")), kind=ARRAY)
                given = _given(callee.signature, (spare, *rule.arguments[1:]))
                spell.spent[id(rule)] = substituted(callee.inplace.expression, given)
                return name
        return ""

    @property
    def takes_batch(self) -> bool:
        """Whether the rules apply to each row of a batch of cotangents independently."""
        return Batches(self.elementwise).takes_batch(self.op)

    @property
    def takes_deferred(self) -> bool:
        """Whether only programs and ufuncs of the rules read the cotangent, which may then be deferred."""
        if self.several_outputs or len(grad_names(self.op)) != 1 or self.list_inputs or self.spends:
            return False
        return self.elementwise.takes_deferred(vjp_statements(self.op), *grad_names(self.op))

    @property
    def pushes_batch(self) -> bool:
        """Whether the jvp applies to each row of a batch of tangents independently."""
        return Batches(self.elementwise).pushes_batch(self.op)

    @property
    def rows_lines(self) -> list[str]:
        """The body of the rule for a batch of cotangents, on tensors; empty if there is no separate rule."""
        statements = Batches(self.elementwise).rows_statements(self.op)
        spell = self.spell(Recorded, self.derived.saved)
        return _returning(lines(statements, spell, self.op), self.grad_names) if statements else []

    @property
    def rows_arguments(self) -> list[tuple[str, str]]:
        """The values that `rows:` reads: (name, its expression in a jvp); the array is the tangent."""
        names = {name for name, _ in values_in(self.op.rows.expression, {})}
        found = [(a, "tangents_" if a in self.arrays else "inputs_", i) for i, a in enumerate(self.arguments)]
        return [(a.name, f"{place}[{i}]") for a, place, i in found if a.name in names]

    @property
    def rows_call(self) -> str:
        """The call of `rows:`, on tensors."""
        return self.spell(OnTensors)(self.op.rows.expression)

    @property
    def unset_grads(self) -> list[str]:
        """Gradients that may end without a value; they start as None."""
        ruled = [a.name for a in self.arrays if a.name in self.derived.vjp]
        guarded = ruled if len(self.arrays) > 1 and not self.list_inputs else []
        return [f"grad_{a.name}" for a in self.arrays if a.name in guarded or a.name not in self.derived.vjp]

    @property
    def grad_names(self) -> list[str]:
        return [f"grad_{a.name}" for a in self.arrays]

    @property
    def jvp_lines(self) -> list[str]:
        """The tangents of the outputs, on tensors, as a tuple."""
        bracket = "({},)" if len(self.outputs) == 1 else "({})"
        if self.derived.joint_linear:
            return [f"return {bracket.format(self.joint_call())}"]
        names = [f"{o.name}_t" if o.name in self.derived.jvp else "None" for o in self.outputs]
        return _returning(lines(jvp_statements(self.op), self.spell(OnTensors), self.op), names, bracket)

    @property
    def jvp_locals(self) -> list[tuple[str, str]]:
        """The tangents, inputs and outputs that the jvp reads: (name, its expression in the parameters)."""
        joint, names = self.derived.joint_linear, self.jvp_names
        found = []
        for i, a in enumerate(self.arguments):
            if a.name in joint and len(joint) > 1:
                found.append((f"{a.name}_t", f"defined_tangent(tangents_[{i}], inputs_[{i}])"))
            elif a.name in joint or f"{a.name}_t" in names:
                found.append((f"{a.name}_t", f"tangents_[{i}]"))
        found += [(a.name, f"inputs_[{i}]") for i, a in enumerate(self.arguments) if a.name in names]
        return found + [(o.name, f"outputs_[{i}]") for i, o in enumerate(self.outputs) if o.name in names]

    def joint_call(self) -> str:
        """The op itself on tangents, for a jointly linear op."""
        arguments = [f"{a.name}_t" if a.name in self.derived.joint_linear else a.name for a in self.arguments]
        if self.op.inplace_only:
            arguments[0] = f"ops.copy({arguments[0]})"
        return f"{'own_' if self.name in self.own else 'ops'}.{self.name}({', '.join(self._keyworded(arguments))})"

    def _keyworded(self, values: list[str]) -> list[str]:
        return [f"{a.name}={v}" if a.keyword_only else v for a, v in zip(self.arguments, values)]

    @property
    def jvp_names(self) -> set[str]:
        """Inputs and outputs that a jvp formula reads."""
        if self.derived.joint_linear:
            return {a.name for a in self.arguments if a.name not in self.derived.joint_linear}
        return {name for rule in self.derived.jvp.values() for name, attribute in values_in(rule, self.op.let_expressions)}


def _given(signature: Signature, arguments: Iterable[Expression | None]) -> dict[str, Expression]:
    """Argument name -> its value in a call, or its default."""
    given = zip(signature.arguments, arguments)
    return {a.name: Constant(a.given) if value is None else value for a, value in given}
