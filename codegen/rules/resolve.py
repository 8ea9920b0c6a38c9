"""Resolution: turn a parsed formula into an expression with resolved names, attributes, calls and kinds.

Defines the two dialects: formulas over ops and helpers, and `forward`, `inplace` and `placed` over NumPy and kernels.  Does not
depend on derivative forms.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import ModuleType

from ..errors import ErrorList, SpecError, did_you_mean
from ..spec.cases import ELSE, case_of, named
from ..spec.expression import (
    ARRAY,
    ARRAYS,
    STATIC,
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
    wider,
)  # fmt: skip
from ..spec.formula import BINARY, COMPARISON, METADATA, PLAIN, ROOTS, UNARY, bind_call, declared_kind
from ..spec.library import Library
from ..spec.model import Argument, Location, Op, Signature, Span

_KIND_WORDS = {ARRAY: "an array", ARRAYS: "several arrays", STATIC: "static"}
_METHODS = {(symbol, 2): method for symbol, method in (*BINARY.values(), *COMPARISON.values())}
_METHODS |= {(symbol, 1): method for symbol, method in UNARY.values()}
_SYMBOLS = {(method, count): symbol for (symbol, count), method in _METHODS.items() if method}


@dataclass(frozen=True)
class Vocabulary:
    """The functions and operators that formulas may call."""

    ops: Mapping[str, Op]  # by Python name and by alias
    helpers: Mapping[str, Signature]
    operators: Mapping[str, str]  # "__add__" -> the op that implements it

    @classmethod
    def of(cls, ops: Iterable[Op], helpers: Mapping[str, Signature], offered: Iterable[Op] = ()) -> Vocabulary:
        """The spellings of a spec's operators and of `offered` ones, such as the library's; the spec's own take precedence."""
        ops = [*offered, *ops]
        spellings = {spelling: op for op in ops for spelling in (op.name, *op.aliases)}
        return cls(spellings, helpers, {op.operator: op.name for op in ops if op.operator})

    def call(self, name: str, *arguments: Expression, at: Location | None = None, operator: str = "") -> Call:
        """A call of an op with positional arguments."""
        op = self.ops.get(name)
        rest = len(op.signature.arguments) - len(arguments) if op else -1
        if rest < 0:
            raise SpecError(f"needs an operator '{name}' of {len(arguments)} arguments, which the spec has not", at)
        return Call(op.name, (*arguments, *[None] * rest), operator, kind=result_kind(op.signature), at=at)

    def operate(self, symbol: str, *operands: Expression, at: Location | None = None) -> Expression:
        """Apply an operator: Python's own if all operands are static, else the op that implements it."""
        at = at or operands[0].at
        kind = wider(*(operand.kind for operand in operands))
        if kind == STATIC:
            return folded(Operation((symbol,), operands, at=at))
        name = self.operators.get(_METHODS[symbol, len(operands)])
        if name is None:  # NumPy's operator, in a spec without an entry for it
            return Call("", operands, symbol, kind=kind, at=at)
        return self.call(name, *operands, at=at, operator=symbol)


def result_kind(signature: Signature) -> str:
    outputs = signature.visible
    return declared_kind(outputs[0]) if len(outputs) == 1 else ARRAYS


def folded(expression: Expression) -> Expression:
    """A negative constant instead of the negation of a constant."""
    match expression:
        case Operation(("-",), (Constant(int() | float() | complex() as value),)) if not isinstance(value, bool):
            return Constant(-value, at=expression.at)
    return expression


