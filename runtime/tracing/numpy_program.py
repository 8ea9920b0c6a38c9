"""Programs over NumPy: a trace as the text of a Python function that needs no gradspec.

Owns how an instruction reads there: the forward of its entry, the expression itself where it is one, else a function that stands
above the program.  What is written in place is assigned to; a number that NumPy gives for an array without axes is one again.
"""

from __future__ import annotations

import ast
import copy
import operator
import re
from typing import Any

import numpy as np

from ..generated.op_info import OpInfo
from .definitions import FORWARDS, Definitions, Module, dotted, followed, module, refusal
from .entries import entry_of
from .instructions import Instruction
from .literals import array_literal, literal
from .program import entrance, is_default, parameters_text, target_text
from .sizes import Size
from .values import Source, Value


class Writer:
    """What writes one program."""

    def __init__(self, taken: set[str]) -> None:
        self.definitions = Definitions(taken)

    def lines(self, line: Instruction) -> list[str]:
        """The statements of an instruction."""
        if line.name == "tensor":
            values, dtype = line.arguments
            return [f"{line.outputs.name} = np.array({literal(values)}, {literal(dtype)})"]
        entry = entry_of(line.name)
        if entry is None:
            raise refusal(line.name)
        arguments = list(line.arguments)
        out = arguments.pop() if line.name.endswith(".out") else None
        given = self.given(entry, arguments)
        forwards = module(FORWARDS)
        if line.name.endswith("_") and line.name in forwards.nodes:
            return [self.call(line.name, given, entry)]
        name = entry.name
        text = self.call(name, given, entry)
        if out is None and line.name.endswith("_"):
            out = arguments[0]
        if out is not None:
            return [f"{out.name}[...] = {text}"]
        target = target_text(line.outputs)
        if isinstance(line.outputs, Value) and line.outputs.shape == ():
            return [f"{target} = np.asarray({text})" if not text.startswith("np.asarray(") else f"{target} = {text}"]
        found = [f"{target} = {text}" if target else text]
        return found + [f"{value.name} = np.asarray({value.name})" for value in line.made if value.shape == ()]

    def given(self, entry: OpInfo, arguments: list[Any]) -> tuple[list[str], dict[str, str]]:
        """The arguments as text, by position and by keyword; what the entry has for a default is left out."""
        positional: list[str] = []
        keywords: dict[str, str] = {}
        skipped = False
        for value, (name, kind, default, keyword_only) in zip(arguments, entry.arguments):
            skipped = skipped or keyword_only
            if default is not None and is_default(value, default):
                skipped = True
            elif skipped:
                keywords[name] = self.argument(value, kind)
            else:
                positional.append(self.argument(value, kind))
        return positional, keywords

    def argument(self, value: Any, kind: str) -> str:
        """An argument as the forward takes it, which the operator makes of what users write."""
        base = kind.partition("[")[0].partition("|")[0].rstrip("?")
        if isinstance(value, Source) or value is None or isinstance(value, str) and base != "DType":
            return literal(value)
        if base == "DType":
            return literal(np.dtype(value))
        if base in ("Array", "Mask") and "[]" in kind:
            items = value if isinstance(value, (list, tuple)) else [value]
            text = "[" + ", ".join(self.array(item) for item in items) + "]"
            return text if isinstance(value, (list, tuple)) else f"list({value.name})"
        if base in ("Array", "Mask"):
            return self.array(value)
        if base == "int" and "[" in kind and not isinstance(value, Value):
            count = int(kind.partition("[")[2].partition("]")[0] or 1)
            several = hasattr(value, "__len__") and getattr(value, "shape", (1,)) != ()
            return literal(tuple(whole(item) for item in value) if several else (whole(value),) * count)
        if isinstance(value, Value) and base in ("int", "float", "Scalar", "bool"):
            return f"{value.name}.tolist()" if "[" in kind else f"{value.name}.item()"
        plain = {"int": whole, "float": float, "bool": bool}.get(base)
        return literal(value if plain is None or "[" in kind or isinstance(value, Size) else plain(value))

    @staticmethod
    def array(value: Any) -> str:
        if isinstance(value, (Value, bool, int, float, complex)) or value is None:
            return literal(value)
        return array_literal(np.asarray(value)) if isinstance(value, np.generic) else f"np.asarray({literal(value)})"

    # The text of a call.

    def call(self, name: str, given: tuple[list[str], dict[str, str]], entry: OpInfo) -> str:
        """The call of a forward: its expression where it has but one."""
        own = module(FORWARDS)
        if name not in own.nodes:
            raise refusal(name)
        keywords = [ast.keyword(key, raw(text)) for key, text in given[1].items()]
        call = ast.Call(ast.Name(name, ast.Load()), [raw(text) for text in given[0]], keywords)
        text = ast.unparse(self.written(own, call, name)).replace(RAW, "")
        text = ast.unparse(Settled().visit(ast.parse(text, mode="eval")))  # without the brackets that nothing needs
        count = len(entry.outputs)
        if "_" in [output.strip()[:1] for output in entry.signature.rpartition("->")[2].split(",")]:  # hidden ones come last
            text += "[0]" if count == 1 else f"[:{count}]"
        return text

    def written(self, own: Module, expression: ast.expr, on_behalf_of: str) -> ast.expr:
        """An expression of a module in the program's names; in the place of a function that is one expression stands that."""
        writer = self

        class Names(ast.NodeTransformer):
            def visit_Call(self, node: ast.Call) -> ast.expr:
                given = [self.visit(part) for part in node.args]
                keywords = [ast.keyword(one.arg, self.visit(one.value)) for one in node.keywords]
                path = dotted(node.func)
                target = followed(own, path)[0] if path is not None and path[0] in own.nodes else None
                if target is not None and target[0]:
                    found = substituted(module(target[0]).nodes[target[1]], given, keywords)
                    if found is not None:
                        return writer.written(module(target[0]), found, on_behalf_of)
                return ast.Call(self.visit(node.func), given, keywords)

            def visit_Name(self, node: ast.Name) -> ast.expr:
                return self.named(node)

            def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
                return self.named(node)

            def named(self, node: Any) -> ast.expr:
                path = dotted(node)
                if path is None or path[0] not in own.nodes:
                    return self.generic_visit(node)
                target, count = followed(own, path)
                if target is None:
                    raise writer.definitions.missing(on_behalf_of, ".".join(path))
                if not target[0]:
                    writer.definitions.imports[target[1]] = None
                    return raw(".".join(path))
                return raw(".".join([writer.definitions.want(target, on_behalf_of), *path[count:]]))

        return Names().visit(expression)


