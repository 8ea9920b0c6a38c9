"""Optimisers and schedules beside PyTorch's: 100 steps on the same gradients, each option, states, hooks, averages of models."""

import copy
import inspect
import math
import pickle

import numpy as np
import pytest

import gradspec as gs
from gradspec import nn
from tests.asked import each

TORCH = "compares with PyTorch's optimisers, and PyTorch is not installed"


@pytest.fixture
def torch():
    """PyTorch, which counts and multiplies momenta in double precision, as is done here: its default would be single."""
    torch = pytest.importorskip("torch", reason=TORCH)
    torch.set_default_dtype(torch.float64)
    yield torch
    torch.set_default_dtype(torch.float32)


MOMENTS = [{}, {"betas": (0.7, 0.9), "eps": 1e-3}, {"weight_decay": 0.1}, {"maximize": True}]
OPTIONS = {
    "SGD": [{"lr": 0.1}, {"momentum": 0.9}, {"momentum": 0.9, "dampening": 0.3}, {"momentum": 0.8, "nesterov": True}, {"weight_decay": 0.1},
            {"maximize": True}],
    "Adam": [*MOMENTS, {"amsgrad": True}, {"weight_decay": 0.1, "decoupled_weight_decay": True}],
    "AdamW": [*MOMENTS, {"amsgrad": True}],
    "NAdam": [*MOMENTS, {"momentum_decay": 0.1}, {"weight_decay": 0.1, "decoupled_weight_decay": True}],
    "RAdam": [*MOMENTS, {"weight_decay": 0.1, "decoupled_weight_decay": True}, {"betas": (0.9, 0.5)}],
    "Adamax": MOMENTS,
    "Adadelta": [{}, {"lr": 0.5, "rho": 0.7, "eps": 1e-3}, {"weight_decay": 0.1}, {"maximize": True}],
    "Adagrad": [{}, {"lr_decay": 0.1}, {"weight_decay": 0.1}, {"initial_accumulator_value": 0.5, "eps": 1e-3}, {"maximize": True}],
    "RMSprop": [{}, {"alpha": 0.8, "eps": 1e-3}, {"momentum": 0.9}, {"centered": True}, {"weight_decay": 0.1}, {"maximize": True}],
    "ASGD": [{}, {"lambd": 0.1, "alpha": 0.5}, {"t0": 20}, {"weight_decay": 0.1}, {"maximize": True}],
    "Rprop": [{}, {"etas": (0.3, 1.5)}, {"step_sizes": (1e-3, 0.1)}, {"maximize": True}],
    "Adafactor": [{}, {"lr": 0.1, "beta2_decay": -0.5}, {"eps": (1e-3, 1e-2)}, {"d": 2.0}, {"weight_decay": 0.1}, {"maximize": True}],
    "Muon": [{}, {"nesterov": False, "momentum": 0.5}, {"weight_decay": 0.0, "adjust_lr_fn": "match_rms_adamw"}, {"ns_steps": 2}, {"eps": 0.5, "ns_coefficients": (3.0, -4.0, 2.0)}],
}  # fmt: skip
CASES = [(name, options) for name, each_options in OPTIONS.items() for options in each_options]
COMPLEX = ["SGD", "Adam", "AdamW", "NAdam", "RAdam", "Adadelta", "Adagrad", "RMSprop", "Rprop"]


def steps(library, name, options, shapes, kind=float, count=100, dtype=np.float64):
    """The parameters after so many steps, and what the state has."""
    rng = np.random.default_rng(0)

    def drawn(shape):
        found = rng.normal(size=shape) + (1j * rng.normal(size=shape) if kind is complex else 0)
        return found if kind is complex else found.astype(dtype)

    make = library.tensor
    params = [make(drawn(shape), requires_grad=True) for shape in shapes]
    optimizer = getattr(library.optim, name)([{"params": params[:1]}, {"params": params[1:], "lr": 0.05}], **options)
    for step in range(count):
        for number, param in enumerate(params):
            if (step + number) % 7:  # a parameter without a gradient now and then
                param.grad = make(drawn(shapes[number]) * (1 + step % 3))
            else:
                param.grad = None
        optimizer.step()
    state = {(i, key): np.asarray(value.detach()) for i, held in optimizer.state_dict()["state"].items() for key, value in held.items()
             if hasattr(value, "detach")}  # fmt: skip
    return [param.detach().numpy() for param in params], state


