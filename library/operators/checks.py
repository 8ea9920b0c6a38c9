"""Checks of a finished operator at its samples: the tests of the library's own operators run the same checks.

Each check returns a description of its comparisons, or raises AssertionError with the call.  `gradspec.codegen` creates the
samples; this requires nothing but NumPy.  A rule is compared with differences, never with itself.
"""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.random

import gradspec  # noqa: F401 (waits for it)
import gradspec.autograd  # noqa: F401 (as well)
import gradspec.func  # noqa: F401 (as well)

from ..autograd.forward_ad import dual_level, make_dual, unpack_dual
from ..autograd.gradcheck import gradcheck, gradgradcheck
from ..core.conversion import asarray, tensor
from ..core.grad_mode import no_grad
from ..core.tensor import TensorBase
from ..func.batching import vmap
from ..func.jet import jet
from ..support.dispatch import ops
from .defined import Operator, in_place
from .facts import Required

LARGEST = 12  # largest number of array elements in a call for second derivatives
MOST = 4  # largest number of calls in a slow check


class Call(NamedTuple):
    """A sample: its arguments, and which of them are arrays with a derivative."""

    source: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    places: tuple[int, ...]  # positions of positional arguments that are arrays with a derivative
    hermitian: tuple[str, ...] = ()  # arguments that the domain keeps Hermitian, so that no single element can be varied

    def function(self, operator: Operator) -> tuple[Callable[..., Any], list[np.ndarray]]:
        """The operator as a function of its arrays alone, and these arrays; it returns the results with a derivative."""
        def function(*arrays: Any) -> Any:
            args = list(self.args)
            for place, array in zip(self.places, arrays):
                args[place] = _hermitian(array) if operator.facts.arguments[place].name in self.hermitian else array
            return several(operator(*args, **self.kwargs))

        return function, [self.args[place] for place in self.places]


def calls(operator: Operator, dtype: Any = None) -> Iterator[Call]:
    """The samples of an operator, in a dtype that it accepts."""
    dtype = dtype or _dtypes(operator)[0]
    made = importlib.import_module("gradspec.codegen.spec.samples")
    facts = operator.facts
    names = [a.name for a in facts.arguments if not a.keyword_only]
    defaults = {a.name: a.default for a in facts.arguments if not isinstance(a.default, Required)}
    for index, source in enumerate(facts.samples):
        args, kwargs = made.evaluate_sample(source, facts.domain, dtype, made.seed_of(facts.name, index), names, defaults)
        places = tuple(i for i, (value, name) in enumerate(zip(args, names))
                       if name in facts.arrays and isinstance(value, np.ndarray) and value.dtype.kind in "fc")  # fmt: skip
        yield Call(source, args, kwargs, places, tuple(re.findall(r"\bmH\((\w+)\)", facts.domain or "")))


def several(found: Any) -> tuple:
    """The results that have a derivative, as a tuple."""
    flat: list[Any] = []
    for one in found if isinstance(found, (tuple, list)) else (found,):
        flat += one if isinstance(one, (tuple, list)) else [one]
    return tuple([one for one in flat if isinstance(one, TensorBase) and one.dtype.kind in "fc"])


def _has_derivative(operator: Operator) -> bool:
    return operator.facts.form not in ("nondifferentiable", "unimplemented") and bool(operator.facts.arrays)


def _small(operator: Operator) -> list[Call]:
    """A few calls with few numbers, of several kinds."""
    found = [call for call in calls(operator) if call.places and sum(call.args[i].size for i in call.places) <= 2 * LARGEST]
    found.sort(key=lambda call: sum(call.args[i].size for i in call.places) > LARGEST)
    return [call for call in found if all(call.args[i].size for i in call.places)][:MOST]


def _leaves(arrays: list[np.ndarray]) -> list[Any]:
    return [tensor(array, requires_grad=True) for array in arrays]


def _same(got: Any, wanted: Any, call: Call, what: str, tolerance: float = 1e-8, unsure: Any = 0.0) -> None:
    """Check that two values agree; `unsure` is the error of the wanted value itself."""
    got, wanted = (np.asarray(v.detach().numpy() if isinstance(v, TensorBase) else v) for v in (got, wanted))
    assert got.shape == wanted.shape, f"{what}: shape {got.shape} in the place of {wanted.shape} at {call.source}"
    close = np.all(np.isclose(got, wanted, rtol=tolerance, atol=tolerance + unsure, equal_nan=True))
    assert close, f"{what} at {call.source}: {got} for {wanted}"


def stated_values(operator: Operator) -> str:
    """Check the values of its examples."""
    made, facts = importlib.import_module("gradspec.codegen.spec.samples"), operator.facts
    for source, value in facts.examples:
        args, kwargs = made.evaluate_sample(source)
        found = operator(*args, **kwargs)
        found = found if isinstance(found, tuple) else (found,)
        for got, wanted in zip(found, made.evaluate_stated(value, len(facts.visible)), strict=True):
            for one, other in zip(got, wanted, strict=True) if isinstance(got, (list, tuple)) else [(got, wanted)]:
                _same(one, other, Call(source, args, kwargs, ()), "value")
    return f"{len(facts.examples)} examples" if facts.examples else "no example is stated"