def whole(item: Any) -> int:
    """An int of what users may write for one."""
    return item if isinstance(item, Size) else operator.index(item)


class Settled(ast.NodeTransformer):
    """Expressions without the questions that the arguments have answered: `x if 2 is None else y`."""

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


RAW = "\0"  # begins a name that is text of the program, and none of the module whose expression it stands in


def raw(text: str) -> ast.Name:
    """Text of the program as a part of an expression."""
    return ast.Name(RAW + (text if re.fullmatch(r"[\w.]+", text) else f"({text})"), ast.Load())


def substituted(function: ast.stmt, given: list[ast.expr], keywords: list[ast.keyword]) -> ast.expr | None:
    """The expression that a function returns, of arguments; None where it does more, or would compute one of them twice."""
    if not isinstance(function, ast.FunctionDef):
        return None
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    spec = function.args
    if len(body) != 1 or not isinstance(body[0], ast.Return) or function.decorator_list or spec.vararg or spec.kwarg:
        return None
    if any(isinstance(node, (ast.Lambda, ast.comprehension, ast.Starred)) for node in [*ast.walk(body[0]), *given]):
        return None
    positional = [one.arg for one in spec.args]
    values = dict(zip(positional[len(positional) - len(spec.defaults) :], spec.defaults))
    values |= {one.arg: default for one, default in zip(spec.kwonlyargs, spec.kw_defaults) if default is not None}
    values |= dict(zip([*positional, *(one.arg for one in spec.kwonlyargs)], given))
    values |= {keyword.arg: keyword.value for keyword in keywords}
    texts = {name: ast.unparse(value).replace(RAW, "") for name, value in values.items()}
    uses = [node.id for node in ast.walk(body[0]) if isinstance(node, ast.Name)]
    if any(uses.count(name) > 1 and not re.fullmatch(r"[\w.]+", text) for name, text in texts.items()):
        return None

    class Values(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return raw(texts[node.id]) if node.id in texts else node

    return Values().visit(copy.deepcopy(body[0].value))


def numpy_text(trace: Any) -> str:
    """A module with one function, `program`, of the parameters that the traced function has, over NumPy."""
    found = [value for line in trace.instructions for value in (*line.read, *line.made)]
    named = {value.name for value in (*found, *trace.inputs, *trace.constants, *trace.sources)}
    constants = {f"_{value.name}" for value in trace.constants}
    taken = {"np", "math", "program", "b64decode", *trace.parameters, *trace.keywords, *trace.symbols}
    writer = Writer(taken | named | constants)
    body = entrance(trace, "np")
    for name in [source.name for source in trace.sources if not source.path]:
        body.append(f"{name} = np.random.default_rng() if {name} is None else {name}")
    written = {line.target.memory for line in trace.instructions if line.target is not None}
    for value in trace.constants:
        body.append(f"{value.name} = _{value.name}{'.copy()' if value in written else ''}")
    for line in trace.instructions:
        body += writer.lines(line)
    body.append(f"return {literal(trace.results)}")
    text = "\n".join(f"    {line}" for line in body)
    numbers = "".join(f"_{value.name} = {array_literal(value.data)}\n" for value in trace.constants)
    head = [line for line in writer.definitions.imports if line != "import numpy as np"]
    if "b64decode(" in text or "b64decode(" in numbers:
        head.append("from base64 import b64decode")
    head = [*sorted(head), "import numpy as np"]
    above = "".join(f"\n\n{one}\n" for one in writer.definitions.texts)
    return "\n".join(head) + f"\n\n{numbers}{above}\n\ndef program({parameters_text(trace)}):\n{text}\n"
