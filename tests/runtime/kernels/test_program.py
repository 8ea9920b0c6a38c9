"""Programs give what their operators give one by one, to the bit, in blocks or step by step; and warn as NumPy does."""

import itertools
import warnings

import numpy as np
import pytest

import gradspec as gs
from gradspec import kernels
from gradspec.kernels.fusion_engine import program
from gradspec.kernels.fusion_engine.program import Program
from gradspec.kernels.fusion_engine.ufunc import Ufunc
from tests.asked import each

# The universal functions that the operators are made of: NumPy's, or with loops of ours.
EXP, LOG, TANH, HYPOT = (Ufunc(function, function.__name__).function for function in (np.exp, np.log, np.tanh, np.hypot))
OPS = {
    "negative": np.negative, "absolute": np.absolute, "exp": EXP, "log": LOG, "tanh": TANH, "sqrt": np.sqrt,
    "square": np.square, "conj": lambda x: np.conjugate(x) if np.iscomplexobj(x) else x, "sign": np.sign, "isnan": np.isnan, "add": np.add, "subtract": np.subtract,
    "multiply": np.multiply, "divide": np.divide, "maximum": np.maximum, "minimum": np.minimum, "pow": kernels.power,
    "greater": np.greater, "equal": np.equal, "less_equal": np.less_equal, "bitwise_and": np.bitwise_and,
    "logical_or": np.logical_or, "where": np.where, "sigmoid": kernels.sigmoid, "_tanh_slope": kernels.tanh_slope,
    "logaddexp": kernels.logaddexp, "_sigmoid_slope": kernels.sigmoid_slope, "_divide_or_zero": kernels.divide_or_zero, "hypot": HYPOT,
}  # fmt: skip
UNARY = ("negative", "absolute", "exp", "log", "tanh", "sqrt", "square", "conj", "sign", "isnan", "sigmoid", "_tanh_slope",
         "_sigmoid_slope")  # fmt: skip
SIZES = (0, 1, 2, 3, 17, 100, 2047, 2049, 5000)


def random_formula(rng, inputs, depth):
    """A tree: a name, a number, or (op, *operands)."""
    if depth == 0 or rng.random() < 0.15:
        numbers = (0, 1, -2, 3, 0.5, -1.25, 1e-05, 1e30, float("inf"))
        return rng.choice(inputs) if rng.random() < 0.8 else numbers[rng.integers(len(numbers))]
    name = str(rng.choice(list(OPS)))
    count = 3 if name == "where" else 1 if name in UNARY else 2
    operands = [random_formula(rng, inputs, depth - 1) for _ in range(count)]
    if name == "where" or name == "bitwise_and":
        for i in range(1 if name == "where" else 2):
            operands[i] = ("greater", random_formula(rng, inputs, depth - 1), random_formula(rng, inputs, 0))
    return (name, *operands)


def text_of(tree):
    return f"{tree[0]}({', '.join(map(text_of, tree[1:]))})" if isinstance(tree, tuple) else str(tree)


def numpy_value(tree, given):
    """What NumPy makes of a formula; numbers of Python's stay such, as they do between operators."""
    if not isinstance(tree, tuple):
        return given[tree] if isinstance(tree, str) else tree
    operands = [numpy_value(operand, given) for operand in tree[1:]]
    value = OPS[tree[0]](*operands)
    if tree[0] != "where" and all(type(operand) in (int, float, complex, bool) for operand in operands):
        return np.asarray(value).item()
    return value


def random_operand(rng, kind, shape, dtype):
    x = rng.normal(size=shape) * 10.0 ** rng.integers(-2, 3)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.normal(size=shape)
    x = np.array(x, dtype)
    if x.size and x.dtype.kind in "fc" and rng.random() < 0.3:
        x.reshape(-1)[rng.integers(x.size)] = rng.choice([np.nan, np.inf, -np.inf, 0, -0.0])
    if kind == "strided":
        return np.repeat(x, 2, axis=-1)[..., ::2] if x.ndim else x
    if kind == "misaligned":
        memory = np.zeros(x.nbytes + 1, "u1")
        moved = memory[1:].view(dtype).reshape(shape)
        moved[...] = x
        return moved
    return x


