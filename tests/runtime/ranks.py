"""Ranks to train on: threads with a communicator of their own, and a program for those of MPI.

Owns the communicator `Rank`, with what `gradspec.distributed` uses of mpi4py's, and the training that all numbers of ranks share.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import threading
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import gradspec as gs
from gradspec import nn
from gradspec.distributed import DistributedDataParallel, SyncBatchNorm, ZeroRedundancyOptimizer


def mpiexec(count):
    """The command that starts MPI's ranks, of the environment first; without one the test is left out."""
    beside = Path(sysconfig.get_path("scripts")) / "mpiexec"
    found = str(beside) if beside.exists() else shutil.which("mpiexec")
    if found is None:
        pytest.skip("runs on MPI's ranks, and mpiexec is not installed")
    if not starts(found):
        pytest.skip("runs on MPI's ranks, and mpiexec starts none on this machine")
    return [found, "-n", str(count)]


@cache
def starts(command):
    """Whether two ranks that do nothing come to their end: a container may have no name that MPI finds it by."""
    try:
        return subprocess.run([command, "-n", "2", sys.executable, "-c", "from mpi4py import MPI"], capture_output=True, timeout=60).returncode == 0
    except subprocess.TimeoutExpired:
        return False


class Request:
    def __init__(self, finish):
        self.finish = finish

    def Test(self):
        return False

    def Wait(self):
        self.finish()


class World:
    """What the threads of one run share: each collective call in the order of the calls."""

    def __init__(self, count):
        self.count, self.lock, self.said, self.order = count, threading.Condition(), {}, []
        self.failed = None

    def give(self, turn, rank, value):
        with self.lock:
            self.said.setdefault(turn, {})[rank] = value
            self.lock.notify_all()

    def take(self, turn):
        with self.lock:
            while len(self.said.get(turn, ())) < self.count:
                if self.failed is not None:
                    raise RuntimeError("another rank failed")
                assert self.lock.wait(20), "a rank waits for others: their calls differ"
            return [self.said[turn][rank] for rank in range(self.count)]


class Rank:
    """One thread's communicator."""

    def __init__(self, world, rank):
        self.world, self.rank, self.turn = world, rank, 0
        self.calls = []  # for tests: which collective calls were made

    def Get_rank(self):
        return self.rank

    def Get_size(self):
        return self.world.count

    def begin(self, name, value):
        self.turn += 1
        self.calls.append(name)
        self.world.give(self.turn, self.rank, (name, value))
        return self.turn

    def end(self, turn):
        found = self.world.take(turn)
        assert len({name for name, _ in found}) == 1, found
        return [value for _, value in found]

    def allgather(self, value):
        return self.end(self.begin("allgather", value))

    def gather(self, value, root=0):
        found = self.allgather(value)
        return found if self.rank == root else None

    def Bcast(self, array, root=0):
        assert array.flags.c_contiguous
        found = self.end(self.begin("Bcast", array.copy()))
        assert {value.shape for value in found} == {array.shape} and {value.dtype for value in found} == {array.dtype}
        array[...] = found[root]

    def Iallreduce(self, send, received):
        turn = self.begin("Iallreduce", send.copy())

        def finish():
            received[...] = np.sum(self.end(turn), axis=0)

        return Request(finish)


def on_threads(count, work):
    """`work(comm)` on each of so many threads; what each returns."""
    world = World(count)
    comms, found, errors = [Rank(world, rank) for rank in range(count)], [None] * count, []

    def run(rank):
        try:
            found[rank] = work(comms[rank])
        except BaseException as error:
            errors.append(error)
            with world.lock:
                world.failed = error
                world.lock.notify_all()

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return found


MAKING = threading.Lock()


def made():
    """The same net wherever it is made: threads draw from one stream of numbers."""
    with MAKING:
        gs.manual_seed(0)
        return Net()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(4, 16), nn.Linear(16, 1)
        self.single = nn.Parameter(gs.ones(16, dtype=np.float32))

    def forward(self, x):
        return self.last(gs.tanh(self.first(x)) * self.single)


DATA = np.random.default_rng(5)
X, Y = DATA.normal(size=(48, 4)), DATA.normal(size=(48, 1))


def train(comm=None, steps=5, zero=False, accumulate=1):
    """The losses of some steps on all data, each rank with its part of every batch, and the parameters."""
    rank, size = (comm.Get_rank(), comm.Get_size()) if comm else (0, 1)
    net = made()
    if comm:
        if rank:
            for param in net.parameters():
                param.data = param.data + 1  # rank 0's count
        net = DistributedDataParallel(net, comm, bucket_cap_mb=200 / 2**20)
    if comm and zero:
        optimizer = ZeroRedundancyOptimizer(net.parameters(), gs.optim.Adam, comm, lr=0.05)
    else:
        optimizer = gs.optim.Adam(net.parameters(), lr=0.05)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        parts = np.array_split(np.arange(len(X)), accumulate)
        mine = 0.0
        for i, part in enumerate(parts):
            own = part[rank::size]
            loss = ((net(gs.asarray(X[own])) - Y[own]) ** 2).mean() / accumulate
            mine += loss.item()
            if comm and i < accumulate - 1:
                with net.no_sync():
                    loss.backward()
            else:
                loss.backward()
        optimizer.step()
        losses.append(np.mean(comm.allgather(mine)) if comm else mine)
    params = [param.detach().numpy().copy() for param in net.parameters()]
    return losses, params, optimizer


def train_normalised(comm=None):
    """The state of a net with batch norm, of the batches of all ranks, behind some steps."""
    rank, size = (0, 1) if comm is None else (comm.Get_rank(), comm.Get_size())
    rng = np.random.default_rng(1)
    net = nn.Sequential(nn.Linear(4, 5), nn.BatchNorm1d(5), nn.Tanh(), nn.Linear(5, 1))
    with gs.no_grad():
        for param in net.parameters():
            param.copy_(rng.normal(size=param.shape))
    model = net if comm is None else DistributedDataParallel(SyncBatchNorm.convert_sync_batchnorm(net, comm), comm)
    optimizer = gs.optim.SGD(net.parameters(), lr=0.1)
    for start in range(0, len(X), 12):
        own = np.arange(start, start + 12)[rank * 12 // size : (rank + 1) * 12 // size]
        optimizer.zero_grad()
        ((model(gs.asarray(X[own])) - Y[own]) ** 2).mean().backward()
        optimizer.step()
    return [np.asarray(value) for value in net.state_dict().values()]


def main():
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    if "raise" in sys.argv and comm.Get_rank() == 1:
        raise ArithmeticError("rank 1 has had enough")
    if "die" in sys.argv and comm.Get_rank() == 1:
        import os
        import signal

        os.kill(os.getpid(), signal.SIGKILL)
    wanted, params, _ = train()
    for zero, accumulate in ((False, 1), (True, 1), (False, 3)):
        losses, found, _ = train(comm, zero=zero, accumulate=accumulate)
        np.testing.assert_allclose(losses, wanted, rtol=1e-6)
        for a, b in zip(found, params):
            np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-7)
    for a, b in zip(train_normalised(comm), train_normalised(), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)
    if comm.Get_rank() == 0:
        print("equal", flush=True)


if __name__ == "__main__":
    main()