@each(("name", "options"), CASES)
def test_a_hundred_steps_are_pytorchs(torch, monkeypatch, name, options):
    monkeypatch.setattr(torch.Tensor, "bfloat16", lambda self: self.clone())  # else Muon is about as precise as bfloat16
    shapes = [(3, 4), (5, 2)] if name == "Muon" else [(3, 4), (5,), (2, 3, 2)]
    (found, ours), (wanted, theirs) = (steps(library, name, options, shapes) for library in (gs, torch))
    for mine, other in zip(found, wanted):
        np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-11)
    assert ours.keys() == theirs.keys()
    for key, value in theirs.items():
        np.testing.assert_allclose(ours[key], value, rtol=1e-8, atol=1e-11, err_msg=str(key))


LEFT = {"LBFGS", "SparseAdam", "Optimizer"}  # test_lbfgs_is_pytorchs, test_sparse_adam
WAYS = {"foreach", "fused", "capturable", "differentiable"}


def test_each_option_of_each_optimiser_is_asked(torch):
    classes = {name: value for name, value in vars(torch.optim).items() if isinstance(value, type)}
    assert classes.keys() - LEFT == OPTIONS.keys()
    for name, each_options in OPTIONS.items():
        known = inspect.signature(classes[name]).parameters.keys() - {"params", *WAYS}
        asked = {option for options in each_options for option in options} | {"lr"}  # of which the groups have two
        assert known - asked == set(), name
        assert known <= inspect.signature(getattr(gs.optim, name)).parameters.keys()


@each("name", [*OPTIONS, "LBFGS", "SparseAdam"])
def test_ways_to_compute_a_step_change_nothing_or_are_refused(name):
    make, w = getattr(gs.optim, name), gs.ones((2, 2), requires_grad=True)
    for options in ({"foreach": True}, {"fused": False, "foreach": None}, {"fused": True, "capturable": False, "differentiable": False}):
        assert make([w], **options).param_groups[0].keys().isdisjoint(WAYS)
    if name != "LBFGS":
        assert make([{"params": [w], "fused": True}]).param_groups[0].keys().isdisjoint(WAYS)
    with pytest.raises(ValueError, match=f"{name}: capturable=True is not supported: there is no device to capture on"):
        make([w], capturable=True)
    with pytest.raises(ValueError, match=f"{name}: differentiable=True is not supported: steps are not recorded"):
        make([w], differentiable=True)
    assert inspect.signature(make).parameters.keys().isdisjoint(WAYS)


@each(("name", "options"), [(name, options[-1]) for name, options in OPTIONS.items()])
def test_states_go_to_pytorch_and_come_back(torch, monkeypatch, name, options):
    """A run that goes on in the other library, and goes on here again, is the run of one library."""
    monkeypatch.setattr(torch.Tensor, "bfloat16", lambda self: self.clone())
    rng = np.random.default_rng(0)
    start, gradients = rng.normal(size=(3, 4)), rng.normal(size=(9, 3, 4))

    def begun(library, values):
        w = library.tensor(values, requires_grad=True)
        return w, getattr(library.optim, name)([w], **options)

    def stepped(library, w, optimizer, some):
        for gradient in some:
            w.grad = library.tensor(gradient)
            optimizer.step()
        return w.detach().numpy().copy()

    w, whole = begun(torch, start)
    wanted = stepped(torch, w, whole, gradients)
    here, ours = begun(gs, start)
    values = stepped(gs, here, ours, gradients[:3])
    state = ours.state_dict()
    state["state"] = {i: {key: torch.tensor(np.asarray(value)) if isinstance(value, gs.Tensor) else value for key, value in held.items()}
                      for i, held in state["state"].items()}  # fmt: skip
    there, theirs = begun(torch, values)
    theirs.load_state_dict({**state, "param_groups": [{**theirs.state_dict()["param_groups"][0], **state["param_groups"][0]}]})
    values = stepped(torch, there, theirs, gradients[3:6])
    again, last = begun(gs, values)
    last.load_state_dict(theirs.state_dict())
    np.testing.assert_allclose(stepped(gs, again, last, gradients[6:]), wanted, rtol=1e-9, atol=1e-11)


@each("name", COMPLEX)
def test_complex_parameters_are_pytorchs(torch, name):
    for mine, other in zip(*(steps(library, name, {}, [(3,), (2,)], complex, 30)[0] for library in (gs, torch))):
        np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-11)


