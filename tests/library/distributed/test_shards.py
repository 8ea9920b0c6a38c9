"""Sums over shards: equal to one process for any engine, in one order of bits, and what happens when something fails."""

import operator
import os
import subprocess
import sys
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial, reduce

import numpy as np
import pytest

import gradspec as gs
from gradspec import nn
from gradspec.distributed import value_and_grad
from gradspec.func import functional_call
from tests.asked import each

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(37, 5)).astype(np.float32), RNG.normal(size=(37, 1)).astype(np.float32)
PARAMS = {"w": RNG.normal(size=(5, 1)).astype(np.float32), "more": [RNG.normal(size=1).astype(np.float32), 0.5]}
CAN_FORK = hasattr(os, "fork")


def loss(params, shard):
    x, y = shard
    return ((x @ params["w"] + params["more"][0] * params["more"][1] - y) ** 2).sum()


def shards(count):
    return list(zip(np.array_split(X, count), np.array_split(Y, count)))


class Backward(Executor):
    """Runs everything when the last task is in, the last one first."""

    def __init__(self, count):
        self.count, self.tasks, self.sizes = count, [], []

    def submit(self, function, /, *args, **kwargs):
        future = Future()
        self.tasks.append((future, partial(function, *args, **kwargs)))
        self.sizes.append(len(args[-1]))
        if len(self.tasks) == self.count:
            for waiting, run in reversed(self.tasks):
                try:
                    waiting.set_result(run())
                except Exception as error:
                    waiting.set_exception(error)
            self.tasks = []
        return future


def flat(found):
    value, grads = found
    return [np.asarray(value), np.asarray(grads["w"]), *map(np.asarray, grads["more"])]


def test_the_sum_is_that_of_one_process_to_the_bit_for_any_number_of_workers():
    wanted = gs.func.value_and_grad(loss)(PARAMS, (X, Y))
    for count in (1, 2, 3, 7, 8, 13):
        first = None
        for workers in (1, 2, 3, 5, 8, 13):
            executor = Backward(min(workers, count))
            found = flat(value_and_grad(loss, executor, workers=workers)(PARAMS, shards(count)))
            assert sum(executor.sizes) == count and max(executor.sizes) - min(executor.sizes) <= 1
            first = first or found
            for a, b, c in zip(found, first, flat(wanted)):
                assert a.dtype == c.dtype and a.shape == c.shape
                np.testing.assert_array_equal(a, b)
                np.testing.assert_allclose(a, c, rtol=2e-6)


def test_the_order_of_the_sum_is_a_binary_tree():
    terms = (RNG.normal(size=11) * 10.0 ** RNG.integers(-8, 8, 11)).tolist()
    t = terms
    tree = (((t[0] + t[1]) + (t[2] + t[3])) + ((t[4] + t[5]) + (t[6] + t[7]))) + ((t[8] + t[9]) + t[10])
    assert tree != reduce(operator.add, terms)  # the order shows
    value, _ = value_and_grad(lambda w, term: w * term, Backward(3), workers=3)(1.0, terms)
    assert value.item() == tree


def test_threads_and_modules():
    net = nn.Linear(5, 1, dtype=np.float32)
    params = {name: value.detach() for name, value in net.named_parameters()}

    def loss_of_net(params, shard):
        return ((functional_call(net, params, gs.asarray(shard[0])) - shard[1]) ** 2).sum()

    with ThreadPoolExecutor(3) as executor:
        step = value_and_grad(loss_of_net, executor)
        value, grads = step(params, iter(shards(4)))
        with gs.no_grad():  # parameters themselves, where nobody can wait for a graph
            again, _ = step(dict(net.named_parameters()), shards(4))
    whole = ((net(gs.asarray(X)) - Y) ** 2).sum()
    whole.backward()
    np.testing.assert_allclose(value.item(), whole.item(), rtol=1e-5)
    assert value.item() == again.item() and not value.requires_grad
    for name, param in net.named_parameters():
        np.testing.assert_allclose(grads[name].numpy(), param.grad.numpy(), rtol=1e-4)


def fails_at(number, params, shard):
    if shard == number:
        raise KeyError(f"no {number}")
    return params * shard