class Resolver:
    """Resolves one formula and reports each unknown name and each invalid use."""

    def __init__(self, vocabulary: Vocabulary, library: Library, errors: ErrorList, op: str, key: str, kinds: Mapping[str, str],
                 names: Iterable[str], elsewhere: Mapping[str, str], numpy: bool, file: str):  # fmt: skip
        self.vocabulary, self.library, self.kinds = vocabulary, library, kinds
        self.errors, self.op, self.key, self.file = errors, op, key, file
        self.names, self.elsewhere = set(names), elsewhere
        self.numpy = numpy
        self.metadata_only: set[str] = set()  # names of arrays with a readable shape and dtype but no readable value
        self.ints: set[str] = set()  # names of arguments that are single ints

    def report(self, message: str, at: ast.AST | Location, known: Iterable[str] = (), name: str = "") -> Expression:
        self.errors.add(message, at, self.op, self.key, suggestion=did_you_mean(name, known) if name else "")
        return Constant(None)

    def __call__(self, node: ast.expr) -> Expression:
        at = Span(self.file, node.lineno, node.col_offset + 1, node.end_lineno, node.end_col_offset + 1)
        match node:
            case ast.Constant(value):
                return Constant(value, at=at)
            case ast.Name():
                return self._name(node, at)
            case ast.Attribute():
                return self._attribute(node, at)
            case ast.Call():
                return self._call(node, at)
            case ast.BinOp(left, operator, right):
                return self._operate(BINARY[type(operator)][0], [left, right], at)
            case ast.UnaryOp(ast.Not(), operand):
                return Operation(("not",), (self(operand),), at=at)
            case ast.UnaryOp(operator, operand):
                return self._operate(UNARY[type(operator)][0], [operand], at)
            case ast.Compare():
                return self._compare(node, at)
            case ast.BoolOp(operator, values):
                return self._boolean(PLAIN[type(operator)], values, at)
            case ast.IfExp():
                return self._conditional(node, at)
            case ast.Tuple(items) | ast.List(items):
                parts = tuple(map(self, items))
                kind = STATIC if all(part.kind == STATIC for part in parts) else ARRAYS
                return Sequence(parts, isinstance(node, ast.List), kind=kind, at=at)
            case ast.Subscript(value, index):
                return self._item(node, self(value), self(index), at)
            case ast.Slice(lower, upper, step):
                return Slice(tuple(bound and self(bound) for bound in (lower, upper, step)), at=at)
        raise AssertionError(f"{type(node).__name__} is not whitelisted")

    def _name(self, node: ast.Name, at: Location) -> Expression:
        name = node.id
        if name in self.names:
            return Name(name, kind=self.kinds.get(name, STATIC), at=at)
        if name in self.elsewhere:
            return self.report(self.elsewhere[name], node)
        if name in self.vocabulary.ops or name in self.vocabulary.helpers:
            return self.report(f"'{name}' is a function: call it", node)
        if name in ROOTS:
            return self.report(f"'{name}' is allowed in forward and inplace only; formulas call ops", node)
        return self.report(f"unknown name '{name}'", node, self.names, name)

    # Attributes.

    def _attribute(self, node: ast.Attribute, at: Location) -> Expression:
        import numpy as np  # here, because the import takes longer than a command that resolves nothing

        from .pure import METHODS

        root, path = _dotted(node)
        if root in ROOTS and self.numpy:
            return self._below_root(root, path, at)
        if root in ROOTS:
            return self.report(f"'{root}' is allowed in forward and inplace only; formulas call ops", node)
        if node.attr.startswith("_") or self.numpy and node.attr not in METHODS and hasattr(np.ndarray, node.attr):
            return self.report(f".{node.attr} is not for formulas: they compute, of arrays", _at_attribute(node))
        if self.numpy and node.attr in {*METADATA, *METHODS}:
            return self._foreign_attribute(node, at)
        if node.attr not in METADATA:
            known = METHODS if self.numpy else METADATA
            what = "arrays have no" if self.numpy else "only .shape .ndim .dtype .size can be read, not"
            return self.report(f"{what} .{node.attr}", _at_attribute(node), known, node.attr)
        if not isinstance(node.value, ast.Name):
            return self.report(f".{node.attr} of an expression: name the expression in let and pass it to an op", node)
        name = node.value.id
        if name not in self.metadata_only:
            self(node.value)
            if name in self.names and self.kinds.get(name) == STATIC:
                return self.report(f"'{name}' is not an array", node)
        return Metadata(name, node.attr, at=at)

    def _foreign_attribute(self, node: ast.Attribute, at: Location) -> Expression:
        value = self(node.value)
        if isinstance(value, Name) and value.kind != STATIC and node.attr in METADATA:
            return Metadata(value.name, node.attr, at=at)
        return Foreign(value, (node.attr,), at=at)

    def _below_root(self, root: str, path: list[ast.Attribute], at: Location) -> Expression:
        import numpy as np

        from .pure import is_pure

        if root == "kernels":
            name, known = path[0].attr, self.library.kernels
            if name in self.library.unexported:
                where = self.library.where_to_export
                return self.report(f"the kernel '{name}' is not named by {where}", _at_attribute(path[0]))
            if name not in known:
                where = self.library.kernels_folder
                return self.report(f"no kernel '{name}' in {where}", _at_attribute(path[0]), known, name)
            pointwise = name in self.library.pointwise
        else:
            value: object = np
            for part in path:
                if not hasattr(value, part.attr) and not part.attr.startswith("_"):
                    return self.report(f"NumPy has no {ast.unparse(part)}", _at_attribute(part), dir(value), part.attr)
                if not is_pure(value, part.attr):
                    return self.report(f"{ast.unparse(part)} is not for formulas: they compute, of arrays", _at_attribute(part))
                value = getattr(value, part.attr)
            if isinstance(value, ModuleType):
                return self.report(f"{ast.unparse(path[-1])} is a module", _at_attribute(path[-1]))
            pointwise = isinstance(value, np.ufunc) and value.nout == 1 and value.signature is None
        return Foreign(root, tuple(part.attr for part in path), pointwise=pointwise, at=at)

    # Calls.

    def _call(self, node: ast.Call, at: Location) -> Expression:
        if not isinstance(node.func, ast.Name):
            arguments = tuple(map(self, node.args))
            keywords = tuple((keyword.arg, self(keyword.value)) for keyword in node.keywords)
            if not self.numpy and _dotted(node.func)[0] not in ROOTS:
                return self.report("a formula calls ops and helpers by name, and arrays have no methods here", node)
            function = self(node.func)
            if not isinstance(function, Foreign):  # an error that is reported, or a shape, which is not a function
                return function if isinstance(function, Constant) else self.report("that is no function", node.func)
            return replace(function, arguments=arguments, keywords=keywords, at=at)

        name, helpers, ops = node.func.id, self.vocabulary.helpers, self.vocabulary.ops
        if name in helpers and name not in ops:
            return self._helper(node, helpers[name], at)
        if self.numpy or name not in ops:
            for value in [*node.args, *(keyword.value for keyword in node.keywords)]:
                self(value)
            what = "forward calls np.*, kernels.* and helpers: unknown" if self.numpy else "unknown"
            known = [*helpers, *([] if self.numpy else ops)]
            if name in self.library.private:
                return self.report(f"'{name}' is private to gradspec: formulas call its public operators", node.func)
            other = self.library.other_spec
            own = f" (formulas call the operators of {other} and of gradspec)" if other and not self.numpy else ""
            return self.report(f"{what} function '{name}'{own}", node.func, known, name)
        if name.endswith("_"):
            return self.report(f"{name} works in place: a formula must not write", node.func)
        return self._op(node, ops[name], at)

    def _op(self, node: ast.Call, op: Op, at: Location) -> Expression:
        signature, arguments = op.signature, []
        with self.errors.catch(self.op, self.key):
            bound = bind_call(node, signature)
            for parameter in signature.arguments:
                value = bound.get(parameter.name)
                if value is not None:
                    resolved = self(value)
                    self._check_argument(ast.unparse(node.func), parameter, resolved, value)
                    arguments.append(self._as_many(parameter, resolved))
                else:
                    default = Constant(ast.literal_eval(parameter.default), at=at) if parameter.type.length else None
                    several = default and self._as_many(parameter, default)
                    arguments.append(None if several is default else several)
        if len(arguments) < len(signature.arguments):
            return Constant(None)
        symbol = _SYMBOLS.get((op.operator, len(node.args)))
        if symbol and not node.keywords and any(argument is not None and argument.kind != STATIC for argument in arguments):
            return self.report(f"has an operator: write {_operated(symbol, node.args)}", node.func)
        return Call(op.name, tuple(arguments), kind=result_kind(signature), at=at)

    def _as_many(self, parameter: Argument, value: Expression) -> Expression:
        """Repeat one int for a parameter `int[2]`, as for users' calls."""
        count = parameter.type.length
        return Sequence((value,) * count, at=value.at) if count and self._is_int(value) else value

    def _is_int(self, value: Expression) -> bool:
        match value:
            case Constant(number):
                return type(number) is int
            case Name(name):
                return name in self.ints
            case Metadata(_, attribute):
                return attribute in ("ndim", "size")
            case Operation(operators, operands):
                return operators[0] in ("+", "-", "*", "//", "%") and all(map(self._is_int, operands))
        return False

    def _helper(self, node: ast.Call, signature: Signature, at: Location) -> Expression:
        name = signature.name
        with self.errors.catch(self.op, self.key):
            for parameter, value in bind_call(node, signature).items():
                resolved = self(value)
                if resolved.kind != STATIC:
                    given = f"{ast.unparse(value)} is {_KIND_WORDS[resolved.kind]}"
                    raise SpecError(f"'{parameter}' of {name} takes a static value; {given}", value)
            positional = tuple(map(self, node.args))
            return Helper(name, positional, tuple((k.arg, self(k.value)) for k in node.keywords), at=at)
        return Constant(None)

    def _check_argument(self, name: str, parameter: Argument, value: Expression, node: ast.expr) -> None:
        type_ = parameter.type
        if type_.base == "Index":
            return
        if type_.base in ("Array", "Mask"):
            wanted = (ARRAYS, STATIC) if type_.is_list else (ARRAY, STATIC)
        else:
            wanted = (STATIC,)
        if value.kind not in wanted:
            takes = {ARRAY: "one array", ARRAYS: "a list of arrays", STATIC: "a static value"}[wanted[0]]
            given = f"{ast.unparse(node)} is {_KIND_WORDS[value.kind]}"
            raise SpecError(f"'{parameter.name}' of {name} takes {takes}; {given}", node)

    # Operators, conditions and items.

    def _operate(self, symbol: str, operands: list[ast.expr], at: Location) -> Expression:
        return self.vocabulary.operate(symbol, *map(self, operands), at=at)

    def _compare(self, node: ast.Compare, at: Location) -> Expression:
        operands = tuple(map(self, [node.left, *node.comparators]))
        if all(type(operator) in COMPARISON for operator in node.ops):
            symbols = tuple(COMPARISON[type(operator)][0] for operator in node.ops)
            if all(operand.kind == STATIC for operand in operands):
                return Operation(symbols, operands, at=at)
            if len(symbols) > 1:
                return self.report("a chain of comparisons between arrays: combine them with &", node)
            return self.vocabulary.operate(symbols[0], *operands, at=at)
        symbols = tuple((COMPARISON | {k: (v, "") for k, v in PLAIN.items()})[type(operator)][0] for operator in node.ops)
        return Operation(symbols, operands, at=at)

    def _boolean(self, symbol: str, values: list[ast.expr], at: Location) -> Expression:
        operands = tuple(map(self, values))
        for operand, value in zip(operands, values):
            if not self.numpy and operand.kind != STATIC:
                self.report("'and' and 'or' are static; combine arrays with logical_and and logical_or", value)
        return Operation((symbol,) * (len(operands) - 1), operands, at=at)

    def _conditional(self, node: ast.IfExp, at: Location) -> Expression:
        key, case = self.key, case_of(node)
        self.key = named(key, case)
        test, body = self(node.test), self(node.body)
        if not self.numpy and test.kind != STATIC:
            self.report("a condition is static; choose between elements with where", node.test)
        self.key = named(key, ELSE if case and not case_of(node.orelse) else "")
        orelse = self(node.orelse)
        self.key = key
        return Conditional(test, body, orelse, kind=wider(body.kind, orelse.kind), at=at)

    def _item(self, node: ast.Subscript, value: Expression, index: Expression, at: Location) -> Expression:
        if not self.numpy and value.kind == ARRAY:
            name = self.vocabulary.operators.get("__getitem__")
            if name is None:
                return self.report("no entry has the operator __getitem__", node)
            if index.kind != STATIC:
                return self.report("an index between brackets is static: call an op for an array of places", node.slice)
            return self.vocabulary.call(name, value, index, at=at)
        kind = ARRAY if value.kind == ARRAYS and not isinstance(index, Slice) else value.kind
        return Item(value, index, kind=kind, at=at)


def _operated(symbol: str, operands: list[ast.expr]) -> str:
    """Operands joined by an operator, as source text; a single operand follows it."""
    words = [f"({ast.unparse(operand)})" for operand in operands]
    return ast.unparse(ast.parse(f" {symbol} ".join(words) if len(words) > 1 else f"{symbol} {words[0]}", mode="eval"))


def _dotted(node: ast.expr) -> tuple[str, list[ast.Attribute]]:
    """`np.linalg.inv` is ("np", [np.linalg, np.linalg.inv]); other expressions have an empty root."""
    path: list[ast.Attribute] = []
    while isinstance(node, ast.Attribute):
        path.insert(0, node)
        node = node.value
    return (node.id if isinstance(node, ast.Name) else ""), path


def _at_attribute(node: ast.Attribute) -> Location:
    return Location("", node.end_lineno, node.end_col_offset - len(node.attr) + 1)