@each("name", list(OPTIONS))
def test_single_precision_stays(torch, monkeypatch, name):
    monkeypatch.setattr(torch.Tensor, "bfloat16", lambda self: self.clone())
    for mine, other in zip(*(steps(library, name, {}, [(3, 4), (5, 2)], float, 30, np.float32)[0] for library in (gs, torch))):
        assert mine.dtype == np.float32
        np.testing.assert_allclose(mine, other, rtol=2e-4, atol=2e-5)


def test_muon_makes_singular_values_equal():
    rng = np.random.default_rng(0)
    for shape in ((4, 9), (9, 4)):
        w = gs.tensor(np.zeros(shape), requires_grad=True)
        w.grad = gs.tensor(rng.normal(size=shape))
        gs.optim.Muon([w], lr=1.0, weight_decay=0.0).step()
        values = np.linalg.svd(w.detach().numpy(), compute_uv=False)
        scale = math.sqrt(max(1, shape[0] / shape[1]))
        assert values.min() > 0.6 * scale and values.max() < 1.3 * scale


@each(("name", "options"), [(name, options[0]) for name, options in OPTIONS.items()])
def test_a_state_continues_a_run(name, options):
    def run(restart):
        rng = np.random.default_rng(0)
        w = gs.tensor(rng.normal(size=(3, 4)), requires_grad=True)
        optimizer = getattr(gs.optim, name)([w], **options)
        for step in range(6):
            if step == 3 and restart:
                state = pickle.loads(pickle.dumps(optimizer.state_dict()))
                optimizer = getattr(gs.optim, name)([w], lr=17.0)
                optimizer.load_state_dict(state)
            w.grad = gs.tensor(rng.normal(size=(3, 4)))
            optimizer.step()
        return w.tolist()

    assert run(True) == run(False)


WRONG = [
    ("Adadelta", {"rho": 2.0}, "Invalid rho value: 2.0"), ("Adamax", {"betas": (2.0, 0.1)}, "Invalid beta parameter at index 0"),
    ("NAdam", {"momentum_decay": -1.0}, "Invalid momentum_decay value"), ("RAdam", {"lr": -1.0}, "Invalid learning rate"),
    ("Rprop", {"etas": (1.5, 1.2)}, "Invalid eta values: 1.5, 1.2"), ("ASGD", {"weight_decay": -1.0}, "Invalid weight_decay value"),
    ("Adafactor", {"d": 0.5}, "Clipping threshold d should be >= 1"), ("Adafactor", {"beta2_decay": 1.0}, "beta2_decay should be <= 0"),
    ("Adafactor", {"eps": (-1.0, 1.0)}, "epsilon1 should be >= 0"), ("Muon", {"adjust_lr_fn": "x"}, "function x is not supported"),
    ("Muon", {"momentum": -1.0}, "momentum should be >= 0"), ("RMSprop", {"alpha": -0.1}, "Invalid alpha value: -0.1; it must be 0 or more"),
    ("RMSprop", {"momentum": -1.0}, "Invalid momentum value"), ("Adagrad", {"lr_decay": -1.0}, "Invalid lr_decay value: -1.0; it must be 0"),
    ("Adagrad", {"initial_accumulator_value": -1.0}, "Invalid initial_accumulator_value"),
    ("SparseAdam", {"lr": 0.0}, "Invalid learning rate: 0.0"),
]  # fmt: skip


@each(("name", "options", "words"), WRONG)
def test_what_makes_no_sense_is_refused(name, options, words):
    with pytest.raises(ValueError, match=words):
        getattr(gs.optim, name)([gs.ones((2, 2), requires_grad=True)], **options)


def test_muon_and_adafactor_say_what_they_take():
    with pytest.raises(ValueError, match="Muon only supports 2D parameters"):
        gs.optim.Muon([gs.ones(2, requires_grad=True)])
    w = gs.ones(2, dtype=complex, requires_grad=True)
    w.grad = gs.ones(2, dtype=complex)
    with pytest.raises(RuntimeError, match="Adafactor does not support complex"):
        gs.optim.Adafactor([w]).step()