def first_order(operator: Operator) -> str:
    """Gradients and tangents, compared with differences."""
    if not _has_derivative(operator):
        return "no derivative"
    found = [call for dtype in _dtypes(operator) for call in calls(operator, dtype) if call.places]
    for call in found:
        function, arrays = call.function(operator)
        _checked(lambda: gradcheck(function, _leaves(arrays), check_forward_ad=True), call, "gradient")  # noqa: B023
    return f"differences at {len(found)} calls, both modes"


def second_order(operator: Operator) -> str:
    """Second derivatives, reverse and forward over reverse, compared with differences."""
    if not _has_derivative(operator):
        return "no derivative"
    found = _small(operator)
    for call in found:
        function, arrays = call.function(operator)
        if not any(out.requires_grad for out in function(*_leaves(arrays))):
            continue  # the derivative is constant
        _checked(lambda: gradgradcheck(function, _leaves(arrays), check_fwd_over_rev=True), call, "second derivative")  # noqa: B023
        _forward_over_forward(function, arrays, call)
    return f"differences at {len(found)} calls, reverse over reverse, forward over reverse, forward over forward"


def _forward_over_forward(function: Callable[..., Any], arrays: list[np.ndarray], call: Call) -> None:
    """Two dual levels, compared with differences of one level."""
    random = np.random.default_rng(0)
    first, second = ([random.standard_normal(a.shape) for a in arrays] for _ in range(2))

    def tangent(*given: Any) -> tuple:
        with dual_level():
            outs = function(*[make_dual(asarray(x), asarray(t)) for x, t in zip(given, first)])
            moved = [unpack_dual(out) for out in outs]
            return tuple([ops.zeros_like(m.primal) if m.tangent is None else m.tangent for m in moved])

    with dual_level():
        outs = tangent(*[make_dual(asarray(x), asarray(t)) for x, t in zip(arrays, second)])
        got = [unpack_dual(out).tangent for out in outs]
        got = [np.zeros(out.shape) if t is None else t.detach().numpy() for out, t in zip(outs, got)]
    step = 1e-5
    up, down = (tangent(*[x + sign * step * t for x, t in zip(arrays, second)]) for sign in (1, -1))
    for found, above, below in zip(got, up, down):
        _same(found, (above.numpy() - below.numpy()) / (2 * step), call, "forward over forward", 1e-5)


def batches(operator: Operator) -> str:
    """A vmap and its gradients, compared with a loop."""
    if not operator.facts.arrays:
        return "takes no batch"
    found = [call for call in calls(operator) if call.places][: 2 * MOST]
    for call in found:
        function, arrays = call.function(operator)
        rows = [np.stack([array, array[..., ::-1] if array.ndim else array, array]) for array in arrays]
        count = len(rows)
        one_by_one = [tuple(0 if i == j else None for i in range(count)) for j in range(count)] if count > 1 else []
        for which in ((0,) * count, *one_by_one):
            given = [batch if dim == 0 else batch[0] for batch, dim in zip(rows, which)]
            whole = vmap(function, in_dims=which)(*map(asarray, given))
            each = [function(*[g[i] if dim == 0 else g for g, dim in zip(given, which)]) for i in range(3)]
            for place, got in enumerate(several(whole)):
                _same(got, np.stack([one[place].detach().numpy() for one in each]), call, "vmap")
        if _has_derivative(operator):
            _batch_gradients(function, rows, call)
    return f"a loop over rows at {len(found)} calls"


def _batch_gradients(function: Callable[..., Any], rows: list[np.ndarray], call: Call) -> None:
    leaves, others = _leaves(rows), _leaves(rows)
    total = _sum(several(vmap(function)(*leaves)))
    if not total.requires_grad:
        return
    total.backward()
    each = [function(*[ops.getitem(leaf, i) for leaf in others]) for i in range(3)]
    _sum([ops.stack(list(outs)) for outs in zip(*each)]).backward()
    for one, other in zip(leaves, others):
        got, wanted = (np.zeros(leaf.shape) if leaf.grad is None else leaf.grad for leaf in (one, other))
        _same(got, wanted, call, "gradient of a vmap")


def series(operator: Operator) -> str:
    """Taylor coefficients of second order, compared with differences along a path."""
    facts = operator.facts
    if not _has_derivative(operator) or facts.series[0] == "refused" or len(facts.visible) < len(facts.outputs):
        return "takes no series"
    found = [call for call in _small(operator) if all(call.args[i].dtype.kind == "f" for i in call.places)]
    for call in found:
        function, arrays = call.function(operator)
        random = np.random.default_rng(1)
        slopes = [0.1 * random.standard_normal(a.shape) for a in arrays]
        _, terms = jet(lambda *x: function(*x)[0], tuple(map(asarray, arrays)), tuple([[s, np.zeros(s.shape)] for s in slopes]))  # noqa: B023

        def differences(step: float) -> tuple:
            up, here, down = (function(*[a + h * s for a, s in zip(arrays, slopes)])[0].numpy() for h in (step, 0.0, -step))  # noqa: B023
            return (up - down) / (2 * step), (up - 2 * here + down) / step**2

        for order, (term, coarse, fine) in enumerate(zip(terms, differences(2e-3), differences(1e-3)), 1):
            _same(term, (4 * fine - coarse) / 3, call, f"coefficient {order}", 1e-5, np.abs(fine - coarse))
    return f"differences at {len(found)} calls"


