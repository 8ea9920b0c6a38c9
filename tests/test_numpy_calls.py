"""NumPy's functions on tensors: each kind of call is right, its gradient against differences, or refused by its name."""

import functools
import linecache
import re
import warnings

import numpy as np
from numpy_rows import calls

import gradspec as gs
from tests.asked import each

RNG = np.random.default_rng(3)
S = RNG.uniform(0.5, 1.5, (4, 4)) + 3 * np.eye(4)
OPERANDS = {
    "x": RNG.uniform(0.4, 1.4, (3, 4)),
    "y": RNG.uniform(0.4, 1.4, (3, 4)),
    "s": S,
    "h": S @ S.T,
    "v": np.array([1.15, 0.55, 0.85, 0.4]),
    "w": RNG.uniform(0.4, 1.4, 4),
    "c": np.array(0.9),
    "z": RNG.uniform(0.4, 1.4, 4) + 1j * RNG.uniform(0.4, 1.4, 4),
}
CONSTANTS = {"a": RNG.uniform(0.4, 1.4, (3, 4)), "m": np.array([[1, 0, 1, 1], [1, 1, 0, 0], [0, 1, 1, 1]], bool)}
STEP = 1e-6
RIGHT_AT_LEAST = 232


def run(text, operands):
    """The value of a row."""
    *statements, expression = text.split("; ")
    names = {"np": np, **{name: value.copy() for name, value in CONSTANTS.items()}, **operands}
    linecache.cache[text] = len(text), None, [text], text  # errors and warnings show the line
    exec(compile("; ".join(statements), text, "exec"), names)
    return eval(compile(expression, text, "eval"), names)


def numbers(result):
    """The parts of a result that are numbers, in order."""
    if isinstance(result, (tuple, list)):
        return [part for item in result for part in numbers(item)]
    return [result] if isinstance(result, (gs.Tensor, np.ndarray, np.generic, int, float, complex)) else []


def values(result):
    return [np.asarray(part.detach().numpy() if isinstance(part, gs.Tensor) else part) for part in numbers(result)]


def weighted(parts):
    """One real number from all that could have a gradient."""
    total = 0.0
    for part in parts:
        if part.dtype.kind in "fc":
            weights = np.cos(np.arange(part.size)).reshape(part.shape)
            total = total + (part.real * weights).sum() + (((part.imag * weights[::-1]).sum()) if part.dtype.kind == "c" else 0.0)
    return total


def differences(text, name):
    """The gradient of a row in one operand, from ndarrays alone."""
    return differences_of(lambda arrays: values(run(text, arrays)), OPERANDS, name)


def differences_of(function, operands, name):
    """The gradient of the weighted results of a function of arrays by name, in one of them."""
    gradient = np.zeros(operands[name].shape, operands[name].dtype)
    for place in np.ndindex(gradient.shape):
        for unit in (1, 1j) if gradient.dtype.kind == "c" else (1,):
            ends = []
            for step in (STEP, -STEP):
                moved = {key: value.copy() for key, value in operands.items()}
                moved[name][place] += step * unit
                ends.append(weighted(function(moved)))
            gradient[place] += unit * (ends[0] - ends[1]) / (2 * STEP)
    return gradient


def outcome(text):
    """ "right", or "refused" or "warned" with the words; anything else is an error of the test."""
    leaves = {name: gs.tensor(value, requires_grad=True) for name, value in OPERANDS.items()}
    expected = values(run(text, {name: value.copy() for name, value in OPERANDS.items()}))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = run(text, leaves)
        except (TypeError, RuntimeError) as error:
            return "refused", str(error)
    if caught:
        return "warned", str(caught[0].message)
    if "empty_like" not in text:
        assert [v.shape for v in values(result)] == [e.shape for e in expected], text
        for value, wanted in zip(values(result), expected):
            np.testing.assert_allclose(value, wanted, rtol=1e-6 if value.dtype == np.float32 else 1e-12, err_msg=text)
    recorded = [part for part in numbers(result) if isinstance(part, gs.Tensor) and part.requires_grad]
    if recorded:
        weighted(recorded).backward()
    for name in sorted(set(re.findall(r"\b[a-z]\b", text)) & OPERANDS.keys()):
        found = np.zeros_like(OPERANDS[name]) if leaves[name].grad is None else leaves[name].grad.numpy()
        wanted = differences(text, name) if "float32" not in text or leaves[name].grad is None else None
        if wanted is None:
            wanted = differences(text.replace("np.astype(x, np.float32)", "x").replace("np.float32(3)", "3"), name)
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-7, err_msg=f"{text}: gradient of {name}")
    return "right", ""


