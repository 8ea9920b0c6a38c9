"""Modules: the C99 file and the header of exported functions, with a table of the arguments and results of each."""

from __future__ import annotations

import os
import tempfile
from typing import Any

import numpy as np

from ...support.errors import CallTypeError
from ..record.captured_state import Unfit
from .function import Function, exported
from .loops import Buffer
from .names import check_name
from .spelling import TYPES, number, written_out

AXES = 32
PIECE = 1000  # lines of a function before a next one is begun
HEADER = """/* {stem}.h: written by gradspec. */
#ifndef {guard}
#define {guard}

#include <stdbool.h>
#include <stdint.h>

#ifndef GRADSPEC_ARRAY
#define GRADSPEC_ARRAY
typedef struct {{
    const char *name, *dtype; /* as NumPy names it */
    int ndim;
    long shape[{axes}];
    long rows, columns;          /* of a sparse matrix, else 0 */
    const int32_t *colind, *row; /* its compressed columns */
}} gradspec_array; /* the last row of a table has no name */
#endif

#ifdef __cplusplus
extern "C" {{
#endif
{functions}
#ifdef __cplusplus
}}
#endif
#endif
"""
DECLARATION = """
{workspace}

{patterns}extern const gradspec_array {name}_arguments[{inputs}], {name}_results[{results}];

/* Arrays in C order, which may not overlap:
{notes}
 */
void {name}({parameters});
"""
SOURCE = """/* {stem}.c: written by gradspec in C99.
 * gcc needs -std=c99 or -ffp-contract=off, so that a product is rounded before it is added. */
{includes}
#include <math.h>

#if !defined(__GNUC__) || defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

{definitions}
{functions}"""
FIELDS = {"?": "flags", "i": "ints", "l": "longs", "q": "longs", "f": "floats", "d": "doubles"}


def field(dtype: np.dtype) -> str:
    """The field of a workspace with the buffers of a dtype."""
    return FIELDS[dtype.char]


def parameters(one: Function) -> str:
    written = one.code.written
    texts = [f"{'' if word in written else 'const '}{TYPES[value.dtype]} *{word}" for word, value, _ in one.inputs]
    texts += [f"{TYPES[value.dtype]} *{word}" for word, value, _ in (*one.results, *one.guards)]
    texts += [f"const {TYPES[buffer.dtype]} *{buffer.name}" for buffer in one.passed]
    texts += ["const uintptr_t *loops"] if one.loops else []
    return ", ".join([*texts, f"{one.name}_workspace *work"])


def words(one: Function) -> list[str]:
    """The names of the parameters."""
    passed = [*(buffer.name for buffer in one.passed), *(["loops"] if one.loops else [])]
    return [*(row[0] for row in (*one.inputs, *one.results, *one.guards)), *passed, "work"]


def workspace(one: Function) -> str:
    """The type of a workspace."""
    fields = [f"    {TYPES[dtype]} {field(dtype)}[{size}];" for dtype, size in sorted(one.sizes.items(), key=str)]
    return "\n".join(["typedef struct {", *(fields or ["    char unused;"]), f"}} {one.name}_workspace;"])


def declaration(one: Function) -> str:
    """The part of a function in the header."""
    notes = [f" * {word}: {path or 'the result'}, {TYPES[value.dtype]}{list(value.shape)}"
             for word, value, path in (*one.inputs, *one.results)]  # fmt: skip
    notes += [
        f" * {word}: elements of a matrix of {of.shape[0]} rows and {of.shape[1]} columns" for word, of in one.matrices.items()
    ]
    patterns = [f"extern const int32_t {name}[{len(items)}];\n" for name, items in patterns_of(one)]
    notes += [f" * {path} is {text}, as in the recorded call" for path, text in one.fixed]
    return DECLARATION.format(
        name=one.name, workspace=workspace(one), inputs=len(one.inputs) + 1, results=len(one.results) + 1,
        patterns="".join(patterns), notes="\n".join(map(safe, notes)), parameters=parameters(one),
    )  # fmt: skip


def patterns_of(one: Function) -> list[tuple[str, tuple[int, ...]]]:
    """The tables of the sparse matrices among the results."""
    return [(f"{one.name}_{word}_{end}", items) for word, of in one.matrices.items()
            for end, items in (("colind", of.indptr), ("row", of.indices or (0,)))]  # fmt: skip


def table(name: str, rows: list[tuple[str, Any, str]], of: Function) -> list[str]:
    """The table of the arguments or the results."""
    lines = [f"const gradspec_array {name}[{len(rows) + 1}] = {{"]
    for word, value, _ in rows:
        matrix = of.matrices.get(word)
        shape = ", ".join(map(str, value.shape)) or 0
        places = (
            f"{matrix.shape[0]}, {matrix.shape[1]}, {of.name}_{word}_colind, {of.name}_{word}_row" if matrix else "0, 0, 0, 0"
        )
        lines.append(f'    {{"{word}", "{value.dtype.name}", {len(value.shape)}, {{{shape}}}, {places}}},')
    return [*lines, "    {0, 0, 0, {0}, 0, 0, 0, 0}", "};", ""]


