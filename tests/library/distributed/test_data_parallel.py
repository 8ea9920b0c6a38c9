"""Training on many ranks: threads with a communicator of the tests, and MPI's where it is installed."""

import os
import subprocess
import sys

import numpy as np
import pytest

import gradspec as gs
from gradspec import nn
from gradspec.distributed import DistributedDataParallel, Join, ZeroRedundancyOptimizer
from gradspec.distributed.buckets import buckets_of
from tests.asked import each
from tests.runtime.ranks import Net, X, Y, made, on_threads, train, train_normalised


@each("count", [1, 2, 4])
def test_a_run_on_some_ranks_is_that_of_one_process(count):
    wanted, params, _ = train()
    for zero, accumulate in ((False, 1), (True, 1), (False, 3), (True, 3)):
        for losses, found, _ in on_threads(count, lambda comm: train(comm, zero=zero, accumulate=accumulate)):
            np.testing.assert_allclose(losses, wanted, rtol=1e-6)
            for a, b in zip(found, params):
                np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-7)  # one parameter is single


@each(("count", "size"), [(2, (12, 3)), (4, (12, 3, 2)), (3, (9, 3, 2, 2))])
def test_batch_norm_of_all_ranks_is_that_of_the_whole_batch(count, size):
    """Outputs, both orders of gradients, running statistics, of shards of different lengths; evaluation asks nobody."""
    rng = np.random.default_rng(0)
    x, factors = rng.normal(size=size) * 3 + 1, rng.normal(size=size)
    cuts = np.cumsum(np.arange(1, count))

    def work(layer, x, factors, comm=None):
        x, found = gs.tensor(x, requires_grad=True), []
        for _ in range(2):
            layer.zero_grad()
            y = layer(x)
            (slope,) = gs.autograd.grad((y.sin() * factors).sum(), x, create_graph=True)
            (slope * factors).sum().backward()
            found += [y, slope, x.grad.clone()]
            total = [p.grad if comm is None else np.sum(comm.allgather(np.asarray(p.grad)), axis=0) for p in layer.parameters()]
            x.grad = None
        calls = None if comm is None else len(comm.calls)
        found.append(layer.eval()(x))
        assert comm is None or len(comm.calls) == calls
        return [np.asarray(item.detach()) for item in found], [np.asarray(item) for item in (*total, *layer.buffers())]

    kind = {2: nn.BatchNorm1d, 3: nn.BatchNorm1d, 4: nn.BatchNorm2d}[len(size)]
    for momentum in (0.3, None):
        split, whole = work(kind(3, momentum=momentum), x, factors)
        net = nn.Sequential(kind(3, momentum=momentum))
        parts = on_threads(count, lambda comm: work(gs.distributed.SyncBatchNorm.convert_sync_batchnorm(gs.nn.Sequential(kind(3, momentum=momentum)), comm)[0],
                                                   np.split(x, cuts)[comm.Get_rank()], np.split(factors, cuts)[comm.Get_rank()], comm))  # fmt: skip
        assert list(net.state_dict()) == [f"0.{name}" for name in kind(3).state_dict()]
        for number, wanted in enumerate(split):
            np.testing.assert_allclose(np.concatenate([own[number] for own, _ in parts]), wanted, rtol=1e-9, atol=1e-11, err_msg=str(number))
        for _, found in parts:
            for item, wanted in zip(found, whole, strict=True):
                np.testing.assert_allclose(item, wanted, rtol=1e-9, atol=1e-11)


def test_a_run_with_batch_norm_of_all_ranks_is_that_of_one_process():
    wanted = train_normalised()
    for found in on_threads(2, train_normalised):
        for item, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(item, other, rtol=1e-9)


def test_sums_begin_while_the_pass_goes_on():
    def work(comm):
        model, seen = DistributedDataParallel(Net(), comm, bucket_cap_mb=1e-6), []
        before = len(comm.calls)
        x = gs.asarray(X[:4])
        hidden = gs.tanh(model.module.first(x))
        hidden.register_hook(lambda grad: seen.append(comm.calls[before:].count("Iallreduce")))
        model.module.last(hidden * model.module.single).sum().backward()
        return seen, comm.calls[before:]

    for seen, calls in on_threads(2, work):
        assert seen == [2]  # those of `last`, before the pass has come to `first`
        assert calls == ["Iallreduce"] * 5


def test_buckets():
    kinds = [np.float64, np.float32, np.float64, np.float64, np.float16]
    params = [gs.zeros((n, 2), dtype=kind) for n, kind in enumerate(kinds, 1)]
    assert [bucket.numbers for bucket in buckets_of(params, 64 + 48)] == [[3, 2], [4], [1], [0]]
    assert [bucket.numbers for bucket in buckets_of(params, 64 + 47)] == [[3], [4], [2, 0], [1]]
    assert [bucket.send.dtype.name for bucket in buckets_of(params, 1e9)] == ["float32", "float64", "float32"]


