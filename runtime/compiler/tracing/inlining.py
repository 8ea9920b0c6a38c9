"""Inlining: replace a call of a forward by its expression, if the function and its callees are single expressions.

Decides which functions are expressions, and substitutes arguments into them.  An expression is computed once for each form of
call of a forward.
"""

from __future__ import annotations

import ast
import copy
import keyword
import re
from functools import cache, lru_cache
from typing import Any, NamedTuple

from .definitions import FORWARDS, Module, Name, dotted, followed, missing, module

RAW = "\0"  # begins a name that is text of the program and not a name of the expression's module
WORD = re.compile(r"[\w.]+")
PLACES = re.compile(r"ARGUMENT(\d+)(?:\(\))?|DEFINITION(\d+)(?!\d)")
NAMED = re.compile(r"\bPLACE(\d+)\b")


class Template(NamedTuple):
    """An expression with `ARGUMENT0` for an argument and `DEFINITION0` for a definition that it calls."""

    text: str
    definitions: tuple[Name, ...]
    imports: tuple[str, ...]


@cache
def template(name: str, given: tuple[tuple[str, bool], ...]) -> Template:
    """The expression of a call of a forward.

    Parameters
    ----------
    name : str
    given : tuple of (str, bool)
        For each argument its keyword, empty if it is positional, and whether it is a word, which may be repeated in the
        expression.
    """
    expander = Expander(name)
    places = [(key, raw(f"ARGUMENT{i}" if is_word else f"ARGUMENT{i}()")) for i, (key, is_word) in enumerate(given)]
    arguments = [place for key, place in places if not key]
    keywords = [ast.keyword(key, place) for key, place in places if key]
    found = expander.written(module(FORWARDS), ast.Call(ast.Name(name, ast.Load()), arguments, keywords))
    return Template(ast.unparse(found).replace(RAW, ""), tuple(expander.definitions), tuple(expander.imports))


def filled(form: Template, arguments: list[str], definitions: list[str]) -> str:
    """An expression with its arguments and definitions inserted, without superfluous parentheses."""
    if any("PLACE" in text for text in (*arguments, *definitions)):
        return _settled(form.text, tuple(arguments), tuple(definitions))
    # Calls that differ only in names share one settled text.
    names: list[str] = []

    def place(text: str) -> str:
        if not text.isidentifier() or keyword.iskeyword(text):
            return text
        names.append(text)
        return f"PLACE{len(names) - 1}"

    settled = _settled(form.text, tuple(map(place, arguments)), tuple(map(place, definitions)))
    return NAMED.sub(lambda found: names[int(found[1])], settled)


@lru_cache(maxsize=4096)
def _settled(form: str, arguments: tuple[str, ...], definitions: tuple[str, ...]) -> str:
    text = PLACES.sub(lambda place: arguments[int(place[1])] if place[1] else definitions[int(place[2])], form)
    return ast.unparse(Settled().visit(ast.parse(text, mode="eval")))


class Expander:
    """Writes one expression.

    Attributes
    ----------
    definitions, imports : dict
        Names that the expression needs, in order of use.
    """

    def __init__(self, on_behalf_of: str) -> None:
        self.on_behalf_of = on_behalf_of
        self.definitions: dict[Name, str] = {}
        self.imports: dict[str, None] = {}

    def written(self, own: Module, expression: ast.expr) -> ast.expr:
        """An expression of a module in the program's names, with calls of single-expression functions inlined."""
        return Names(self, own).visit(expression)

    def called(self, own: Module, path: tuple[str, ...], given: list[ast.expr], keywords: list[ast.keyword]) -> ast.expr | None:
        """The expression of a called function for these arguments; None if it is not a single expression."""
        target = followed(own, path)[0]
        if not target or not target[0]:
            return None
        place = module(target[0])
        body = expression_of(place.nodes[target[1]])
        if body is None or any(isinstance(part, ast.Starred) for part in given):
            return None
        function = place.nodes[target[1]].args
        positional, only = [one.arg for one in function.args], [one.arg for one in function.kwonlyargs]
        defaults = dict(zip(positional[len(positional) - len(function.defaults) :], function.defaults))
        defaults |= {name: default for name, default in zip(only, function.kw_defaults) if default is not None}
        values = dict(zip(positional, given)) | {keyword.arg: keyword.value for keyword in keywords}
        values |= {name: self.written(place, copy.deepcopy(value)) for name, value in defaults.items() if name not in values}
        texts = {name: ast.unparse(value).replace(RAW, "") for name, value in values.items()}
        uses = [node.id for node in ast.walk(body) if isinstance(node, ast.Name)]
        if any(uses.count(name) > 1 and not WORD.fullmatch(text) for name, text in texts.items()):
            return None  # it would be computed twice
        return self.written(place, Values(texts).visit(copy.deepcopy(body)))


class Names(ast.NodeTransformer):
    """Replaces names of a module by names of a program."""

    def __init__(self, expander: Expander, own: Module) -> None:
        self.expander, self.own = expander, own

    def visit_Call(self, node: ast.Call) -> ast.expr:
        given = [self.visit(part) for part in node.args]
        keywords = [ast.keyword(one.arg, self.visit(one.value)) for one in node.keywords]
        path = dotted(node.func)
        found = self.expander.called(self.own, path, given, keywords) if path is not None and path[0] in self.own.nodes else None
        return ast.Call(self.visit(node.func), given, keywords) if found is None else found

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.named(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return self.named(node)

    def named(self, node: Any) -> ast.expr:
        path = dotted(node)
        if path is None or path[0] not in self.own.nodes:
            return self.generic_visit(node)
        target, count = followed(self.own, path)
        if target is None:
            raise missing(self.expander.on_behalf_of, ".".join(path))
        if not target[0]:
            self.expander.imports[target[1]] = None
            return raw(".".join(path))
        number = self.expander.definitions.setdefault(target, f"DEFINITION{len(self.expander.definitions)}")
        return raw(".".join([number, *path[count:]]))


class Values(ast.NodeTransformer):
    """Replaces parameters by arguments."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.texts = texts

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return raw(self.texts[node.id]) if node.id in self.texts else node


class Settled(ast.NodeTransformer):
    """Evaluates conditions that the arguments decide: `x if 2 is None else y`."""

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        left, right = node.left, node.comparators[0]
        asked = isinstance(node.ops[0], (ast.Is, ast.IsNot)) and isinstance(right, ast.Constant) and right.value is None
        if asked and isinstance(left, (ast.Constant, ast.Tuple, ast.List)):
            is_none = isinstance(left, ast.Constant) and left.value is None
            return ast.Constant(is_none == isinstance(node.ops[0], ast.Is))
        return self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        test = self.visit(node.test)
        if isinstance(test, ast.Constant):
            return self.visit(node.body if test.value else node.orelse)
        return ast.IfExp(test, self.visit(node.body), self.visit(node.orelse))


def raw(text: str) -> ast.Name:
    """Program text as a node of an expression."""
    return ast.Name(RAW + (text if WORD.fullmatch(text) else f"({text})"), ast.Load())


def expression_of(function: ast.stmt) -> ast.expr | None:
    """The returned expression of a function that consists only of its return statement, else None."""
    if not isinstance(function, ast.FunctionDef) or function.decorator_list or function.args.vararg or function.args.kwarg:
        return None
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    if len(body) != 1 or not isinstance(body[0], ast.Return) or body[0].value is None:
        return None
    own_names = any(isinstance(node, (ast.Lambda, ast.comprehension)) for node in ast.walk(body[0]))
    return None if own_names else body[0].value
