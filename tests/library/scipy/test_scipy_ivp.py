"""solve_ivp and odeint: SciPy's values, derivatives against complex steps, exact values and differences, in all modes."""

import doctest
import importlib
import warnings
from functools import cache

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import forward_ad
from tests.asked import each
from tests.later import later

scipy_integrate = later("scipy.integrate", "SciPy is not installed")
integrate = gs.scipy.integrate
FINE = {"rtol": 1e-9, "atol": 1e-11}
COARSE = {method: {"rtol": 1e-5, "atol": 1e-7} for method in ("RK23", "BDF", "Radau")}
METHODS = ("RK45", "RK23", "DOP853", "Radau", "BDF", "LSODA")
WAYS = [
    *[(method, "interpolated") for method in METHODS],
    ("RK45", "backward"),
    ("DOP853", "discrete"),
    ("LSODA", "backward"),
    ("LSODA", "forward"),
]


def prey(t, y, a, b, c, d):
    return [a * y[0] - b * y[0] * y[1], d * y[0] * y[1] - c * y[1]]


def kepler(t, y, mass):
    r = (y[0] ** 2 + y[1] ** 2) ** 1.5
    return [y[2], y[3], -mass * y[0] / r, -mass * y[1] / r]


def robertson(t, y, a, b, c):
    return [-a * y[0] + b * y[1] * y[2], a * y[0] - b * y[1] * y[2] - c * y[1] ** 2, c * y[1] ** 2]


PREY = np.array([1.1, 0.4, 0.4, 0.1, 10.0, 5.0])  # the rates and the start


def prey_at(v, method="DOP853", span=(0.0, 2.0), **options):
    return integrate.solve_ivp(prey, span, [v[4], v[5]], method, args=(v[0], v[1], v[2], v[3]), **options).y[:, -1]


def by_complex_steps(fun, v, t_eval, **options):
    """The Jacobian of a solution by y0 and parameters: SciPy's solver on complex numbers."""
    columns = []
    for i in range(len(v)):
        moved = v.astype(complex)
        moved[i] += 1e-30j
        y = scipy_integrate.solve_ivp(lambda t, y: np.array(fun(t, y, moved)), (0.0, t_eval), fun.start(moved), "DOP853",
                                      rtol=1e-11, atol=1e-13, **options).y[:, -1]  # fmt: skip
        columns.append(y.imag / 1e-30)
    return np.array(columns).T


def of_prey(t, y, v):
    return prey(t, y, *v[:4])


of_prey.start = lambda v: v[4:]


@each("method", METHODS)
def test_values(method):
    t = np.linspace(0, 3, 7)
    options = COARSE.get(method, FINE)
    found = integrate.solve_ivp(prey, (0, 3), PREY[4:], method, t, args=tuple(PREY[:4]), **options)
    expected = scipy_integrate.solve_ivp(
        lambda *a: np.array(prey(*a)), (0, 3), PREY[4:], method, t, args=tuple(PREY[:4]), **options
    )
    np.testing.assert_allclose(found.y.numpy(), expected.y, rtol=20 * options["rtol"])
    assert found.status == expected.status == 0 and found.success and found.message == expected.message
    assert found.t.tolist() == expected.t.tolist()
    if method not in ("Radau", "BDF", "LSODA"):  # which are given exact Jacobians
        assert (found.y.numpy() == expected.y).all()
        assert found.nfev == expected.nfev or method == "DOP853" and found.nfev > expected.nfev  # its dense output costs calls


def test_odeint_values():
    t = np.linspace(0, 3, 7)
    found, info = integrate.odeint(prey, PREY[4:], t, tuple(PREY[:4]), tfirst=True, full_output=True)
    expected = scipy_integrate.odeint(lambda *a: np.array(prey(*a)), PREY[4:], t, tuple(PREY[:4]), tfirst=True)
    assert (found.numpy() == expected).all() and info["message"] == "Integration successful."


@cache
def of_the_prey():
    return by_complex_steps(of_prey, PREY, 2.0)


@each("method, adjoint", WAYS)
def test_gradients(method, adjoint):
    options = COARSE.get(method, FINE)
    found = gs.grad(lambda v: (prey_at(v, method, adjoint=adjoint, **options) * gs.asarray([1.0, -0.5])).sum())(PREY)
    expected = of_the_prey().T @ [1.0, -0.5]
    assert np.abs(found.numpy() - expected).max() < 200 * options["rtol"] * np.abs(expected).max()


