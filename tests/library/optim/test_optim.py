"""optim: hand-computed steps, PyTorch's numbers where torch is installed, state and errors."""

import pickle

import numpy as np
import pytest

import gradspec as gs
from gradspec.optim import SGD, Adam, AdamW, Optimizer
from tests.asked import each

TORCH = "compares with PyTorch's optimisers, and torch is not installed"


def parameter(values, dtype=np.float64):
    return gs.tensor(np.array(values, dtype), requires_grad=True)


def step(optimizer, param, grad):
    param.grad = gs.tensor(np.array(grad, param.dtype))
    optimizer.step()
    return param.detach().numpy()


class TestByHand:
    def test_sgd(self):
        p = parameter([1.0, -2.0])
        np.testing.assert_allclose(step(SGD([p], lr=0.1), p, [3.0, 5.0]), [0.7, -2.5])

    def test_weight_decay_is_added_to_the_gradient(self):
        p = parameter([2.0])
        np.testing.assert_allclose(step(SGD([p], lr=0.1, weight_decay=0.5), p, [1.0]), [2.0 - 0.1 * (1.0 + 0.5 * 2.0)])

    def test_momentum_and_dampening(self):
        p = parameter([0.0])
        optimizer = SGD([p], lr=1.0, momentum=0.5, dampening=0.25)
        np.testing.assert_allclose(step(optimizer, p, [4.0]), [-4.0])  # the first buffer is the gradient, undamped
        np.testing.assert_allclose(step(optimizer, p, [4.0]), [-4.0 - (0.5 * 4.0 + 0.75 * 4.0)])

    def test_nesterov(self):
        p = parameter([0.0])
        optimizer = SGD([p], lr=1.0, momentum=0.5, nesterov=True)
        np.testing.assert_allclose(step(optimizer, p, [4.0]), [-(4.0 + 0.5 * 4.0)])

    def test_maximize(self):
        p = parameter([1.0])
        np.testing.assert_allclose(step(SGD([p], lr=0.1, maximize=True), p, [3.0]), [1.3])

    @pytest.mark.parametrize("grad", [1e-3, 7.0, -250.0])
    def test_first_adam_step_is_the_learning_rate(self, grad):
        p = parameter([0.0])
        np.testing.assert_allclose(step(Adam([p], lr=0.1), p, [grad]), [-0.1 * np.sign(grad)], rtol=1e-4)

    def test_second_adam_step(self):
        p = parameter([0.0])
        optimizer = Adam([p], lr=0.1, betas=(0.5, 0.75), eps=0.0)
        step(optimizer, p, [1.0])
        mean = (0.5 * 0.5 * 1.0 + 0.5 * 3.0) / (1 - 0.5**2)
        square = (0.75 * 0.25 * 1.0 + 0.25 * 9.0) / (1 - 0.75**2)
        np.testing.assert_allclose(step(optimizer, p, [3.0]), [-0.1 - 0.1 * mean / np.sqrt(square)])

    def test_adamw_shrinks_the_parameter(self):
        p = parameter([2.0])
        np.testing.assert_allclose(step(AdamW([p], lr=0.1, weight_decay=0.5), p, [0.0]), [2.0 * (1 - 0.1 * 0.5)])

    def test_adam_treats_real_and_imaginary_parts_apart(self):
        p = parameter([0j], np.complex128)
        np.testing.assert_allclose(step(Adam([p], lr=0.1), p, [3 - 1e-3j]), [-0.1 + 0.1j], rtol=1e-4)


CASES = [
    ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.9}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.3, "weight_decay": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "maximize": True}),
    ("SGD", {}),
    ("Adam", {}),
    ("Adam", {"lr": 0.05, "betas": (0.5, 0.7), "eps": 1e-3, "weight_decay": 0.2}),
    ("Adam", {"lr": 0.05, "amsgrad": True}),
    ("Adam", {"lr": 0.05, "maximize": True}),
    ("AdamW", {}),
    ("AdamW", {"lr": 0.05, "weight_decay": 0.3, "amsgrad": True}),
    ("RMSprop", {}),
    ("RMSprop", {"lr": 0.05, "alpha": 0.7, "eps": 1e-3, "weight_decay": 0.2}),
    ("RMSprop", {"lr": 0.05, "momentum": 0.9, "centered": True}),
    ("RMSprop", {"lr": 0.05, "maximize": True}),
    ("Adagrad", {}),
    ("Adagrad", {"lr": 0.05, "lr_decay": 0.1, "weight_decay": 0.2, "initial_accumulator_value": 0.3, "eps": 1e-3}),
]


