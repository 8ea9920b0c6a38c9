"""Loops with one body: they give what a loop of Python gives, and JAX's numbers where JAX is installed."""

import math
from functools import partial

import numpy as np
import pytest

import gradspec as gs
from gradspec import func
from gradspec.autograd import forward_ad, gradcheck, gradgradcheck
from gradspec.autograd.checkpoint import checkpoint
from gradspec.profiler import profile

ROWS = np.array([[0.3, -0.7], [1.1, 0.2], [-0.4, 0.9], [0.6, 0.5]])
WEIGHT = np.array([[0.5, -0.2], [0.3, 0.8]])


# Programs of an array namespace and of JAX's names for loops and branches, which both libraries can run.


def recurrent(np, lax, w, xs):
    def step(h, x):
        h = np.tanh(w @ h + x)
        return h, {"h": h, "sum": np.sum(h * x)}

    last, found = lax.scan(step, np.zeros(2), xs)
    return np.sum(last**2) + np.sum(np.sin(found["h"])) + np.sum(found["sum"] ** 3)


def backwards(np, lax, w, xs):
    def step(carry, row):
        (total, count), x = carry, row["x"]
        total = total * np.cos(x[0]) + np.sum(w @ x) * row["scale"]
        return (total, count + 1), (total, None)

    (total, count), (totals, _) = lax.scan(step, (0.1, 0), {"x": xs, "scale": np.sum(xs, 1)}, reverse=True)
    return total * count + np.sum(totals * np.arange(4.0))


def powers(np, lax, w, xs):
    return np.sum(lax.fori_loop(1, 4, lambda i, y: np.tanh(w @ y) + i * 0.1 * xs.T, xs.T) ** 2)


def mapped(np, lax, w, xs):
    return np.sum(lax.map(lambda x: np.outer(np.sin(w @ x), x), xs) ** 3)


def products(np, lax, w, xs):
    matrices = np.stack([w + np.outer(x, x) for x in xs])
    forth = lax.associative_scan(np.matmul, matrices)
    back = lax.associative_scan(lambda a, b: {"s": a["s"] + b["s"]}, {"s": xs}, reverse=True, axis=1)["s"]
    return np.sum(forth * np.cos(forth)) + np.sum(back**3)


def branches(np, lax, w, xs):
    first = lax.cond(np.sum(xs) > 0, lambda a, b: np.sum(np.sin(a) @ b), lambda a, b: np.sum(a), xs, w)
    second = [lax.switch(i, [np.sin, np.cos, np.tanh], xs) for i in (-3, 1, 7)]
    return first + np.sum(second[0] * second[1] ** 2 * second[2])


PROGRAMS = [recurrent, backwards, powers, mapped, products, branches]


@pytest.mark.parametrize("program", PROGRAMS)
def test_derivatives_are_those_of_differences(program):
    f = partial(program, gs, func)
    w, xs = gs.tensor(WEIGHT, requires_grad=True), gs.tensor(ROWS, requires_grad=True)
    assert gradcheck(f, (w, xs), check_forward_ad=True)
    assert gradgradcheck(f, (w, xs))


@pytest.mark.slow
def test_jax_has_the_same_numbers():
    jax = pytest.importorskip("jax", reason="compares with JAX's loops, and JAX is not installed")
    jax.config.update("jax_enable_x64", True)
    for program in PROGRAMS:
        ours, theirs = partial(program, gs, gs), partial(program, jax.numpy, jax.lax)
        for transform in (lambda f, of: f, lambda f, of: of.grad(f, (0, 1)), lambda f, of: of.jacfwd(f, 1), lambda f, of: of.hessian(f)):
            found, wanted = transform(ours, gs)(WEIGHT, ROWS), transform(theirs, jax)(WEIGHT, ROWS)
            for one, other in zip(*[value if isinstance(value, tuple) else (value,) for value in (found, wanted)]):
                np.testing.assert_allclose(one.detach(), other, rtol=1e-11, atol=1e-12)


