"""Limits: bound the length, depth and size of the spec's expressions, so that a check of any text ends soon.

Parses within the limits, and rejects arithmetic with an unbounded result before it is computed: `10 ** 10 ** 10 ** 10` gives a
message and does not hang.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import operator
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from ..errors import SpecError
from .ast_walk import by_depth, children
from .model import Text

LENGTH = 2000  # characters of an expression
DEPTH = 100  # levels of an expression's tree: walks over it are recursive
INTEGER = 2**64  # bound of integers, as in arrays
ELEMENTS = 1000  # elements of one array of a sample, and items of a repeated sequence
MEMORY = 2**31  # bytes that a check may add to the memory of the process
_STRANGE = re.compile(r"[^\t\x20-\x7f]")


def parse_expression(text: Text) -> ast.expr:
    """The tree of a Python expression of bounded size; its positions are offsets in the text."""
    if len(text.value) > LENGTH:
        raise SpecError(f"longer than {LENGTH} characters", text.at(LENGTH))
    if found := _STRANGE.search(text.value):
        raise SpecError(f"the character {found[0]!r} is not allowed in a formula", text.at(found.start()))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # `1if x else 2` and "\d" are not worth a warning here
            tree = ast.parse(text.value, mode="eval").body
    except SyntaxError as error:
        raise SpecError("not a Python expression", text.at(max((error.offset or 1) - 1, 0))) from None
    except (RecursionError, MemoryError):
        raise SpecError("nested too deeply", text.location) from None
    _refuse_depth(tree, text)
    for node in by_depth(tree):
        problem = _problem(node)
        if problem:
            raise SpecError(problem, text.at(node.col_offset))
    if "#" in text.value and text.value.count("#") > sum(n.value.count("#") for n in by_depth(tree) if _is_text(n)):
        raise SpecError("a comment is not allowed in a formula", text.at(text.value.rindex("#")))
    return tree


def literal(text: Text) -> Any:
    """The value of a literal; ValueError if the expression is not a literal."""
    return ast.literal_eval(parse_expression(text))


def bounded(tree: ast.expr) -> ast.expr:
    """A copy that calls one of OPERATIONS for each operation that can have an unbounded result."""
    return ast.fix_missing_locations(_Bounded().visit(copy.deepcopy(tree)))


def power(a: Any, b: Any) -> Any:
    if isinstance(a, int) and isinstance(b, int) and b > 0 and a.bit_length() * b > 2 * INTEGER.bit_length():
        raise OverflowError(f"{a} ** {b} is too large: integers stay below 2**64")
    return a**b


def multiply(a: Any, b: Any) -> Any:
    for sequence, times in ((a, b), (b, a)):
        if isinstance(sequence, (str, tuple, list)) and isinstance(times, int) and len(sequence) * times > ELEMENTS:
            raise OverflowError(f"a sequence is repeated {times} times")
    return _small(a * b)


def remainder(a: Any, b: Any) -> Any:
    if isinstance(a, str):
        raise TypeError("'%' does not format text here")
    return a % b


OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {"bounded **": power, "bounded *": multiply, "bounded %": remainder}
_BOUNDED = {ast.Pow: "bounded **", ast.Mult: "bounded *", ast.Mod: "bounded %"}
_FOLDED: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Pow: power,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip


@contextlib.contextmanager
def memory(headroom: int = MEMORY) -> Iterator[None]:
    """Let the process grow by at most `headroom` bytes: a larger allocation raises MemoryError."""
    try:
        import resource

        with open("/proc/self/statm") as file:
            used = int(file.read().split()[5]) * resource.getpagesize()
        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    except (ImportError, OSError):  # not available on this system
        yield
        return
    wanted = used + headroom
    known = [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min([wanted, *known]), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


class _Bounded(ast.NodeTransformer):
    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        name = _BOUNDED.get(type(node.op))
        return ast.copy_location(ast.Call(ast.Name(name, ast.Load()), [node.left, node.right], []), node) if name else node


def _refuse_depth(tree: ast.expr, text: Text) -> None:
    level: list[ast.AST] = [tree]
    for _ in range(DEPTH):
        level = [child for node in level if node._fields for child in children(node)]
        if not level:
            return
    deep = next((node for node in level if hasattr(node, "col_offset")), tree)
    raise SpecError("nested too deeply", text.at(deep.col_offset))


def _problem(node: ast.AST) -> str:
    """The problem with the size of one node, or ""; its child nodes are checked separately."""
    match node:
        case ast.Constant(int() as value) if not isinstance(value, bool) and value >= INTEGER:
            return "the number is too large: integers stay below 2**64"
        case ast.BinOp(left, _, right):
            if _is_text(left) or _is_text(right):
                return "text takes no part in arithmetic"
            try:
                _fold(node)
            except OverflowError:
                return "the number is too large: integers stay below 2**64"
        case ast.Call(keywords=keywords):
            names = [keyword.arg for keyword in keywords]
            if None in names:
                return "'**' unpacking is not allowed in a formula"
            if twice := next((name for name in names if names.count(name) > 1), None):
                return f"'{twice}' is given twice"
    return ""


def _fold(tree: ast.expr) -> int | None:
    """The value of an expression of integers, else None; OverflowError if it exceeds the bounds."""
    match tree:
        case ast.Constant(int() as value):
            return int(value)
        case ast.UnaryOp(ast.USub(), operand):
            value = _fold(operand)
            return None if value is None else -value
        case ast.BinOp(left, op, right):
            a, b = _fold(left), _fold(right)
            if a is None or b is None or type(op) not in _FOLDED:
                return None
            if b <= 0 and isinstance(op, (ast.Pow, ast.FloorDiv, ast.Mod)):
                return None
            return _small(_FOLDED[type(op)](a, b))
    return None


def _small(value: Any) -> Any:
    if isinstance(value, int) and abs(value) > INTEGER:
        raise OverflowError("integers stay below 2**64")
    return value


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
