"""A write to any array of a program, between forward and backward: refused or harmless, never answered wrongly.

Every array of every sample of every operator is written to in its turn: operands, as leaves, as intermediate results, as
constants and as ndarrays; indices and masks, as tensors, as ndarrays and as lists; and outputs.  Backward then refuses, or
gives the gradient of the program that nobody wrote to.
"""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import grad, saved_tensors_hooks
from gradspec.support.dispatch import ops

from .calls import REAL, array, flat
from .questions import of_samples

MODIFIED = re.compile("modified by an inplace operation|taken before a recorded in-place write")


def paths(value, path=()):
    """Where arrays, and lists of numbers, stand in an argument."""
    if isinstance(value, (list, tuple)):
        found = [p for k, item in enumerate(value) for p in paths(item, (*path, k))]
        numbers = isinstance(value, list) and value and all(isinstance(item, int) for item in value)
        return [path] if numbers else found
    return [path] if isinstance(value, np.ndarray) and value.size else []


def at(value, path):
    return at(value[path[0]], path[1:]) if path else value


def replaced(value, path, new):
    """A copy of `value` with `new` at `path`."""
    if not path:
        return new
    return type(value)([replaced(item, path[1:], new) if k == path[0] else item for k, item in enumerate(value)])


def values(value):
    return array(value) if isinstance(value, gs.Tensor) else value


# What is made of an array, or of the leaf in its place, before the operator gets it.
GIVEN = {
    "leaf": lambda value: value, "intermediate": ops.copy, "constant": lambda value: gs.tensor(values(value)),
    "tensor": lambda value: gs.tensor(np.asarray(value)), "ndarray": lambda value: np.array(values(value)), "list": list,
}  # fmt: skip


class Program:
    """One sample, with one of its arrays given as something that can be written to."""

    def __init__(self, case, name=None, path=(), kind="leaf"):
        arguments = case.arguments()
        self.leaves = []
        for place, k in case.places:
            leaf = gs.tensor(at(arguments[place], () if k is None else (k,)), requires_grad=True)
            self.leaves.append(leaf)
            arguments[place] = replaced(arguments[place], () if k is None else (k,), leaf)
        if name is not None:
            self.written = GIVEN[kind](at(arguments[name], path))
            arguments[name] = replaced(arguments[name], path, self.written)
        outputs = [y for y in flat(case.apply(arguments)) if y.requires_grad]
        if kind == "output":
            self.written, outputs[0] = outputs[0], ops.copy(outputs[0])
        self.outputs = outputs

    def gradients(self, create_graph=False):
        random = np.random.default_rng(5)
        weights = [gs.asarray(random.uniform(0.5, 1.5, y.shape).astype(y.dtype)) for y in self.outputs]
        found = grad(self.outputs, self.leaves, weights, create_graph=create_graph, materialize_grads=True)
        return [array(g) for g in found]


def write(target):
    """Other values in the same memory."""
    old = np.array(values(target))
    new = np.where(old == 0, 1, 0) if old.dtype.kind in "biu" else np.full(old.shape, 0.37)
    if isinstance(target, list):
        target[:] = new.tolist()
    else:
        target[...] = new.astype(old.dtype)


def targets(case):
    """(argument, path, kind) for all that can be written to."""
    arguments = case.arguments()
    for name, type_, *_ in case.op.arguments:
        for path in paths(arguments[name]):
            value = at(arguments[name], path)
            kinds = ["tensor", "ndarray"]
            if type_.startswith("Array"):
                floating = isinstance(value, np.ndarray) and value.dtype.kind in "fc"
                kinds = ["leaf", "intermediate", "constant", "ndarray"] if floating else kinds
            elif isinstance(value, list):
                kinds = [*kinds, "list"]
            for kind in kinds if type_.startswith(("Array", "Index", "Mask")) else ():
                yield name, path, kind
    yield None, (), "output"