def test_a_while_loop_is_recorded():
    """JAX has no reverse mode here; Newton's iteration for a root, whose derivative is 1 / (2 sqrt(x))."""
    def root(x):
        return gs.while_loop(lambda y: gs.abs(y * y - x) > 1e-13, lambda y: 0.5 * (y + x / y), x)

    assert math.isclose(root(7.0).item(), math.sqrt(7.0))
    assert math.isclose(gs.grad(root)(7.0).item(), 0.5 / math.sqrt(7.0))
    assert math.isclose(gs.grad(gs.grad(root))(7.0).item(), -0.25 * 7.0**-1.5, rel_tol=1e-9)
    assert math.isclose(gs.jvp(root, (7.0,), (2.0,))[1].item(), 1 / math.sqrt(7.0))


# Where it is called from.


def cell(h, x):
    h = gs.tanh(gs.asarray(WEIGHT) @ h + x)
    return h, gs.sin(h)


def plain(xs):
    h, found = gs.zeros(2), []
    for x in xs:
        h = gs.tanh(gs.asarray(WEIGHT) @ h + x)
        found.append(gs.sin(h))
    return (h * gs.stack(found)).sum()


def scanned(xs, **options):
    h, found = gs.scan(cell, np.zeros(2), xs, **options)
    return (h * found).sum()


PLACES = {
    "value": lambda f: f(gs.asarray(ROWS)),
    "no_grad": lambda f: gs.no_grad()(f)(gs.tensor(ROWS, requires_grad=True)),
    "inference_mode": lambda f: gs.inference_mode()(f)(gs.asarray(ROWS)),
    "grad": lambda f: gs.grad(f)(ROWS),
    "jacfwd": lambda f: gs.jacfwd(f)(ROWS),
    "forward over reverse": lambda f: gs.jacfwd(gs.jacrev(f))(ROWS),
    "reverse over forward": lambda f: gs.jacrev(gs.jacfwd(f))(ROWS),
    "hvp": lambda f: gs.hvp(f, ROWS, np.cos(ROWS)),
    "linearize": lambda f: gs.linearize(f, ROWS)[1](np.cos(ROWS)),
    "third order": lambda f: gs.jvp(gs.grad(lambda xs: gs.jvp(f, (xs,), (np.sin(ROWS),))[1]), (ROWS,), (np.cos(ROWS),))[1],
    "checkpoint": lambda f: gs.grad(lambda xs: checkpoint(f, xs, use_reentrant=False))(ROWS),
}  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
def test_a_scan_is_a_loop_of_python(place):
    found, wanted = PLACES[place](scanned), PLACES[place](plain)
    np.testing.assert_array_equal(found.numpy(), wanted.numpy())


def test_a_dual_level():
    with forward_ad.dual_level():
        pairs = [forward_ad.unpack_dual(f(forward_ad.make_dual(gs.asarray(ROWS), gs.asarray(np.cos(ROWS))))) for f in (scanned, plain)]
    assert [value.item() for value in pairs[0]] == [value.item() for value in pairs[1]]


def test_steps_that_keep_their_carry_only():
    np.testing.assert_array_equal(gs.grad(partial(scanned, checkpoint=True))(ROWS).numpy(), gs.grad(scanned)(ROWS).numpy())

    def step(h, x):
        for _ in range(10):
            h = gs.sin(h) * gs.cos(h + x)
        return h, None

    def peak(**options):
        x = gs.tensor(np.ones((20, 1000)), requires_grad=True)
        with profile(profile_memory=True) as prof:
            gs.scan(step, np.ones(1000), x, **options)[0].sum().backward()
        return max(change.live for change in prof.memory())

    assert peak(checkpoint=True) < peak() / 10


def test_the_way_back_takes_as_long_as_there_are_steps():
    def elements(count):
        taken = gs.trace(gs.grad(lambda xs: scanned(xs)), np.resize(ROWS, (count, 2)))
        return sum(math.prod(value.shape) for line in taken.instructions for value in line.made)

    few, many = elements(20), elements(80)
    assert many < 4.1 * few


# What goes in and comes out.