@each("method", METHODS)
def test_tangents(method):
    options = COARSE.get(method, FINE)
    direction = np.array([0.3, -1.0, 0.5, 0.2, 1.0, -0.7])
    _, found = gs.jvp(lambda v: prey_at(v, method, **options), (PREY,), (direction,))
    assert np.abs(found.numpy() - of_the_prey() @ direction).max() < 200 * options["rtol"] * np.abs(of_the_prey()).max()


@each("rtol", [1e-4, 1e-6, 1e-8])
def test_tolerances_are_held(rtol):
    for method in ("DOP853", "LSODA"):
        found = gs.jacrev(lambda v: prey_at(v, method, rtol=rtol, atol=rtol / 10))(PREY)  # noqa: B023
        assert np.abs(found.numpy() - of_the_prey()).max() < 200 * rtol * np.abs(of_the_prey()).max()


def decay(v, method):
    """y(t) = v1 exp(-v0 t)."""
    return integrate.solve_ivp(lambda t, y: -v[0] * y, (0.0, 1.5), [v[1]], method, rtol=1e-6, atol=1e-8).y[0, -1]


@each("method", ["RK45", "LSODA"])
def test_second_order_in_all_pairs_of_modes(method):
    v, e = np.array([0.7, 2.0]), np.exp(-1.05)
    expected = np.array([[4.5 * e, -1.5 * e], [-1.5 * e, 0]])
    f = lambda v: decay(v, method)  # noqa: E731
    pairs = [(gs.jacrev, gs.jacrev), (gs.jacfwd, gs.jacrev), (gs.jacrev, gs.jacfwd), (gs.jacfwd, gs.jacfwd)]
    for outer, inner in pairs if method == "RK45" else pairs[:2]:
        np.testing.assert_allclose(outer(inner(f))(v).numpy(), expected, atol=2e-5)


def test_third_order():
    slope = gs.grad(gs.grad(gs.grad(lambda k: decay([k, 2.0], "RK45"))))(0.7)
    np.testing.assert_allclose(slope.item(), -(1.5**3) * 2 * np.exp(-1.05), rtol=1e-4)


def test_closed_over_tensors():
    """A leaf, what was computed of one, a nest among the arguments, and what a branch reads late."""
    rate, late = gs.tensor(0.7, requires_grad=True), gs.tensor(0.4, requires_grad=True)
    doubled = rate + rate

    def fun(t, y, nest):
        return -doubled * y * nest["a"][0] if t < 1 else -late * y

    nest = {"a": [gs.tensor(0.5, requires_grad=True)]}
    y = integrate.solve_ivp(fun, (0, 1.5), [1.0], args=(nest,), max_step=0.01, rtol=1e-9, atol=1e-12).y[0, -1]
    y.backward()
    end = np.exp(-0.7 - 0.2)
    np.testing.assert_allclose(
        [rate.grad.item(), nest["a"][0].grad.item(), late.grad.item()], [-end, -1.4 * end, -0.5 * end], rtol=1e-5
    )


def test_functions_that_differentiate_inside():
    def at(mass):
        energy = lambda q, p, m: p * p / 2 / m + m * q**4 / 4  # noqa: E731

        def fun(t, y):
            by_q, by_p = gs.grad(energy, (0, 1))(y[0], y[1], mass)
            return gs.stack([by_p, -by_q])

        return integrate.solve_ivp(fun, (0, 0.5), [1.0, 0.3], "DOP853", rtol=1e-7, atol=1e-9).y[0, -1]

    e = 1e-4
    np.testing.assert_allclose(gs.grad(at)(1.3).item(), (at(1.3 + e) - at(1.3 - e)).item() / (2 * e), rtol=1e-5)
    np.testing.assert_allclose(gs.jvp(at, (1.3,), (1.0,))[1].item(), gs.grad(at)(1.3).item(), rtol=1e-5)
    slopes = gs.grad(at)(1.3 + e) - gs.grad(at)(1.3 - e)
    np.testing.assert_allclose(gs.grad(gs.grad(at))(1.3).item(), slopes.item() / (2 * e), rtol=1e-4)