def random_inputs(rng, names):
    dtype = str(rng.choice(["float32", "float64", "complex64", "complex128"]))
    size = int(rng.choice(SIZES))
    shape = [(size,), (size, 1), (3, size), (2, 3, size)][rng.integers(4)]
    others = ["plain"] * 8 + ["0-d", "0-d", "int", "float", "other dtype", "bool", "strided", "misaligned", "row", "row", "column",
                              "column", "block", "spread"]
    given = {}
    for name in names:
        kind = str(rng.choice(others))
        match kind:
            case "int":
                given[name] = int(rng.integers(-3, 4))
            case "float":
                given[name] = float(rng.normal())
            case "0-d":
                given[name] = random_operand(rng, kind, (), dtype)
            case "row":
                given[name] = random_operand(rng, kind, shape[-1:], dtype)
            case "column":
                given[name] = random_operand(rng, kind, (*shape[:-1], 1), dtype)
            case "block":
                given[name] = random_operand(rng, kind, shape[-2:], dtype)[..., :: rng.choice([1, -1])]
            case "spread":
                given[name] = np.broadcast_to(random_operand(rng, kind, (), dtype), shape)
            case "bool":
                given[name] = rng.random(shape) < 0.5
            case "other dtype":
                given[name] = random_operand(rng, kind, shape, str(rng.choice(["float32", "float64", "complex64", "int64"])))
            case _:
                given[name] = random_operand(rng, kind, shape, dtype)
    return given