@each("name, options", CASES)
@each("dtype", ["float32", "float64", "complex128"])
def test_same_as_torch(name, options, dtype):
    torch = pytest.importorskip("torch", reason=TORCH)
    rng = np.random.default_rng(0)

    def draw(shape):
        return np.asarray(rng.normal(size=shape) + (1j * rng.normal(size=shape) if dtype == "complex128" else 0), dtype)

    shapes = [(3, 4), (5,), ()]
    starts = [draw(shape) for shape in shapes]
    ours = [gs.tensor(start, requires_grad=True) for start in starts]
    theirs = [torch.tensor(start, requires_grad=True) for start in starts]
    our_optimizer = getattr(gs.optim, name)(ours, **options)
    their_optimizer = getattr(torch.optim, name)(theirs, **options)
    for _ in range(5):
        for p, q in zip(ours, theirs):
            grad = draw(p.shape)
            p.grad, q.grad = gs.tensor(grad), torch.tensor(grad)
        our_optimizer.step()
        their_optimizer.step()
    for p, q in zip(ours, theirs):
        assert p.dtype == dtype
        tolerance = 1e-5 if dtype == "float32" else 1e-12
        np.testing.assert_allclose(p.detach().numpy(), q.detach().numpy(), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "LBFGS"])
def test_same_defaults_as_torch(name):
    torch = pytest.importorskip("torch", reason=TORCH)
    ours = getattr(gs.optim, name)([parameter([0.0])]).param_groups[0]
    theirs = getattr(torch.optim, name)([torch.zeros(1, requires_grad=True)]).param_groups[0]
    assert {key: theirs[key] for key in ours if key != "params"} == {k: v for k, v in ours.items() if k != "params"}


def test_rmsprop_and_adagrad_by_hand():
    p = parameter([1.0])
    optimizer = gs.optim.RMSprop([p], lr=0.1, alpha=0.75, eps=0.0)
    np.testing.assert_allclose(step(optimizer, p, [2.0]), [1.0 - 0.1 * 2.0 / np.sqrt(0.25 * 4.0)])
    np.testing.assert_allclose(step(optimizer, p, [0.0]), [0.8])
    q = parameter([1.0])
    optimizer = gs.optim.Adagrad([q], lr=0.1, lr_decay=1.0, eps=0.0)
    step(optimizer, q, [3.0])
    np.testing.assert_allclose(step(optimizer, q, [4.0]), [1.0 - 0.1 - 0.1 / 2 * 4.0 / 5.0])


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def minimise(library, x, steps, loss=rosenbrock, **options):
    """The parameters after each call of LBFGS's step, and how often the closure was called."""
    optimizer, calls, seen = library.optim.LBFGS([x], **options), [], []

    def closure():
        optimizer.zero_grad()
        value = loss(x)
        value.backward()
        calls.append(value.item())
        return value

    for _ in range(steps):
        optimizer.step(closure)
        seen.append(np.array(x.detach().numpy()))
    return seen, calls