class TestHooks:
    def test_of_steps(self):
        w, said = gs.ones(1, requires_grad=True), []
        optimizer = gs.optim.SGD([w], lr=0.5)
        handle = optimizer.register_step_pre_hook(lambda opt, args, kwargs: said.append(("pre", opt is optimizer, args)))
        optimizer.register_step_post_hook(lambda opt, args, kwargs: said.append(("post", w.item())))
        everywhere = [gs.optim.optimizer.register_optimizer_step_pre_hook(lambda *args: said.append("every pre")),
                      gs.optim.optimizer.register_optimizer_step_post_hook(lambda *args: said.append("every post"))]  # fmt: skip
        w.grad = gs.ones(1)
        optimizer.step()
        assert said == ["every pre", ("pre", True, (None,)), ("post", 0.5), "every post"]
        handle.remove()
        for one in everywhere:
            one.remove()
        optimizer.step()
        assert said[4:] == [("post", 0.0)]
        with optimizer.register_step_pre_hook(lambda *args: 3), pytest.raises(RuntimeError, match="step pre-hook must return None or"):
            optimizer.step()

    def test_of_states(self):
        w, said = gs.ones(1, requires_grad=True), []
        optimizer = gs.optim.SGD([w], lr=0.5)
        optimizer.register_state_dict_pre_hook(lambda opt: said.append("before"))
        optimizer.register_state_dict_post_hook(lambda opt, state: {**state, "more": 1})
        optimizer.register_load_state_dict_pre_hook(lambda opt, state: said.append(state["more"]))
        optimizer.register_load_state_dict_post_hook(lambda opt: said.append("behind"))
        optimizer.load_state_dict(optimizer.state_dict())
        assert said == ["before", 1, "behind"]

    def test_they_are_not_lost_by_a_copy(self):
        optimizer = gs.optim.SGD([gs.ones(1, requires_grad=True)])
        optimizer.register_step_post_hook(print)
        assert len(copy.deepcopy(optimizer)._hooks[1]) == 1


def test_named_parameters():
    net = nn.Linear(2, 1)
    optimizer = gs.optim.Adam(net.named_parameters(), lr=0.1)
    assert optimizer.param_groups[0]["param_names"] == ["weight", "bias"]
    assert optimizer.state_dict()["param_groups"][0]["param_names"] == ["weight", "bias"]
    net(gs.ones((1, 2))).sum().backward()
    optimizer.step()
    with pytest.raises(ValueError, match="with/without names"):
        optimizer.add_param_group({"params": [gs.ones(1, requires_grad=True)]})
    with pytest.raises(ValueError, match="with names of their own, or none"):
        gs.optim.SGD([("a", gs.ones(1, requires_grad=True)), gs.ones(1, requires_grad=True)])


# Schedules.

SCHEDULES = [
    ("LambdaLR", {"lr_lambda": lambda step: 0.9**step}), ("MultiplicativeLR", {"lr_lambda": lambda step: 0.9 + step / 1000}),
    ("StepLR", {"step_size": 3, "gamma": 0.5}), ("MultiStepLR", {"milestones": [4, 2, 4, 15]}), ("ConstantLR", {"factor": 0.3, "total_iters": 4}),
    ("LinearLR", {"start_factor": 0.2, "end_factor": 0.8, "total_iters": 7}), ("ExponentialLR", {"gamma": 0.9}),
    ("PolynomialLR", {"total_iters": 9, "power": 2.0}), ("CosineAnnealingLR", {"T_max": 6, "eta_min": 0.01}),
    ("CosineAnnealingWarmRestarts", {"T_0": 4}), ("CosineAnnealingWarmRestarts", {"T_0": 3, "T_mult": 2, "eta_min": 0.1}),
    ("CyclicLR", {"base_lr": 0.1, "max_lr": 1.0, "step_size_up": 3}),
    ("CyclicLR", {"base_lr": 0.1, "max_lr": [1.0, 2.0], "step_size_up": 3, "step_size_down": 5, "mode": "triangular2", "cycle_momentum": False}),
    ("CyclicLR", {"base_lr": 0.1, "max_lr": 1.0, "step_size_up": 3, "mode": "exp_range", "gamma": 0.95}),
    ("CyclicLR", {"base_lr": 0.1, "max_lr": 1.0, "step_size_up": 3, "scale_fn": lambda x: 1 / x, "base_momentum": 0.5}),
    ("OneCycleLR", {"max_lr": 1.0, "total_steps": 25}), ("OneCycleLR", {"max_lr": [1.0, 2.0], "epochs": 5, "steps_per_epoch": 5, "three_phase": True}),
    ("OneCycleLR", {"max_lr": 1.0, "total_steps": 25, "anneal_strategy": "linear", "cycle_momentum": False}),
    ("SWALR", {"swa_lr": 0.3, "anneal_epochs": 5}), ("SWALR", {"swa_lr": [0.3, 0.4], "anneal_epochs": 0, "anneal_strategy": "linear"}),
]  # fmt: skip


