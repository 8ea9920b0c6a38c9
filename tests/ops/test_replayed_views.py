"""Every operator that takes views, in a compiled function: what is written afterwards is refused or kept as after an eager call."""

from __future__ import annotations

import itertools
import warnings
from collections import Counter

import numpy as np

import gradspec as gs
from gradspec.autograd import grad
from gradspec.compiler.files.serialization import laid_out
from tests import day

from .calls import REAL, STATIC, array, samples_of
from .questions import chosen, entries

PARTS, SAMPLES = 4, 4
HOMES = ("given", "held", "leaf", "history", "numpy")
WRITES = {
    "none": lambda x, a, y: None,
    "no_grad": lambda x, a, y: unrecorded(x),
    "grad": lambda x, a, y: x.mul_(3.0),
    "recorded": lambda x, a, y: x.mul_(gs.tensor(3.0, requires_grad=True)),
    "view": lambda x, a, y: x[...].mul_(3.0),
    "detached": lambda x, a, y: x.detach().mul_(3.0),
    "data": lambda x, a, y: x.data.mul_(3.0),
    "numpy": lambda x, a, y: np.multiply(a, 3.0, out=a),
    "optimiser": lambda x, a, y: step(x),
    "result": lambda x, a, y: y[0].mul_(3.0),
    "result, unrecorded": lambda x, a, y: unrecorded(y[0]),
    "detach_": lambda x, a, y: x.detach_(),
}  # fmt: skip


def unrecorded(x):
    with gs.no_grad():
        x.mul_(3.0)


def step(x):
    x.grad = gs.ones(x.shape)
    gs.optim.SGD([x], lr=0.5).step()


def product(view):
    """What needs the view in its backward pass."""
    return lambda x, w: [y * w for y in view(x)]


def itself(view):
    """What gives the view."""
    return lambda x, w: list(view(x))


def both(view):
    """What gives the view and something else, which needs it."""
    return lambda x, w: [part for y in view(x) for part in (y, (y * w).sum())]


def of_a_result(view):
    """What gives views of a result, and what needs that."""
    def function(x, w):
        h = (x * w).exp()
        return [*view(h), h]
    return function


USES = (product, itself, both, of_a_result)


class Trial:
    """One call, then a write, then a backward pass."""

    def __init__(self, case, home, use):
        self.case, self.home, self.use, self.function = case, home, use.__name__, use(case)

    def __str__(self):
        return f"{self.case.op.name} {self.case.source} {self.home} {self.use}"

    def array(self):
        original = self.case.arrays[0]
        return laid_out(np.abs(original) + 0.5, original.strides)

    def operand(self):
        a = self.array()
        x = gs.asarray(a, requires_grad=self.home in ("leaf", "history"))
        return a, x[...] if self.home == "history" else x

    def operands(self):
        a, x = self.operand()
        if self.home == "history":
            root = gs.asarray(a, requires_grad=True)
            x = root * 1.0
            if x.detach().numpy().strides != a.strides:
                x = gs.asarray(a, requires_grad=True).clone()
            return array(x), x, root
        return a, x, x

    def outcome(self, compiled, write):
        """What an eager call or a replay shows: (refusal or gradients, versions, views)."""
        w = gs.tensor(2.0, requires_grad=True)
        a, x, root = self.operands()
        function, replayed = self.function, True
        call = lambda: function(x, w)  # noqa: E731
        if self.home == "held":
            inner = self.function
            function = lambda w: inner(x, w)  # noqa: E731
            call = lambda: function(w)  # noqa: E731
        if compiled:
            function = gs.compile(function, static=STATIC)
            for _ in range(2):
                copies = (gs.tensor(2.0, requires_grad=True),) if self.home == "held" else (self.operands()[1], gs.tensor(2.0, requires_grad=True))
                function(*copies)
            before = programs(function)
        y = call()
        if compiled:
            replayed = programs(function) == before > 0
        shown = [(one._is_view(), one._base is x, one.requires_grad, one.is_leaf, one._version) for one in y]
        found = [shown]
        try:
            WRITES[write](x, a, y)
            found.append([x._version, *(one._version for one in y), x.requires_grad, *(one.requires_grad for one in y)])
        except Exception as error:
            found.append(reason(error))
        z = sum((one * w).sum() if one.requires_grad or one.ndim else one for one in y)
        for number in range(2):
            try:
                gradients = grad(z, [w, root] if root.requires_grad and root.is_leaf else [w], retain_graph=number == 0, allow_unused=True)
                found.append([None if g is None else array(g).tolist() for g in gradients])
            except RuntimeError as error:
                found.append(reason(error))
        return found, replayed


def reason(error):
    """What is refused, without the name of the node."""
    return str(error).partition(":")[0].partition(" being")[0][:60]


def programs(function):
    return sum(len(signature.programs) for signature in function.signatures)


def alike(a, b):
    """Whether two outcomes are the same; the paths of a gradient may be added in another order."""
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return bool(np.isclose(a, b, rtol=1e-13, atol=0, equal_nan=True))
    return type(a) is type(b) and a == b


def has_elements(case):
    """Whether there is anything to write to: memory of no elements is nobody's."""
    return case.arrays[0].size and all(y.size for y in case(*case.leaves(requires_grad=False)))


def trials():
    """For each operator a part of what may be asked, another one for each."""
    asked = list(itertools.product(HOMES, USES, WRITES))
    found = entries(lambda op: op.view is not None)
    for number, op in enumerate(found):
        cases = [case for case in samples_of(op, REAL) if case.places and case.places[0][0] == op.arguments[0][0] and has_elements(case)]
        for n, (home, use, write) in enumerate(asked):
            if cases and (n + number) % PARTS == 0:
                yield Trial(cases[(n // PARTS) % min(len(cases), SAMPLES)], home, use), write


def test_a_write_after_a_replay_is_refused_or_kept_as_after_an_eager_call():
    counts, wrong = Counter(), []
    for trial, write in day.part("writes", list(trials())):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                expected, _ = trial.outcome(False, write)
            except Exception:  # eager code refuses what comes after the write as well
                counts["not callable"] += 1
                continue
            found, replayed = trial.outcome(True, write)
        counts["replayed" if replayed else "as it is"] += 1
        counts["refused"] += any(isinstance(part, str) for part in expected)
        if not alike(found, expected):
            wrong.append(f"{trial} {write}:\n  eager  {expected}\n  replay {found}")
    assert wrong == [], f"{len(wrong)} of {counts}:\n" + "\n".join(wrong[:20])
    assert counts["as it is"] < counts["replayed"] / 20 and counts["not callable"] < counts["replayed"] / 20, counts
    assert chosen or counts["replayed"] > day.least(2000) and counts["refused"] > day.least(500), counts
