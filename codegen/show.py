"""Show the spec as text: one operator in full, or the table of contents.

Decides the layout only: the content comes from the model and from the emitted files.  Templates are imported where they are
rendered, because the table of contents needs none.
"""

from __future__ import annotations

import re
from pathlib import Path

from .errors import did_you_mean
from .package import Package
from .spec.formula import called_by
from .spec.library import helper_texts
from .spec.model import Op, Saved, Spec
from .spec.source_files import FOLDER, entries, further
from .spec.table import table

_WIDTH = 12


class UnknownOp(Exception):
    pass


def toc(spec: Spec) -> str:
    rows = [(family.name, len(family.ops), family.about) for family in spec.families]
    width = max(len(name) for name, _, _ in rows)
    lines = [f"{name:{width}} {count:4}  {about}" for name, count, about in rows]
    return "\n".join([*lines, f"{'all':{width}} {len(spec.ops):4}"])


def show(spec: Spec, name: str, root: Path) -> str:
    op = find(spec, name)
    parts = [_head(op), entry_text(spec, op), _further(spec, op), _derived(spec, op, Package.at(root)), *_helpers(op, root)]
    parts += _generated(spec, op, root)
    return "\n\n".join(part for part in parts if part)


def find(spec: Spec, name: str) -> Op:
    """The op with this name or alias."""
    spellings = spec.by_spelling
    if name not in spellings:
        raise UnknownOp(f"no operator '{name}'{did_you_mean(name, spellings)}")
    return spellings[name]


def entry_text(spec: Spec, op: Op) -> str:
    """The entry as written in the file."""
    return entries(spec)[op.name].rstrip()


def _further(spec: Spec, op: Op) -> str:
    """The entry's lines in the file of further samples."""
    text = further(spec).get(op.name, "")
    return f"{FOLDER}/{op.family}.yaml\n{text.rstrip()}" if text else ""


def _helpers(op: Op, root: Path) -> list[str]:
    """The source of the formula helpers that the entry calls, as part of its definition."""
    called = called_by(op)
    return [f"{file}:{line}\n{text}" for file, line, text in helper_texts(root, called)]


def _head(op: Op) -> str:
    return f"{op.name}, family {op.family}, {op.location.file}:{op.location.line}"


def _described(op: Op) -> list[tuple[str, str]]:
    """The rows for readers: NumPy names, reference, differences from NumPy and arguments."""
    rows = [("NumPy", ", ".join(f"np.{name}" for name in op.numpy)), ("ref", op.ref)]
    rows += [("unlike", op.unlike[1] if op.unlike else ""), *op.args.items()]
    return [row for row in rows if row[1]]


def _given(op: Op) -> list[tuple[str, str]]:
    """The samples that the entry does not write itself: they come from its shape or from a preset."""
    calls = [sample.source for sample in op.samples if not sample.is_of(op)]
    return [("samples", "; ".join(calls))] if calls else []


def _derived(spec: Spec, op: Op, package: Package) -> str:
    from .write import taylor_table
    from .write.printer import Spelling
    from .write.vmap_table import WAYS, how

    known = dict(spec.ops) if package.is_library else {**table().operators, **spec.ops}
    source = Spelling({name: op.signature for name, op in known.items()})
    rows = [*_described(op), *_given(op), ("form", op.form.replace("_", " and ")), ("variants", ", ".join(op.variants))]
    rows.append(("vmap", f"{how(op)}: {WAYS[how(op)]}" if how(op) in WAYS else "takes no batch"))
    rows.append(("series", f"{taylor_table.how(op)}: {taylor_table.WAYS[taylor_table.how(op)]}"))
    derived = op.derived
    if derived is None:
        rows.append(("derivative", "that of the operators in it" if op.composite else "none"))
        return _table(rows)
    rows += [(f"vjp {name}", source(rule)) for name, rule in derived.vjp.items()]
    if derived.joint_linear:
        tangents = ", ".join(f"{name}_t" for name in derived.joint_linear)
        rows.append(("jvp", f"{op.name} on {tangents}, which are zeros where there is no tangent"))
    rows += [(f"jvp {output}", source(rule)) for output, rule in derived.jvp.items()]
    for name, saved in derived.saved_for.items():
        rows.append((f"saved for {name}", ", ".join(map(words_of_saved, saved)) or "nothing"))
    return _table(rows)


def words_of_saved(saved: Saved) -> str:
    if saved.is_variable:
        return f"{saved.name} ({saved.kind})"
    return saved.name if saved.kind == "static" else f"{saved.name}.{saved.kind}"


def _table(rows: list[tuple[str, str]]) -> str:
    width = max(_WIDTH, *(len(key) + 2 for key, _ in rows))
    return "\n".join(f"{key:{width}}{value}" for key, value in rows)


def _generated(spec: Spec, op: Op, root: Path) -> list[str]:
    """The Node and the wrapper as the templates write them now, with their lines in the generated files."""
    from .write.files import render_alone

    parts, package = [], Package.at(root)
    if not package.is_library:
        return [_of_guest(spec, op, package)]
    for name, text in render_alone(spec, package, op).items():
        path = package.path(package.generated) / name
        lines = path.read_text().splitlines() if path.exists() else []
        for block in definitions(op, name, text):
            first = block.partition("\n")[0]
            place = f":{lines.index(first) + 1}" if first in lines else ", which has it not yet"
            parts.append(f"{package.generated}/{name}{place}\n{block}")
    return parts


def _of_guest(spec: Spec, op: Op, package: Package) -> str:
    """The functions of an operator of another package, as in its generated module."""
    from .write.guests import MODULE, render

    name = f"{package.generated}/{MODULE}"
    blocks = re.split(r"\n\n\n(?=# )", render(spec, package)[name])
    return f"{name}\n{next(block for block in blocks if block.startswith(f'# {op.signature.source}')).rstrip()}"


def definitions(op: Op, name: str, text: str) -> list[str]:
    """The operator's node, or its wrapper with its helpers, in the text of a generated file."""
    node, wrapper = rf"cdef class {op.node}\(", rf"(?:cdef|def)\b.*\b(?:op_|jvp_)?{re.escape(op.name)}\("
    pattern = node if name.startswith("functions/") else wrapper
    lines, found = text.splitlines(), []
    for start, line in enumerate(lines):
        if re.match(pattern, line):
            rest = range(start + 1, len(lines))
            end = next((i for i in rest if lines[i] and not lines[i][0].isspace()), len(lines))
            found.append("\n".join(lines[start:end]).rstrip())
    return found