def optimizer_of(library, name="SGD", **options):
    params = [library.tensor([1.0], requires_grad=True) for _ in range(2)]
    return getattr(library.optim, name)([{"params": params[:1]}, {"params": params[1:], "lr": 2.0}], lr=1.0, **options)


def schedule_of(library, name, optimizer, options):
    home = library.optim.swa_utils if name == "SWALR" else library.optim.lr_scheduler
    if library is not gs:
        pytest.importorskip("torch.optim.swa_utils", reason=TORCH)
    return getattr(home, name)(optimizer, **options)


def rates(optimizer, scheduler, count):
    found = []
    for _ in range(count):
        found.append([(group["lr"], group.get("momentum"), group.get("betas")) for group in optimizer.param_groups])
        assert scheduler.get_last_lr() == [group["lr"] for group in optimizer.param_groups]
        optimizer.step()
        scheduler.step()
    return found


def same(found, wanted):
    for mine, theirs in zip(found, wanted, strict=True):
        for (lr, momentum, betas), (their_lr, their_momentum, their_betas) in zip(mine, theirs, strict=True):
            np.testing.assert_allclose(lr, their_lr, rtol=1e-11, atol=1e-15)
            assert (momentum is None) == (their_momentum is None) and (betas is None) == (their_betas is None)
            np.testing.assert_allclose([momentum or 0, *(betas or ())], [their_momentum or 0, *(their_betas or ())], rtol=1e-12)


@each(("name", "options"), SCHEDULES)
def test_schedules_are_pytorchs(torch, name, options):
    optimizers = optimizer_of(gs, momentum=0.9), optimizer_of(torch, momentum=0.9)
    found, wanted = (rates(optimizer, schedule_of(library, name, optimizer, options), 24) for library, optimizer in zip((gs, torch), optimizers))
    same(found, wanted)


@each("name", ["CyclicLR", "OneCycleLR"])
def test_schedules_move_the_first_beta(torch, name):
    options = {"max_lr": 1.0, "total_steps": 20} if name == "OneCycleLR" else {"base_lr": 0.1, "max_lr": 1.0, "step_size_up": 4}
    optimizers = optimizer_of(gs, "Adam"), optimizer_of(torch, "Adam")
    found, wanted = (rates(optimizer, schedule_of(library, name, optimizer, options), 19) for library, optimizer in zip((gs, torch), optimizers))
    same(found, wanted)
    with pytest.raises(ValueError, match="must support momentum or beta1"):
        schedule_of(gs, name, gs.optim.Adagrad([gs.ones(1, requires_grad=True)]), options)


@each(("name", "options"), [case for case in SCHEDULES if case[0] != "SWALR"])
def test_a_schedule_continues_from_its_state(name, options):
    def run(restart):
        optimizer = optimizer_of(gs, momentum=0.9)
        scheduler = schedule_of(gs, name, optimizer, options)
        found = rates(optimizer, scheduler, 5)
        if restart:
            state, groups = scheduler.state_dict(), optimizer.state_dict()
            assert "optimizer" not in state and pickle.dumps({key: value for key, value in state.items() if key != "lr_lambdas"})
            optimizer = optimizer_of(gs, momentum=0.9)
            scheduler = schedule_of(gs, name, optimizer, options)
            optimizer.load_state_dict(groups) if name not in ("CyclicLR", "OneCycleLR") else [
                group.update(saved, params=group["params"]) for group, saved in zip(optimizer.param_groups, groups["param_groups"])]
            scheduler.load_state_dict(state)
        return found + rates(optimizer, scheduler, 10)

    assert run(True) == run(False)


def test_schedules_on_one_optimizer_multiply(torch):
    def run(library):
        optimizer = optimizer_of(library)
        of = library.optim.lr_scheduler
        schedulers = [of.ExponentialLR(optimizer, 0.9), of.StepLR(optimizer, 3), of.ConstantLR(optimizer, 0.5, 4), of.CosineAnnealingLR(optimizer, 8)]
        found = []
        for _ in range(12):
            optimizer.step()
            for scheduler in schedulers:
                scheduler.step()
            found.append([group["lr"] for group in optimizer.param_groups])
        return found

    np.testing.assert_allclose(run(gs), run(torch), rtol=1e-12, atol=1e-15)


def sequence(library, optimizer):
    of = library.optim.lr_scheduler
    parts = [of.LinearLR(optimizer, 0.1, total_iters=4), of.CosineAnnealingLR(optimizer, 6), of.ExponentialLR(optimizer, 0.9)]
    return of.SequentialLR(optimizer, parts, [4, 10])