def test_reverse_puts_results_where_their_slices_are():
    last, sums = gs.scan(lambda c, x: (c + x, c + x), 0.0, np.array([1.0, 2.0, 4.0]), reverse=True)
    assert last.item() == 7 and sums.tolist() == [7, 6, 4]


def test_length_without_arrays():
    last, counts = gs.scan(lambda c, x: (c + 1, (c, x)), 0, length=3)
    assert last.item() == 3 and counts[0].tolist() == [0, 1, 2] and counts[1] is None
    assert gs.scan(lambda c, x: (c + x, None), 0.0, gs.arange(3.0), length=3, unroll=2)[1] is None


def test_no_step_at_all():
    start = gs.tensor([1.0, 2.0], requires_grad=True)
    last, found = gs.scan(lambda c, x: (c * x.sum(), {"y": gs.outer(c, x), "n": x[0] > 0}), start, np.zeros((0, 3), np.float32))
    assert found["y"].shape == (0, 2, 3) and found["y"].dtype == np.float64 and found["n"].dtype == bool
    assert gs.autograd.grad(last.sum(), start)[0].tolist() == [1, 1] and last is not start
    assert gs.scan(lambda c, x: (c + x, c), 0, np.zeros(0))[0].dtype == np.float64  # as it is where there are steps
    assert gs.map(lambda x: x[:2], np.zeros((0, 3))).shape == (0, 2)
    assert gs.fori_loop(3, 3, None, 5).item() == 5 and gs.while_loop(lambda x: x < 0, None, 5).item() == 5
    assert gs.associative_scan(gs.add, np.zeros((0, 3))).shape == (0, 3)


def test_numbers_take_the_dtype_of_the_first_step():
    single = np.array([0.5, 1.5], np.float32)
    assert gs.scan(lambda c, x: (x, c), 0, single)[0].dtype == np.float32
    assert gs.scan(lambda c, x: (c + x, c), 0, single.astype(float))[1].tolist() == [0, 0.5]
    assert gs.fori_loop(0, 3, lambda i, z: z * 1j, 1).item() == -1j


@pytest.mark.parametrize("count", range(1, 10))
@pytest.mark.parametrize("reverse", [False, True])
def test_associative_scan_of_any_length(count, reverse):
    """Of what does not commute."""
    matrices = np.random.default_rng(count).normal(size=(count, 2, 2))
    found = gs.associative_scan(gs.matmul, matrices, reverse)
    product, wanted = np.eye(2), [None] * count
    for i in reversed(range(count)) if reverse else range(count):
        product = wanted[i] = product @ matrices[i]
    np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-12)


# Writing in place.


def test_a_body_may_write_to_its_carry():
    def step(c, x):
        c += x
        return c, c

    start = np.zeros(2)
    last, sums = gs.scan(step, start, ROWS)
    np.testing.assert_allclose(sums.numpy(), np.cumsum(ROWS, 0))
    assert start.tolist() == [0, 0] and gs.fori_loop(0, 3, lambda i, c: c.add_(i), start).tolist() == [3, 3]
    with gs.inference_mode():
        np.testing.assert_array_equal(gs.scan(step, start, ROWS)[1].numpy(), sums.numpy())
    np.testing.assert_allclose(gs.grad(lambda s, xs: (gs.scan(step, s, xs)[1] ** 2).sum())(start, ROWS), 2 * np.cumsum(ROWS, 0).sum(0))


def test_writes_to_what_is_not_its_own_are_refused():
    def late(c, i):
        if i == 2:
            c += 1
        return c, c

    with pytest.raises(RuntimeError, match="scan: the result of step 0 was written to in place after f had returned it"):
        gs.scan(late, gs.zeros(2), np.arange(4))
    with pytest.raises(RuntimeError, match="f wrote in place to its argument from xs, .*write x = x"):
        gs.scan(lambda c, x: (c + x.mul_(2), None), gs.zeros(2), ROWS.copy())


# Errors.


