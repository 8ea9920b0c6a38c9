"""A training step as a program: run again it goes on as the step itself does, so nothing that a step changes is a number in it."""

from copy import deepcopy

import numpy as np
import pytest

import gradspec as gs
from gradspec.compiler.tracing.traced import same_bits
from gradspec.compiler.tracing.values import held
from gradspec.support.pytree import flatten

from .test_optim import CASES

ROWS = np.random.default_rng(1).normal(size=(4, 6, 3))


def leaves(tree):
    return [held(leaf) for leaf in flatten(tree)[0]]


def agree(found, wanted):
    return all(same_bits(one, other) for one, other in zip(leaves(found), leaves(wanted), strict=True))


@pytest.mark.parametrize(("name", "options"), CASES)
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_each_optimiser(name, options, dtype):
    rng = np.random.default_rng(0)
    params = [gs.tensor(np.asarray(rng.normal(size=shape), dtype), requires_grad=True) for shape in [(3, 2), (2,), ()]]
    optimizer = getattr(gs.optim, name)(params, **options)

    def step(params, state, x):
        w, b, scale = params
        optimizer.zero_grad()
        loss = (gs.abs(x @ w + b) ** 2).mean() * gs.abs(scale)
        loss.backward()
        optimizer.step()
        return loss.detach()

    def state():
        return [optimizer.state[param] for param in params]

    x = ROWS.astype("float32" if dtype == "float32" else float)
    step(params, None, x[0])  # makes the state
    memory = deepcopy([(param.detach(), own) for param, own in zip(params, state())])
    again = [param for param, _ in memory], [own for _, own in memory]
    taken = gs.trace(step, params, state(), x[1])
    assert taken.notes == []
    for number in (1, 2, 3):
        loss = taken.run(*again, x[number])
        if number > 1:
            wanted = step(params, None, x[number])
            assert same_bits(held(loss), held(wanted))
        assert agree(again, ([param.detach() for param in params], state()))
    counts = [own["step"].item() for own in again[1] if "step" in own]
    assert counts in ([], [4.0, 4.0, 4.0])


def test_a_schedule_writes_a_python_number():
    """The learning rate is a number of the group, and so of the program."""
    w = gs.tensor([1.0], requires_grad=True)
    optimizer = gs.optim.SGD([w], lr=0.5)

    def step(w):
        w.grad = gs.tensor([1.0])
        optimizer.step()

    taken = gs.trace(step, w)
    optimizer.param_groups[0]["lr"] = 0.25
    again = np.array([1.0])
    taken.run(again)
    assert again.tolist() == [0.5] and w.tolist() == [0.5]


@pytest.mark.parametrize("norm_type", [2.0, 1.0, np.inf])
def test_gradients_are_limited_by_their_own_norm(norm_type):
    w = gs.tensor([3.0, 4.0], requires_grad=True)

    def step(w_, x):
        w.grad = None
        (w * x).sum().backward()
        norm = gs.clip_grad_norm_([w], 1.0, norm_type)
        gs.clip_grad_value_([w], 0.7)
        return norm, w.grad

    taken = gs.trace(step, w, np.array([3.0, 4.0]))
    assert taken.notes == []
    for x in ([3.0, 4.0], [0.1, 0.2], [-5.0, 12.0], [np.nan, 1.0]):
        assert agree(taken.run(w, np.array(x)), step(w, np.array(x)))
    assert step(w, np.array([0.1, 0.2]))[1].tolist() == [0.1, 0.2]


# Random numbers.