def chain(library, optimizer):
    of = library.optim.lr_scheduler
    return of.ChainedScheduler([of.ConstantLR(optimizer, 0.1, 3), of.ExponentialLR(optimizer, 0.9)])


@each("build", [sequence, chain])
def test_schedules_of_schedules_are_pytorchs(torch, build):
    optimizers = optimizer_of(gs), optimizer_of(torch)
    found, wanted = (rates(optimizer, build(library, optimizer), 16) for library, optimizer in zip((gs, torch), optimizers))
    same(found, wanted)
    optimizer = optimizer_of(gs)
    scheduler = build(gs, optimizer)
    begun = rates(optimizer, scheduler, 7)
    state, again = scheduler.state_dict(), optimizer_of(gs)
    other = build(gs, again)
    again.load_state_dict(optimizer.state_dict())
    other.load_state_dict(copy.deepcopy(state))
    same(begun + rates(again, other, 9), wanted)


def test_schedules_refuse_what_makes_no_sense():
    of, optimizer = gs.optim.lr_scheduler, optimizer_of(gs)
    other = of.ExponentialLR(optimizer_of(gs), 0.9)
    mine = of.ExponentialLR(optimizer, 0.9)
    for call, error, words in (
        (lambda: of.SequentialLR(optimizer, [mine, other], [3]), ValueError, "expects all schedulers to belong to the same optimizer"),
        (lambda: of.SequentialLR(optimizer, [mine, mine], []), ValueError, "one more than the number of milestone points"),
        (lambda: of.ChainedScheduler([]), ValueError, "expects at least one scheduler"),
        (lambda: of.ChainedScheduler([of.ReduceLROnPlateau(optimizer)]), ValueError, "does not support `ReduceLROnPlateau`"),
        (lambda: of.LambdaLR(optimizer, [abs]), ValueError, "Expected 2 lr_lambdas, but got 1"),
        (lambda: of.ExponentialLR(3, 0.9), TypeError, "int is not an Optimizer"),
        (lambda: of.StepLR(optimizer_of(gs), 3, last_epoch=4), KeyError, "param 'initial_lr' is not specified in param_groups"),
        (lambda: of.LinearLR(optimizer, 0.0), ValueError, "Starting multiplicative factor"),
        (lambda: of.CosineAnnealingWarmRestarts(optimizer, 0), ValueError, "Expected positive integer T_0"),
        (lambda: of.OneCycleLR(optimizer, 1.0), ValueError, "You must define either total_steps OR"),
        (lambda: of.CyclicLR(optimizer, 0.1, [1.0]), ValueError, "Expected 2 values for max_lr, but got 1"),
        (lambda: of.CyclicLR(3, 0.1, 1.0), TypeError, "int is not an Optimizer"),
        (lambda: of.CyclicLR(optimizer, 0.1, 1.0, mode="square"), ValueError, "mode is invalid and scale_fn is None"),
        (lambda: of.OneCycleLR(3, 1.0, 5), TypeError, "int is not an Optimizer"),
        (lambda: of.OneCycleLR(optimizer, 1.0, 0), ValueError, "Expected positive integer total_steps, but got 0"),
        (lambda: of.OneCycleLR(optimizer, 1.0, 5, pct_start=1.01), ValueError, "Expected float between 0 and 1 pct_start"),
        (lambda: of.OneCycleLR(optimizer, 1.0, 5, anneal_strategy="step"), ValueError, "must be one of 'cos' or 'linear', instead got step"),
        (lambda: [cycle.step() for cycle in [of.OneCycleLR(optimizer_of(gs), 1.0, 3)] for _ in range(4)], ValueError,
         "Tried to step 4 times. The specified number of total steps is 3"),
        (lambda: of.CosineAnnealingWarmRestarts(optimizer, 3, 0), ValueError, "Expected integer T_mult >= 1, but got 0"),
        (lambda: of.CosineAnnealingWarmRestarts(optimizer, 3).step(-1), ValueError, "Expected non-negative epoch, but got -1"),
        (lambda: of.ConstantLR(optimizer, 1.01), ValueError, "Constant multiplicative factor"),
        (lambda: of.LinearLR(optimizer, 0.5, 1.01), ValueError, "Ending multiplicative factor"),
        (lambda: of.ReduceLROnPlateau(optimizer, factor=1.0), ValueError, "Factor should be < 1.0"),
        (lambda: of.ReduceLROnPlateau(optimizer, "least"), ValueError, "mode must be 'min' or 'max', threshold_mode"),
        (lambda: of.ReduceLROnPlateau(optimizer, threshold_mode="x"), ValueError, "got 'min' and 'x'"),
        (lambda: of.ReduceLROnPlateau(3), TypeError, "int is not an Optimizer"),
        (lambda: of.ReduceLROnPlateau(optimizer, min_lr=[0.1]), ValueError, "expected 2 min_lrs, got 1"),
        (lambda: of.LRScheduler(optimizer), NotImplementedError, "LRScheduler has no get_lr"),
        (lambda: gs.optim.swa_utils.SWALR(optimizer, 0.1, 5, "step"), ValueError, "must be one of 'cos' or 'linear', instead got step"),
        (lambda: gs.optim.swa_utils.SWALR(optimizer, 0.1, -1), ValueError, "anneal_epochs must be equal or greater than 0, got -1"),
        (lambda: gs.optim.swa_utils.AveragedModel(gs.nn.Linear(1, 1), None, abs, abs), AssertionError, "Only one of avg_fn and multi"),
        (lambda: optimizer.add_param_group([1]), TypeError, "param_group must be a dict, got list"),
        (lambda: gs.optim.Optimizer([gs.ones(1, requires_grad=True)], {}).update(None, None, {}, {}), NotImplementedError, "has no update"),
    ):
        with pytest.raises(error, match=words):
            call()