ERRORS = [
    (lambda: gs.scan(lambda c, x: (c[:1], x), gs.zeros(2), ROWS), TypeError,
     r"f carry input and carry output must have equal types, but they differ: init is float64\[2\] before the step and float64\[1\]"),
    (lambda: gs.scan(lambda c, x: ({"a": c["a"] + x, "b": c["b"]}, x), {"a": gs.zeros(2, dtype=int), "b": 0}, ROWS), TypeError,
     r"init\['a'\] is int64\[2\] before the step and float64\[2\] after.*start with x.astype\('float64'\)"),
    (lambda: gs.scan(lambda c, x: (c + 1.5, x) if x[0] > 1 else (c, x), 0, ROWS), TypeError, r"init is int64\[\] before"),
    (lambda: gs.scan(lambda c, x: (c[0], x), (1.0, 2.0), ROWS), TypeError, r"given init\[0\], init\[1\], and returned init;"),
    (lambda: gs.scan(lambda c, x: (None, x), 1.0, ROWS), TypeError, r"init is float64\[\] before the step and None after"),
    (lambda: gs.scan(lambda c, x: c, 1.0, ROWS), TypeError, "f must return a pair, .* it returned Tensor; return .carry, None."),
    (lambda: gs.scan(lambda c, x: (c, x, x), 1.0, ROWS), TypeError, "it returned a tuple of 3"),
    (lambda: gs.scan(lambda c, x: (c, "y"), 1.0, ROWS), TypeError, "scan: y is of type str; it must hold arrays"),
    (lambda: gs.scan(lambda c, x: (c, {"a": x}), {1}, ROWS), TypeError, "init is of type set"),
    (lambda: gs.scan(lambda c, x: (c + 1, x[: c.item()]), 0, ROWS), ValueError, r"one shape, and y has shape \(0,\) and shape \(1,\)"),
    (lambda: gs.scan(lambda c, x: (c, {"a": x} if x[0] > 1 else {"b": x}), 0, ROWS), TypeError, r"with y\['a'\] after one with y\['b'\]"),
    (lambda: gs.scan(cell, gs.zeros(2), {"a": ROWS, "b": ROWS[:3]}), ValueError,
     r"different leading axis sizes: xs\['a'\] has 4, xs\['b'\] has 3"),
    (lambda: gs.scan(cell, gs.zeros(2), ROWS, 3), ValueError, "length=3, which disagrees with leading axis sizes: xs has 4"),
    (lambda: gs.scan(cell, gs.zeros(2), [1.0, 2.0]), ValueError, r"xs\[0\] is a number and has no leading axis .*gs.asarray"),
    (lambda: gs.scan(cell, gs.zeros(2)), ValueError, "scan: there are no arrays to go along; give xs, or length"),
    (lambda: gs.scan(cell, gs.zeros(2), length=-1), ValueError, "length must be 0 or more, got -1"),
    (lambda: gs.map(lambda x: x, None), ValueError, "map: there are no arrays to go along; give xs$"),
    (lambda: gs.while_loop(lambda x: x, lambda x: x, 1.0), TypeError, r"cond_fun must return a single bool, got float64\[\]"),
    (lambda: gs.while_loop(lambda x: x > 0, lambda x: x, gs.ones(2)), TypeError, r"got bool\[2\]; write a comparison, with .all\(\)"),
    (lambda: gs.while_loop(lambda x: 1, lambda x: x, gs.ones(2)), TypeError, "got int"),
    (lambda: gs.while_loop(lambda x: True, lambda x: x[:1], gs.ones(2)), TypeError, "while_loop: body_fun carry input"),
    (lambda: gs.fori_loop(0, 2, lambda i, x: x[:1], gs.ones(2)), TypeError, "fori_loop: body_fun carry input"),
    (lambda: gs.associative_scan(lambda a, b: a.sum(), gs.ones(2)), TypeError, r"of each of its arguments, float64\[1\]; .* float64\[\]"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "message"), ERRORS)
def test_errors_say_what_where_and_the_way_out(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_an_error_of_the_body_is_its_own():
    with pytest.raises(ZeroDivisionError):
        gs.scan(lambda c, x: 1 / 0, 0.0, ROWS)
    with pytest.raises(IndexError):
        gs.fori_loop(0, 3, lambda i, x: x + x[i], gs.ones(2))
