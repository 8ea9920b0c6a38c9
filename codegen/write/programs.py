"""Programs: find the elementwise parts of a formula, and write the programs that compute them on arrays.

Decides this from the forwards: a call is an instruction if the forward of its op is one call of inner loops.  An op whose formula
consists of instructions is inlined.  Two or more instructions form a program.  Does not decide the order of statements, and
depends on no op by name.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from ..rules.statements import Assign, Branch, Present, Statement, Wanted
from ..spec.expression import Call, Constant, Expression, Foreign, Metadata, Name, Operation, names_of, substituted, walk
from ..spec.formula import BINARY, COMPARISON, UNARY
from ..spec.model import Op
from .layout import WIDTH

MOST_INPUTS = 16  # the runtime's limit
_METHODS = {(symbol, 2): method for symbol, method in (*BINARY.values(), *COMPARISON.values())}
_METHODS |= {(symbol, 1): method for symbol, method in UNARY.values()}


@dataclass(frozen=True)
class Shared(Expression):
    """A let inside the only program that reads it."""

    name: str
    value: Expression


@dataclass
class Program:
    """One program, for the templates."""

    name: str
    inputs: dict[str, Expression]  # name -> the expression of the input
    lines: dict[str, str]  # shared value or result -> its text
    results: list[str]

    @property
    def signature(self) -> str:
        return f"{', '.join(self.inputs)} -> {', '.join(self.results)}"

    @property
    def source(self) -> str:
        """The definition in the generated code."""
        lines = [f"{name} = {text}" for name, text in self.lines.items()]
        head = f'cdef Program {self.name} = Program("{self.signature}", '
        if len(head) + 3 > WIDTH:  # 3 for the quotes after it
            head = f'cdef Program {self.name} = Program(\n    "{self.signature}", '
        if len(lines) == 1 and len(head) + len(lines[0]) < 127:
            return f'{head}"{lines[0]}")'
        body = [part for line in lines for part in textwrap.wrap(line, 122, subsequent_indent="    ", break_long_words=False)]
        return head + '"""\n' + "\n".join(f"    {line}" for line in body) + '""")'


def inner_loops(op: Op) -> tuple[str, ...]:
    """`np, exp` if the forward is one call by inner loops on the unchanged arguments; else empty."""
    call = op.forward and op.forward.expression
    if isinstance(call, Foreign) and call.pointwise and not call.keywords and 0 < len(op.signature.arguments) <= 3:
        given = [a.name for a in op.signature.arguments]
        if [a.name if isinstance(a, Name) else "" for a in call.arguments or ()] == given:
            return (call.root, *call.path)
    return tuple(op.loops.split(".")) if op.loops else ()


class Elementwise:
    """The elementwise parts of expressions over some ops; the ops in `own`, of another package, are not instructions."""

    def __init__(self, ops: Mapping[str, Op], own: Iterable[str] = ()):
        self.ops, self.own = ops, frozenset(own)
        self.named = {op.operator: op for op in ops.values() if op.operator}
        self.calls: dict[tuple[str, ...], str] = {}  # the function that a forward calls -> the op
        for op in ops.values():
            path = inner_loops(op) if self.is_pointwise(op) else ()
            if path and (path[0] == "np" or not self.own) and (path not in self.calls or path[-1] == op.name):
                self.calls[path] = op.name
        self.bodies: dict[str, Expression | None] = {}

    def is_pointwise(self, op: Op) -> bool:
        """Whether the op can be an instruction of a program."""
        return bool(inner_loops(op)) and op.name not in self.own

    def instruction(self, expression: Expression) -> tuple[str, tuple[Expression, ...]] | None:
        """The op and its operands, if an expression is one call by inner loops."""
        match expression:
            case Call(op=name, arguments=arguments) if name in self.ops and self.is_pointwise(self.ops[name]):
                return (self.ops[name].name, arguments) if None not in arguments else None
            case Foreign(root=str() as root, path=path, arguments=arguments, keywords=(), pointwise=True) if arguments:
                name = self.calls.get((root, *path))
                return (name, arguments) if name and len(arguments) == len(self.ops[name].signature.arguments) else None
            case Operation(operators=(symbol,), operands=operands):
                op = self.named.get(_METHODS.get((symbol, len(operands)), ""))
                if op is not None and self.is_pointwise(op) and any(self.is_computed(operand) for operand in operands):
                    return op.name, operands
        return None

    def is_computed(self, expression: Expression) -> bool:
        """Whether the operand of a Python operator is an array."""
        return expression.kind == "array" or self.instruction(expression) is not None

    def written_out(self, expression: Expression) -> Expression:
        """The inlined call of an op that consists of instructions alone; other expressions are unchanged."""
        match expression:
            case Call(op=name, arguments=arguments) if name in self.ops and None not in arguments:
                op = self.ops[name]
                body = self.body(op)
                if body is not None:
                    return substituted(body, dict(zip((a.name for a in op.signature.arguments), arguments)))
        return expression

    def body(self, op: Op) -> Expression | None:
        """The formula of an op that consists of instructions alone, with its lets inlined; else None."""
        if op.name not in self.bodies:
            self.bodies[op.name] = None  # for a recursive query: a formula that calls itself has no body
            formula = op.composite or op.forward
            if formula and not self.is_pointwise(op) and len(op.signature.outputs) == 1:
                found = formula.expression
                for name, value in reversed(op.let_expressions.items()):
                    found = substituted(found, {name: value})
                if self.instruction(self.written_out(found)) and self.is_whole(found):
                    self.bodies[op.name] = found
        return self.bodies[op.name]

    def is_whole(self, expression: Expression) -> bool:
        """Whether an expression consists of instructions, names and numbers."""
        if isinstance(expression, Name) or _is_number(expression):
            return True
        found = self.instruction(self.written_out(expression))
        return found is not None and all(map(self.is_whole, found[1]))

    def fused(self, statements: tuple[Statement, ...]) -> tuple[Statement, ...]:
        """Fuse statements: move a let that only one program reads into that program."""
        found: list[Statement] = []
        for statement in statements:
            match statement:
                case Branch(body=body, orelse=orelse):
                    found.append(replace(statement, body=self.fused(body), orelse=self.fused(orelse)))
                case Wanted(body=body) | Present(body=body):
                    found.append(replace(statement, body=self.fused(body)))
                case _:
                    found.append(statement)
        for name in [s.name for s in found if _is_let(s)]:
            let = next(s for s in found if _is_let(s) and s.name == name)  # with the lets that were moved into it
            readers = [i for i, s in enumerate(found) if let.name in _read(s)]
            if len(readers) != 1 or self.instruction(self.written_out(let.value)) is None:
                continue
            reader = found[readers[0]]
            if isinstance(reader, Branch) and let.name not in _named(reader.test):
                bodies = [self.fused((let, *body)) if any(let.name in _read(s) for s in body) else body
                          for body in (reader.body, reader.orelse)]
                if not any(let in body for body in bodies):  # it was moved into a program in both
                    found[readers[0]] = replace(reader, body=bodies[0], orelse=bodies[1])
                    found = [s for s in found if s is not let]
                continue
            if isinstance(reader, Assign) and let is not reader and self.reads_inside(reader.value, let.name):
                shared = Shared(let.name, let.value, kind=let.value.kind)
                found[readers[0]] = replace(reader, value=substituted(reader.value, {let.name: shared}))
                found = [s for s in found if s is not let]
        return tuple(found)

    def reads_inside(self, expression: Expression, name: str) -> bool:
        """Whether an expression is a program that reads a name, and no input of the program contains it."""
        leaves = list(self.leaves(expression))
        outside = [leaf for leaf in leaves if not isinstance(leaf, Name) and name in names_of(leaf)]
        return self.instruction(self.written_out(expression)) is not None and not outside

    def leaves(self, expression: Expression) -> Iterator[Expression]:
        """The inputs of the program that an expression forms."""
        if isinstance(expression, Shared):
            expression = expression.value
        found = self.instruction(self.written_out(expression))
        if found is None:
            yield expression
            return
        for operand in found[1]:
            yield from self.leaves(operand)

    def takes_deferred(self, statements: tuple[Statement, ...], grad: str) -> bool:
        """Whether only programs and single instructions compute the values that depend on `grad`."""
        return self.are_calls(self.fused(statements), {grad})

    def are_calls(self, statements: tuple[Statement, ...], moving: set[str]) -> bool:
        """Whether inner loops compute all values that depend on `moving`; their names are added to it."""
        for statement in statements:
            match statement:
                case Assign(name=name, value=value, present=present):
                    if present in moving or _mentions(value, moving) and not self.is_called(value, moving):
                        return False
                    if _mentions(value, moving):
                        moving.add(name)
                case Branch(test=test, body=body, orelse=orelse):
                    if _mentions(test, moving) or not (self.are_calls(body, moving) and self.are_calls(orelse, moving)):
                        return False
                case Wanted(body=body):
                    if not self.are_calls(body, moving):
                        return False
                case Present():
                    return False
        return True

    def is_called(self, expression: Expression, moving: set[str]) -> bool:
        """Whether an expression that depends on `moving` is a program, or consists of calls of single instructions."""
        if isinstance(expression, Name):
            return True
        if any(_mentions(leaf, moving) and not isinstance(leaf, Name) for leaf in self.leaves(expression)):
            return False
        if self.program("", "", expression) is not None:
            return True
        if not isinstance(expression, Call) or self.instruction(expression) is None:
            return False
        return all(self.is_called(a, moving) for a in expression.arguments if a is not None and _mentions(a, moving))

    def program(self, name: str, result: str, expression: Expression, least: int = 2) -> Program | None:
        """The program that computes an expression; None if it has fewer than `least` instructions."""
        built = _Text(self, Program(name, {}, {}, [result]))
        text = built.of(expression)
        if len(built.instructions) < least or len(built.program.inputs) > MOST_INPUTS or not built.has_array:
            return None
        built.program.lines[result] = text
        return built.program


@dataclass
class _Text:
    """Builds the text of one program."""

    elementwise: Elementwise
    program: Program
    instructions: set[str] = field(default_factory=set)
    has_array: bool = False

    def of(self, expression: Expression) -> str:
        if isinstance(expression, Shared):
            if expression.name not in self.program.lines:
                self.program.lines[expression.name] = self.of(expression.value)
            return expression.name
        if _is_number(expression):
            return repr(expression.value)
        found = self.elementwise.instruction(self.elementwise.written_out(expression))
        if found is None:
            return self.input(expression)
        text = f"{found[0]}({', '.join(map(self.of, found[1]))})"
        if not self.elementwise.ops[found[0]].view:  # an instruction that may return its operand saves no call
            self.instructions.add(text)
        return text

    def input(self, expression: Expression) -> str:
        inputs = self.program.inputs
        for name, given in inputs.items():
            if given == expression:
                return name
        self.has_array = self.has_array or expression.kind == "array"
        name = expression.name if isinstance(expression, Name) else f"given_{len(inputs)}"
        inputs[name] = expression
        return name


def _is_number(expression: Expression) -> bool:
    return isinstance(expression, Constant) and type(expression.value) in (int, float) and not (
        isinstance(expression.value, float) and math.isnan(expression.value))  # fmt: skip


def _mentions(expression: Expression, names: set[str]) -> bool:
    """Whether an expression depends on one of `names`, even if only on its shape."""
    inner = [part.value for part in walk(expression) if isinstance(part, Shared)]
    return any(isinstance(part, (Name, Metadata)) and part.name in names for part in walk(expression)) or any(
        _mentions(value, names) for value in inner)


def _is_let(statement: Statement) -> bool:
    return isinstance(statement, Assign) and not (statement.present or statement.adds or statement.subtracts)


def _named(expression: Expression) -> set[str]:
    """The names whose values or shapes an expression reads."""
    return {part.name for part in walk(expression) if isinstance(part, (Name, Metadata))}


def _read(statement: Statement) -> set[str]:
    match statement:
        case Assign(value=value):
            return {name for part in walk(value) for name in ([part.name] if isinstance(part, Name) else [])}
        case Branch(test=test, body=body, orelse=orelse):
            return set(names_of(test)).union(*map(_read, (*body, *orelse)))
        case Wanted(body=body):
            return set().union(*map(_read, body))
        case Present(body=body):
            return set().union(*map(_read, body))
    return set()