def test_a_checkpoint_inside():
    """Reverse mode over forward mode cannot go through a checkpoint, here as elsewhere."""

    def at(k, change=lambda f: f):
        slow = change(lambda y: gs.sin(y) * gs.exp(-k * y))
        return integrate.solve_ivp(lambda t, y: -k * slow(y), (0, 1.5), [1.0], rtol=1e-6, atol=1e-8).y[0, -1]

    again = lambda k: at(k, gs.checkpoint)  # noqa: E731
    e = 1e-4
    slope = (at(0.7 + e) - at(0.7 - e)).item() / (2 * e)
    np.testing.assert_allclose([gs.grad(again)(0.7).item(), gs.jvp(again, (0.7,), (1.0,))[1].item()], slope, rtol=1e-5)
    curve = (at(0.7 + e) - 2 * at(0.7) + at(0.7 - e)).item() / e**2
    np.testing.assert_allclose(gs.grad(gs.grad(again))(0.7).item(), curve, rtol=1e-3)
    with pytest.raises(gs.utils.checkpoint.CheckpointError, match="Reverse mode over forward mode"):
        gs.grad(lambda k: gs.jvp(again, (k,), (1.0,))[1])(0.7)


def test_what_goes_straight_into_a_transform_inside():
    def at(m):
        def fun(t, y):
            by_m = gs.grad(lambda y, m: m * y**4 / 4, 1)(y[0], m)
            return -by_m[None] * gs.jvp(lambda m: m**2, (m,), (1.0,))[1]

        return integrate.solve_ivp(fun, (0, 0.1), [1.0], rtol=1e-5, atol=1e-7).y[0, -1]

    e = 1e-3
    slope = (at(1.3 + e) - at(1.3 - e)).item() / (2 * e)
    np.testing.assert_allclose([gs.grad(at)(1.3).item(), gs.jvp(at, (1.3,), (1.0,))[1].item()], slope, rtol=1e-4)


def test_inside_of_vmap_each_row_is_solved_by_itself():
    ks, starts, times = np.array([0.5, 0.9]), np.array([[1.0], [2.0]]), np.array([[0.2, 1.0], [0.4, 0.9]])

    def by_ivp(k, y, ts):
        return integrate.solve_ivp(lambda t, y: -k * y, (0 * k, 1.0), y, t_eval=ts, **FINE).y[0]

    def by_odeint(k, y, ts):
        return integrate.odeint(lambda y, t: -k * y, y, gs.concat([0 * ts[:1], ts]))[1:, 0]

    exact = starts * np.exp(-ks[:, None] * times)
    for f in (by_ivp, by_odeint):
        np.testing.assert_allclose(gs.vmap(f)(ks, starts, times), exact, rtol=1e-6)
        by_k, by_y = gs.vmap(gs.grad(lambda *args: f(*args).sum(), (0, 1)))(ks, starts, times)  # noqa: B023
        np.testing.assert_allclose(by_k, (-times * exact).sum(1), rtol=1e-6)
        np.testing.assert_allclose(by_y, (exact / starts).sum(1, keepdims=True), rtol=1e-6)
        tangents = gs.jvp(lambda ks: gs.vmap(f, (0, None, None))(ks, starts[1], times[0]), (ks,), (ks,))[1]  # noqa: B023
        np.testing.assert_allclose(tangents, -np.outer(ks, [0.2, 1]) * 2 * np.exp(-np.outer(ks, [0.2, 1])), rtol=1e-6)
    twice = gs.vmap(gs.vmap(by_ivp, (0, None, None)), (None, 0, None))(ks, starts, times[0])
    np.testing.assert_allclose(twice, starts[:, :, None] * np.exp(-ks[:, None] * times[0]), rtol=1e-6)
    alone = gs.vmap(lambda x: x * integrate.solve_ivp(lambda t, y: -y, (0, 1), [1.0], **FINE).y[0, -1])(ks)  # maps nothing of it
    np.testing.assert_allclose(alone, ks / np.e, rtol=1e-6)
    ends = gs.vmap(lambda k: integrate.solve_ivp(lambda t, y: k * y * y, (0, 3.0), [1.0], t_eval=[0.5, 3.0]).y[0])(np.array([0.1, 1.0]))
    assert np.isfinite(ends[0]).all() and np.isnan(ends[1]).all()  # leaves every bound at t = 1 / k


