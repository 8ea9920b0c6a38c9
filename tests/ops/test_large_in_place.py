"""In-place operators and `out=` on large arrays: one visit of each block, on several threads.

They give the values of the operator that makes a new array, on one, two and three threads, whichever operand or part of one the
target is.  NumPy warns of the same, and raises after everything was written.
"""

import warnings

import numpy as np
import pytest

import gradspec as gs
from gradspec.generated.op_info import BINARY, OPS, TERNARY, UNARY
from gradspec.support.dispatch import ops
from tests.asked import each

SIZE = 30_011  # several blocks, several tasks, and a rest
COUNTS = {UNARY: 1, BINARY: 2, TERNARY: 3}
ODD = [0.0, -0.0, np.inf, -np.inf, np.nan, -1.5, 1e30, -1e30, 1e-30, 3.0]


def elementwise(variant):
    """Operators with a variant and the number of their arrays, which have one shape; other arguments keep their defaults."""
    return {
        op.name: COUNTS[op.samples] for op in OPS
        if op.samples in COUNTS and variant in op.variants and len(op.outputs) == 1
        and all(default is not None for _, type_, default, _ in op.arguments[COUNTS[op.samples]:])
    }  # fmt: skip


IN_PLACE, OUT = elementwise("inplace"), elementwise("out")


@pytest.fixture(autouse=True)
def threads_as_before():
    before = gs.get_num_threads()
    yield
    gs.set_num_threads(before)


def arrays(count, dtype, odd):
    """Operands between 0.1 and 0.9, and some odd values in the middle."""
    rng = np.random.default_rng(7)
    found = [rng.uniform(0.1, 0.9, SIZE).astype(dtype) for _ in range(count)]
    for k, array in enumerate(found if odd else ()):
        array[9_000 + 3 * k : 9_200 + 3 * k] = np.resize(ODD[k:] + ODD[:k], 200)
    return found


def computed(function, *operands):
    """A result, the kinds of warnings, and whether it was refused."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = function(*operands)
        except (TypeError, RuntimeError) as error:
            return type(error), None
    return value, {str(one.message) for one in caught}


def same(found, expected):
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
    numbers = expected == expected
    np.testing.assert_array_equal(np.signbit(found[numbers]), np.signbit(expected[numbers]))


def written(name, target, *rest):
    method = getattr(gs.Tensor, f"{name}_", None)
    return method(target, *rest) if method else getattr(ops, name)(target, *rest, inplace=True)


def result_of(name, operands, given=gs.tensor):
    """The values, in the dtype of the first operand if they can be cast to it, and the warnings; no values if they cannot."""
    found, told = computed(getattr(ops, name), *map(given, operands))
    if told is None or not np.can_cast(found.dtype, operands[0].dtype, "same_kind"):
        return None, None
    return found.numpy().astype(operands[0].dtype), told


def refused(name, write, target):
    """Whether a write is refused and leaves the target as it was."""
    before = target.numpy().copy()
    with pytest.raises((TypeError, RuntimeError), match=name):
        write()
    np.testing.assert_array_equal(target.numpy(), before)


@each("odd", [False, True])
@each("dtype", ["f4", "f8"])
@each("name", IN_PLACE)
def test_in_place(name, dtype, odd):
    operands = arrays(IN_PLACE[name], dtype, odd)
    expected, told = result_of(name, operands)
    for count in (1, 2, 3):
        gs.set_num_threads(count)
        target, *rest = map(gs.tensor, operands)
        if expected is None:
            refused(name, lambda: written(name, target, *rest), target)
            continue
        memory, version = target.numpy(), target._version
        found, warned = computed(written, name, target, *rest)
        assert found is target and target.numpy() is memory and target._version == version + 1
        same(memory, expected)
        assert warned == told


@each("dtype", ["f4", "f8"])
@each("name", [name for name, count in IN_PLACE.items() if count > 1])
def test_operands_that_share_the_target_s_memory(name, dtype):
    count = IN_PLACE[name]
    base = arrays(1, dtype, False)[0]
    if result_of(name, [base] * count)[0] is not None:
        spread = gs.asarray(base.copy())
        written(name, spread, *[spread[:1].expand(SIZE)] * (count - 1))
        same(spread.numpy(), result_of(name, [base, *[np.full(SIZE, base[0])] * (count - 1)])[0])
    for part in (slice(None), slice(None, None, -1), slice(1, None), slice(0, 1), 0):
        size = SIZE - 1 if part == slice(1, None) else SIZE
        whole = base.copy()
        operands = [whole[:size], *[whole[part]] * (count - 1)]
        expected, _ = result_of(name, operands, gs.asarray)  # NumPy's loops round by layout
        if expected is None:
            continue
        target = gs.asarray(whole)
        written(name, target[:size], *[target[part]] * (count - 1))
        same(whole[:size], expected)


@each("dtype", ["f4", "f8"])
@each("name", OUT)
def test_out(name, dtype):
    operands = arrays(OUT[name], dtype, True)
    expected, told = result_of(name, operands)
    for place in range(-1, len(operands)):
        tensors = [gs.tensor(operand) for operand in operands]
        out = gs.tensor(np.full(SIZE, 7, dtype)) if place < 0 else tensors[place]
        if expected is None:
            refused(name, lambda: getattr(ops, name)(*tensors, out=out), out)
            continue
        found, warned = computed(lambda *given: getattr(ops, name)(*given, out=out), *tensors)
        assert found is out
        same(out.numpy(), expected)
        assert warned == told


@each("name", ["log", "add", "relu", "lerp", "exp", "sigmoid"])
def test_everything_is_written_before_an_error(name):
    count = IN_PLACE[name]
    operands = arrays(count, "f4", False)
    operands[0][20_000] = -1 if name == "log" else 3e38
    operands[-1][20_000] = operands[0][20_000]
    operands = operands if name != "lerp" else [operands[0], -operands[0], operands[1]]
    with np.errstate(all="ignore"):
        expected, _ = result_of(name, operands)
    target, *rest = map(gs.tensor, operands)
    with np.errstate(all="raise", under="ignore"):
        try:
            written(name, target, *rest)
        except FloatingPointError:
            assert name != "relu"
        else:
            assert name in ("relu", "sigmoid")
    same(target.numpy(), expected)


@each("name", ["add", "subtract"])
@each("factor", [0.3, -2, 1e38])
def test_a_factor_is_multiplied_in_the_same_visit(name, factor):
    a, b = arrays(2, "f4", True)
    expected, told = computed(lambda: getattr(ops, name)(a, gs.asarray(b) * factor))
    target = gs.tensor(a)
    found, warned = computed(lambda: getattr(target, f"{name}_")(gs.tensor(b), alpha=factor))
    assert found is target
    same(target.numpy(), expected.numpy())
    assert warned == told
    rows = gs.vmap(lambda a, b: (a * 1).add_(b, alpha=factor))(gs.ones((3, 2), dtype="f4"), gs.ones((3, 2), dtype="f4"))
    np.testing.assert_array_equal(rows.numpy(), np.full((3, 2), 1 + np.float32(factor)))
    leaf = gs.tensor(b, requires_grad=True)
    gs.zeros(SIZE).add_(leaf, alpha=factor).sum().backward()
    np.testing.assert_array_equal(leaf.grad.numpy(), np.full(SIZE, factor, "f4"))
