"""Gradients that are put off and computed as one program: the bits are those of one call after another, and nobody can tell when.

From how many elements on is set to 0 here, so that all that may be put off is; `test_programs.py` has random programs that
way, and `tests/ops/test_put_off.py` the samples of all entries.
"""

import gc
import weakref

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import Function, detect_anomaly, grad, graph
from gradspec.kernels.fusion_engine import fusion

NEVER = 1 << 60
UNARY = [gs.tanh, gs.exp, gs.sin, gs.sigmoid, gs.square, gs.negative, gs.relu, gs.arctan, gs.nn.functional.gelu, gs.absolute]
BINARY = [gs.add, gs.multiply, gs.subtract, gs.maximum, gs.hypot, lambda a, b: gs.divide(a, 2 + gs.square(b)),
          lambda a, b: gs.where(a > b, a, b * 2)]


@pytest.fixture
def at_once():
    before = fusion.set_large(0)
    yield
    fusion.set_large(before)


def both_ways(step):
    """What a function gives when everything is put off that may be, and when nothing is."""
    results = []
    before = fusion.set_large(0)
    try:
        for large in (0, NEVER):
            fusion.set_large(large)
            with np.errstate(all="ignore"):
                results.append(step())
    finally:
        fusion.set_large(before)
    return results


def same_bits(found, expected, what=""):
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        assert (one is None) == (other is None), what
        if one is not None:
            one, other = np.asarray(one), np.asarray(other)
            assert one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes(), what


def program(seed, passes):
    """A random graph of elementwise operations, with broadcasting, casts, views, hooks and gradients that were there before."""
    rng = np.random.default_rng(seed)
    shape = (3, 5)
    dtype = rng.choice(["float32", "float64"])
    shapes = [shape, shape, shape, (5,), (3, 1), ()]
    leaves = [gs.tensor(rng.normal(size=s).astype(dtype), requires_grad=True) for s in shapes]
    values = list(leaves)
    for _ in range(int(rng.integers(3, 40))):
        a, b = (values[int(i)] for i in rng.integers(len(values), size=2))
        kind = rng.random()
        if kind < 0.4:
            new = UNARY[int(rng.integers(len(UNARY)))](a)
        elif kind < 0.85:
            new = BINARY[int(rng.integers(len(BINARY)))](a, b)
        elif kind < 0.9:
            new = gs.astype(a, "float64") * 0.5
        elif kind < 0.94:
            new = a * gs.asarray(np.float64(rng.normal()))
        elif kind < 0.97 and a.ndim == 2:
            new = gs.sum(a, axis=1, keepdims=True) - a
        else:
            new = gs.permute_dims(a, tuple(reversed(range(a.ndim)))) if a.shape == () else 3 / (1 + gs.exp(a))
        if rng.random() < 0.1:
            new.register_hook(lambda g: g * 2)
        elif rng.random() < 0.1:
            new.retain_grad()
        values.append(new)
    retained = [v for v in values[len(leaves):] if v.requires_grad]
    total = sum((v * v).sum() for v in values[-3:])
    if passes == "grad":
        return [*grad(total, leaves, allow_unused=True), *[v.grad for v in retained if v.retains_grad]]
    if rng.random() < 0.5:
        for leaf in leaves:
            leaf.grad = gs.ones_like(leaf.detach())
    for _ in range(2 if passes == "twice" else 1):
        total.backward(retain_graph=passes == "twice")
    return [leaf.grad for leaf in leaves] + [v.grad for v in retained if v.retains_grad]


@pytest.mark.parametrize("passes", ["grad", "backward", "twice"])
def test_random_graphs_have_the_bits_of_one_call_after_another(passes):
    for seed in range(150):
        same_bits(*both_ways(lambda: program(seed, passes)), f"seed {seed}")


def test_more_than_a_plan_takes(at_once):
    x, others = gs.tensor([0.3, 0.4], requires_grad=True), [gs.tensor([0.1 * i, 0.2], requires_grad=True) for i in range(60)]

    def step():
        y = x
        for other in others:
            y = gs.sin(y) * other + x
        return grad(y.sum(), [x, *others])

    same_bits(*both_ways(step))


@pytest.mark.parametrize("user", ["hook of a tensor", "prehook", "posthook", "function", "unpack hook", "hook of a leaf"])
def test_nothing_waits_while_the_users_code_runs(at_once, user):
    """A gradient that is put off reads `saved`; the user's code, which runs before anybody asked for it, writes to that."""
    def step():
        memory = np.array([2.0, 3.0])
        saved = gs.asarray(memory)  # shares the memory
        x, z = gs.tensor([1.0, 1.5], requires_grad=True), gs.tensor([1.0, 1.0], requires_grad=True)
        log = []

        def spoil(*_):
            log.append(memory.copy())
            memory[:] = 1e6

        class Spoils(Function):
            @staticmethod
            def forward(ctx, v):
                return v.clone()

            @staticmethod
            def backward(ctx, g):
                spoil()
                return g

        early = z * 1.0  # recorded before the product: it runs after it
        if user == "hook of a tensor":
            early.register_hook(spoil)
        elif user == "prehook":
            early.grad_fn.register_prehook(spoil)
        elif user == "posthook":
            early.grad_fn.register_hook(spoil)
        elif user == "function":
            early = Spoils.apply(early)
        elif user == "unpack hook":
            with graph.saved_tensors_hooks(lambda t: t, lambda t: (spoil(), t)[1]):
                early = early * gs.tensor([2.0, 2.0], requires_grad=True)
        elif user == "hook of a leaf":
            z.register_hook(spoil)
        first = x * 1.0
        late = first * saved
        gx, gz = grad((late * 2.0 + early * 3.0).sum(), [x, z])
        assert len(log) == 1
        return [gx, gz]

    same_bits(*both_ways(step))