def test_times_are_differentiated():
    def at(t0, t1, ts):
        y = integrate.solve_ivp(lambda t, y: -t * y, (t0, 2.0), [1.0], t_eval=ts, **FINE).y[0]
        z = integrate.solve_ivp(lambda t, y: -t * y, (t0, t1), [1.0], **FINE).y[0, -1]
        return y.sum() + z

    exact = lambda t0, t1, ts: gs.exp((t0**2 - ts**2) / 2).sum() + gs.exp((t0**2 - t1**2) / 2)  # noqa: E731
    args = 0.3, 1.2, np.array([0.5, 0.9])
    for found, expected in zip(gs.grad(at, (0, 1, 2))(*args), gs.grad(exact, (0, 1, 2))(*args)):
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-7)
    tangents = 1.0, -0.5, np.array([0.3, 2.0])
    np.testing.assert_allclose(gs.jvp(at, args, tangents)[1].item(), gs.jvp(exact, args, tangents)[1].item(), rtol=1e-7)
    for found, expected in zip(gs.hessian(at, (0, 2))(*args)[0], gs.hessian(exact, (0, 2))(*args)[0]):
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-5, atol=1e-8)


def ground(t, y, g):
    return y[0]


ground.terminal, ground.direction = True, -1


def test_times_of_events():
    """A fall from h takes sqrt(2 h / g), and ends with the speed sqrt(2 g h)."""
    fall = lambda h, g: integrate.solve_ivp(lambda t, y, g: [y[1], -g], (0, 100.0), [h, 0 * h], events=ground, args=(g,), **FINE)  # noqa: E731
    h, g = 10.0, 9.81
    found = fall(h, g)
    assert (
        found.status == 1 and len(found.t_events) == 1 and found.t_events[0].shape == (1,) and found.y_events[0].shape == (1, 2)
    )
    time = lambda h, g: fall(h, g).t[-1]  # noqa: E731
    speed = lambda h, g: fall(h, g).y_events[0][0, 1]  # noqa: E731
    for f, exact in (
        (time, lambda h, g: gs.sqrt(2 * h / g)),
        (speed, lambda h, g: -gs.sqrt(2 * g * h)),
        (lambda h, g: fall(h, g).y[1, -1], lambda h, g: -gs.sqrt(2 * g * h)),
    ):
        np.testing.assert_allclose(f(h, g).item(), exact(gs.asarray(h), g).item(), rtol=1e-8)
        np.testing.assert_allclose(gs.grad(f, (0, 1))(h, g), gs.grad(exact, (0, 1))(h, g), rtol=1e-7)
        np.testing.assert_allclose(gs.jvp(f, (h, g), (0.5, 2.0))[1], gs.jvp(exact, (h, g), (0.5, 2.0))[1], rtol=1e-7)
    exact = gs.hessian(lambda h, g: gs.sqrt(2 * h / g), (0, 1))(h, g)
    np.testing.assert_allclose(np.array(gs.hessian(time, (0, 1))(h, g), dtype=float), np.array(exact, dtype=float), rtol=1e-5)


def test_events_that_do_not_end_it():
    """Where a cosine of frequency w crosses 0."""

    def crossings(w):
        zero = lambda t, y: y[0] - 0 * w  # noqa: E731
        return integrate.solve_ivp(
            lambda t, y: [y[1], -w * w * y[0]], (0, 6.0), [1.0, 0.0], "DOP853", events=[zero], **FINE
        ).t_events[0]

    expected = np.pi * np.array([0.5, 1.5]) / 1.0
    np.testing.assert_allclose(crossings(1.0).numpy(), expected, rtol=1e-8)
    np.testing.assert_allclose(gs.jacrev(crossings)(1.0).numpy(), -expected, rtol=1e-7)


def test_dense_output():
    def at(k, t):
        return integrate.solve_ivp(lambda t, y: -k * y, (0, 2.0), [1.0], dense_output=True, **FINE).sol(t)

    assert at(1.0, 0.5).shape == (1,) and at(1.0, [0.5, 0.2, 0.5]).shape == (1, 3)
    np.testing.assert_allclose(gs.grad(lambda k: at(k, 0.5)[0])(0.7).item(), -0.5 * np.exp(-0.35), rtol=1e-7)
    times = gs.tensor([1.5, 0.2, 0.2], requires_grad=True)
    at(0.7, times).sum().backward()
    np.testing.assert_allclose(times.grad.numpy(), -0.7 * np.exp(-0.7 * times.detach().numpy()), rtol=1e-7)


