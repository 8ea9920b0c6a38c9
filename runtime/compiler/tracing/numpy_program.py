"""Programs over NumPy: write a trace as the text of a Python function that needs no gradspec.

An instruction becomes the forward of its entry: inlined if the forward is one expression, otherwise a function above the program.
In-place operators become assignments, and a NumPy scalar is converted back to an array without axes.
"""

from __future__ import annotations

import operator
import os
from threading import RLock
from typing import Any

import numpy as np

from ...generated.op_info import OpInfo
from .definitions import FORWARDS, Definitions, module, refusal
from .entries import entry_of
from .inlining import WORD, filled, template
from .instructions import GUARD, Instruction
from .literals import array_literal, literal
from .program import entrance, is_default, parameters_text, target_text
from .sizes import Size
from .values import Source, Value

_locks = [RLock()]
if hasattr(os, "register_at_fork"):  # another thread of the parent may hold the lock
    os.register_at_fork(after_in_child=lambda: _locks.__setitem__(0, RLock()))


def naming() -> RLock:
    """The lock to hold while a recording is written: its values have the names of one text at a time."""
    return _locks[0]


class Writer:
    """Writes one program."""

    def __init__(self, taken: set[str]) -> None:
        self.definitions = Definitions(taken)

    def lines(self, line: Instruction) -> list[str]:
        """The statements of an instruction."""
        if line.name == GUARD:
            value, wanted = line.arguments
            return [f"if {value.name}.tobytes() != {wanted!r}:",
                    "    raise ValueError('program: a value sends the call another way than was recorded')"]  # fmt: skip
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
        """The arguments as text, by position and by keyword; defaults of the entry are left out."""
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
        """An argument in the form that the forward takes, converted as the operator converts users' arguments."""
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
        """The call of a forward, or its expression if it consists of only one."""
        if name not in module(FORWARDS).nodes:
            raise refusal(name)
        texts = [("", text) for text in given[0]] + [*given[1].items()]
        form = template(name, tuple((key, WORD.fullmatch(text) is not None) for key, text in texts))
        self.definitions.imports.update(dict.fromkeys(form.imports))
        text = filled(form, [text for _, text in texts], [self.definitions.want(wanted, name) for wanted in form.definitions])
        count = len(entry.outputs)
        if "_" in [output.strip()[:1] for output in entry.signature.rpartition("->")[2].split(",")]:  # hidden outputs come last
            text += "[0]" if count == 1 else f"[:{count}]"
        return text


def whole(item: Any) -> int:
    """The int of an argument that users may write in other forms."""
    return item if isinstance(item, Size) else operator.index(item)


def numpy_text(trace: Any) -> str:
    """A module over NumPy with one function, `program`, that has the parameters of the traced function."""
    found = [value for line in trace.instructions for value in (*line.read, *line.made)]
    named = {value.name for value in (*found, *trace.inputs, *trace.constants, *trace.sources)}
    constants = {f"_{value.name}" for value in trace.constants}
    taken = {"np", "math", "program", "b64decode", "default_rng", *trace.parameters, *trace.keywords, *trace.symbols}
    writer = Writer(taken | named | constants)
    body = entrance(trace, "np")
    for name in [source.name for source in trace.sources if not source.path]:
        writer.definitions.imports["from numpy.random import default_rng"] = None
        body.append(f"{name} = default_rng() if {name} is None else {name}")
    written = {line.target.memory for line in trace.instructions if line.target is not None}
    for value in trace.constants:
        body.append(f"{value.name} = _{value.name}{'.copy()' if value in written - trace.lasting else ''}")
    for line in trace.instructions:
        body += writer.lines(line)
    body.append(f"return {literal(trace.results)}")
    text = "\n".join(f"    {line}" for line in body)
    numbers = "".join(f"_{value.name} = {array_literal(value.data)}{'.copy()' if value in trace.lasting else ''}\n"
                      for value in trace.constants)  # fmt: skip
    head = [line for line in writer.definitions.imports if line != "import numpy as np"]
    if "b64decode(" in text or "b64decode(" in numbers:
        head.append("from base64 import b64decode")
    head = [*sorted(head), "import numpy as np"]
    above = "".join(f"\n\n{one}\n" for one in writer.definitions.texts)
    return "\n".join(head) + f"\n\n{numbers}{above}\n\ndef program({parameters_text(trace)}):\n{text}\n"
