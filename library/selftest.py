"""Test an installed package where it runs: `python -m gradspec.selftest`, in about a minute, with NumPy alone.

It prints versions, processor and BLAS, for bug reports.  Then it asks the examples in all docstrings, both modes of
differentiation, compiled calls, elementary functions, and some whole programs with known answers.
"""

import ast
import doctest
import importlib.util
import os
import platform
import re
import sys
import threading
import time
import types
import warnings
from collections.abc import Callable, Iterator

import numpy as np
import numpy.random

import gradspec as gs

OPTIONAL = ("scipy", "yaml", "jinja2")
MISSING = [package for package in OPTIONAL if importlib.util.find_spec(package) is None]  # what needs one of them is left out
NEEDS_MISSING = re.compile(f"(Import|ModuleNotFound)Error: .*({'|'.join(MISSING) or '(?!)'})", re.IGNORECASE)
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|\.\d+|\binf\b|\bnan\b)j?")


class _Printed(doctest.OutputChecker):
    """Compares printed numbers as numbers, to six digits: the last ones depend on the processor."""

    def check_output(self, want: str, got: str, flags: int) -> bool:
        if super().check_output(want, got, flags):
            return True
        if "".join(NUMBER.sub("#", want).split()) != "".join(NUMBER.sub("#", got).split()):
            return False
        wanted, found = ([complex(number) for number in NUMBER.findall(text)] for text in (want, got))
        return np.allclose(wanted, found, rtol=1e-6, atol=1e-12, equal_nan=True)


def documented(space: types.ModuleType = gs, path: str = "gs") -> Iterator[tuple[str, Callable]]:
    """All public functions and classes whose docstrings have examples, each once, with the first of its names."""
    seen: set[int] = set()

    def walk(space, path):
        for name in sorted(name for name in dir(space) if not name.startswith("_")):
            value = getattr(space, name, None)
            if id(value) in seen:
                continue
            if isinstance(value, types.ModuleType):
                if value.__name__.startswith("gradspec.") and "generated" not in value.__name__:
                    seen.add(id(value))
                    yield from walk(value, f"{path}.{name}")
            elif callable(value) and ">>>" in (getattr(value, "__doc__", None) or ""):
                seen.add(id(value))
                yield f"{path}.{name}", value

    yield from walk(space, path)