def mean_over(comm, value):
    return np.mean(comm.allgather(np.asarray(value)), axis=0)


class Two(nn.Module):
    """Two branches, of which a call takes those that it names."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = (nn.Parameter(gs.ones(2)) for _ in range(3))

    def forward(self, x, names):
        return sum((getattr(self, name) * x).sum() for name in names) + (x * 0).sum()


def test_parameters_that_a_pass_leaves_out():
    def forgotten(comm):
        model = DistributedDataParallel(Two(), comm)
        with pytest.raises(RuntimeError, match="gave no gradient to b, c;.*find_unused_parameters=True"):
            model(gs.ones(2), "a").backward()
        model(gs.ones(2), "abc").backward()  # and goes on
        return model.module.b.grad.tolist()

    assert on_threads(2, forgotten) == [[1.0, 1.0]] * 2

    def allowed(comm):
        model = DistributedDataParallel(Two(), comm, find_unused_parameters=True)
        rank, found = comm.Get_rank(), []
        for names in ("ab", "a"), ("", "b"):
            x = gs.full((2,), rank + 1.0, requires_grad=True)
            model.zero_grad()
            model(x, names[rank]).backward()
            found.append([None if value.grad is None else value.grad.tolist() for value in model.parameters()])
        return found

    for found in on_threads(2, allowed):
        assert found == [[[1.5, 1.5], [0.5, 0.5], None], [None, [1.0, 1.0], None]]


def test_a_pass_that_fails_leaves_nothing_behind():
    def work(comm):
        model = DistributedDataParallel(Net(), comm, bucket_cap_mb=1e-6)
        x = gs.asarray(X[:4], dtype=float).requires_grad_()
        x.register_hook(lambda grad: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            model(x).sum().backward()
        model.zero_grad()
        scale = comm.Get_rank() + 1.0
        (model(gs.asarray(X[:4])).sum() * scale).backward()
        reference = Net()
        reference.load_state_dict(model.module.state_dict())
        reference(gs.asarray(X[:4])).sum().backward()
        for a, b in zip(model.parameters(), reference.parameters()):
            np.testing.assert_allclose(a.grad.numpy(), 1.5 * b.grad.numpy(), rtol=1e-6)

    on_threads(2, work)


def test_buffers_are_those_of_rank_0_and_gradients_are_added():
    def work(comm):
        gs.manual_seed(comm.Get_rank())
        model = DistributedDataParallel(nn.Sequential(nn.BatchNorm1d(4), nn.Linear(4, 1)), comm)
        rng = np.random.default_rng(comm.Get_rank())
        for _ in range(2):
            model(gs.asarray(rng.normal(size=(6, 4)))).sum().backward()  # adds to the mean of the first pass
        buffers = {name: value.numpy().copy() for name, value in model.module.named_buffers()}
        model(gs.asarray(rng.normal(size=(6, 4))))
        model.eval()
        calls = len(comm.calls)
        model(gs.asarray(X[:2]))
        assert len(comm.calls) == calls
        keys = list(model.state_dict())
        return buffers, [param.grad.tolist() for param in model.parameters()], keys

    (ours, grads, keys), (theirs, others, _) = on_threads(2, work)
    assert grads == others and keys[0] == "module.0.weight"
    assert ours["0.num_batches_tracked"] == 2
    assert not np.allclose(ours["0.running_mean"], theirs["0.running_mean"])  # the last forward is each rank's own


@pytest.mark.filterwarnings("ignore:Using backward")
def test_what_is_refused():
    def differ(comm):
        with pytest.raises(RuntimeError, match="the modules of rank . and rank . differ, first at 'weight'"):
            DistributedDataParallel(nn.Linear(2, 1 + comm.Get_rank()), comm)
        with pytest.raises(RuntimeError, match="doesn't have any parameter that requires a gradient"):
            DistributedDataParallel(nn.ReLU(), comm)
        model = DistributedDataParallel(nn.Linear(2, 1), comm)
        with pytest.raises(RuntimeError, match=r"backward\(create_graph=True\) is not possible"):
            (model(gs.ones((1, 2))) ** 2).sum().backward(create_graph=True)
        with pytest.raises(TypeError, match="a step of LBFGS needs all parameters at once"):
            ZeroRedundancyOptimizer(model.parameters(), gs.optim.LBFGS, comm)
        with pytest.raises(RuntimeError, match=r"has not been consolidated on this rank"):
            ZeroRedundancyOptimizer(model.parameters(), gs.optim.SGD, comm).state_dict()
        with pytest.raises(ValueError, match="Invalid learning rate"):
            ZeroRedundancyOptimizer(model.parameters(), gs.optim.Adam, comm, lr=-1.0)

    on_threads(2, differ)


@each("zero", [False, True])
def test_uneven_inputs(zero):
    """Rank 0 has one batch, rank 1 has three: the gradients of those that have none count as zeros, or not at all."""
    counts = [1, 3, 2]
    for by_all in (True, False):

        def work(comm, by_all=by_all):
            model = DistributedDataParallel(made(), comm, bucket_cap_mb=1e-4)
            options = {"lr": 0.1, "momentum": 0.5}
            if zero:
                optimizer = ZeroRedundancyOptimizer(model.parameters(), gs.optim.SGD, comm, **options)
            else:
                optimizer = gs.optim.SGD(model.parameters(), **options)
            join = model.join(by_all)
            with Join([model, optimizer]) if zero else join:
                for i in range(counts[comm.Get_rank()]):
                    optimizer.zero_grad()
                    rows = [4 * i + comm.Get_rank()]
                    ((model(gs.asarray(X[rows])) - Y[rows]) ** 2).mean().backward()
                    optimizer.step()
            return [param.detach().numpy() for param in model.parameters()]

        net = made()
        optimizer = gs.optim.SGD(net.parameters(), lr=0.1, momentum=0.5)
        for i in range(3):
            rows = [4 * i + rank for rank in range(3) if i < counts[rank]]
            optimizer.zero_grad()
            (((net(gs.asarray(X[rows])) - Y[rows]) ** 2).sum() / (3 if by_all else len(rows))).backward()
            optimizer.step()
        for found in on_threads(3, work):
            for a, b in zip(found, net.parameters()):
                np.testing.assert_allclose(a, b.detach().numpy(), rtol=1e-6)


def test_early_termination():
    def work(comm):
        model = DistributedDataParallel(nn.Linear(4, 1), comm)
        with pytest.raises(RuntimeError, match="rank 0 exhausted all inputs"):
            with model.join(throw_on_early_termination=True):
                for _ in range(1 + comm.Get_rank()):
                    model(gs.asarray(X[:2])).sum().backward()
        with model.join(enable=False), pytest.raises(ValueError, match="nothing that talks"):
            Join([])
        return model._join

    assert on_threads(2, work) == [None, None]


def test_the_state_of_a_sharded_optimiser_is_that_of_a_whole_one():
    _, _, whole = train(steps=3)

    def work(comm):
        _, _, optimizer = train(comm, steps=3, zero=True)
        optimizer.consolidate_state_dict(to=1)
        found = optimizer.state_dict() if comm.Get_rank() == 1 else None
        again = ZeroRedundancyOptimizer([gs.zeros_like(p).requires_grad_() for p in optimizer.param_groups[0]["params"]],
                                        gs.optim.Adam, comm, lr=1.0)  # fmt: skip
        again.load_state_dict(whole.state_dict())
        assert again.optim.param_groups[0]["lr"] == again.param_groups[0]["lr"] == 0.05
        held = sum(value.size for state in again.optim.state.values() for value in state.values())
        again.consolidate_state_dict(1)
        return found, again.state_dict() if comm.Get_rank() == 1 else None, held

    (_, _, first), (found, again, second) = on_threads(2, work)
    wanted = whole.state_dict()
    assert 0.4 < first / (first + second) < 0.6
    for state in (found, again):
        assert state["param_groups"] == wanted["param_groups"] and list(state["state"]) == list(wanted["state"])
        for number, values in wanted["state"].items():
            for name, value in values.items():
                np.testing.assert_allclose(state["state"][number][name].numpy(), value.numpy(), rtol=2e-5, atol=1e-9)


def test_groups_and_schedules_of_a_sharded_optimiser():
    def work(comm):
        params = [gs.full((2,), float(i), requires_grad=True) for i in range(4)]
        optimizer = ZeroRedundancyOptimizer([("a", params[0]), ("b", params[1])], gs.optim.SGD, comm, lr=1.0)
        optimizer.add_param_group({"params": [("c", params[2]), ("d", params[3])], "lr": 0.5})
        schedule = gs.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
        for _ in range(2):
            for param in params:
                param.grad = gs.ones(2)
            optimizer.step()
            schedule.step()
        return [param.tolist() for param in params]

    for found in on_threads(2, work):
        assert found == [[-1.5, -1.5], [-0.5, -0.5], [1.25, 1.25], [2.25, 2.25]]


def run(count, *arguments):
    pytest.importorskip("mpi4py", reason="runs on MPI's ranks, and mpi4py is not installed")
    from tests.runtime.ranks import mpiexec

    environment = {**os.environ, "PYTHONPATH": os.getcwd(), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [*mpiexec(count), sys.executable, "-m", "mpi4py", "-m", "tests.runtime.ranks", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, env=environment)


@pytest.mark.parametrize("count", [2, 4])
def test_ranks_of_mpi(count):
    done = run(count)
    assert done.returncode == 0 and done.stdout == "equal\n", done.stderr


def test_a_rank_of_mpi_that_ends_ends_all():
    done = run(2, "raise")
    assert done.returncode != 0 and "ArithmeticError: rank 1 has had enough" in done.stderr
    assert run(2, "die").returncode != 0