class TestLBFGS:
    @pytest.mark.parametrize("options", [
        {"lr": 1e-3}, {"lr": 0.1, "max_iter": 4, "history_size": 3}, {"lr": 0.5, "max_iter": 7, "max_eval": 5, "tolerance_grad": 1e-2},
    ])  # fmt: skip
    def test_without_a_line_search_it_is_torchs(self, options):
        torch = pytest.importorskip("torch", reason=TORCH)
        start = np.array([-0.5, 0.4, 0.7])
        ours, our_calls = minimise(gs, parameter(start), 6, **options)
        theirs, their_calls = minimise(torch, torch.tensor(start, requires_grad=True), 6, **options)
        np.testing.assert_allclose(our_calls, their_calls, rtol=1e-9)
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_strong_wolfe_finds_the_minimum(self, dtype):
        seen, calls = minimise(gs, parameter([-1.2, 1.0, -0.5, 2.0], dtype), 6, line_search_fn="strong_wolfe",
                               max_iter=30, tolerance_change=1e-14)  # fmt: skip
        np.testing.assert_allclose(seen[-1], np.ones(4), atol=1e-2 if dtype == np.float32 else 1e-6)
        assert seen[-1].dtype == dtype and len(calls) < 150

    def test_a_quadratic_in_few_calls(self):
        scale = np.array([1.0, 10.0, 100.0])
        seen, calls = minimise(gs, parameter([1.0, 1.0, 1.0]), 1, lambda x: (scale * x * x).sum(), line_search_fn="strong_wolfe")
        np.testing.assert_allclose(seen[-1], np.zeros(3), atol=1e-5)
        assert len(calls) < 30

    def test_each_step_of_the_search_satisfies_the_strong_wolfe_conditions(self):
        from gradspec.optim.lbfgs import CURVATURE, SUFFICIENT, strong_wolfe

        rng = np.random.default_rng(0)
        for _ in range(200):
            a, b, c = rng.normal(), rng.normal(), rng.uniform(0.01, 1)

            def at(t, a=a, b=b, c=c):
                slope = a - b * np.sin(b * t) + 2 * c * t
                return a * t + np.cos(b * t) + c * t * t, np.array([slope]), slope

            loss, gradient, slope = at(0.0)
            if slope >= 0:
                continue
            length, found, gradient, used = strong_wolfe(at, rng.uniform(0.01, 3), loss, gradient, slope, 1e-12)
            assert found <= loss + SUFFICIENT * length * slope and abs(gradient[0]) <= CURVATURE * abs(slope) and used < 20

    def test_a_search_without_an_end_ends(self):
        from gradspec.optim.lbfgs import LONGEST_SEARCH, strong_wolfe

        falling = lambda t: (-t, np.array([-1.0]), -1.0)  # noqa: E731
        length, loss, _, used = strong_wolfe(falling, 1.0, 0.0, np.array([-1.0]), -1.0, 1e-9)
        assert used == LONGEST_SEARCH and loss == -length and length == 2.0 ** (LONGEST_SEARCH - 1)
        step = lambda t: (-t if t < 1 else 5.0, np.array([-1.0]), -1.0)  # noqa: E731
        length, loss, _, used = strong_wolfe(step, 0.5, 0.0, np.array([-1.0]), -1.0, 0.6)
        assert (length, loss, used) == (0.5, -0.5, 2)  # the interval is shorter than what it may be

    def test_the_least_of_a_cubic_is_well_inside(self):
        from gradspec.optim.lbfgs import between

        rng = np.random.default_rng(0)
        for _ in range(300):
            cubic = np.poly1d(rng.normal(size=4))
            a, b = np.sort(rng.normal(size=2))
            low, high = ((t, cubic(t), None, cubic.deriv()(t)) for t in (a, b))
            found = between(low, high)
            assert found == pytest.approx(between(high, low), rel=1e-9)
            assert a + 0.1 * (b - a) - 1e-12 <= found <= b - 0.1 * (b - a) + 1e-12
            least = [t.real for t in cubic.deriv().roots if abs(t.imag) < 1e-12 and cubic.deriv(2)(t.real) > 0]
            if least:
                assert found == pytest.approx(np.clip(least[0], a + 0.1 * (b - a), b - 0.1 * (b - a)), rel=1e-6, abs=1e-9)
            elif len(cubic.deriv().roots) == 2 and np.iscomplex(cubic.deriv().roots).all():
                assert found == pytest.approx((a + b) / 2)
        assert between((0.0, 0.0, None, -1.0), (2.0, -2.0, None, -1.0)) == 1.0  # a line
        assert between((0.0, 0.0, None, -1.0), (2.0, np.inf, None, 1.0)) == 1.0

    def test_several_parameters_complex_ones_among_them(self):
        x, z = parameter([3.0, 4.0]), parameter([1 + 1j], np.complex128)
        optimizer = gs.optim.LBFGS([x, z], line_search_fn="strong_wolfe", tolerance_change=1e-14)

        def closure():
            optimizer.zero_grad()
            loss = ((x - 1) ** 2).sum() + (gs.abs(z - (2 - 1j)) ** 2).sum() * 3
            loss.backward()
            return loss

        first = optimizer.step(closure)
        assert np.isclose(first.item(), 4 + 9 + 15)
        np.testing.assert_allclose(x.detach(), [1, 1], atol=1e-6)
        np.testing.assert_allclose(z.detach(), [2 - 1j], atol=1e-6)

    def test_state_goes_on_where_it_was(self):
        def run(restart):
            x = parameter([-0.5, 0.4, 0.7])
            optimizer = gs.optim.LBFGS([x], lr=0.1, max_iter=4)

            def closure():
                optimizer.zero_grad()
                loss = rosenbrock(x)
                loss.backward()
                return loss

            for i in range(4):
                optimizer.step(closure)
                if restart and i == 1:
                    state, optimizer = optimizer.state_dict(), gs.optim.LBFGS([x], lr=0.1, max_iter=4)
                    optimizer.load_state_dict(state)
            return x.tolist()

        assert run(True) == run(False)

    def test_errors(self):
        p, q = parameter([1.0]), parameter([1.0])
        with pytest.raises(ValueError, match="doesn't support per-parameter options"):
            gs.optim.LBFGS([{"params": [p]}, {"params": [q]}])
        with pytest.raises(ValueError, match="line_search_fn must be None or 'strong_wolfe', got 'armijo'"):
            gs.optim.LBFGS([p], line_search_fn="armijo")
        with pytest.raises(TypeError, match="needs a closure"):
            gs.optim.LBFGS([p]).step()


