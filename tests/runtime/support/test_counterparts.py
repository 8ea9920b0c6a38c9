"""Refusals name the counterpart: each function of SciPy that gradspec has as well, called with a tensor that requires grad."""

import importlib
import os
import subprocess
import sys
import warnings
from collections import Counter
from itertools import islice, product

import numpy as np
import pytest

import gradspec as gs
from gradspec.support import counterparts
from tests.asked import each

scipy = pytest.importorskip("scipy")
pytestmark = pytest.mark.filterwarnings("ignore")
MODULES = ("fft", "integrate", "interpolate", "linalg", "ndimage", "optimize", "signal", "signal.windows", "sparse.linalg", "special", "stats")
METHODS = ("logpdf", "logpmf", "cdf", "rvs")
LOST = ("lose the history", "has a gradient, which the ndarray")
UNREACHED_AT_MOST = 220  # functions that take no array, or whose arguments none of the drawn calls is
# Gaps: functions in C are found in the text of the line that calls them, which is not theirs here; classes that another function makes.
NOT_NAMED = {
    *(f"linalg.{name}" for name in ("bandwidth", "ishermitian", "issymmetric", "qr_delete", "qr_insert", "qr_update")),
    *(f"signal.{name}" for name in ("StateSpace", "TransferFunction", "dlti", "lti")), "optimize.line_search",
}  # fmt: skip


def drawn(rng):
    """Arguments of one to four: vectors, square matrices, numbers, and functions, of tensors that require grad or arrays."""
    matrix = rng.normal(size=(4, 4)) / 8 + np.diag(np.arange(1.0, 5))
    vector, number = np.sort(rng.uniform(0.2, 0.9, 8)), float(rng.uniform(0.2, 0.8))
    leaf = lambda value: gs.tensor(value, requires_grad=True)  # noqa: E731
    w = leaf(number)
    tensors = [leaf(vector), leaf(matrix), w, lambda x, *rest: w * (gs.asarray(x) - 1.5).sum()]
    beside = [1.0, 2, leaf(vector), np.arange(8.0), leaf(matrix), leaf(np.ones(4)), lambda *x: gs.asarray(x[0]) * w]
    yield from ((first, *[one] * count) for count in range(5) for one in beside for first in tensors)
    for count in range(1, 4):
        rest = product(beside, repeat=count)
        for extra in rest:
            for first in [*tensors, np.arange(8.0), 1, 2.0]:
                yield (first, *extra)