def test_gradients_that_are_added_to_what_waits(at_once):
    """`.grad` shares memory with an operand of the graph, and is added to while another gradient waits to be made of it."""
    def step():
        memory = np.array([10.0, 20.0])
        w, x = gs.tensor([1.0, 2.0], requires_grad=True), gs.tensor([3.0, 4.0], requires_grad=True)
        w.grad = gs.asarray(memory)
        early = w * 2.0
        late = x * 1.0 * gs.asarray(memory)
        (late + early).sum().backward()
        return [w.grad, x.grad]

    same_bits(*both_ways(step))


def test_results_are_arrays_of_their_own(at_once):
    x, y = gs.tensor([1.0, 2.0], requires_grad=True), gs.tensor([1.0, 2.0], requires_grad=True)
    w = gs.tensor([5.0, 6.0])
    gx, gy = grad((x * w).sum() + (y * w).sum(), [x, y])
    assert type(gx) is gs.Tensor and not np.shares_memory(np.asarray(gx), np.asarray(gy))
    np.asarray(gx)[:] = 0
    assert gy.tolist() == [5.0, 6.0] and w.tolist() == [5.0, 6.0]


def test_an_error_names_the_line_whose_gradient_it_is(at_once):
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    with np.errstate(all="ignore"):
        first = x * 1e200
        second = first * 1e200  # the line
        third = second * 1.0
    with np.errstate(over="raise"), pytest.raises(FloatingPointError) as raised:
        third.backward(gs.tensor([1e200, 1.0]))
    assert "second = first * 1e200" in "".join(raised.value.__notes__)


def test_numpy_warns_as_if_nothing_waited(at_once):
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    with pytest.warns(RuntimeWarning, match="overflow encountered in multiply"):
        grad((x * 1e200) * 1e200, x, gs.tensor([1e100, 1.0]))


def test_nothing_is_left_of_a_pass(at_once):
    def waiting(fails):
        x = gs.tensor(np.ones(7), requires_grad=True)
        y = x * 2.0
        if fails:
            y.register_hook(lambda g: 1 / 0)
        operand = np.ones(7)
        seen = weakref.ref(operand)
        z = y * gs.asarray(operand)
        try:
            grad(z.sum(), x)
        except ZeroDivisionError:
            assert fails
        return seen

    gc.collect()
    gc.disable()
    try:
        assert [waiting(fails)() for fails in (False, True, True)] == [None, None, None]
    finally:
        gc.enable()


def test_nothing_is_put_off_in_anomaly_mode(at_once):
    """NaN is that of the node which made it, and no later one's."""
    x = gs.tensor([4.0, 0.0], requires_grad=True)
    with np.errstate(all="ignore"), pytest.warns(UserWarning), detect_anomaly():
        y = gs.exp(gs.sqrt(x * 2.0) * 0.0)
        with pytest.raises(RuntimeError, match="Function 'SqrtBackward' returned nan values in its 0th output"):
            grad(y.sum(), x)


def test_a_pass_within_a_pass_while_gradients_wait(at_once):
    """Of one thread and over nodes of the outer pass: each has what it put off to itself."""
    class Inner(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2.0

        @staticmethod
        def backward(ctx, g):
            (inner,) = grad(total, x, retain_graph=True)
            return g + inner

    def step():
        nonlocal x, total
        x = gs.tensor([1.0, 1.5], requires_grad=True)
        shared = gs.sin(x * 3.0) * x
        total = shared.sum()
        early = Inner.apply(x)
        late = gs.tanh(shared * 2.0) * 0.5
        return grad((late * gs.exp(early)).sum(), [x, shared])

    x = total = None
    same_bits(*both_ways(step))


@pytest.mark.parametrize("then", ["captured", "captured and run"])
def test_what_arrives_at_a_result_is_an_array(at_once, then):
    """A gradient that was put off is a result, alone or as what the node there goes on with."""
    def step():
        x = gs.tensor([1.0, 2.0], requires_grad=True)
        middle = gs.sin(x)
        y = gs.exp(middle) * 3.0
        asked = [middle] if then == "captured" else [x, middle, x]
        found = grad(y.sum(), asked)
        assert all(type(g) is gs.Tensor and type(g.detach().numpy()) is np.ndarray for g in found)
        return found

    same_bits(*both_ways(step))


def test_small_arrays_do_not_wait():
    """What is put off is looked at first: on small arrays that costs more than it saves."""
    before = fusion.set_large(1 << 17)
    fusion.set_large(before)
    assert before >= 1 << 14
