"""Programs: write a trace as the text of a Python function over gradspec.

Decides how an operator is called by its entry: positional arguments, keywords, and arguments that are left out.
"""

from __future__ import annotations

from typing import Any

from ...generated.tensor import Tensor
from ...support.dispatch import ops
from .entries import entry_of
from .instructions import Instruction
from .literals import array_literal, literal
from .values import Value


def spelling(name: str) -> str:
    """The name of an operator in a program: its public name, unless that is a function with more parameters."""
    import gradspec

    entry = entry_of(name)
    path = ".".join(filter(None, (entry.namespace if entry else "", name.removesuffix(".out"))))
    if entry is None:  # a copy, or a tensor of numbers, without an operator
        return f"gs.{path}"
    if "." in entry.name:  # of another package
        return path
    found: Any = gradspec
    for part in path.split("."):
        found = getattr(found, part, None) if not part.startswith("_") else None
    last = path.rpartition(".")[2]
    return f"gs.{path}" if found is not None and found is getattr(ops, last, None) else f"ops.{last}"


def of_package(line: Instruction) -> bool:
    """Whether an instruction is a compiled operator of another package."""
    return line.entry is not None and "." in line.entry.name


def call_text(line: Instruction, write: Any = literal) -> str:
    """The call of one instruction."""
    entry = entry_of(line.name)
    if entry is None:
        return f"gs.{line.name}({', '.join(map(write, line.arguments))})"
    arguments = list(line.arguments)
    out = [f"out={write(arguments.pop())}"] if line.name.endswith(".out") else []
    method = line.name.endswith("_") and hasattr(Tensor, line.name)
    texts: list[str] = []
    positional = True
    for (name, _, default, keyword_only), value in zip(entry.arguments, arguments):
        if default is not None and is_default(value, default):
            positional = False
        elif f"Array[] *{name}" in entry.signature:
            texts += [write(item) for item in value]
        else:
            texts.append(write(value) if positional and not keyword_only else f"{name}={write(value)}")
    if method:
        return f"{texts[0]}.{line.name}({', '.join(texts[1:])})"
    return f"{spelling(line.name)}({', '.join(texts + out)})"


def is_default(value: Any, default: str) -> bool:
    """Whether an argument equals the default of its entry."""
    try:
        return not isinstance(value, Value) and literal(value) == literal(eval(default, {}))
    except (TypeError, NameError):
        return False


def target_text(outputs: Any) -> str:
    """The names that the results of a call are bound to, or an empty result."""
    if isinstance(outputs, Value):
        return outputs.name
    if isinstance(outputs, (tuple, list)) and outputs:
        names = [target_text(item) or "_" for item in outputs]
        return ", ".join(f"({name})" if "," in name else name for name in names) + ("," if len(names) == 1 else "")
    return ""


def line_text(line: Instruction, write: Any = literal) -> str:
    """A statement."""
    call, target = call_text(line, write), target_text(line.outputs)
    return call if line.name.endswith(("_", ".out")) or not target else f"{target} = {call}"


def entrance(trace: Any, module: str) -> list[str]:
    """The first statements of a program of `gs` or `np`: they bind the arguments and refuse unsuitable ones."""
    body: list[str] = []
    for path, text in trace.fixed:
        body.append(f"if {path} != {text}:")
        body.append(f"    raise ValueError({f'program: {path} was {text} when it was traced, and is a part of it'!r})")
    body += [f"{source.name} = {source.path}" for source in trace.sources if source.path not in ("", source.name)]
    bound: set[str] = set()
    for value, path in trace.unpacked:
        name, wrong = value.name, f"raise ValueError({f'program: {path} was {value.type} when it was traced'!r})"
        body.append(f"{name} = {module}.asarray({path})")
        symbols = {str(size): axis for axis, size in enumerate(value.shape) if type(size) is not int and str(size) not in bound}
        if symbols:
            body += [f"if {name}.ndim != {len(value.shape)}:", f"    {wrong}"]
            body += [f"{symbol} = {name}.shape[{axis}]" for symbol, axis in symbols.items()]
            bound |= {*symbols}
        body += [f"if {name}.shape != {value.shape} or {name}.dtype != {value.dtype.name!r}:", f"    {wrong}"]
    return body


def parameters_text(trace: Any) -> str:
    """The parameters of a program: the call's parameters, and the generators that were not among its arguments."""
    own = [f"{source.name}=None" for source in trace.sources if not source.path]
    return ", ".join([*trace.parameters, *(["*"] if trace.keywords else []), *trace.keywords, *own])


def program_text(trace: Any) -> str:
    """A module with one function, `program`, that has the parameters of the traced function."""
    body = entrance(trace, "gs")
    written = {line.target.memory for line in trace.instructions if line.target is not None}
    for value in trace.constants:
        body.append(f"{value.name} = gs.asarray(_{value.name}{'.copy()' if value in written - trace.lasting else ''})")
    body += [line_text(line) for line in trace.instructions]
    body.append(f"return {literal(trace.results)}")
    text = "\n".join(f"    {line}" for line in body)
    head = ["import numpy as np", "import gradspec as gs"]
    constants = "".join(f"_{value.name} = {array_literal(value.data)}\n" for value in trace.constants)
    if "b64decode(" in text or "b64decode(" in constants:
        head.insert(0, "from base64 import b64decode\n")
    head += sorted({f"import {line.entry.name.rpartition('.')[0]}" for line in trace.instructions if of_package(line)})
    if "ops." in text:
        head.append("from gradspec.support.dispatch import ops")
    return "\n".join(head) + f"\n\n{constants}\n\ndef program({parameters_text(trace)}):\n{text}\n"