def dies_once(folder, params, shard):
    path = os.path.join(folder, "dead")
    if shard == 5 and not os.path.exists(path):
        open(path, "x").close()
        os._exit(3)
    return params * shard


def dies(params, shard):
    if shard == 2:
        os._exit(3)
    return params * shard


@pytest.mark.skipif(not CAN_FORK, reason="this system has no fork")
def test_processes_whose_workers_raise_and_die(tmp_path):
    with value_and_grad(partial(dies_once, str(tmp_path)), workers=2) as step:
        value, grad = step(2.0, range(8))
        assert (tmp_path / "dead").exists()
        assert (value.item(), grad.item()) == (56.0, 28.0)
        assert step(3.0, range(4))[1].item() == 6.0

    with value_and_grad(partial(fails_at, 3), workers=2) as step:
        with pytest.raises(KeyError, match="no 3") as found:
            step(2.0, range(6))
        assert found.value.__notes__[0] == "distributed.value_and_grad: in shard 3"
        assert "fails_at" in str(found.value.__cause__)  # the worker's traceback
        assert step(2.0, range(3))[0].item() == 6.0  # and goes on

    with value_and_grad(dies, lambda: ProcessPoolExecutor(1), retries=1) as step:
        with pytest.raises(RuntimeError, match=r"workers died 2 times before shards \[.*2.*\] were done"):
            step(2.0, range(3))
    with ProcessPoolExecutor(1) as executor:
        with pytest.raises(RuntimeError, match="give a function that makes an executor"):
            value_and_grad(dies, executor)(2.0, range(3))


def test_no_gradient_is_lost():
    step, w = value_and_grad(lambda p, shard: (p * shard).sum(), Backward(1)), gs.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(RuntimeError, match=r"params requires grad, and no graph goes through an executor; pass its detach\(\)"):
        step(w, [2.0])
    with pytest.raises(RuntimeError, match="params requires grad"):
        gs.func.grad(lambda p: step(p, [2.0])[0])(w.detach())
    with gs.autograd.forward_ad.dual_level():
        dual = gs.autograd.forward_ad.make_dual(w.detach(), gs.ones(2))
        with pytest.raises(RuntimeError, match="inside of forward mode or of vmap, of which workers know nothing"):
            step([dual], [2.0])
    of_held = lambda c: value_and_grad(lambda p, shard: (p * c).sum(), Backward(1))(1.0, [2.0])[0]  # noqa: E731
    for call in (lambda: gs.vmap(lambda p: step(p, [2.0])[0])(w.detach()), lambda: gs.vmap(of_held)(w.detach()),
                 lambda: gs.jvp(of_held, (1.0,), (1.0,)), lambda: gs.jet(of_held, (1.0,), ([1.0],))):  # fmt: skip
        with pytest.raises(RuntimeError, match="inside of forward mode or of vmap, of which workers know nothing"):
            call()
    held = value_and_grad(lambda p, shard: (p * w).sum(), Backward(1))
    with pytest.raises(RuntimeError, match="depends on a tensor that requires grad and is not among the parameters"):
        held(1.0, [2.0])


@each(("arguments", "params", "data", "error", "message"), [
    ((None, None), 1.0, [1], TypeError, "loss must be a function of params and a shard, got NoneType"),
    ((abs, None, {"workers": 0}), 1.0, [1], ValueError, "workers must be 1 or more, got 0"),
    ((abs, Backward(1)), 1.0, [], ValueError, "there are no shards"),
    ((abs, Backward(1)), {"a": ["x"]}, [1], TypeError, r"params\['a'\]\[0\] must be an array, a tensor or a number, got str"),
    ((lambda p, shard: p * gs.ones(2), Backward(1)), 1.0, [1], RuntimeError, "single element"),
])  # fmt: skip
def test_what_makes_no_sense_is_refused(arguments, params, data, error, message):
    with pytest.raises(error, match=message):
        *positional, keywords = (*arguments, {}) if len(arguments) == 2 else arguments
        value_and_grad(*positional, **keywords)(params, data)