@each(("name", "options"), [case for case in SCHEDULES if case[0] not in ("SWALR", "MultiplicativeLR", "CosineAnnealingWarmRestarts")])
def test_the_rate_after_a_number_of_steps_is_that_of_so_many_steps(name, options):
    optimizer = optimizer_of(gs, momentum=0.9)
    wanted = rates(optimizer, schedule_of(gs, name, optimizer, options), 20)
    for count in (0, 1, 3, 4, 6, 7, 12, 19):
        optimizer = optimizer_of(gs, momentum=0.9)
        schedule_of(gs, name, optimizer, options).step(count)
        np.testing.assert_allclose([group["lr"] for group in optimizer.param_groups], [lr for lr, *_ in wanted[count]], rtol=1e-12, atol=1e-15)


@each("options", [{"T_0": 4}, {"T_0": 3, "T_mult": 2}, {"T_0": 2, "T_mult": 3, "eta_min": 0.1}])
def test_warm_restarts_go_on_from_a_number_of_steps_and_parts_of_them(options):
    optimizer = optimizer_of(gs)
    wanted = rates(optimizer, schedule_of(gs, "CosineAnnealingWarmRestarts", optimizer, options), 30)
    begun, length = 0, options["T_0"]
    for count in range(25):
        optimizer = optimizer_of(gs)
        scheduler = schedule_of(gs, "CosineAnnealingWarmRestarts", optimizer, options)
        scheduler.step(count)
        same([[(group["lr"], 0, None) for group in optimizer.param_groups]], [wanted[count]])
        same(rates(optimizer, scheduler, 4), wanted[count : count + 4])  # and on as from there
        scheduler.step(count + 0.25)
        if count == begun + length:
            begun, length = count, length * options.get("T_mult", 1)
        least = options.get("eta_min", 0.0)
        now = least + (1 - least) * (1 + np.cos(np.pi * (count + 0.25 - begun) / length)) / 2
        assert scheduler.get_last_lr()[0] == pytest.approx(now) and scheduler.last_epoch == count


def test_a_rate_that_is_a_tensor_is_written_to():
    rate = gs.asarray(1.0)
    optimizer = gs.optim.SGD([gs.ones(1, requires_grad=True)], lr=rate)
    scheduler = gs.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    scheduler.step()
    assert optimizer.param_groups[0]["lr"] is rate and rate.item() == 0.5 and scheduler.get_last_lr() == [0.5]
    plateau = gs.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0)
    plateau.step(1.0)
    state = plateau.state_dict()
    plateau.step(1.0)
    assert rate.item() == pytest.approx(0.05)
    plateau.load_state_dict(state)
    assert plateau.best == 1.0 and plateau.last_epoch == 1 and plateau.num_bad_epochs == 0


@each("cooldown, falls", [(0, (4, 7, 10, 13)), (1, (4, 8, 12)), (2, (4, 9, 14))])
def test_a_plateau_waits_for_its_patience_and_cools_down(cooldown, falls):
    optimizer = optimizer_of(gs)
    scheduler = gs.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=2, cooldown=cooldown, factor=0.5)
    for step in range(1, 15):
        scheduler.step(1.0)
        assert optimizer.param_groups[0]["lr"] == 0.5 ** sum(fall <= step for fall in falls)