def said(call):
    """How a call ends: "named", "unnamed" for a refusal that lacks the name, "taken" for a result with a history, or ""."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            result = call()
        except BaseException as error:
            return str(error)
    words = " ".join(str(one.message) for one in warned if "no gradient passes" in str(one.message))
    parts = result if isinstance(result, (tuple, list)) else [result, *vars(result).values()] if hasattr(result, "__dict__") else [result]
    return words or ("taken" if any(isinstance(part, gs.Tensor) and part.requires_grad for part in parts) else "")


def calls_of(module):
    """Name -> the public functions of a module of SciPy that gradspec has as well; methods for a distribution."""
    theirs, ours = importlib.import_module(f"scipy.{module}"), importlib.import_module(f"gradspec.scipy.{module}")
    for name in sorted(set(dir(theirs)) & set(dir(ours))):
        function = getattr(theirs, name)
        methods = [m for m in METHODS if hasattr(function, m) and hasattr(getattr(ours, name), m)]
        if module == "stats" and methods and not isinstance(function, type):
            yield from ((f"{name}.{m}", getattr(function, m)) for m in methods[:2])
        elif callable(function) and not (isinstance(function, type) and issubclass(function, (Exception, Warning))):
            yield name, function


def end_of(module, name, function):
    """How the first call ends that reaches a tensor, and its message."""
    theirs = importlib.import_module(f"scipy.{module}")
    same = [other for other in vars(theirs) if getattr(theirs, other) is function] or [name]
    wanted = [f"write gs.{place}{module}.{other}" for other in same for place in ("scipy.", "")]
    for arguments in islice(drawn(np.random.default_rng(7)), 300):
        words = said(lambda: function(*arguments))
        if words == "taken" or any(place in words for place in wanted):
            return words if words == "taken" else "named", words
        if any(part in words for part in LOST):
            return "unnamed", words
    return "unreached", ""


def test_a_refusal_names_the_counterpart(capsys):
    ends, table = {}, {}
    for module in MODULES:
        found = {f"{module}.{name}": end_of(module, name, function) for name, function in calls_of(module)}
        table[module] = Counter(end for end, _ in found.values())
        ends |= found
    unreached = [name for name, (end, _) in ends.items() if end == "unreached"]
    with capsys.disabled():
        print("".join(f"\nscipy.{module}: {dict(counts)}" for module, counts in table.items()))
        print(f"{sum(end == 'named' for end, _ in ends.values())} of {len(ends)} named; unreached: {' '.join(unreached)}")
    assert {name for name, (end, _) in ends.items() if end == "unnamed"} <= NOT_NAMED
    assert len(unreached) <= UNREACHED_AT_MOST and len(ends) > 500


T, V = gs.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True), gs.tensor([1.0, 2.0, 3.0], requires_grad=True)
SAID = [
    (lambda: np.r_[V, V], "write gs.r_ in the place of np.r_"),
    (lambda: np.c_[V, V], "write gs.c_ in the place of np.c_"),
    (lambda: np.full((2, 2), T), "write gs.full in the place of np.full"),
    (lambda: np.array([T, T]), "write gs.array in the place of np.array"),
    (lambda: np.arange(V[0]), "write gs.arange in the place of np.arange"),
    (lambda: np.random.normal(V), "write gs.random.normal in the place of np.random.normal"),
    (lambda: np.full_like(np.ones(3), V), "write gs.full_like in the place of np.full_like"),
    (lambda: np.matrix(T), "np.matrix has no counterpart here: write a gs.autograd.Function"),
    (lambda: importlib.import_module("scipy.special").hankel1(1, V), "write gs.scipy.special.hankel1"),
    (lambda: importlib.import_module("scipy.special").itj0y0(V), "write gs.scipy.special.itj0y0"),
    (lambda: importlib.import_module("scipy.spatial.distance").cdist(T, T), "scipy.spatial.distance.cdist has no counterpart here"),
    (lambda: importlib.import_module("scipy.stats").norm(V, 1).logpdf(0.0), "write gs.scipy.stats.norm.logpdf"),
    (lambda: importlib.import_module("scipy.optimize").curve_fit(lambda x, a: a * x, np.ones(3), V), "write gs.scipy.optimize.curve_fit"),
]


@each(("call", "words"), SAID)
def test_who_asks_is_named(call, words):
    with pytest.raises((RuntimeError, TypeError)) as caught:
        call()
    assert words in str(caught.value)


def test_gradspec_itself_is_not_told_to_call_gradspec():
    with pytest.raises(RuntimeError) as caught:
        exec("np.array([x])", {"np": np, "x": V, "__name__": "gradspec.scipy.optimize"})
    assert "in the place of" not in str(caught.value)
    assert counterparts.counterpart("scipy.optimize.minimize") == "gs.scipy.optimize.minimize"
    assert counterparts.counterpart("scipy.optimize.no_such") is None and counterparts.counterpart("numpy.float64") is None


def test_pandas_keeps_arrays():
    pandas = pytest.importorskip("pandas")
    for call in (lambda: pandas.Series(np.ones(3)) * V, lambda: pandas.Series(V), lambda: pandas.DataFrame(T)):
        with pytest.raises(RuntimeError, match=r"pandas\.\w+(\.__mul__)? keeps arrays: write to_numpy\(\)"):
            call()


def test_arrays_beside_tensors_under_the_array_api():
    code = """
import numpy as np, scipy.signal, gradspec as gs
try:
    scipy.signal.convolve(np.ones(3), gs.tensor([1.0, 2.0], requires_grad=True))
except TypeError as error:
    assert "gs.asarray(a) for each array; write gs.scipy.signal.convolve" in str(error), error
else:
    raise AssertionError("taken")
assert repr(gs.asarray(1.0).__array_namespace__()) == "<module 'gradspec.array_api'>"
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], env={**os.environ, "SCIPY_ARRAY_API": "1"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