DRAWS = {
    "dropout": lambda x, **given: gs.nn.dropout(x, 0.5, training=True, **given),
    "dropout1d": lambda x, **given: gs.nn.dropout1d(x, 0.5, training=True, **given),
    "alpha_dropout": lambda x, **given: gs.nn.alpha_dropout(x, 0.5, training=True, **given),
    "feature_alpha_dropout": lambda x, **given: gs.nn.feature_alpha_dropout(x, 0.5, training=True, **given),
    "rrelu": lambda x, **given: gs.nn.rrelu(x, training=True, **given),
    "gumbel_softmax": lambda x, **given: gs.nn.gumbel_softmax(x, **given),
    "gumbel_softmax hard": lambda x, **given: gs.nn.gumbel_softmax(x, hard=True, **given),
    "normal": lambda x, **given: x + gs.random.normal(0.0, 1.0, x.shape, **given),
    "gamma": lambda x, **given: gs.random.standard_gamma(gs.abs(x) + 1, **given),
    "permutation": lambda x, **given: gs.random.permutation(x, **given),
    "bernoulli_": lambda x, **given: gs.zeros(x.shape).bernoulli_(0.5, **given) * x,
}  # fmt: skip


def twice(draw, **given):
    """A function that draws twice, and a step of training with it."""
    def f(x):
        w = gs.ones_like(x).requires_grad_()
        y = draw(x * w, **given) * 1.0
        if y.requires_grad:
            y.sum().backward()
        return y.detach(), draw(x, **given).detach(), w.grad

    return f


@pytest.mark.parametrize("name", DRAWS)
def test_draws_of_the_default_generator_are_drawn_anew(name):
    x = np.random.default_rng(2).normal(size=(5, 7))
    f = twice(DRAWS[name])
    taken = gs.trace(f, x)
    gs.manual_seed(3)
    found = [taken.run(x) for _ in range(3)]
    gs.manual_seed(3)
    wanted = [f(x) for _ in range(3)]
    assert agree(found, wanted)
    assert not same_bits(held(found[0][0]), held(found[1][0])) and [source.name for source in taken.sources] == ["generator"]


@pytest.mark.parametrize("name", DRAWS)
def test_draws_take_the_generator_that_the_program_is_given(name):
    x = np.random.default_rng(2).normal(size=(5, 7))
    rng = np.random.default_rng(5)
    taken = gs.trace(twice(DRAWS[name], generator=rng), x)
    again = np.random.default_rng(6)
    found = [taken.run(x, generator=again) for _ in range(3)]
    f = twice(DRAWS[name], generator=np.random.default_rng(6))
    assert agree(found, [f(x) for _ in range(3)])


# Buffers.