OUTCOMES = {}


@each("group, text", calls(), ids=[text for _, text in calls()])
def test_right_or_refused_by_name(group, text):
    kind, words = OUTCOMES[text] = outcome(text)
    if kind == "refused":
        advice = words.replace("x.detach() has the values alone, to show or store them", "")
        assert re.search(r"\bgradspec\b|\bgs\.", advice) and "etach" not in advice, words  # who computes on is not told to drop the history
        called = {name.split(".")[-1] for name in re.findall(r"np\.[\w.]+", text)} | ({"+="} if "+=" in text else set())
        assert any(name in words for name in called), words
    elif kind == "warned":
        assert "requires grad" in words and "x.item()" in words, words


def test_count(capsys):
    """What the README says of it."""
    for _, text in calls():
        OUTCOMES.setdefault(text, None)
        if OUTCOMES[text] is None:
            OUTCOMES[text] = outcome(text)
    right = [text for text, (kind, _) in OUTCOMES.items() if kind == "right"]
    with capsys.disabled():
        print(f"\nNumPy calls on tensors: {len(right)} of {len(OUTCOMES)} right, the rest refused by name or warned of by line")
        for text, (kind, words) in OUTCOMES.items():
            if kind != "right":
                print(f"  {kind}: {text}: {words}")
    assert len(right) >= RIGHT_AT_LEAST


# An ndarray holds no rows: what makes one, writes to one, or gives a result whose shape depends on numbers is refused in a vmap.
NO_ROWS = {
    "np.asarray(x)", "np.array(x)", "np.array([c, c * 2])", "np.asarray([v, v * 2])", "np.asanyarray(x)", "np.ascontiguousarray(x)",
    "np.float64(c)", "np.array([[c, 1.0], [0.0, c]])", "np.asarray(x, dtype=float)", "np.where(x > 0.8)", "q = a * 1; q += x; q",
    "q = np.zeros(4); q[0] = c; q * c", "q = np.zeros((3, 4)); np.copyto(q, x); q",
    "np.linalg.qr(x.T, mode='complete')",
}  # fmt: skip


def test_each_row_of_a_vmap_gets_what_it_gets_alone():
    others = {name: value * 1.1 + (0 if name == "h" else 0.05) for name, value in OPERANDS.items()}
    refused = set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _, text in calls():
            expected = [values(run(text, {name: value.copy() for name, value in row.items()})) for row in (OPERANDS, others)]

            def function(*rows, text=text):
                return tuple(map(gs.asarray, numbers(run(text, dict(zip(OPERANDS, rows))))))

            try:
                found = gs.vmap(function)(*(np.stack([OPERANDS[name], others[name]]) for name in OPERANDS))
            except (TypeError, RuntimeError, ValueError):
                refused.add(text)
                continue
            for i, row in enumerate(expected):
                assert [part[i].shape for part in found] == [part.shape for part in row], text
                for part, wanted in zip(found, row):
                    np.testing.assert_allclose(part[i], wanted, rtol=1e-6 if part.dtype == np.float32 else 1e-10, err_msg=text)
    assert refused == NO_ROWS


def test_numpys_functions_that_read_numbers_do_so_row_by_row():
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(3, 5, 2)), rng.normal(size=(3, 5))
    functions = [
        lambda a, b: np.linalg.lstsq(a, b, rcond=None), lambda a, b: np.append(b, a[0, 0]), lambda a, b: np.choose(b.astype(int) % 2, [b, -b]),
        lambda a, b: np.piecewise(b, condlist=[b < 0, b > 1], funclist=[np.square, 2.0, np.exp]), lambda a, b: np.unique(b),
        lambda a, b: np.concatenate([b, a[0, 0].reshape(()), a], None), lambda a, b: np.select([b > 0, b < -1], [b, b * 2], a[0, 0]),
        lambda a, b: np.geomspace(1.0, 1 + b[0] ** 2, 4), lambda a, b: np.histogram(b, [-3.0, 0.0, 3.0])[0],
        *[functools.partial(written, write) for write in (
            lambda y, b: np.putmask(y, b > 0, b * 2), lambda y, b: np.place(y, b > 0, [1.0, 2.0]), lambda y, b: np.put(y, [0, 1], b[3:]))],
    ]  # fmt: skip
    for function in functions:
        found = numbers(gs.vmap(function)(a, b))
        for i in range(3):
            for part, wanted in zip(found, values(function(a[i], b[i])), strict=True):
                np.testing.assert_allclose(part[i], wanted, rtol=1e-10)
    slopes = gs.vmap(gs.grad(lambda a, b: (np.linalg.lstsq(a, b)[0] ** 2).sum()))(a, b)
    steps = STEP * np.eye(10).reshape(10, 5, 2)
    ends = [[(np.linalg.lstsq(a[1] + sign * step, b[1])[0] ** 2).sum() for sign in (1, -1)] for step in steps]
    np.testing.assert_allclose(slopes[1].numpy().ravel(), [(plus - minus) / (2 * STEP) for plus, minus in ends], rtol=1e-5)
    with np.testing.assert_raises_regex(RuntimeError, "the shape of the result depends on values"):
        gs.vmap(np.unique)(np.array([[1.0, 1.0], [1.0, 2.0]]))