def test_complex_solutions():
    def f(v, method):
        y = integrate.solve_ivp(
            lambda t, y: 1j * (0.7 - 0.2j) * y * gs.conj(y) * v[0], (0, 1.0), [v[1] + 0.5j], method, **COARSE["BDF"]
        ).y[0, -1]
        return gs.real(y) ** 2 + gs.imag(y)

    v = np.array([0.3, 1.0])
    for method in ("RK45", "BDF"):
        found, tangent = gs.grad(f)(v, method), gs.jvp(lambda v: f(v, method), (v,), (np.ones(2),))[1]  # noqa: B023
        steps = [(f(v + s, "DOP853") - f(v - s, "DOP853")).item() / 2e-3 for s in 1e-3 * np.eye(2)]
        np.testing.assert_allclose(found.numpy(), steps, rtol=1e-4)
        np.testing.assert_allclose(tangent.item(), sum(steps), rtol=1e-4)


def test_stiff():
    """Robertson's problem, whose rates differ by nine orders of magnitude."""
    rates = np.array([0.04, 1e4, 3e7])

    def at(v, method="Radau", **options):
        y = integrate.solve_ivp(robertson, (0.0, 100.0), [1.0, 0.0, 0.0], method, args=(v[0], v[1], v[2]), **options).y
        return y[0, -1]

    options = {"rtol": 1e-8, "atol": [1e-12, 1e-16, 1e-12]}
    expected = []
    for i in range(3):
        step = np.eye(3)[i] * rates * 1e-3
        up, down = (scipy_integrate.solve_ivp(lambda t, y, v: np.array(robertson(t, y, *v)), (0, 100), [1.0, 0, 0], "LSODA", args=(rates + s,),
                                              rtol=1e-12, atol=1e-16).y[0, -1] for s in (step, -step))  # fmt: skip
        expected.append((up - down) / (2 * step[i]))
    for method in ("BDF", "LSODA"):
        found = gs.grad(at)(rates, method, **options)
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-4)


def test_a_failed_solution_has_no_derivative():
    """y' = k y**2 leaves every bound at t = 1 / k."""
    at = lambda k: integrate.solve_ivp(lambda t, y: k * y * y, (0, 10.0), [1.0])  # noqa: E731
    found = at(gs.tensor(1.0, requires_grad=True))
    assert not found.success and found.status == -1
    assert np.isnan(gs.grad(lambda k: at(k).y[0, -1])(1.0).item())
    assert np.isnan(gs.jvp(lambda k: at(k).y[0, -1], (1.0,), (1.0,))[1].item())
    with pytest.warns(scipy_integrate.ODEintWarning, match="derivatives are NaN"):
        slope = gs.grad(lambda k: integrate.odeint(lambda y, t: k * y * y, [1.0], [0, 10.0], mxstep=50)[-1, 0])(1.0)
    assert np.isnan(slope.item())


def test_a_solution_that_is_lost_backward_is_refused():
    def fast(k):
        rate = lambda t, y: -k * (y - gs.cos(t))  # noqa: E731
        return integrate.solve_ivp(rate, (0, 2.0), [1.0], "LSODA", adjoint="backward", rtol=1e-6).y[0, -1]

    with warnings.catch_warnings(), pytest.raises(RuntimeError, match="lost the solution"):
        warnings.simplefilter("ignore")
        gs.grad(fast)(40.0)


def test_refusals():
    solve = integrate.solve_ivp
    start = gs.tensor([1.0], requires_grad=True)
    with pytest.raises(ValueError, match="adjoint must be one of"):
        solve(lambda t, y: -y, (0, 1), [1.0], adjoint="exact")
    with pytest.raises(ValueError, match="explicit method"):
        solve(lambda t, y: -y, (0, 1), [1.0], "BDF", adjoint="discrete")
    with pytest.raises(TypeError, match="must return a Tensor"):
        solve(lambda t, y: np.ones(1), (0, 1), start).y[0, -1].backward()
    with pytest.raises(ValueError, match="as many as y has"):
        solve(lambda t, y: gs.ones(3), (0, 1), start)
    with pytest.raises(ValueError, match="needs step="):
        solve(lambda t, y: -y, (0, 1), start, "RK4")
    with pytest.raises(ValueError, match="must be a vector"):
        solve(lambda t, y: -y, (0, 1), np.ones((2, 2)))
    for options in ({}, {"t_eval": [1.0], "dense_output": True}, {"t_eval": [1.0], "events": lambda t, y: y[0]}):
        with pytest.raises(NotImplementedError, match="each row takes steps of its own"):
            gs.vmap(lambda y, options=options: solve(lambda t, y: -y, (0, 1), y, **options).y)(gs.ones((3, 2)))
    with pytest.raises(NotImplementedError, match="there is no Dfun and no full_output"):
        gs.vmap(lambda y: integrate.odeint(lambda y, t: -y, y, [0.0, 1.0], full_output=True)[0])(gs.ones((3, 2)))


