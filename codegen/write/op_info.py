"""Write the records of generated/op_info.py: the facts about an operator that tests read.

Decides the facts in a record and their compact layout: the first facts have no field name, and empty or usual facts are left out.
Samples that begin with a preset of the spec name the preset.  Does not depend on templates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..spec.elementwise import has_value, is_elementwise
from ..spec.expression import Name
from ..spec.model import Formula
from .layout import WIDTH, items, packed
from .node import NodeText

POSITIONAL = ("name", "family", "signature", "form", "dtype")
USUAL = {"arguments": (("x", "Array", None, False),), "outputs": (("y", "Array"),)}


def facts(text: NodeText) -> dict[str, object]:
    """Field of OpInfo -> value, in order; empty or USUAL values are the defaults there."""
    op, signature = text.op, text.signature
    return dict(
        name=op.name,
        family=op.family,
        signature=signature.source,
        form=op.form,
        dtype=op.dtype,
        namespace=op.namespace,
        numpy=op.numpy,
        result_dtypes=op.result_dtypes,
        domain=op.domain and op.domain.source,
        aliases=op.aliases,
        variants=op.variants,
        operator=op.operator,
        view=op.view,
        over=op.over,
        arguments=tuple((a.name, str(a.type), a.default, a.keyword_only) for a in signature.arguments),
        outputs=tuple((o.name, str(o.type)) for o in signature.visible),
        inputs=tuple(a.name for a in signature.arrays if op.differentiable),
        linear=op.linear or op.multilinear,
        saved=tuple(s.field for s in text.saved) if text.has_node else (),
        node=op.node if text.has_node else None,
        samples=tuple(sample.source for sample in op.samples),
        examples=tuple((example.call.source, example.value.source) for example in op.examples),
        kinks=tuple((kink.call.source, kink.value.source) for kink in op.kinks),
        program=program_of(text),
        exact=is_elementwise(op, text.ops) and has_value(op, text.ops),
    )


def record(text: NodeText, presets: Mapping[str, tuple[Formula, ...]]) -> str:
    """`OpInfo(...)` in as few lines as possible."""
    *parts, last = _parts(text, _named(presets))
    return "\n".join(packed(["OpInfo(", *parts, f"{last.rstrip(',')}),"], "    ", "        "))


def preset(name: str, samples: tuple[Formula, ...]) -> str:
    """`UNARY = (...)`, the samples of a preset."""
    return "\n".join(packed([f"{name.upper()} = (", *items(s.source for s in samples), ")"], "", "    "))


def program_of(text: NodeText) -> str:
    """The formula of an operator in calls of operators, if it consists of inner loops alone; else ""."""
    body = text.elementwise.body(text.op)
    program = None if body is None else text.elementwise.program("", "y", body, least=1)
    names = {a.name for a in text.signature.arguments}
    if program is None or not all(isinstance(given, Name) and name in names for name, given in program.inputs.items()):
        return ""
    return program.lines["y"]


def _named(presets: Mapping[str, tuple[Formula, ...]]) -> dict[tuple[str, ...], str]:
    return {tuple(sample.source for sample in samples): name.upper() for name, samples in presets.items()}


def _parts(text: NodeText, named: Mapping[tuple[str, ...], str]) -> Iterator[str]:
    """The parts of a record; a line may end between two parts."""
    for field, value in facts(text).items():
        if field == "samples" and (start := _start(value, named)):
            rest = items(value[len(start) :])
            yield f"samples=(*{named[start]}," if rest else f"samples={named[start]},"
            yield from (*rest[:-1], f"{rest[-1].rstrip(',')}),") if rest else ()
        elif field in POSITIONAL:
            yield f"{value!r},"
        elif isinstance(value, tuple) and len(repr(value)) > WIDTH // 3:
            parts = items(value)
            parts[0] = f"{field}=({parts[0]}"
            parts[-1] += "),"
            yield from parts
        elif value != USUAL.get(field, value if not value else None):
            yield f"{field}={value!r},"


def _start(samples: tuple[str, ...], named: Mapping[tuple[str, ...], str]) -> tuple[str, ...]:
    """The longest preset that the samples begin with."""
    return max((calls for calls in named if samples[: len(calls)] == calls), key=len, default=())