def written(write, a, b):
    y = b * 1.0
    write(y, b)
    return y


@each("given, dtype", [
    (given, dtype) for given in ("u1", "i2", "f4") for dtype in ("u1", "i2", "u4", "i8", "f4", "f8") if np.can_cast(given, dtype, "same_kind")
])  # fmt: skip
@each("name", ["sum", "prod", "cumsum", "cumprod", "nansum", "nanprod", "nancumsum", "nancumprod", "trace"])
def test_dtypes_that_are_asked_for(name, given, dtype):
    """Sums and products wrap round where the dtype is narrow: of functions, and of methods."""
    x = np.array([[200, 100, 7], [3, 90, 11]]).astype(given)
    function = getattr(np, name)
    with np.errstate(over="ignore"):
        expected = function(x, dtype=dtype)
    for found in (function(gs.asarray(x), dtype=dtype), *([getattr(gs.asarray(x), name)(dtype=dtype)] if hasattr(gs.Tensor, name) else [])):
        assert found.dtype == expected.dtype, name
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)
    if name in ("sum", "prod"):
        assert getattr(gs, name)(gs.asarray(x), dtype=dtype).tolist() == function(gs.asarray(x), dtype=dtype).tolist()


H = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, -0.7], [0.5, -0.7, 2.0]]) + np.triu(np.ones((3, 3)), 1)
BESIDE = [
    ("cov", (H,), {"aweights": np.array([1.0, 2.0, 3.0])}), ("average", (H,), {"returned": True}), ("concat", ([H, H],), {"dtype": "float32"}),
    ("ediff1d", (H,), {"to_end": 1.0}), ("fft.fft", (H,), {"out": np.zeros((3, 3), complex)}), ("isin", (H, H[0]), {"invert": True}),
    ("linalg.cholesky", (H,), {"upper": True}), ("linalg.cond", (H,), {"p": 1}), ("linalg.eigh", (H,), {"UPLO": "U"}),
    ("linalg.eigvalsh", (H,), {"UPLO": "U"}), ("linalg.qr", (H,), {"mode": "r"}), ("linalg.svd", (H,), {"compute_uv": False}),
    ("median", (H,), {"overwrite_input": False}), ("nanmax", (-H,), {"initial": -0.5}), ("nanprod", (H,), {"dtype": "float32"}),
    ("nanstd", (H,), {"ddof": 1}), ("nanstd", (H,), {"mean": np.array([[1.0]])}), ("std", (H,), {"mean": np.array([[1.0]])}),
    ("searchsorted", (H[0, ::-1], 1.0), {"sorter": np.array([2, 1, 0])}), ("stack", ([H, H],), {"dtype": "float32"}),
    ("unique", (H,), {"return_counts": True}), ("unique", (H,), {"return_inverse": True}), ("cumsum", (H,), {"dtype": "float32"}),
]  # fmt: skip


@each("name, arguments, keywords", BESIDE, ids=[f"{name}-{next(iter(keywords))}" for name, _, keywords in BESIDE])
def test_a_function_takes_what_numpys_takes(name, arguments, keywords):
    """Of arrays and of tensors without a history, whoever computes it."""
    ours, theirs = (functools.reduce(getattr, name.split("."), module) for module in (gs, np))
    expected = theirs(*arguments, **keywords)
    for first in (arguments[0], [gs.asarray(x) for x in arguments[0]] if isinstance(arguments[0], list) else gs.asarray(arguments[0])):
        found = ours(first, *arguments[1:], **keywords)
        several = isinstance(expected, tuple)
        for one, other in zip(found, expected) if several else [(found, expected)]:
            assert np.asarray(one).dtype == np.asarray(other).dtype
            one, other = (np.abs(x) if name == "linalg.eigh" else np.asarray(x) for x in (one, other))  # vectors have either sign
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-12)