@each("method, order", [("Euler", 1), ("Midpoint", 2), ("Heun", 2), ("RK4", 4)])
def test_fixed_steps(method, order):
    """The error falls as the order says, and the derivative is that of the steps."""
    at = lambda k, step: integrate.solve_ivp(lambda t, y: -k * y * gs.cos(t), (0, 1.0), [1.0], method, step=step).y[0, -1]  # noqa: E731
    exact = np.exp(-0.7 * np.sin(1))
    errors = [abs(at(0.7, step).item() - exact) for step in (0.1, 0.05)]
    assert 2 ** (order - 0.4) < errors[0] / errors[1] < 2 ** (order + 0.6)
    e = 1e-5
    np.testing.assert_allclose(gs.grad(at)(0.7, 0.1).item(), (at(0.7 + e, 0.1) - at(0.7 - e, 0.1)).item() / (2 * e), rtol=1e-8)


def test_forward_mode_leaves_no_graph():
    with forward_ad.dual_level():
        k = forward_ad.make_dual(gs.tensor(0.7), gs.tensor(1.0))
        y = integrate.solve_ivp(lambda t, y: -k * y, (0, 1.0), [1.0], **FINE).y[0, -1]
        assert not y.requires_grad
        np.testing.assert_allclose(forward_ad.unpack_dual(y).tangent.item(), -np.exp(-0.7), rtol=1e-7)


def test_costs_are_counted():
    w = gs.tensor(1.0, requires_grad=True)
    found = integrate.solve_ivp(lambda t, y: -w * y, (0, 1.0), [1.0])
    assert found.problem.nfev_adjoint == 0
    found.y[0, -1].backward()
    assert 0 < found.problem.nfev_adjoint < 10 * found.nfev


def test_odeint_as_hips_autograd_tests_it():
    def func(y, t, arg1, arg2):
        return -gs.sqrt(t) - y + arg1 - gs.mean((y + arg2) ** 2)

    random = np.random.default_rng(0)
    y0, t, arg1, arg2 = random.normal(size=3), np.linspace(0.1, 0.2, 4), random.normal(size=3), random.normal(size=3)
    at = lambda y0, t, arg1, arg2: integrate.odeint(func, y0, t, (arg1, arg2))  # noqa: E731
    weights = random.normal(size=(4, 3))
    args = [y0, t, arg1, arg2]
    found = gs.grad(lambda *args: (at(*args) * weights).sum(), (0, 1, 2, 3))(*args)
    for i, slopes in enumerate(found):
        for j in range(len(args[i])):
            moved = [[np.array(x) for x in args] for _ in range(2)]
            moved[0][i][j] += 1e-4
            moved[1][i][j] -= 1e-4
            up, down = ((at(*some).numpy() * weights).sum() for some in moved)
            np.testing.assert_allclose(slopes[j].item(), (up - down) / 2e-4, rtol=1e-4, atol=1e-5)


@each("method", ["DOP853", "LSODA"])
def test_kepler(method):
    """The gradient by the mass and the start of an eccentric orbit."""

    class Orbit:
        def __call__(self, t, y, v):
            return kepler(t, y, v[0])

        start = staticmethod(lambda v: v[1:])

    v = np.array([1.0, 0.8, 0.0, 0.0, 1.2])
    expected = by_complex_steps(Orbit(), v, 1.5)
    options = COARSE.get(method, FINE)
    y = lambda v: integrate.solve_ivp(kepler, (0, 1.5), v[1:], method, args=(v[0],), **options).y[:, -1]  # noqa: E731
    found = gs.grad(lambda v: (y(v) * gs.asarray([1.0, 2.0, -1.0, 0.5])).sum())(v)
    wanted = expected.T @ [1.0, 2.0, -1.0, 0.5]
    assert np.abs(found.numpy() - wanted).max() < 500 * options["rtol"] * np.abs(wanted).max()


@each("name", ["integrate.ivp", "integrate.quadrature", "integrate.sampled", "signal.convolutions", "signal.filters"])
def test_examples_of_the_docstrings(name):
    found = doctest.testmod(importlib.import_module(f"gradspec.scipy.{name}"))
    assert found.attempted and not found.failed