SCHEDULES = [
    ("StepLR", {"step_size": 3, "gamma": 0.5}, [1, 1, 1, 0.5, 0.5, 0.5, 0.25]),
    ("MultiStepLR", {"milestones": [4, 2]}, [1, 1, 0.1, 0.1, 0.01, 0.01]),
    ("ExponentialLR", {"gamma": 0.5}, [1, 0.5, 0.25, 0.125]),
    ("CosineAnnealingLR", {"T_max": 2, "eta_min": 0.2}, [1, 0.6, 0.2, 0.6, 1]),
    ("LambdaLR", {"lr_lambda": lambda epoch: 1 / (1 + epoch)}, [1, 1 / 2, 1 / 3]),
]


@pytest.mark.parametrize(("name", "options", "rates"), SCHEDULES)
def test_schedules(name, options, rates):
    make = getattr(gs.optim.lr_scheduler, name)
    optimizer = SGD([{"params": [parameter([1.0])]}, {"params": [parameter([1.0])], "lr": 10.0}], lr=1.0)
    scheduler = make(optimizer, **options)
    found = []
    for i in range(len(rates)):
        found.append(scheduler.get_last_lr())
        optimizer.step()
        scheduler.step()
        if i == 1:
            state, scheduler = scheduler.state_dict(), make(optimizer, **options)
            scheduler.load_state_dict(state)
    lowest = options.get("eta_min", 0)
    np.testing.assert_allclose(found, [[rate, lowest + (rate - lowest) * (10 - lowest) / (1 - lowest)] for rate in rates])
    torch = pytest.importorskip("torch", reason=TORCH)
    theirs = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    scheduler = getattr(torch.optim.lr_scheduler, name)(theirs, **options)
    for rate in rates:
        assert np.isclose(scheduler.get_last_lr()[0], rate)
        theirs.step()
        scheduler.step()


