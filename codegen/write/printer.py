"""Spelling: convert resolved expressions and statements to the text of the generated code.

Defines three spellings of an expression: as in the entry, on arrays through the forwards, and on tensors through the operators.
The statements determine the order of the code.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable

from ..rules.derive import CONJ
from ..rules.statements import RESULT, Assign, Branch, Present, Statement, Unpack, Wanted
from ..spec.expression import (
    Call,
    Conditional,
    Constant,
    Expression,
    Foreign,
    Helper,
    Item,
    Metadata,
    Name,
    Operation,
    Sequence,
    Slice,
)
from ..spec.formula import BINARY, COMPARISON, PLAIN, UNARY
from ..spec.model import Op, Saved, Signature
from .programs import Elementwise, Program, Shared

_BINARY = {symbol: node for node, (symbol, _) in BINARY.items()}
_UNARY = {symbol: node for node, (symbol, _) in UNARY.items()} | {"not": ast.Not}
_COMPARISONS = {symbol: node for node, (symbol, _) in COMPARISON.items()}
_COMPARISONS |= {symbol: node for node, symbol in PLAIN.items() if symbol not in ("not", "and", "or")}
_BOOLEAN = {"and": ast.And, "or": ast.Or}


class Spelling:
    """Spells an expression like the entry does."""

    def __init__(self, signatures: dict[str, Signature]):
        self.signatures = signatures

    def __call__(self, expression: Expression) -> str:
        return ast.unparse(ast.fix_missing_locations(self.tree(expression)))

    def tree(self, expression: Expression) -> ast.expr:
        match expression:
            case Name(name):
                return _name(name)
            case Constant(value):
                return self.constant(value)
            case Metadata(name, attribute):
                return self.metadata(name, attribute)
            case Call():
                return self.call(expression)
            case Operation(operators, operands):
                return _operation(operators, [self.tree(operand) for operand in operands])
            case Conditional(test, body, orelse):
                return ast.IfExp(self.tree(test), self.tree(body), self.tree(orelse))
            case Helper(function, arguments, keywords):
                return ast.Call(self.helper(function), *self._given(arguments, keywords))
            case Foreign(root, path, arguments, keywords):
                found = _name(root) if isinstance(root, str) else self.tree(root)
                for part in path:
                    found = ast.Attribute(found, part, ast.Load())
                return found if arguments is None else ast.Call(found, *self._given(arguments, keywords))
            case Sequence(items, is_list):
                return (ast.List if is_list else ast.Tuple)([self.tree(item) for item in items], ast.Load())
            case Item(value, Slice(bounds)):
                return ast.Subscript(self.tree(value), ast.Slice(*(bound and self.tree(bound) for bound in bounds)), ast.Load())
            case Item(value, index):
                return ast.Subscript(self.tree(value), self.tree(index), ast.Load())
            case Slice((start, stop, step)):
                bounds = [start, stop, *([] if step is None else [step])]
                return ast.Call(_name("slice"), [ast.Constant(None) if b is None else self.tree(b) for b in bounds], [])
        raise AssertionError(expression)

    def _given(self, arguments: Iterable[Expression], keywords: Iterable[tuple[str, Expression]]) -> tuple[list, list]:
        return [self.tree(a) for a in arguments], [ast.keyword(name, self.tree(value)) for name, value in keywords]

    def constant(self, value: object) -> ast.expr:
        if isinstance(value, float) and not math.isfinite(value):
            name = ast.Attribute(_name("math"), "nan" if math.isnan(value) else "inf", ast.Load())
            return ast.UnaryOp(ast.USub(), name) if value == -math.inf else name
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value < 0:
            return ast.UnaryOp(ast.USub(), ast.Constant(-value))
        return ast.Constant(value)

    def metadata(self, name: str, attribute: str) -> ast.expr:
        return ast.Attribute(_name(name), attribute, ast.Load())

    def helper(self, function: str) -> ast.expr:
        return _name(function)

    def op(self, name: str) -> ast.expr:
        return _name(name)

    def call(self, call: Call) -> ast.expr:
        if call.operator:
            return _operation((call.operator,), [self.tree(a) for a in call.arguments if a is not None])
        arguments, keywords = [], []
        skipped = False
        for parameter, value in zip(self.signatures[call.op].arguments, call.arguments):
            skipped = skipped or value is None or parameter.keyword_only
            if value is not None and skipped:
                keywords.append(ast.keyword(parameter.name, self.tree(value)))
            elif value is not None:
                arguments.append(self.tree(value))
        return ast.Call(self.op(call.op), arguments, keywords)


class OnTensors(Spelling):
    """Spells expressions with the operators, which record and push tangents forward."""

    mode = "tensor"
    elementwise: Elementwise | None = None  # finds the parts that are programs
    target = ""  # the name that the statement assigns
    plus, minus = "plus", "minus"
    own: frozenset[str] = frozenset()  # the operators of another package, which are not in gradspec's `ops`

    def __init__(self, signatures: dict[str, Signature], saved: Iterable[Saved] = (), returned: str = "return {}"):
        super().__init__(signatures)
        self.returned = returned  # the form of a return statement
        self.fields = {saved.field for saved in saved}

    def op(self, name: str) -> ast.expr:
        return ast.Attribute(_name("own_" if name in self.own else "ops"), name, ast.Load())

    def helper(self, function: str) -> ast.expr:
        return ast.Attribute(_name("formulas"), function, ast.Load())

    def metadata(self, name: str, attribute: str) -> ast.expr:
        field = Saved.of(name, attribute).field
        if field not in self.fields:
            return ast.Call(_name(f"{attribute}_of"), [_name(name)], [])
        return ast.parse(f"math.prod({field})", mode="eval").body if attribute == "size" else _name(field)


class Recorded(OnTensors):
    """Spells a recorded backward formula; its `conj` keeps a Python number, which has no dtype."""

    def op(self, name: str) -> ast.expr:
        return _name("conj_of") if name == CONJ else super().op(name)


class OnArrays(OnTensors):
    """Spells expressions with forwards on arrays and programs; `forwards` and `programs` collect the called ones."""

    mode = "array"
    plus, minus = "plus_array", "minus_array"

    def __init__(self, signatures: dict[str, Signature], saved: Iterable[Saved] = (), returned: str = "return {}"):
        super().__init__(signatures, saved, returned)
        self.forwards: set[str] = set()
        self.programs: list[Program] = []
        self.owner = ""  # the op
        self.spent: dict[int, Expression] = {}  # id of a call -> the kernel call that may reuse the cotangent's buffer for it

    def tree(self, expression: Expression) -> ast.expr:
        if isinstance(expression, Shared):
            raise AssertionError(f"{expression.name} has left its program")
        if self.elementwise is None or isinstance(expression, (Name, Constant)) or id(expression) in self.spent:
            return super().tree(expression)
        count = sum(p.results == [self.target] for p in self.programs)
        name = "_".join(part for part in (self.owner.lstrip("_"), self.target, str(count + 1) if count else "") if part)
        # A program of one instruction is not faster than a forward; but a function of three operands, or one of NumPy's with a
        # constant, is not a forward.
        given = expression.arguments or () if isinstance(expression, Foreign) else ()
        constant = isinstance(expression, Foreign) and expression.root == "np" and any(isinstance(a, Constant) for a in given)
        least = 1 if constant or len(given) == 3 else 2
        program = self.elementwise.program(name, self.target, expression, least)
        if program is None:
            return super().tree(expression)
        self.programs.append(program)
        inputs = ast.Tuple([self.tree(value) for value in program.inputs.values()], ast.Load())
        return ast.Call(ast.Attribute(_name(program.name), "run", ast.Load()), [inputs], [])

    def call(self, call: Call) -> ast.expr:
        if not call.op:
            return super().call(call)
        if id(call) in self.spent:
            return self.tree(self.spent[id(call)])
        self.forwards.add(call.op)
        signature = self.signatures[call.op]
        found: ast.expr = ast.Call(_name(f"forward_{call.op}"), [
            ast.parse(str(parameter.default), mode="eval").body if value is None else self.tree(value)
            for parameter, value in zip(signature.arguments, call.arguments)
        ], [])  # fmt: skip
        if signature.outputs == signature.visible:
            return found
        # A forward also returns the hidden outputs, which a formula does not see.
        count = len(signature.visible)
        return ast.Subscript(found, ast.Constant(0) if count == 1 else ast.Slice(None, ast.Constant(count)), ast.Load())


def lines(statements: Iterable[Statement], spell: OnTensors, op: Op) -> list[str]:
    """Statements as lines of code, with blocks indented by four."""
    found: list[str] = []
    if spell.elementwise is not None:
        statements = spell.elementwise.fused(tuple(statements))
    for statement in statements:
        match statement:
            case Assign():
                spell.target = "y" if statement.name == RESULT else statement.name
                found += _assignment(statement, spell)
            case Unpack(saved):
                found.append(f"{saved.field} = {_unpacked(saved, spell.mode)}")
            case Wanted(inputs, body):
                places = [a.name for a in op.signature.arrays]
                mask = sum(1 << places.index(name) for name in inputs)
                found += [f"if wanted_ & {mask}:", *_indented(lines(body, spell, op))]
            case Present(names, body):
                test = " or ".join(f"{name} is not None" for name in names)
                found += [f"if {test}:", *_indented(lines(body, spell, op))]
            case Branch():
                found += _branch(statement, spell, op)
    return found


def _assignment(statement: Assign, spell: OnTensors) -> list[str]:
    name, value = statement.name, spell(statement.value)
    if name == RESULT:
        return [spell.returned.format(value)]
    if statement.subtracts or statement.adds:
        total = name if statement.adds else "None"
        value = f"{spell.minus if statement.subtracts else spell.plus}({total}, {value})"
    if not statement.present:
        return [f"{name} = {value}"]
    if statement.adds:
        return [f"if {statement.present} is not None:", f"    {name} = {value}"]
    return [f"{name} = None if {statement.present} is None else {value}"]


def _unpacked(saved: Saved, mode: str) -> str:
    if not saved.is_variable:
        return f"self.saved_{saved.field}"
    return f'saved_{mode}(self, self.saved_{saved.field}, self.version_{saved.field}, "{saved.name}")'


def _branch(branch: Branch, spell: OnTensors, op: Op) -> list[str]:
    body, orelse = lines(branch.body, spell, op), lines(branch.orelse, spell, op)
    found = [f"if {spell(branch.test)}:", *_indented(body)]
    if body[-1].startswith("return "):
        return [*found, *orelse]
    if len(branch.orelse) == 1 and isinstance(branch.orelse[0], Branch):
        return [*found, f"el{orelse[0]}", *orelse[1:]]
    return [*found, "else:", *_indented(orelse)]


def _indented(block: Iterable[str]) -> list[str]:
    return [f"    {line}" for line in block]


def _name(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _operation(operators: tuple[str, ...], operands: list[ast.expr]) -> ast.expr:
    if len(operands) == 1:
        return ast.UnaryOp(_UNARY[operators[0]](), operands[0])
    if operators[0] in _BINARY:
        return ast.BinOp(operands[0], _BINARY[operators[0]](), operands[1])
    if operators[0] in _BOOLEAN:
        return ast.BoolOp(_BOOLEAN[operators[0]](), operands)
    return ast.Compare(operands[0], [_COMPARISONS[symbol]() for symbol in operators], operands[1:])
