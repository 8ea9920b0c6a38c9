"""Lengths of results as expressions: what a trace finds by running at other sizes is what the entry's `shape:` line says."""

from __future__ import annotations

import numpy as np

import gradspec as gs
from gradspec.codegen.spec.model import Text
from gradspec.codegen.spec.shapes import Mismatch, Unknown, parse_shape, partial_results, shaped
from tests import day

from . import questions
from .calls import BY_NAME, REAL, samples_of
from .spec import the_spec


def symbols_of(shape, arguments, given):
    """A symbol for each length above 1 of each array, the same where the pattern is; None where arrays are of another kind."""
    found, names, letters = {}, {}, {}
    for pattern, argument in zip(shape.inputs, arguments):
        value = given[argument.name]
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "fc" or pattern.is_list:
            return None
        wholes = pattern.dims if len(pattern.dims) == value.ndim and "..." not in pattern.dims else range(value.ndim)
        key = pattern.whole or (argument.name,) if wholes is not pattern.dims else ()
        dims = []
        for place, size in zip(wholes, value.shape):
            word = f"{key[0]}{place}" if key else str(place)
            letters.setdefault(word, f"s{len(letters)}")
            if names.setdefault(letters[word], size) != size:
                return None
            dims.append(letters[word] if size > 1 else size)
        found[argument.name] = tuple(dims)
    return found


def test_lengths_are_those_of_the_shape_lines():
    spec, asked, wrong = the_spec(), 0, []
    for name, op in spec.ops.items():
        if not questions.is_asked(name) or op.inplace_only:
            continue
        at = op.places.get("shape", op.location)
        shape = parse_shape(Text(op.shape, at.file, ((at.line, at.column),)), op.signature)
        for case in samples_of(BY_NAME[name], REAL)[:4]:
            given = case.arguments()
            symbols = symbols_of(shape, shaped(op.signature), given)
            if not symbols or len(symbols) != len(case.places) or not any(type(dim) is str for dims in symbols.values() for dim in dims):
                continue
            statics = {key: value for key, value in given.items() if key not in symbols}
            try:
                stated = partial_results(shape, list(symbols.values()), statics)
                taken = gs.trace(lambda arrays, case=case, given=given: case.apply(given | arrays), {key: given[key] for key in symbols},
                                 shapes={f"arrays_{key}": dims for key, dims in symbols.items()}, check=False)  # fmt: skip
            except (Mismatch, Unknown, TypeError):  # sizes that are numbers among the arguments too, or that depend on one another
                continue
            visible = [o for o in op.signature.outputs if not o.hidden]
            results = taken.results if len(visible) > 1 else [taken.results]
            for dims, value in zip(stated, results):
                if dims is None or isinstance(value, (list, tuple)):
                    continue
                asked += 1
                if any(wanted != "_" and str(wanted) != str(size) for wanted, size in zip(dims, value.shape, strict=True)):
                    wrong.append(f"{name} {case.source}: {value.type} for {dims}")
    assert wrong == []
    assert questions.chosen or asked > day.least(500)