@pytest.mark.parametrize("options", [{}, {"mode": "max"}, {"threshold_mode": "abs", "threshold": 0.3}, {"cooldown": 3}, {"min_lr": 0.2}])
def test_a_plateau_lowers_the_learning_rate(options):
    options = {"patience": 2, "factor": 0.5, **options}
    optimizer = SGD([parameter([1.0])], lr=1.0)
    scheduler = gs.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **options)
    numbers = [3.0, 2.0, 1.9, 1.9, 1.9, 1.9, -1.0, -1.0, -1.0, -1.0, -1.1, -1.1, -1.1, -1.1, -1.1, -1.1]
    found = []
    for number in numbers:
        scheduler.step(gs.tensor(number))
        found += scheduler.get_last_lr()
    if options.get("mode") is None and len(options) == 2:
        assert found == [1.0] * 5 + [0.5] * 11
    torch = pytest.importorskip("torch", reason=TORCH)
    theirs = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(theirs, **options)
    for number, rate in zip(numbers, found):
        scheduler.step(number)
        assert theirs.param_groups[0]["lr"] == rate


def test_trains_through_backward():
    x, y = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 0.5]]), np.array([5.0, 1.0, 1.5])  # y = x @ [1, 2]
    w = parameter([0.0, 0.0])
    optimizer = SGD([w], lr=0.05, momentum=0.5)
    for _ in range(300):
        optimizer.zero_grad()
        (((gs.asarray(x) @ w) - y) ** 2).sum().backward()
        optimizer.step()
    np.testing.assert_allclose(w.detach().numpy(), [1.0, 2.0], atol=1e-6)


class TestStep:
    def test_is_in_place(self):
        p = parameter([1.0])
        array = p.detach().numpy()
        step(SGD([p], lr=0.5), p, [1.0])
        assert array[0] == 0.5 and p.is_leaf and p.requires_grad

    def test_bumps_the_version_so_that_stale_graphs_raise(self):
        p = parameter([1.0])
        y = (p * p).sum()
        version = p._version
        step(SGD([p], lr=0.5), p, [1.0])
        assert p._version > version
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.backward()

    def test_without_gradient_nothing_moves(self):
        p, q = parameter([1.0]), parameter([1.0])
        optimizer = Adam([p, q], weight_decay=1.0)
        step(optimizer, p, [1.0])
        assert q.item() == 1.0 and q not in optimizer.state

    def test_gradient_is_left_alone(self):
        p = parameter([1.0])
        optimizer = SGD([p], lr=0.1, momentum=0.9, weight_decay=0.1)
        for _ in range(3):
            step(optimizer, p, [2.0])
            assert p.grad.item() == 2.0

    def test_closure_runs_with_gradients_and_its_loss_is_returned(self):
        p = parameter([3.0])
        optimizer = SGD([p], lr=0.1)

        def closure():
            optimizer.zero_grad()
            loss = (p * p).sum()
            loss.backward()
            return loss

        with gs.no_grad():
            assert optimizer.step(closure).item() == 9.0
        assert p.item() == pytest.approx(3.0 - 0.1 * 6.0)

    def test_numpy_scalar_options_keep_float32(self):
        p = parameter([1.0], np.float32)
        step(SGD([p], lr=np.float64(0.5)), p, [1.0])
        assert p.dtype == np.float32 and p.item() == 0.5


class TestGroups:
    def test_options_of_their_own(self):
        p, q = parameter([0.0]), parameter([0.0])
        optimizer = SGD([{"params": p}, {"params": [q], "lr": 1.0}], lr=0.1)
        p.grad, q.grad = gs.tensor([1.0]), gs.tensor([1.0])
        optimizer.step()
        assert (p.item(), q.item()) == (-0.1, -1.0)

    def test_learning_rate_may_change_between_steps(self):
        p = parameter([0.0])
        optimizer = SGD([p], lr=0.1)
        optimizer.param_groups[0]["lr"] = 2.0
        assert step(optimizer, p, [1.0]) == -2.0

    def test_add_param_group(self):
        p, q = parameter([0.0]), parameter([0.0])
        optimizer = SGD([p], lr=0.1)
        optimizer.add_param_group({"params": [q], "momentum": 0.9})
        assert [group["momentum"] for group in optimizer.param_groups] == [0, 0.9]

    def test_generator_of_parameters(self):
        assert len(SGD(p for p in [parameter([0.0]), parameter([1.0])]).param_groups[0]["params"]) == 2