def replays(operator: Operator) -> str:
    """A compiled function, compared with the uncompiled one at different numbers."""
    compiled = importlib.import_module("gradspec.compiler.compiled_function").compile
    found = [call for call in calls(operator) if call.places][:MOST]
    for call in found:
        function, arrays = call.function(operator)

        def run(*leaves: Any) -> tuple:
            total = _sum(function(*leaves))  # noqa: B023
            if total.requires_grad and _has_derivative(operator):
                total.backward()
            return total.detach()

        replayed = compiled(run)
        for scale in (1.0, 0.75, 0.875):
            ours, theirs = (_leaves([a * scale for a in arrays]) for _ in range(2))
            got, wanted = replayed(*ours), run(*theirs)
            _same(got, wanted, call, "replay")
            for one, other in zip(ours, theirs):
                assert (one.grad is None) == (other.grad is None), f"replay: a gradient is missing at {call.source}"
                if one.grad is not None:
                    _same(one.grad, other.grad, call, "gradient of a replay")
    return f"eager calls at {len(found)} calls"


def single_precision(operator: Operator) -> str:
    """Results in float32, compared with those in double, less exactly."""
    if operator.facts.dtype in ("int", "bool", "complex"):
        return "takes none"
    count = 0
    for call in calls(operator):
        if not call.places or any(call.args[i].dtype.kind != "f" for i in call.places):
            continue
        function, arrays = call.function(operator)
        narrow = function(*[asarray(a.astype(np.float32)) for a in arrays])
        wide = function(*[asarray(a.astype(np.float32).astype(float)) for a in arrays])
        for got, wanted in zip(narrow, wide):
            _same(got.numpy().astype(wanted.dtype), wanted, call, "single precision", 2e-4)
        count += 1
    return f"double precision at {count} calls"


def written(operator: Operator) -> str:
    """`out=` and the in-place form give the same results, in the memory of their arguments."""
    facts = operator.facts
    for call in calls(operator):
        with no_grad():
            result = operator(*call.args, **call.kwargs)
            if "out" in facts.variants:
                place = ops.zeros_like(result)
                assert operator(*call.args, **call.kwargs, out=place) is place, f"out: another tensor at {call.source}"
                _same(place, result, call, "out=")
        if "inplace" in facts.variants and call.places[:1] == (0,) and np.shape(call.args[0]) == result.shape:
            write = in_place(operator)
            leaf, other = _leaves([call.args[0]] * 2)
            target, rest = ops.multiply(leaf, 1.0), call.args[1:]
            assert write(target, *rest, **call.kwargs) is target, f"in place: another tensor at {call.source}"
            _same(target, result, call, "in place")
            if target.requires_grad and _has_derivative(operator):
                _sum((target,)).backward()
                _sum((operator(other, *rest, **call.kwargs),)).backward()
                _same(leaf.grad, other.grad, call, "gradient in place")
    words = [word for word in ("out", "inplace") if word in facts.variants]
    return f"{' and '.join(words)} at {len(facts.samples)} calls" if words else "not offered"


def _sum(outputs: Any) -> Any:
    """A real number that depends on all results with different weights."""
    total: Any = 0.0
    for number, out in enumerate(outputs, 1):
        out = ops.real(out) + ops.imag(out) if out.dtype.kind == "c" else out
        weights = np.cos(np.arange(out.size) + number).reshape(out.shape)
        total = ops.add(ops.sum(ops.multiply(out, weights.astype(out.dtype))), total)
    return total if isinstance(total, TensorBase) else asarray(total)


def _dtypes(operator: Operator) -> list[Any]:
    dtype = operator.facts.dtype
    only = {"complex": np.complex128, "int": np.int64, "bool": np.bool_}.get(dtype)
    return [only] if only else [np.float64, np.complex128] if dtype in ("any", "float") else [np.float64]


def _checked(check: Callable[[], Any], call: Call, what: str) -> None:
    try:
        check()
    except Exception as error:
        raise AssertionError(f"{what} at {call.source}: {error}") from error


def _hermitian(x: Any) -> Any:
    """The Hermitian part of matrices."""
    return ops.multiply(ops.add(x, ops.mH(x)), 0.5)


def _quiet(check: Callable[[Operator], str]) -> Callable[[Operator], str]:
    """A check without NumPy's warnings: numbers other than a sample's may leave the domain."""
    @functools.wraps(check)
    def asked(operator: Operator) -> str:
        with np.errstate(all="ignore"):
            return check(operator)

    return asked


CHECKS = tuple(map(_quiet, (stated_values, first_order, second_order, batches, series, replays, single_precision, written)))
