"""Passes over traces: shorter programs with the same results; what is written to is left alone."""

import numpy as np

import gradspec as gs
from gradspec.compiler.tracing.traced import Trace, same_bits
from gradspec.compiler.tracing.values import held
from tests.runtime.programs import MODES, REFUSED
from tests.runtime.traced_programs import function_of, leaves


def names(taken):
    return [line.name for line in taken.instructions]


X = np.array([0.5, -1.0, 2.0])


def same(taken, other):
    assert taken.run(X.copy()).tolist() == other.run(X.copy()).tolist()


def test_dead_code_goes_and_writes_that_are_seen_stay():
    def f(x):
        y = x * 2
        gs.exp(x)
        y[:1].add_(1)
        z = x * 3
        z.add_(1)
        return y

    taken = gs.trace(f, gs.asarray(X.copy()))
    short = taken.without_dead_code()
    assert names(short) == ["multiply", "getitem", "add_"]
    same(taken, short)


def test_writes_to_inputs_stay():
    def f(x):
        x.add_(1)
        return gs.ones(())

    assert "add_" in names(gs.trace(f, gs.asarray(X.copy())).without_dead_code())


def test_random_draws_stay():
    def f(x):
        gs.randn(2)
        return x + gs.randn(3)

    assert names(gs.trace(f, X).without_dead_code()).count("randn") == 2


def test_common_subexpressions_are_computed_once():
    taken = gs.trace(lambda x: gs.sin(x) * gs.sin(x) + gs.sin(x + 1), gs.asarray(X.copy()))
    short = taken.without_common_subexpressions()
    assert names(taken).count("sin") == 3 and names(short).count("sin") == 2
    same(taken, short)


def test_what_is_written_to_is_no_common_subexpression():
    def f(x):
        y = x * 2
        a = y + 1
        y.add_(1)
        b = y + 1
        return a * b

    taken = gs.trace(f, gs.asarray(X.copy()))
    assert names(taken.without_common_subexpressions()) == names(taken)


def test_constants_are_folded():
    taken = gs.trace(lambda x: x + gs.exp(np.ones(3)) * gs.full((3,), 2.0), gs.asarray(X.copy()))
    short = taken.with_folded_constants()
    assert names(short) == ["add"]
    same(taken, short)


def test_constants_that_are_written_to_are_not_folded():
    def f(x):
        y = gs.zeros(3)
        y += x
        return y + gs.ones(3)

    short = gs.trace(f, gs.asarray(X.copy())).with_folded_constants()
    assert names(short) == ["zeros", "add_", "add"]
    assert short.run(X).tolist() == (X + 1).tolist()


def test_looks_go():
    taken = gs.trace(lambda x: gs.conj(gs.reshape(gs.sin(x), (3,))), gs.asarray(X.copy()))
    assert names(taken.without_looks()) == ["sin"]
    same(taken, taken.without_looks())


def test_results_are_results_after_each_pass():
    """A result that is equal to another one, or that constants alone decide, is returned all the same."""
    taken = gs.trace(lambda x: (gs.sin(x), gs.sin(x), gs.exp(np.ones(3))), gs.asarray(X.copy()))
    for short in (taken.without_common_subexpressions(), taken.with_folded_constants(), taken.without_dead_code()):
        assert [part.tolist() for part in short.run(X.copy())] == [part.tolist() for part in taken.run(X.copy())]


def test_sizes_that_are_left_open_are_not_folded():
    taken = gs.trace(lambda x: x + gs.full((x.shape[0],), 2.0), X, shapes={"x": ("n",)}).with_folded_constants()
    assert taken.run(np.ones(5)).tolist() == [3.0] * 5


def test_numbers_are_equal_when_their_bits_are():
    taken = gs.trace(lambda x: gs.copysign(x, 0.0) + gs.copysign(x, -0.0) + gs.copysign(x, 0) + gs.copysign(x, 0.0), X)
    assert names(taken.without_common_subexpressions()).count("copysign") == 3
    same(taken, taken.without_common_subexpressions())


def test_random_programs_after_each_pass():
    """The same bits as the function, at other numbers than those of the trace."""
    short = [Trace.without_common_subexpressions, Trace.with_folded_constants, Trace.without_dead_code]
    for seed, mode in [(seed, mode) for seed in range(12) for mode in MODES]:
        first, other = np.random.default_rng((seed, 1)).normal(size=(2, 2, 3))
        function = function_of(seed, mode)
        with np.errstate(all="ignore"):
            try:
                wanted = function(other.copy())
            except RuntimeError as error:
                assert REFUSED in str(error)
                continue
            taken = gs.trace(function, first)
            for one in short:
                found = one(taken).run(other.copy())
                for a, b in zip(leaves(found), leaves(wanted), strict=True):
                    assert held(b) is None or same_bits(held(a), held(b)), (seed, mode, one.__name__)
                taken = one(taken)


def lowered(function, x):
    """The names of the instructions that a replay of the function runs, after all passes."""
    compiled = gs.compile(function, strict=True)
    for _ in range(2):
        found, wanted = compiled(x.copy()), function(gs.asarray(x.copy()))
        assert [part.tolist() for part in found] == [part.tolist() for part in wanted]
    return [line.name for line in compiled.program.forward.lines]


def test_copies_that_nobody_could_tell_from_their_source_are_not_made():
    assert lowered(lambda x: [gs.sin(x).clone() * 2], X) == ["sin", "multiply"]
    assert lowered(lambda x: [gs.sin(x).clone()], X) == ["sin"]


def test_copies_that_somebody_could_tell_are_made():
    def written(x):
        y = gs.sin(x)
        z = y.clone()
        y.add_(1)
        return [z * 2, y]

    def both(x):
        y = gs.sin(x)
        return [y, y.clone()]

    def looked(x):
        y = gs.sin(x)
        z = y.clone()
        return [y[1:], z]

    for function in (written, both, looked, lambda x: [x.clone()]):
        assert any(name in ("clone", "copy") for name in lowered(function, X))


def test_copies_that_are_written_to():
    """One stays where its source, or a copy of the source, is read later; else the writes are to the source."""

    def kept(x):
        a = x * 2
        c = a.copy().copy()
        c.add_(1)
        return c, a.sum()

    def both(x):
        a = x * 2
        b = a.copy()
        a.add_(1)
        b.mul_(3)
        return a, b

    def gone(x):
        b = (x * 2).copy()
        b.mul_(3)
        c = b.copy()
        c.add_(1)
        return c

    for function, count in ((kept, 1), (both, 1), (gone, 0)):
        compiled = gs.compile(function, strict=True)
        for k in range(3):
            found, wanted = (gs.tree_util.tree_leaves(call(gs.asarray(X * k))) for call in (compiled, function))
            assert [item.tolist() for item in found] == [item.tolist() for item in wanted]
        assert [line.name for line in compiled.program.forward.lines].count("copy") == count