class TestZeroGrad:
    def test_sets_to_none(self):
        p = parameter([1.0])
        p.grad = gs.tensor([2.0])
        SGD([p]).zero_grad()
        assert p.grad is None
        SGD([p]).zero_grad(set_to_none=False)  # where there is none there is nothing to fill
        assert p.grad is None

    def test_keeps_the_tensor_on_request(self):
        p = parameter([1.0])
        p.grad = grad = gs.tensor([2.0])
        SGD([p]).zero_grad(set_to_none=False)
        assert p.grad is grad and grad.item() == 0.0


class TestStateDict:
    @pytest.mark.parametrize("make", [lambda p: SGD(p, lr=0.1, momentum=0.9), lambda p: Adam(p, lr=0.1, amsgrad=True)])
    def test_round_trip_continues_the_same_path(self, make):
        p = parameter([1.0, 2.0])
        optimizer = make([p])
        step(optimizer, p, [1.0, -1.0])
        q = gs.tensor(p.detach().numpy(), requires_grad=True)
        other = make([q])
        other.load_state_dict(optimizer.state_dict())
        for grad in ([0.5, 0.1], [-2.0, 0.3]):
            np.testing.assert_array_equal(step(optimizer, p, grad), step(other, q, grad))

    def test_names_parameters_by_number(self):
        p, q = parameter([1.0]), parameter([1.0])
        optimizer = SGD([{"params": [p]}, {"params": [q], "lr": 0.5}], momentum=0.9)
        step(optimizer, q, [3.0])
        saved = optimizer.state_dict()
        assert [group["params"] for group in saved["param_groups"]] == [[0], [1]]
        assert saved["param_groups"][1]["lr"] == 0.5
        assert list(saved["state"]) == [1] and saved["state"][1]["momentum_buffer"] == [3.0]

    def test_loading_copies(self):
        p = parameter([1.0])
        optimizer = SGD([p], lr=0.1, momentum=0.9)
        step(optimizer, p, [3.0])
        saved = optimizer.state_dict()
        other = SGD([p], lr=0.1, momentum=0.9)
        other.load_state_dict(saved)
        step(other, p, [1.0])
        assert saved["state"][0]["momentum_buffer"] == [3.0]

    @pytest.mark.parametrize("make", [lambda p: Adam(p, lr=0.1, amsgrad=True), lambda p: gs.optim.Adagrad(p, lr=0.1, lr_decay=0.5)])
    @pytest.mark.parametrize("shape", [(2,), ()])
    def test_files_go_on_the_same_path(self, make, shape):
        """Those of older versions, too, whose buffers were ndarrays and whose step counts Python's."""
        p = parameter(np.full(shape, 2.0))
        optimizer = make([p])
        for grad in (1.0, -0.5):
            step(optimizer, p, np.full(shape, grad))
        saved = optimizer.state_dict()
        assert isinstance(saved["state"][0]["step"], gs.Tensor) and saved["state"][0]["step"].dtype == np.float64
        older = {name: 2 if name == "step" else value.numpy() for name, value in saved["state"][0].items()}
        file = pickle.dumps(saved)
        others = []
        for state in (pickle.loads(file), {**saved, "state": {0: older}}):
            q = gs.tensor(p.detach().numpy(), requires_grad=True)
            others.append((make([q]), q))
            others[-1][0].load_state_dict(state)
        for grad in (0.25, -2.0):
            wanted = step(optimizer, p, np.full(shape, grad))
            for other, q in others:
                np.testing.assert_array_equal(step(other, q, np.full(shape, grad)), wanted)
        assert older["step"] == 2

    def test_mismatches(self):
        one, two = SGD([parameter([1.0])]), SGD([parameter([1.0]), parameter([1.0])])
        with pytest.raises(ValueError, match=r"groups of \[2\] parameters, the optimizer has groups of \[1\]"):
            one.load_state_dict(two.state_dict())
        three = SGD([{"params": parameter([1.0])}, {"params": parameter([1.0])}])
        with pytest.raises(ValueError, match="has 2 parameter groups, the optimizer has 1"):
            one.load_state_dict(three.state_dict())

    def test_options_that_make_no_sense_are_refused_and_nothing_is_taken(self):
        optimizer = SGD([parameter([1.0])], lr=0.5)
        state = optimizer.state_dict()
        state["param_groups"][0]["lr"] = -1.0
        with pytest.raises(ValueError, match="Invalid learning rate: -1.0"):
            optimizer.load_state_dict(state)
        assert optimizer.param_groups[0]["lr"] == 0.5

    def test_wrong_shape(self):
        p, q = parameter([1.0]), parameter([1.0, 2.0])
        optimizer = SGD([p], momentum=0.9)
        step(optimizer, p, [1.0])
        with pytest.raises(ValueError, match=r"momentum_buffer of parameter 0 has shape \(1,\), not \(2,\)"):
            SGD([q], momentum=0.9).load_state_dict(optimizer.state_dict())


