"""Playing: steps on few numbers, which run at once, have the bits and the warnings of eager code."""

import warnings

import numpy as np
import pytest

import gradspec as gs

SPECIAL = [0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan, -np.nan, 1e-310, 3e38, -1e300, 1e-45, 7.25]
PAIRS = [gs.add, gs.subtract, gs.multiply, gs.divide]
SINGLES = [gs.negative, gs.absolute, gs.square, gs.reciprocal]
COMPARISONS = [gs.greater, gs.greater_equal, gs.less, gs.less_equal, gs.equal, gs.not_equal]


def random_program(rng, size):
    """Some operations on arrays of one size, on 0-d arrays and on numbers, among them writes in place, slices and joins."""
    moves = [(int(rng.integers(6)), rng.integers(0, 1 << 30, 4)) for _ in range(int(rng.integers(2, 30)))]

    def program(x, y, z, w):
        found, masks = [x, y, w, z], []
        for kind, picks in moves:
            a, b = found[picks[0] % len(found)], found[picks[1] % len(found)]
            if kind < 2:
                b = float(picks[2] % 3) if picks[3] % 4 == 0 else b
                a, b = (b, a) if picks[3] % 3 == 0 else (a, b)
                found.append(PAIRS[picks[2] % 4](a, b))
            elif kind == 2:
                found.append(SINGLES[picks[2] % 4](a))
            elif kind == 3:
                masks.append(COMPARISONS[picks[2] % 6](a, b))
            elif kind == 4 and a.ndim:
                a.multiply_(b) if picks[2] % 2 else a[: size // 2].subtract_(a[size - size // 2 :].copy())
            elif a.ndim:
                found.append(gs.concatenate([a[1:], a[:1]]))
        return *found, *masks

    return program


def bits_of(item):
    """With one NaN for all: of two operands that are NaN, NumPy's own loops take the one or the other, by their places."""
    array = item.numpy().copy()
    array[np.isnan(array)] = np.nan
    return array.dtype, array.shape, array.tobytes()


def outcome(function, arrays):
    """Bits of all arrays afterwards, and the warnings."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        results = function(*arrays)
    return [bits_of(item) for item in (*results, *arrays)], [str(warning.message) for warning in heard]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_few_numbers_have_the_bits_and_the_warnings_of_eager_code(dtype):
    warned = 0
    for seed in range(120):
        rng = np.random.default_rng(seed)
        size = int(rng.choice([1, 2, 3, 4, 7, 8, 9, 16, 31, 33, 130]))
        program = random_program(rng, size)
        compiled = gs.compile(program)
        for call in range(4):
            special = call % 2 and seed % 2
            with np.errstate(all="ignore"):
                numbers = [
                    (rng.choice(SPECIAL, shape) if special else rng.normal(size=shape)).astype(dtype)
                    for shape in ((size,), (size,), (), (size,))
                ]
            wanted = outcome(program, [gs.tensor(number) for number in numbers])
            found = outcome(compiled, [gs.tensor(number) for number in numbers])
            assert found[0] == wanted[0] and sorted(found[1]) == sorted(wanted[1]), f"seed {seed}, call {call}"  # a write may come later
            warned += bool(call and wanted[1])
        assert len(compiled.signatures) == 1
    assert warned > 20


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_special_number_beside_a_finite_one_keeps_its_sign(dtype):
    with np.errstate(all="ignore"):
        special = np.resize(np.array(SPECIAL, dtype), 29)
    for number in (special, special[:3], special[6], special[7]):
        for function in (*PAIRS, *SINGLES, *COMPARISONS):
            for operands in ((number, 2.5), (2.5, number)) if function not in SINGLES else ((number,),):
                given = [gs.tensor(np.asarray(each, dtype)) for each in operands]
                compiled = gs.compile(lambda *given, function=function: (function(*given), -given[0], abs(given[0])))
                with np.errstate(all="ignore"):
                    wanted = [y.numpy().tobytes() for y in (function(*given), -given[0], abs(given[0]))]
                    for _ in range(3):
                        assert [y.numpy().tobytes() for y in compiled(*given)] == wanted, (function, operands)


SHAPES = [
    ((3, 4), (4, 2)), ((4,), (4,)), ((3, 4), (4,)), ((4,), (4, 2)), ((2, 3, 4), (4, 5)), ((2, 3, 4), (2, 4, 5)), ((1, 1), (1, 1)),
    ((2, 1, 3, 4), (5, 4, 2)), ((70, 80), (80, 60)), ((2, 3, 4), (4,)), ((3, 0), (0, 2)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_a_product_goes_where_it_belongs(dtype):
    """With the bits and the warnings of eager code: of plain operands, transposed ones, slices, numbers that overflow."""
    rng = np.random.default_rng(0)
    for shape_a, shape_b in SHAPES:
        for turn in ("plain", "transposed", "sliced", "overflowing", "infinite"):
            a, b = (rng.normal(size=shape).astype(dtype) for shape in (shape_a, shape_b))
            if turn == "overflowing":
                a, b = np.full_like(a, np.finfo(dtype).max / 4), np.full_like(b, 8)
            if turn == "infinite" and a.size:
                a.flat[0], b.flat[0] = np.inf, 0
            if turn == "transposed":
                a, b = np.ascontiguousarray(a.T).T, np.ascontiguousarray(b.T).T
            if turn == "sliced":
                a, b = np.repeat(a, 2, -1)[..., ::2], np.repeat(b, 2, -1)[..., ::2]

            def program(a, b):
                y = gs.matmul(a, b)
                return y + 1, y

            compiled = gs.compile(program)
            for _ in range(3):
                wanted = outcome(program, [gs.asarray(a), gs.asarray(b)])
                assert outcome(compiled, [gs.asarray(a), gs.asarray(b)]) == wanted, (shape_a, shape_b, turn)
            assert "by its wrapper" not in str(compiled.program)


def test_an_error_from_a_flag_leaves_what_eager_code_leaves():
    def program(x, y):
        x.add_(1.0)
        x.multiply_(2.0)
        z = y / (x - x)
        x.add_(1.0)
        return z

    def after(function):
        x, y = gs.ones(5), gs.ones(5)
        with np.errstate(all="raise"), pytest.raises(FloatingPointError, match="divide by zero encountered in divide"):
            function(x, y)
        return x.numpy().tobytes()

    compiled = gs.compile(program)
    with np.errstate(all="ignore"):
        for _ in range(3):
            compiled(gs.ones(5), gs.ones(5))
    assert after(compiled) == after(program)
    assert np.array_equal(np.frombuffer(after(program)), np.full(5, 4.0))