def outcome(compute):
    """A value, or the kind of error; and what was warned of."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            value = compute()
        except (FloatingPointError, TypeError, ValueError, OverflowError) as error:
            value = type(error).__mro__[-4:] if not isinstance(error, FloatingPointError) else FloatingPointError
    return value, {str(warning.message).split(" in ")[0] for warning in seen}


def same(found, wanted):
    if isinstance(wanted, (tuple, type)) or isinstance(found, (tuple, type)):
        return isinstance(wanted, (tuple, type)) and isinstance(found, (tuple, type))
    found, wanted = np.asarray(found), np.asarray(wanted)
    return found.dtype == wanted.dtype and found.shape == wanted.shape and bits(found) == bits(wanted)


def bits(x):
    """All bits but those of which NaN it is."""
    parts = np.array([x.real, x.imag]) if x.dtype.kind == "c" else x
    return (np.where(np.isnan(parts), np.nan, parts) if parts.dtype.kind == "f" else parts).tobytes()


@each("seed", range(60))
def test_random_programs(seed):
    rng = np.random.default_rng(seed)
    names = ["x", "y", "z"][: 1 + seed % 3]
    tree = ("add", random_formula(rng, names, 3), ("multiply", names[0], random_formula(rng, names, 2)))
    compiled = Program(f"{', '.join(names)} -> y_", f"y_ = {text_of(tree)}")
    for _ in range(12):
        given = random_inputs(rng, names)
        for state in ("ignore", "warn", "raise"):
            with np.errstate(all=state, under="ignore"):
                wanted, warned = outcome(lambda: numpy_value(tree, given))
                found, told = outcome(lambda: compiled(*given.values()))
            assert same(found, wanted), (text_of(tree), {k: (getattr(v, "dtype", v), np.shape(v)) for k, v in given.items()})
            assert told == warned, (text_of(tree), {k: (getattr(v, "dtype", v), np.shape(v)) for k, v in given.items()})


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_threads_and_blocks_change_nothing(dtype):
    """A large array, with all that the loops of a real dtype or a complex one can do."""
    rng = np.random.default_rng(0)
    x, y = (random_operand(rng, "plain", (300_001,), dtype) for _ in range(2))
    x[12345] = y[7] = 1
    compiled = Program("x, y -> near, z", """
        near = multiply(x, tanh(y))
        z = where(greater(absolute(near), 0.5), divide(near, 3), conj(exp(negative(near))))""")
    threads = gs.get_num_threads()
    found = []
    try:
        for number, size in itertools.product((1, 2, 5), (16, 1000, 2048, 10**6)):
            gs.set_num_threads(number)
            program.set_block_size(size)
            with np.errstate(all="ignore"):
                found.append([result.tobytes() for result in compiled(x, y)])
    finally:
        gs.set_num_threads(threads)
        program.set_block_size(2048)
    assert all(results == found[0] for results in found)
    with np.errstate(all="ignore"):
        near = np.multiply(x, TANH(y))  # `x * TANH(y)` writes into the temporary, which is another loop
        assert found[0][0] == near.tobytes()
        small = np.conjugate(EXP(np.negative(near)))
        assert found[0][1] == np.where(np.abs(near) > 0.5, np.divide(near, 3), small).tobytes()


@each("name", ["exp", "log", "sqrt", "divide", "pow", "multiply"])
@each("dtype", ["float32", "float64"])
def test_one_loop_warns_as_numpy_does(name, dtype):
    function = getattr(gs, name)
    for value in (1000.0, -1000.0, 0.0, -1.0, 1e38, np.inf, np.nan):
        x = np.full(4, value, dtype)
        operands = (x,) if name in UNARY else (x, x)
        _, wanted = outcome(lambda: OPS[name](*operands))
        _, found = outcome(lambda: function(*map(gs.tensor, operands)))
        assert found == wanted, value


def test_only_what_is_wanted():
    compiled = Program("a, b -> p, q, r", "p = multiply(a, 2)\nq = add(p, b)\nr = exp(b)")
    a, b = np.arange(4.0), np.ones(4)
    for wanted in range(8):
        for x in (a, np.repeat(a, 2)[::2]):  # in blocks, and step by step
            results = compiled.some(wanted, x, b if wanted & 6 else None)
            for i, value in enumerate((a * 2, a * 2 + b, EXP(b))):
                assert (results[i] is None) if not wanted >> i & 1 else (results[i] == value).all()


def test_one_value_for_all():
    compiled = Program("x, scale -> y, squared", "squared = multiply(scale, scale)\ny = multiply(x, add(squared, 1))")
    y, squared = compiled(np.arange(3.0), np.array(2.0))
    assert squared.shape == () and squared == 4 and (y == [0, 5, 10]).all()


def test_numbers_that_do_not_fit():
    compiled = Program("x, scale -> y", "y = add(multiply(x, scale), 1)")
    with np.errstate(all="ignore"):
        assert same(compiled(np.ones(3, "f4"), 1e300), np.ones(3, "f4") * 1e300 + 1)
        assert same(compiled(np.ones(3, "f4"), 2**70), np.ones(3, "f4") * 2**70 + 1)
        assert same(compiled(np.ones(3, "f4"), 1j), np.ones(3, "f4") * 1j + 1)
        assert same(compiled(np.ones(3, "f4"), True), np.ones(3, "f4") * True + 1)
        assert same(compiled(np.ones(3, "f4"), np.float64(2)), np.ones(3, "f4") * np.float64(2) + 1)


def test_an_error_names_the_operator():
    compiled = Program("x, y -> z", "z = add(multiply(x, y), 1)")
    with pytest.raises(ValueError, match="multiply: .*could not be broadcast"):
        compiled(np.ones(3), np.ones(4))


def test_what_is_too_long_is_computed_step_by_step():
    x = np.linspace(0, 1, 9)
    lines = ["y1 = add(x, 1)", *(f"y{i + 1} = add(y{i}, multiply(x, {i}))" for i in range(1, 90))]
    wanted = x + 1
    for i in range(1, 90):
        wanted = wanted + x * i
    assert same(Program("x -> y90", "\n".join(lines))(x), wanted)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("divisor", ["2", "0.25", "-8", "3", "1e30", "1", "0.5"])
def test_quotients_by_a_known_number_have_numpys_bits(divisor, dtype):
    """By a power of two they are products: of subnormal numbers, infinities and zeros too."""
    tiny = np.finfo(dtype).smallest_subnormal
    x = np.resize(np.array([3 * tiny, tiny, -tiny, 0.0, -0.0, np.inf, -np.inf, np.nan, 1 / 3, np.finfo(dtype).max], dtype), 3000)
    with np.errstate(all="ignore"):
        found, expected = Program("x -> y", f"y = divide(x, {divisor})")(x), np.divide(x, eval(divisor))
    assert found.tobytes() == expected.tobytes()