@each(
    "make, error, message",
    [
        (lambda p: SGD([]), ValueError, "optimizer got an empty parameter list"),
        (lambda p: SGD(p), TypeError, "should be an iterable of Tensors or dicts.*got Tensor"),
        (lambda p: SGD({p}), TypeError, "in a fixed order, got set"),
        (lambda p: SGD([np.zeros(1)]), TypeError, "can only optimize Tensors, but one of the params is ndarray"),
        (lambda p: SGD([p * 2]), ValueError, "can't optimize a non-leaf Tensor"),
        (lambda p: SGD([p, p]), ValueError, "some parameters appear more than once"),
        (lambda p: SGD([{"params": p}, {"params": p}]), ValueError, "some parameters appear more than once"),
        (lambda p: SGD([{"lr": 1.0}]), ValueError, "no 'params', only 'lr'"),
        (lambda p: SGD([{"params": p, "momentun": 1}]), ValueError, "SGD has no option 'momentun'"),
        (lambda p: SGD([p], lr=-1), ValueError, "Invalid learning rate: -1"),
        (lambda p: SGD([p], lr=float("nan")), ValueError, "Invalid learning rate: nan"),
        (lambda p: SGD([p], momentum=-1), ValueError, "Invalid momentum value: -1"),
        (lambda p: SGD([p], weight_decay=-1), ValueError, "Invalid weight_decay value: -1"),
        (lambda p: SGD([p], nesterov=True), ValueError, "Nesterov momentum requires a momentum and zero dampening"),
        (lambda p: Adam([p], eps=-1), ValueError, "Invalid epsilon value: -1"),
        (lambda p: Adam([p], betas=(0.9, 1.0)), ValueError, "Invalid beta parameter at index 1: 1.0"),
        (lambda p: SGD([{"params": p, "lr": -2}]), ValueError, "Invalid learning rate: -2"),
    ],
)
def test_errors(make, error, message):
    with pytest.raises(error, match=message):
        make(parameter([1.0]))


def test_a_subclass_writes_only_update():
    class SignDescent(Optimizer):
        def __init__(self, params, lr=1.0):
            super().__init__(params, {"lr": lr})

        def update(self, param, grad, state, group):
            return group["lr"] * np.sign(grad)

    p = parameter([0.0, 0.0])
    np.testing.assert_array_equal(step(SignDescent([p], lr=0.5), p, [3.0, -0.1]), [-0.5, 0.5])


def test_a_subclass_may_keep_arrays():
    class Averaged(Optimizer):
        def __init__(self, params):
            super().__init__(params, {"lr": 0.5})

        def update(self, param, grad, state, group):
            mean = state.setdefault("mean", np.zeros(param.shape))
            mean += 0.5 * (grad - mean)
            return group["lr"] * mean

    p = parameter([0.0])
    optimizer = Averaged([p])
    assert [step(optimizer, p, [4.0]).item() for _ in range(2)] == [-1.0, -2.5]


def test_repr_shows_the_options():
    assert "SGD (\n    1 parameters, lr=0.5, momentum=0" in repr(SGD([parameter([1.0])], lr=0.5))