def examples() -> Iterator[str]:
    """Ask each docstring's examples for the results that they state; yields a text for each difference."""
    runner = doctest.DocTestRunner(_Printed(), optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    for name, value in documented():
        said: list[str] = []
        names = {"gs": gs, "np": np, "__name__": "example"}
        runner.run(doctest.DocTestParser().get_doctest(value.__doc__, names, name, None, 0), out=said.append)
        if not NEEDS_MISSING.search("".join(said)):
            yield from said


def _calls() -> Iterator[tuple[str, Callable, list, dict]]:
    """The examples that are one call of the documented function with literals: text, function, arguments by place and by name."""
    for name, function in documented():
        for example in doctest.DocTestParser().get_examples(function.__doc__):
            try:
                call = ast.parse(example.source, mode="eval").body
                named = {key.arg: ast.literal_eval(key.value) for key in call.keywords}
                arguments = [ast.literal_eval(argument) for argument in call.args]
            except (SyntaxError, ValueError, AttributeError):
                continue
            if ast.unparse(call.func) == name:
                yield example.source.strip(), function, arguments, named


def _is_real(value) -> bool:
    """Whether an argument is one array of float64, or a number."""
    try:
        return not isinstance(value, tuple) and np.asarray(value).dtype == np.float64
    except ValueError:  # lists of several shapes
        return False


def _disagreement(function: Callable, arguments: list, named: dict, rng: np.random.Generator) -> str:
    """Compare the derivatives along one direction, by each mode and compiled: a text if they differ, else the empty one."""
    places = [place for place, value in enumerate(arguments) if _is_real(value)]

    def f(*varied):
        filled = list(arguments)
        for place, value in zip(places, varied):
            filled[place] = value
        return function(*filled, **named)

    while places:
        primals = [gs.tensor(arguments[place], requires_grad=True) for place in places]
        try:
            y = f(*primals)
            break
        except (TypeError, ValueError) as error:  # a plain number, or a sequence of arrays
            if isinstance(error, TypeError) and "is a plain number" not in str(error):
                raise
            places.pop()
    if not places or not isinstance(y, gs.Tensor) or y.dtype != np.float64:
        return ""
    primals = [primal.detach() for primal in primals]
    tangents = [gs.tensor(rng.normal(size=primal.shape)) for primal in primals]
    cotangent = gs.tensor(rng.normal(size=y.shape))

    def pull_back(*varied):
        return gs.vjp(f, *varied)[1](cotangent)

    compiled = gs.compile(pull_back)
    gs.manual_seed(0)
    results = [float((cotangent * gs.jvp(f, tuple(primals), tuple(tangents))[1]).sum())]
    for slopes_of in (pull_back, compiled, compiled):
        gs.manual_seed(0)
        results.append(sum(float((slope * tangent).sum()) for slope, tangent in zip(slopes_of(*primals), tangents)))
    agree = np.allclose(results, results[0], rtol=1e-8, atol=1e-10, equal_nan=True)
    return "" if agree else f"forward mode, reverse mode and two compiled calls give {results}"


def transformations() -> Iterator[str]:
    """Differentiate each operator's examples forward, in reverse, and compiled; yields a text for each disagreement."""
    rng = np.random.default_rng(0)
    for source, function, arguments, named in _calls():
        try:
            said = _disagreement(function, arguments, named, rng)
        except ImportError as error:
            if not NEEDS_MISSING.search(f"ImportError: {error}"):
                raise
            continue
        if said:
            yield f"{source}: {said}\n"


def elementary() -> Iterator[str]:
    """Compare functions of one float with the next wider type's; yields a text where they are more than 4 ulps apart."""
    points = np.concatenate([np.linspace(-20, 20, 20001), np.logspace(-30, 1, 2001)])
    wider = {np.float16: np.float32, np.float32: np.float64, np.float64: np.longdouble}
    for name in "exp expm1 exp2 log log1p log2 log10 sin cos tan sinh cosh tanh arcsin arctan arcsinh sqrt cbrt".split():
        for dtype, wide in wider.items():
            if np.finfo(wide).eps == np.finfo(dtype).eps:  # long double is double here
                continue
            x = points.astype(dtype)
            with np.errstate(all="ignore"):
                exact, found = getattr(np, name)(x.astype(wide)), getattr(gs, name)(gs.asarray(x)).numpy()
                off = np.abs(found.astype(wide) - exact) / np.spacing(np.abs(exact).astype(dtype)).astype(wide)
            usual = np.isfinite(exact) & (np.abs(exact) >= np.finfo(dtype).tiny) & (np.abs(exact) < np.finfo(dtype).max)
            if found.dtype != dtype or off[usual].max() > 4:
                yield f"{name} of {np.dtype(dtype)} at {x[usual][off[usual].argmax()]}: {off[usual].max():.3g} ulps\n"


def _pendulum(length):
    """The angle of a pendulum of this length after two seconds, by Runge and Kutta's fourth order."""
    def slope(state):
        return gs.stack([state[1], -9.81 / length * gs.sin(state[0])])

    state, h = gs.stack([length * 0 + 0.5, length * 0]), 0.02
    for _ in range(100):
        a = slope(state)
        b = slope(state + h / 2 * a)
        c = slope(state + h / 2 * b)
        state = state + h / 6 * (a + 2 * b + 2 * c + slope(state + h * c))
    return state[0]


def _likelihood(scale):
    """Minus the logarithm of a Gaussian process's likelihood, up to a constant."""
    x = np.linspace(0, 3, 20)
    covariance = gs.exp(-(((x[:, None] - x) / scale) ** 2)) + 1e-4 * np.eye(20)
    return np.sin(x) @ gs.linalg.solve(covariance, np.sin(x)) + gs.linalg.slogdet(covariance)[1]


def _network_learns() -> bool:
    gs.manual_seed(0)
    inputs = np.random.default_rng(0).normal(size=(200, 2))
    labels = (inputs[:, 0] * inputs[:, 1] > 0).astype(int)
    network = gs.nn.Sequential(gs.nn.Linear(2, 16), gs.nn.ReLU(), gs.nn.Linear(16, 2))
    optimizer = gs.optim.Adam(network.parameters(), lr=0.05)
    for _ in range(150):
        optimizer.zero_grad()
        gs.nn.cross_entropy(network(inputs), labels).backward()
        optimizer.step()
    return (network(inputs).argmax(axis=1) == labels).numpy().mean() > 0.9


def _writes_are_noticed() -> bool:
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    doubled = x * 2
    y = (doubled * doubled).sum()
    doubled[0] = 5.0
    try:
        y.backward()
    except RuntimeError:
        return True
    return np.array_equal(x.grad, [8, 16])


def _threads_agree() -> bool:
    """Eight threads build graphs of their own and of shared weights at once."""
    weights, slopes = gs.tensor(np.linspace(-1, 1, 64), requires_grad=True), [None] * 8

    def work(number):
        for _ in range(100):
            (slopes[number],) = gs.autograd.grad((gs.tanh(weights * number) ** 2).sum(), weights)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tanh = [np.tanh(weights.detach().numpy() * number) for number in range(8)]
    return all(np.allclose(slope, 2 * number * t * (1 - t * t)) for number, (slope, t) in enumerate(zip(slopes, tanh)))


def _layouts_agree() -> bool:
    """Arrays of every layout give the gradient of a plain one."""
    plain = np.linspace(0.5, 2, 12).reshape(3, 4)
    unaligned = np.frombuffer(b" " + plain.tobytes(), dtype=float, offset=1).reshape(3, 4)
    others = [np.asfortranarray(plain), plain[::-1, ::-1].copy()[::-1, ::-1], unaligned, np.repeat(plain, 2, axis=1)[:, ::2]]
    slopes = [gs.grad(lambda x: (gs.log(x) * x.sum(axis=0)).sum())(array) for array in [plain, *others]]
    return all(np.array_equal(slope, slopes[0]) for slope in slopes)


def _products_are_sums() -> bool:
    """NumPy's matrix products, which its BLAS computes, are the sums of NumPy's own loops."""
    generator = np.random.default_rng(0)
    a, b = generator.normal(size=(64, 200)), generator.normal(size=(200, 8))
    return all(np.allclose(p.astype(t) @ q.astype(t), (p.astype(t)[:, :, None] * q.astype(t)).sum(axis=1), atol=1e-3)
               for t in (np.float32, np.float64) for p, q in ((a, b), (a.T, a), (a[:, :64], a[:, :64].T)))


PROGRAMS: dict[str, Callable[[], bool]] = {
    "NumPy's own matrix products are right: else its BLAS does not suit this processor": _products_are_sums,
    "a pendulum's slope is that of finite differences": lambda: gs.autograd.gradcheck(
        _pendulum, gs.tensor(1.0, requires_grad=True), raise_exception=False),
    "a Gaussian process's slope is that of finite differences": lambda: gs.autograd.gradcheck(
        _likelihood, gs.tensor(0.7, requires_grad=True), raise_exception=False),
    "the third derivative of sin is -cos": lambda: np.isclose(gs.grad(gs.grad(gs.grad(gs.sin)))(0.5), -np.cos(0.5)),
    "the Hessian of x0 x1**2 is exact": lambda: np.allclose(
        gs.hessian(lambda x: x[0] * x[1] ** 2)(np.array([2.0, 3.0])), [[0, 6], [6, 4]]),
    "vmap of grad gives the gradient of each row": lambda: np.allclose(
        gs.vmap(gs.grad(lambda x: (x**3).sum()))(np.arange(6.0).reshape(3, 2)), 3 * np.arange(6.0).reshape(3, 2) ** 2),
    "Taylor coefficients of exp": lambda: np.allclose(
        [float(c) for c in gs.func.jet(gs.exp, (0.0,), ([1.0, 0.0, 0.0],))[1]], 1.0),
    "a small network learns": _network_learns,
    "a write to a saved value is refused, or backward has the old one": _writes_are_noticed,
    "eight threads differentiate at once": _threads_agree,
    "layouts of memory give the same gradient": _layouts_agree,
}


def programs() -> Iterator[str]:
    """Run each of PROGRAMS; yields the statements that do not hold."""
    for statement, holds in PROGRAMS.items():
        if not holds():
            yield f"not true: {statement}\n"


def environment() -> str:
    """Versions, processor and BLAS: what a bug report needs."""
    config = np.show_config(mode="dicts")
    blas, simd = config["Build Dependencies"]["blas"], config["SIMD Extensions"]
    lines = [f"gradspec {gs.__version__} in {os.path.dirname(gs.__file__)}",
             f"Python {platform.python_version()} ({platform.python_compiler()}), {platform.platform()}"]
    try:
        with open("/proc/cpuinfo") as file:
            model = next(line.partition(":")[2].strip() for line in file if line.startswith(("model name", "CPU part")))
    except (OSError, StopIteration):
        model = platform.processor()
    lines.append(f"processor: {platform.machine()} {model}, {os.cpu_count()} processors")
    lines.append(f"NumPy {np.__version__}, loops for {' '.join(simd['baseline'] + simd.get('found', []))}")
    lines.append(f"BLAS: {blas.get('name')} {blas.get('version')} {os.environ.get('OPENBLAS_CORETYPE', '')}".rstrip())
    for package in OPTIONAL:
        version = "not installed" if package in MISSING else importlib.import_module(package).__version__
        lines.append(f"{package} {version}")
    return "\n".join(lines)


def found_by(part: Callable[[], Iterator[str]]) -> list[str]:
    """The texts of a part, whose examples may warn as they like."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(part())


PARTS = (examples, transformations, elementary, programs)


def main() -> int:
    """Print the environment and a line for each part; returns 1 if something is wrong."""
    print(environment(), flush=True)
    wrong = 0
    for part in PARTS:
        began = time.perf_counter()
        found = found_by(part)
        wrong += len(found)
        verdict = f"{len(found)} wrong" if found else "right"
        print(f"{part.__name__:16} {verdict}, {time.perf_counter() - began:.1f} s", flush=True)
        print("".join(found), end="")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