def test_a_sequence_of_one_is_that_one():
    of, optimizer = gs.optim.lr_scheduler, optimizer_of(gs)
    alone = rates(optimizer, of.ExponentialLR(optimizer, 0.5), 4)
    optimizer = optimizer_of(gs)
    same(rates(optimizer, of.SequentialLR(optimizer, [of.ExponentialLR(optimizer, 0.5)], []), 4), alone)


def test_a_hook_gives_another_closure():
    x = gs.ones(1, requires_grad=True)
    optimizer = gs.optim.SGD([x], lr=0.1)
    for answer in (((lambda: "by place",), {}), ((), {"closure": lambda: "by name"}), None):
        handle = optimizer.register_step_pre_hook(lambda *_: answer)  # noqa: B023
        found = optimizer.step(lambda: "mine")
        assert found == ("mine" if answer is None else "by place" if answer[0] else "by name")
        handle.remove()
    optimizer.register_step_pre_hook(lambda *_: 3)
    with pytest.raises(RuntimeError, match="pre-hook must return None or a tuple of .new_args, new_kwargs., but got 3"):
        optimizer.step()


def test_averages_of_lists():
    averages, now = [gs.asarray([1.0, 2.0]), gs.asarray(4.0)], [gs.asarray([3.0, 6.0]), gs.asarray(0.0)]
    gs.optim.swa_utils.get_swa_multi_avg_fn()(averages, now, gs.asarray(3))
    assert [average.tolist() for average in averages] == [[1.5, 3.0], 3.0]
    gs.optim.swa_utils.update_bn([gs.ones((2, 1))], model := gs.nn.Linear(1, 1))  # which has no statistics
    assert model.training


def test_a_schedule_of_ones_own():
    class Halved(gs.optim.lr_scheduler.LRScheduler):
        def get_lr(self):
            return [base * 0.5**self.last_epoch for base in self.base_lrs]

    optimizer = optimizer_of(gs)
    scheduler = Halved(optimizer)
    scheduler.step()
    assert scheduler.get_last_lr() == [0.5, 1.0] and scheduler.base_lrs == [1.0, 2.0]


# Averages of models.


@each("average", ["swa", "ema"])
@each("use_buffers", [False, True])
def test_averaged_models_are_pytorchs(torch, average, use_buffers):
    from torch.optim import swa_utils as theirs_of

    from gradspec.optim import swa_utils

    there, here = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3)).double(), nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    here.load_state_dict(there.state_dict())
    found = []
    for library, of, net in ((gs, swa_utils, here), (torch, theirs_of, there)):
        options = {"multi_avg_fn": of.get_ema_multi_avg_fn(0.7)} if average == "ema" else {}
        mean = of.AveragedModel(net, use_buffers=use_buffers, **options)
        rng = np.random.default_rng(0)
        for _ in range(4):
            with library.no_grad():
                for value in net.parameters():
                    value += library.tensor(rng.normal(size=tuple(value.shape)))
            net(library.tensor(rng.normal(size=(5, 2))))
            mean.update_parameters(net)
        batches = [(library.tensor(rng.normal(size=(5, 2))), 1) for _ in range(3)]
        found.append({key: np.array(value.detach()) for key, value in mean.state_dict().items()})
        of.update_bn(batches, mean)
        found[-1] |= {f"{key} anew": np.array(value.detach()) for key, value in mean.state_dict().items()}
        assert mean(batches[0][0]).shape == (5, 3) and mean.module[1].momentum == 0.1
    assert found[0].keys() == found[1].keys()
    for key, value in found[1].items():
        np.testing.assert_allclose(found[0][key], value, rtol=1e-12, err_msg=key)


def test_an_average_of_ones_own():
    net = nn.Linear(1, 1, bias=False)
    mean = gs.optim.swa_utils.AveragedModel(net, avg_fn=lambda average, current, count: gs.maximum(average, current))
    for value in (1.0, 3.0, 2.0):
        with gs.no_grad():
            net.weight.fill_(value)
        mean.update_parameters(net)
    assert mean.module.weight.item() == 3.0 and mean.n_averaged.item() == 3
    with pytest.raises(ValueError, match="Invalid decay value 2"):
        gs.optim.swa_utils.get_ema_avg_fn(2)