def written(case, name, path, kind, recorded):
    """The program after a write, and whether it was refused; None where nothing needs a gradient then."""
    try:
        program = Program(case, name, path, kind)
    except IndexError:
        assert kind == "output"  # none requires grad
        return None, False
    if not program.outputs or not program.leaves:
        return None, False
    if recorded and any(np.may_share_memory(array(y), values(program.written)) for y in program.outputs):
        return None, False  # the write goes into an output, whose gradient is another from then on
    before = np.array(values(program.written))
    try:
        with gs.set_grad_enabled(recorded):
            write(program.written)
    except (RuntimeError, ValueError):  # a leaf, a view, read-only memory
        np.testing.assert_array_equal(values(program.written), before)
        return program, True
    return program, False


class Unwritten:
    """The gradients of the programs of a case that nobody writes to: those of an array that moves are the same in each place."""

    def __init__(self, case):
        self.case, self.found = case, {}

    def __call__(self, name, path, kind):
        moves = kind in ("leaf", "intermediate")
        key = (name, path, moves) if name is not None else kind
        if key not in self.found:
            self.found[key] = Program(self.case, name, path, kind).gradients()
        return self.found[key]


_unwritten: list[Unwritten] = []  # of the last case, of which several questions are asked


def unwritten(case):
    if not _unwritten or _unwritten[0].case is not case:
        _unwritten[:] = [Unwritten(case)]
    return _unwritten[0]


def refused_or_harmless(case):
    """AUTOGRAD_BEHAVIOURS, saved variables: a write to what was saved is refused in backward, by version.

    One program is run backward twice, the first time with a graph, which keeps what was saved; where the write was refused, once.
    """
    for target in targets(case):
        for recorded in (False, True):
            program, refused = written(case, *target, recorded)
            if program is None:
                continue
            for create_graph in (False,) if refused else (True, False):
                try:
                    found = program.gradients(create_graph)
                except RuntimeError as error:
                    assert MODIFIED.search(str(error)), target
                    continue
                for one, other in zip(found, unwritten(case)(*target), strict=True):
                    np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12, err_msg=f"{target}, {recorded=}, {create_graph=}")


def hooks_see_all_that_is_saved(case):
    """AUTOGRAD_BEHAVIOURS, saved variables: what hooks have packed cannot be written to any more."""
    for target in targets(case):
        with saved_tensors_hooks(lambda t: np.array(array(t)), gs.tensor):
            program, _ = written(case, *target, recorded=False)
        if program is None:
            continue
        for one, other in zip(program.gradients(), unwritten(case)(*target), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12, err_msg=target)


def arrays_of_an_index_are_freed_by_backward(case):
    """AUTOGRAD_BEHAVIOURS, saved variables: a second backward names the remedy, or needs nothing that was freed."""
    if not any(type_ in ("Index", "Mask") for _, type_, *_ in case.op.arguments):
        return
    for name, path, kind in targets(case):
        if kind not in ("tensor", "ndarray"):
            continue
        program = Program(case, name, path, kind)
        if not program.outputs or not program.leaves:
            continue
        expected = program.gradients()
        try:
            for one, other in zip(program.gradients(), expected, strict=True):
                np.testing.assert_array_equal(one, other)
        except RuntimeError as error:
            assert "Specify retain_graph=True" in str(error)


QUESTIONS = [refused_or_harmless, hooks_see_all_that_is_saved, arrays_of_an_index_are_freed_by_backward]


@of_samples(lambda op: op.inputs and op.form != "nondifferentiable", REAL, question=QUESTIONS)
def test_writes(case, question):
    question(case)


class Unguarded(gs.autograd.Function):
    """A square that keeps an array of its own, which no version guards."""

    @staticmethod
    def forward(ctx, x):
        ctx.kept = values(x)
        return x * x

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2 * gs.asarray(ctx.kept)


def test_what_no_version_guards_is_found():
    class Square:
        op = SimpleNamespace(arguments=[("x", "Array", None, False)])
        places = [("x", None)]
        arguments = staticmethod(lambda: {"x": np.array([0.3, -1.2])})
        apply = staticmethod(lambda arguments: Unguarded.apply(gs.asarray(arguments["x"])))

    for question in (refused_or_harmless, hooks_see_all_that_is_saved):
        with pytest.raises(AssertionError, match="leaf"):
            question(Square())
