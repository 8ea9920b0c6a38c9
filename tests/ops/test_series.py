"""Every differentiable operator of the spec along a path: its Taylor coefficients are those of nested forward levels."""

from __future__ import annotations

import warnings

import numpy as np

import gradspec as gs
from gradspec.core.events import Listener
from gradspec.generated.op_info import OPS
from gradspec.generated.series import SERIES
from gradspec.transforms.batching.batched import batched
from gradspec.transforms.taylor.order import opened
from gradspec.transforms.taylor.series import is_series
from gradspec.transforms.taylor.series import series as series_of
from tests import day

from . import questions
from .calls import DOUBLE, array, samples_of
from .spec import the_spec

ORDER = {"recurrence": 4, "products": 3, "solution": 3}  # of the others 2


def paths(case, order, seed=5):
    """Derivatives along a path from the arrays of a sample."""
    rng = np.random.default_rng(seed)
    found = []
    for x in case.arrays:
        terms = []
        for _ in range(order):
            term = rng.uniform(-0.1, 0.1, x.shape) + (1j * rng.uniform(-0.1, 0.1, x.shape) if x.dtype.kind == "c" else 0)
            terms.append(np.asarray(term, x.dtype))
        found.append(terms)
    return found


def nested(case, series, order):
    """The derivatives of all outputs by a loop of dual levels."""

    def on_path(t):
        values = []
        for x, terms in zip(case.arrays, series):
            power, factor = t, 1
            for number, term in enumerate(terms, 1):
                factor *= number
                x = x + power * (term / factor)
                power = power * t
            values.append(x)
        return tuple(case(*values))

    found, function = [], on_path
    for _ in range(order):
        function = derivative(function)
        found.append(function(gs.asarray(0.0)))
    return found


def derivative(function):
    return lambda t: gs.jvp(function, (t,), (gs.asarray(1.0),))[1]


def outcome(case, order):
    """What is wrong with the coefficients at a sample, None where nothing is."""
    series = paths(case, order)
    wanted = nested(case, series, order)
    _, found = gs.func.jet(lambda *values: tuple(case(*values)), case.arrays, series)
    for number, derivatives in enumerate(wanted):
        for i, (a, b) in enumerate(zip([terms[number] for terms in found], derivatives, strict=True)):
            a, b = array(a), array(b)
            scale = np.abs(b[np.isfinite(b)]).max(initial=1.0)
            if a.shape != b.shape or a.dtype != b.dtype:
                return f"output {i}, derivative {number + 1}: {a.dtype}{a.shape} in place of {b.dtype}{b.shape}"
            if not np.allclose(a, b, rtol=1e-7, atol=1e-8 * scale, equal_nan=True):
                return f"output {i}, derivative {number + 1}: {a.ravel()[:4]} in place of {b.ravel()[:4]}"
    return None


def test_every_operator_along_a_path():
    wrong, asked = [], 0
    for op in OPS:
        if not questions.is_asked(op.name) or any(type_ == "Generator?" for _, type_, *_ in op.arguments):
            continue
        way = SERIES[op.name][0]
        for case in samples_of(op, DOUBLE)[: 2 if way in ("recurrence", "products", "solution") else 1]:
            if not case.places:
                continue
            asked += 1
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    found = outcome(case, ORDER.get(way, 2))
                except Exception as error:
                    found = f"{type(error).__name__}: {str(error)[:200]}"
            if found is not None:
                wrong.append(f"{op.name} {case.source} {case.dtype.__name__}: {found}")
    assert wrong == []
    assert questions.chosen or asked > day.least(500)


class Calls(Listener):
    """Counts operators."""

    def __init__(self):
        self.count = 0

    def begin(self, event):
        self.count += event.kind == "operator"


def calls(case, order):
    series, listener = paths(case, order), Calls()
    with np.errstate(all="ignore"), warnings.catch_warnings(), listener:
        warnings.simplefilter("ignore")
        gs.func.jet(lambda *values: tuple(case(*values)), case.arrays, series)
    return listener.count


def test_the_cost_is_a_polynomial_of_the_order():
    """Twice the order takes at most ten times as many calls of a function of one or two arrays, and twenty times of more arrays.

    Ten is the third power.  A special function of three arrays may have a kernel call for each mixed derivative.
    """
    found, asked = {}, 0
    for op in OPS:
        if not questions.is_asked(op.name) or any(type_ == "Generator?" for _, type_, *_ in op.arguments):
            continue
        if SERIES[op.name][0] in ("parts", "terms", "constant") or op.name.startswith("_"):
            continue
        case = samples_of(op, DOUBLE)[0]
        if case.places:
            asked += 1
            few, many = calls(case, 4), calls(case, 8)
            if many > (10 if len(case.places) < 3 else 20) * few:
                found[op.name] = few, many
    assert found == {}
    assert questions.chosen or asked > day.least(150)


def test_elementary_functions_to_order_16():
    """A product and an elementary function take the square of the order."""
    x = gs.asarray([0.3, 0.4])
    for function in (gs.exp, gs.sin, gs.tanh, gs.log, gs.sqrt, gs.atan, gs.special.erf, lambda x: x * gs.exp(x), lambda x: 1 / (1 + x)):
        counts = []
        for order in (8, 16):
            with Calls() as listener:
                gs.func.jet(function, (x,), ([gs.ones(2)] * order,))
            counts.append(listener.count)
        assert counts[1] < 4.5 * counts[0] and counts[1] < 1200, (function, counts)


def laplacian_differs(case):
    """What is wrong with second coefficients that are summed over paths, beside the sum of those of each path."""
    directions = [paths(case, 1, seed) for seed in (6, 7)]
    wanted = None
    for one in directions:
        series = [[terms[0], 0 * terms[0]] for terms in one]
        seconds = [array(terms[1]) for terms in gs.func.jet(lambda *values: tuple(case(*values)), case.arrays, series)[1]]
        wanted = seconds if wanted is None else [a + b for a, b in zip(wanted, seconds)]
    with opened(2, len(directions)) as level:
        args = []
        for i, x in enumerate(case.arrays):
            rows = gs.asarray(np.stack([one[i][0] for one in directions]))
            args.append(series_of([gs.asarray(x), batched(rows, level.summed), None], level, gs.asarray(x)))
        found = []
        for value in case(*args):
            found.append(2 * array(value.known(2)) if is_series(value, level) else np.zeros(value.shape, value.dtype))
    for i, (a, b) in enumerate(zip(found, wanted, strict=True)):
        scale = np.abs(b[np.isfinite(b)]).max(initial=1.0)
        if a.shape != b.shape or not np.allclose(a, b, rtol=1e-8, atol=1e-9 * scale, equal_nan=True):
            return f"output {i}: {a.shape} {a.ravel()[:4]} in place of {b.shape} {b.ravel()[:4]}"
    return None


def test_sums_over_paths():
    wrong, refused, asked = [], set(), 0
    for op in OPS:
        if not questions.is_asked(op.name) or any(type_ == "Generator?" for _, type_, *_ in op.arguments):
            continue
        case = samples_of(op, DOUBLE)[0]
        if not case.places:
            continue
        asked += 1
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found = laplacian_differs(case)
            except Exception as error:
                found = f"{type(error).__name__}: {str(error)[:200]}"
                if "laplacian: " in found or "looks at memory" in found:
                    refused.add(op.name)
                    continue
        if found is not None:
            wrong.append(f"{op.name} {case.source}: {found}")
    assert wrong == []
    assert [name for name in refused if not name.startswith("_") and the_spec().ops[name].vmap != "refused"] == []
    assert questions.chosen or asked > day.least(500)