def numbers(name: str, data: np.ndarray, width: int = 120) -> list[str]:
    """The declaration of an array of numbers."""
    lines = [""]
    for item in data:
        text = number(item, data.dtype) + ", "
        if len(lines[-1]) + len(text) > width:
            lines.append("")
        lines[-1] += text
    rows = [f"    {line.rstrip()}" for line in lines]
    return [f"const {TYPES[data.dtype]} {name}[{data.size}] = {{", *rows, "};", ""]


def constant(name: str, buffer: Buffer) -> list[str]:
    """The declaration of a constant."""
    first, *rest = numbers(f"{name}_{buffer.name}", buffer.data.ravel())
    return [f"static {first}", *rest]


def bodies(one: Function) -> list[list[str]]:
    """The statements of a function, in pieces that compilers take quickly; each begins with the buffers that it uses."""
    pieces: list[tuple[set[str], list[str], list[str]]] = []
    for part, notes in one.code.parts_with_notes():
        if not pieces or len(pieces[-1][2]) > PIECE and not part.joined:
            pieces.append((set(), [], []))
        known, head, lines = pieces[-1]
        for buffer in part.buffers():
            if buffer.name in known:
                continue
            work = f"work->{field(buffer.dtype)} + {buffer.offset}".removesuffix(" + 0")
            place = one.own.get(buffer) or {"constant": f"{one.name}_{buffer.name}", "work": work}.get(buffer.place)
            if place is not None:
                kind = "const " if buffer.place == "constant" else ""
                head.append(f"{kind}{TYPES[buffer.dtype]} *const {buffer.name} = {place};")
                known.add(place.partition("->")[0])
            known.add(buffer.name)
        lines += [*(f"/* {safe(note)} */" for note in notes), *part.lines()]
    return [
        [*head, *lines, *(f"(void) {word};" for word in words(one) if word not in known)]
        for known, head, lines in pieces or [(set(), [], [])]
    ]


def definition_of(one: Function) -> str:
    """A function, with its constants."""
    lines: list[str] = []
    for buffer in one.code.used:
        lines += constant(one.name, buffer) if buffer.place == "constant" else []
    found, calls = bodies(one), []
    for i, body in enumerate(found):
        several = len(found) > 1
        name = f"{one.name}_part{i}" if several else one.name
        lines += [f"{'static ' if several else ''}void {name}({parameters(one)}) {{", *(f"    {line}" for line in body), "}", ""]
        calls.append(f"    {name}({', '.join(words(one))});")
    if len(found) > 1:
        lines += [f"void {one.name}({parameters(one)}) {{", *calls, "}", ""]
    return "\n".join(lines)


def tables_of(one: Function) -> str:
    patterns = [line for name, items in patterns_of(one) for line in numbers(name, np.array(items, np.int32))]
    tables = [*table(f"{one.name}_arguments", one.inputs, one), *table(f"{one.name}_results", one.results, one)]
    return "\n".join(patterns + tables)


def source(stem: str, includes: str, made: list[Function], texts: list[str]) -> str:
    """The text of a file."""
    definitions = written_out({pair for one in made for pair in one.code.functions_used()})
    return SOURCE.format(stem=stem, includes=includes, definitions=definitions, functions="\n".join(texts))


def safe(line: str) -> str:
    """A line for a comment in C."""
    line = line.encode("ascii", "replace").decode().replace("??", "? ?").replace("\\", "/")
    return line.replace("/*", "/ *").replace("*/", "* /")


def export_c(path: str | os.PathLike, functions: dict[str, Any]) -> None:
    """Write compiled functions as one module in C99, `path.c` and `path.h`, for machines without Python.

    A function takes pointers to its arguments, to its results, and to a workspace.  It allocates nothing and has no state.  The
    arrays that it captured are constants with their present values.

    Parameters
    ----------
    path : str or path-like
        Without a suffix; its last part is a name in C.
    functions : dict
        For each name in C the compiled function, which was called: its latest recording is written.

    Raises
    ------
    RuntimeError
        A recording is missing, or leaves a `.grad`.
    TypeError
        An operator has no C; the message names it and its line.
    """
    if not isinstance(functions, dict) or not all(hasattr(one, "exported") for one in functions.values()):
        raise CallTypeError('c: functions are a dict of functions of gs.compile, as {"step": gs.compile(step)}')
    folder, stem = os.path.split(os.fspath(path))
    check_name(stem, (), False)
    for name in functions:
        check_name(name, functions, True)
    if not os.path.isdir(folder or "."):
        raise FileNotFoundError(f"c: there is no folder {folder!r}")
    made = [exported(name, compiled) for name, compiled in functions.items()]
    if any(len(value.shape) > AXES for one in made for _, value, _ in (*one.inputs, *one.results)):
        raise Unfit(f"c: an array has more than {AXES} axes")
    texts = {
        f"{stem}.h": HEADER.format(
            stem=stem, guard=f"{stem.upper()}_H", axes=AXES, functions="".join(map(declaration, made))),
        f"{stem}.c": source(
            stem, f'#include "{stem}.h"', made, [text(one) for one in made for text in (tables_of, definition_of)]),
    }  # fmt: skip
    with tempfile.TemporaryDirectory(dir=folder or ".", prefix=".") as whole:  # so that no file is left in parts
        for name, text in texts.items():
            with open(os.path.join(whole, name), "w", encoding="ascii") as file:
                file.write(text)
        for name in reversed(texts):
            os.replace(os.path.join(whole, name), os.path.join(folder, name))