PROGRAM = """
import numpy as np
from gradspec.distributed import value_and_grad
from tests.library.distributed.test_shards import PARAMS, flat, loss, shards

def check(executor):
    found, again = (flat(value_and_grad(loss, executor, workers=n)(PARAMS, shards(7))) for n in (2, 3))
    here = flat(value_and_grad(loss, __import__("concurrent.futures").futures.ThreadPoolExecutor(1))(PARAMS, shards(7)))
    for a, b, c in zip(found, again, here):
        assert a.tolist() == b.tolist() == c.tolist()
    print("equal", flush=True)
"""
DASK = """
if __name__ == "__main__":
    from dask.distributed import Client
    with Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
        check(client.get_executor())
"""
MPI = """
if __name__ == "__main__":
    from mpi4py.futures import MPICommExecutor
    with MPICommExecutor() as executor:
        if executor is not None:
            check(executor)
"""
RAY = """
if __name__ == "__main__":
    import concurrent.futures
    import ray
    class RayExecutor(concurrent.futures.Executor):
        def submit(self, function, /, *args):
            return ray.remote(function).remote(*args).future()
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
    check(RayExecutor())
    ray.shutdown()
"""


def started(tmp_path, command, program):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM + program)
    environment = {**os.environ, "PYTHONPATH": os.getcwd(), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.run([*command, str(path)], capture_output=True, text=True, timeout=100, env=environment)


def test_dask(tmp_path):
    pytest.importorskip("distributed", reason="runs on Dask's workers, and Dask is not installed")
    done = started(tmp_path, [sys.executable], DASK)
    assert done.stdout == "equal\n", done.stderr


def test_ray(tmp_path, monkeypatch):
    pytest.importorskip("ray", reason="runs on Ray's workers, and Ray is not installed")
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    done = started(tmp_path, [sys.executable], RAY)
    assert done.stdout == "equal\n", done.stderr


def test_mpi_executor(tmp_path):
    pytest.importorskip("mpi4py", reason="runs on MPI's ranks, and mpi4py is not installed")
    from tests.runtime.ranks import mpiexec

    done = started(tmp_path, [*mpiexec(3), sys.executable, "-m", "mpi4py"], MPI)
    assert done.stdout == "equal\n", done.stderr


def test_a_loss_that_does_not_pickle_names_the_way_out():
    for unsent in (lambda params, shard: loss(params, shard), partial(lambda k, params, shard: loss(params, shard), 1)):
        with pytest.raises(Exception, match="pickle") as caught, ProcessPoolExecutor(1) as executor:
            value_and_grad(unsent, executor)(PARAMS, shards(2))
        assert "function at the top of a module" in "".join(caught.value.__notes__)


class Anywhere(Executor):
    """Puts the arrays of each task at addresses of its own, as an engine that sends memory apart."""

    def __init__(self, offset):
        self.offset = offset

    def placed(self, array):
        memory = np.empty(array.nbytes + 128, np.uint8)
        begin = -memory.ctypes.data % 64 + self.offset
        found = np.frombuffer(memory.data, array.dtype, array.size, begin).reshape(array.shape)
        found[...] = array
        return found

    def submit(self, function, /, loss, parameters, start, shards):
        future = Future()
        future.set_result(function(loss, parameters, start, [tuple(self.placed(array) for array in shard) for shard in shards]))
        return future


def long_loss(params, shard):
    x, y = shard
    return ((x @ params["w"] - y) ** 2).sum() + gs.linalg.norm(x) * params["w"].sum() + gs.var(y)


def test_bits_do_not_tell_where_an_engine_puts_arrays():
    rng = np.random.default_rng(0)
    x, y, params = rng.normal(size=(403, 50)), rng.normal(size=(403, 1)), {"w": rng.normal(size=(50, 1))}
    parts = list(zip(np.array_split(x, 10), np.array_split(y, 10)))
    found = [value_and_grad(long_loss, Anywhere(offset), workers=workers)(params, parts)
             for offset in (0, 8, 6, 1, 12, 63) for workers in (1, 2, 5)]  # fmt: skip
    for value, grads in found:
        assert value.item() == found[0][0].item() and np.array_equal(grads["w"], found[0][1]["w"])