@pytest.mark.parametrize("kind", ["batch_norm", "instance_norm"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("buffers", [gs.asarray, np.asarray])
def test_running_statistics_move_again(kind, dtype, buffers):
    x = np.random.default_rng(0).normal(size=(3, 5, 2, 4)).astype(dtype)
    mean, var = buffers(np.zeros(2, dtype)), buffers(np.ones(2, dtype))
    w = gs.tensor(np.ones(2, dtype), requires_grad=True)

    def f(x, w, mean, var):
        y = getattr(gs.nn, kind)(x, mean, var, w, None, True)
        return gs.autograd.grad((y**3).sum(), w)

    again = deepcopy((mean, var))
    taken = gs.trace(lambda x, w, mean, var: f(x, w, mean, var), x[0].reshape(5, 2, 4), w, mean, var)
    assert taken.notes == []
    for number, batch in enumerate(x):
        batch = batch.reshape(5, 2, 4)
        found = taken.run(batch, w.detach().requires_grad_(), *again)
        if number:
            assert agree(found, f(batch, w, mean, var))
        assert agree(again, (mean, var))


def test_batches_come_from_pytorchs_loader():
    torch = pytest.importorskip("torch", reason="takes batches of PyTorch's loader, and PyTorch is not installed")
    rng = np.random.default_rng(0)
    rows = [(rng.normal(size=2), np.float64(i)) for i in range(10)]
    loader = torch.utils.data.DataLoader(rows, batch_size=4, collate_fn=lambda examples: [np.stack(column) for column in zip(*examples)])
    net, seen = gs.nn.Linear(2, 1), []
    for batch, number in loader:
        net(gs.asarray(batch)).sum().backward()
        seen += number.tolist()
    assert seen == list(range(10)) and net.bias.grad.item() == 10.0


SCHEDULES = {
    "cosine": lambda o, s: s.CosineAnnealingLR(o, 20), "cycle": lambda o, s: s.CyclicLR(o, 1e-3, 1e-2, 3, cycle_momentum=False),
    "one cycle": lambda o, s: s.OneCycleLR(o, 0.1, total_steps=30, cycle_momentum=False), "lambda": lambda o, s: s.LambdaLR(o, lambda n: 0.9**n),
    "sequence": lambda o, s: s.SequentialLR(o, [s.LinearLR(o, 0.1, 1.0, 5), s.ExponentialLR(o, 0.9)], [5]), "step": lambda o, s: s.StepLR(o, 3),
    "chained": lambda o, s: s.ChainedScheduler([s.ConstantLR(o, 0.5, 3), s.ExponentialLR(o, 0.9)]),
    "plateau": lambda o, s: s.ReduceLROnPlateau(o, patience=0, threshold=10.0), "averages": lambda o, s: gs.optim.swa_utils.SWALR(o, 0.05, anneal_epochs=5),
}  # fmt: skip


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_compiled_step_reads_the_rate_that_a_schedule_writes(name):
    """Module, loss, clipping and Adam as one recording: bit for bit the eager step, whose rate is a Python number."""

    def made(rate):
        gs.manual_seed(0)
        net = gs.nn.Sequential(gs.nn.Linear(3, 5), gs.nn.BatchNorm1d(5), gs.nn.Tanh(), gs.nn.Linear(5, 2))
        optimizer = gs.optim.Adam(net.parameters(), lr=rate)

        def step(x, y):
            optimizer.zero_grad()
            loss = gs.nn.cross_entropy(net(x), y)
            loss.backward()
            gs.nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            optimizer.step()
            return loss

        return net, optimizer, SCHEDULES[name](optimizer, gs.optim.lr_scheduler), step

    (net, optimizer, schedule, step), (other, _, second, eager) = made(gs.tensor(0.01)), made(0.01)
    step, rates, rng = gs.compile(step, strict=True), set(), np.random.default_rng(0)
    for _ in range(20):
        x, y = rng.normal(size=(6, 3)), rng.integers(0, 2, 6)
        assert same_bits(held(step(x, y)), held(eager(gs.asarray(x), y)))
        schedule.step(*[1.0] * (name == "plateau")), second.step(*[1.0] * (name == "plateau"))
        assert schedule.get_last_lr() == second.get_last_lr() == [optimizer.param_groups[0]["lr"].item()]
        rates.add(schedule.get_last_lr()[0])
    assert len(rates) > 3 and step.program is not None and len(step.signatures) <= 3
    assert agree([*net.parameters(), *net.buffers()], [*other.parameters(), *other.buffers()])
    assert type(schedule.state_dict()["_last_lr"][0]) is float


def test_a_number_that_somebody_else_changes_is_named_and_ends_the_recordings():
    optimizer = gs.optim.SGD([gs.ones(2).requires_grad_()], lr=1.0)
    optimizer.param_groups[0]["params"][0].grad = gs.ones(2)
    step, calls = gs.compile(optimizer.step), 0
    with pytest.warns(RuntimeWarning, match=r"\.param_groups\[0\]\['lr'\] differs at each call, 0\.\d+ and then 0\.\d+; make it an argument, or a "
                                            r"tensor of shape \(\)"):  # fmt: skip
        while not step.shut:
            optimizer.param_groups[0]["lr"] *= 0.99
            step()
            calls += 1
    assert calls == 24
    before = optimizer.param_groups[0]["params"][0].tolist()
    step()
    assert before[0] - optimizer.param_groups[0]["params"][0].tolist()[0] == pytest.approx(0.99**24)
