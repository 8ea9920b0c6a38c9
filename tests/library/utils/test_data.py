"""utils.data beside PyTorch's: equal batches, lengths and errors wherever nothing is drawn, and laws for what is."""

import inspect
import itertools
import threading
import time
import warnings
from collections import OrderedDict, UserDict, defaultdict, namedtuple

import numpy as np
import pytest

import gradspec as gs
from gradspec.utils import data
from tests.asked import each
from tests.later import later

torch_data = later("torch.utils.data")
torch = later("torch")
Point = namedtuple("Point", "x y")


class Squares(data.Dataset):
    """Squares; they sleep, fail or end their process where a test says so."""

    def __init__(self, count=10, slow=(), failing=None, ending=None):
        self.count, self.slow, self.failing, self.ending = count, slow, failing, ending

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        if i in self.slow:
            time.sleep(0.3)
        if i == self.failing:
            raise KeyError(f"sample {i}")
        if i == self.ending:
            import os

            os._exit(3)
        return i, float(i * i)


class Stream(data.IterableDataset):
    """Numbers up to a count, shared out among workers."""

    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __iter__(self):
        info = data.get_worker_info()
        return iter(range(self.count)) if info is None else iter(range(info.id, self.count, info.num_workers))


class Told(data.Dataset):
    """What a worker knows."""

    def __len__(self):
        return 6

    def __getitem__(self, i):
        info = data.get_worker_info()
        return i, info.id, info.num_workers, info.seed, float(gs.random.uniform()), threading.get_ident()


def mine(name):
    """A class or function of both libraries."""
    return getattr(data, name), getattr(torch_data, name)


def plain(value):
    """A nest without tensors, for comparisons of both libraries."""
    if isinstance(value, (gs.Tensor, torch.Tensor)):
        array = value.detach().numpy()
        return "tensor", array.dtype.str, array.tolist()
    if isinstance(value, (dict, UserDict)):
        return type(value), {name: plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value), [plain(item) for item in value]
    return value


def batches(loader):
    return [plain(batch) for batch in loader]


BATCHES = {
    "floats": [1.0, 2.0],
    "whole numbers": [1, 2],
    "bools": [True, False],
    "text": ["a", "b"],
    "bytes": [b"a", b"b"],
    "arrays": [np.ones((2, 3), "f4"), np.zeros((2, 3), "f4")],
    "numpy's scalars": [np.float32(1), np.float32(2)],
    "numpy's whole numbers": [np.int16(1), np.int16(2)],
    "arrays without axes": [np.array(1.5), np.array(2.5)],
    "tuples": [(1, 2.0, "a"), (3, 4.0, "b")],
    "lists": [[1, 2.0], [3, 4.0]],
    "named tuples": [Point(1, 2.0), Point(3, 4.0)],
    "dictionaries": [{"a": 1, "b": [2.0, 3.0]}, {"a": 4, "b": [5.0, 6.0]}],
    "ordered dictionaries": [OrderedDict(a=1), OrderedDict(a=4)],
    "default dictionaries": [defaultdict(list, a=1), defaultdict(list, a=4)],
    "mappings": [UserDict(a=1), UserDict(a=4)],
    "deep": [{"a": (np.ones(2), {"b": 1})}, {"a": (np.zeros(2), {"b": 2})}],
    "one": [(1, 2)],
}


@each("name", BATCHES)
def test_batches_are_pytorchs(name):
    ours, theirs = mine("default_collate")
    assert plain(ours(BATCHES[name])) == plain(theirs(BATCHES[name]))
    ours, theirs = mine("default_convert")
    assert plain(ours(BATCHES[name])) == plain(theirs(BATCHES[name]))


def test_tensors_are_stacked_with_their_history():
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    data.default_collate([x, 2 * x]).sum().backward()
    assert x.grad.tolist() == [3, 3]
    first = data.default_collate([(gs.tensor([1, 2]), "a"), (gs.tensor([3, 4]), "b")])
    assert first[0].tolist() == [[1, 2], [3, 4]] and first[1] == ("a", "b")


@each("batch, message", [([object(), object()], "got object; write a collate_fn"), ([None, None], "got NoneType"),
                         ([np.array("a"), np.array("b")], "got ndarray"), ([1j, 2j], "got complex"),
                         ([[1, 2], [3]], "sequences of different lengths: .1, 2.; write a collate_fn")])  # fmt: skip
def test_what_is_no_batch_is_refused(batch, message):
    with pytest.raises((TypeError, ValueError), match=message):
        data.default_collate(batch)
    with pytest.raises((TypeError, RuntimeError)):
        torch_data.default_collate(batch)


LOADERS = [dict(zip(("batch_size", "drop_last", "num_workers"), row))
           for row in itertools.product((1, 3, 5, 20), (False, True), (0, 1, 3))]  # fmt: skip


@each("arguments", [*LOADERS, {"batch_size": None}, {"batch_size": None, "num_workers": 2}, {"sampler": [3, 1, 1, 9], "batch_size": 3},
                    {"batch_sampler": [[1, 2], [0], [5, 5, 5]]}, {"batch_sampler": [[1, 2], [0], [5, 5, 5]], "num_workers": 2},
                    {"collate_fn": len, "batch_size": 4}, {"collate_fn": str, "batch_size": None},
                    {"num_workers": 2, "prefetch_factor": 5, "persistent_workers": True, "pin_memory": False, "timeout": 60}])  # fmt: skip
def test_loaders_are_pytorchs(arguments):
    here = {**arguments, "num_workers": 0}
    for name in ("prefetch_factor", "persistent_workers", "timeout"):
        here.pop(name, None)
    for dataset in (Squares(), data.TensorDataset(gs.arange(10.0), gs.arange(10)), list(range(10)), np.arange(10.0), Squares(0)):
        if isinstance(dataset, Squares) and not len(dataset) and not {"sampler", "batch_sampler"}.isdisjoint(arguments):
            continue
        twin = torch_data.TensorDataset(torch.arange(10.0, dtype=torch.float64), torch.arange(10)) if isinstance(dataset, data.TensorDataset) else dataset
        theirs = torch_data.DataLoader(twin, **here)
        ours = data.DataLoader(dataset, **arguments)
        assert len(ours) == len(theirs)
        for _ in range(2):
            found = batches(ours)
            if arguments.get("collate_fn") is str:
                assert len(found) == len(theirs)
            else:
                assert found == batches(theirs)
        assert (ours.batch_size, ours.drop_last) == (theirs.batch_size, theirs.drop_last)


@each("arguments", [{"batch_size": size, "drop_last": last} for size in (1, 3, 5) for last in (False, True)] + [{"batch_size": None}])
def test_streams_are_pytorchs(arguments):
    class Twin(torch_data.IterableDataset):
        __len__ = Stream.__len__
        __init__ = Stream.__init__

        def __iter__(self):
            return iter(range(self.count))

    for count in (0, 1, 7, 10):
        assert batches(data.DataLoader(Stream(count), **arguments)) == batches(torch_data.DataLoader(Twin(count), **arguments))
        assert len(data.DataLoader(Stream(count), **arguments)) == len(torch_data.DataLoader(Twin(count), **arguments))
        if not arguments.get("drop_last"):
            for workers in (1, 2, 3):
                loader = data.DataLoader(Stream(count), **arguments, num_workers=workers, persistent_workers=True)
                for _ in range(2):
                    found = [np.asarray(batch).ravel().tolist() for batch in loader]
                    assert sorted(itertools.chain(*found)) == list(range(count))
    turns = [batch.tolist() for batch in data.DataLoader(Stream(7), 2, num_workers=2)]
    assert turns == [[0, 2], [1, 3], [4, 6], [5]]  # one worker after the other


@pytest.mark.slow
@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_workers_may_be_processes(context):
    expected = batches(data.DataLoader(Squares(), 3))
    loader = data.DataLoader(Squares(), 3, num_workers=2, multiprocessing_context=context, persistent_workers=True)
    assert batches(loader) == expected and batches(loader) == expected
    rows = list(data.DataLoader(Told(), None, num_workers=2, multiprocessing_context=context, generator=3))
    again = list(data.DataLoader(Told(), None, num_workers=2, multiprocessing_context=context, generator=3))
    assert [row[1] for row in rows] == [0, 1, 0, 1, 0, 1] and {row[2] for row in rows} == {2}
    assert rows[1][3] == rows[0][3] + 1 and [row[4] for row in rows] == [row[4] for row in again]
    assert len({row[4] for row in rows}) == 6  # seeded by worker, and going on
    with pytest.raises(KeyError, match="sample 4"):
        list(data.DataLoader(Squares(failing=4), 2, num_workers=2, multiprocessing_context=context))
    with pytest.raises(RuntimeError, match="worker . ended without a result"):
        list(data.DataLoader(Squares(ending=4), 2, num_workers=2, multiprocessing_context=context))
    received = []
    with pytest.raises(RuntimeError, match="worker 0 ended without a result"):
        for batch in data.DataLoader(Squares(ending=4), 2, num_workers=2, multiprocessing_context=context):
            received.append(batch[0].tolist())
            time.sleep(0.5)  # the worker has ended when it is asked for the next batch
    assert received == [[0, 1], [2, 3]]  # what was read before comes first
    stream = [batch.tolist() for batch in data.DataLoader(Stream(7), 2, num_workers=2, multiprocessing_context=context)]
    assert stream == [[0, 2], [1, 3], [4, 6], [5]]


def started_since(before):
    """The threads of loaders that run now and did not before; the threads of other tests may end at any time."""
    return {thread for thread in threading.enumerate() if thread.name.startswith("DataLoader")} - before


def end_since(before):
    """Whether the threads that were started since end within ten seconds."""
    until = time.monotonic() + 10
    while started_since(before) and time.monotonic() < until:
        time.sleep(0.01)
    return not started_since(before)


def test_threads_are_workers_with_an_identity():
    inits = []
    rows = list(data.DataLoader(Told(), None, num_workers=3, worker_init_fn=inits.append))
    assert sorted(inits) == [0, 1, 2] and [row[1] for row in rows] == [0, 1, 2, 0, 1, 2] and len({row[5] for row in rows}) == 3
    assert data.get_worker_info() is None
    before = started_since(set())
    loader = data.DataLoader(Squares(), num_workers=2)
    next(iter(loader))  # an epoch that is left early ends its threads
    assert end_since(before)
    kept = data.DataLoader(Squares(), num_workers=2, persistent_workers=True)
    assert batches(kept) == batches(kept) == batches(data.DataLoader(Squares()))
    next(iter(kept))
    assert batches(kept) == batches(data.DataLoader(Squares()))
    assert len(started_since(before)) == 2
    del kept
    assert end_since(before)


def test_errors_of_workers_arrive():
    loader = data.DataLoader(Squares(failing=4), 2, num_workers=2)
    seen = []
    with pytest.raises(KeyError, match="sample 4"):
        for batch in loader:
            seen.append(batch[0].tolist())
    assert seen == [[0, 1], [2, 3]]

    def refuse(worker):
        raise OSError(f"no worker {worker}")

    with pytest.raises(OSError, match="no worker 0"):
        list(data.DataLoader(Squares(), num_workers=2, worker_init_fn=refuse))
    with pytest.raises(RuntimeError, match="no batch within timeout=0.05 seconds"):
        list(data.DataLoader(Squares(slow=(0,)), num_workers=1, timeout=0.05))


def test_batches_come_as_they_are_read_if_asked_for():
    found = [batch[0].item() for batch in data.DataLoader(Squares(4, slow=(0,)), num_workers=2, in_order=False)]
    assert sorted(found) == [0, 1, 2, 3] and found[0] == 1
    assert [batch[0].item() for batch in data.DataLoader(Squares(4, slow=(0,)), num_workers=2)] == [0, 1, 2, 3]


def test_only_so_much_is_read_ahead():
    seen = []

    class Watched(Squares):
        def __getitem__(self, i):
            seen.append(i)
            return i

    turns = iter(data.DataLoader(Watched(100), num_workers=2, prefetch_factor=3))
    next(turns)
    time.sleep(0.2)
    assert 2 <= len(seen) <= 7
    turns.close()


def test_an_order_is_one_of_its_seed():
    def epochs(**arguments):
        loader = data.DataLoader(range(50), 50, shuffle=True, **arguments)
        return [next(iter(loader)).tolist() for _ in range(2)]

    first = epochs(generator=3)
    assert first == epochs(generator=np.random.default_rng(3)) == epochs(generator=gs.random.default_rng(3)) == epochs(generator=3, num_workers=2)
    assert first[0] != first[1] and sorted(first[0]) == list(range(50)) and first != epochs(generator=4)
    gs.manual_seed(5)
    default = epochs()
    gs.manual_seed(5)
    assert default == epochs() != epochs()


def counts(sampler):
    return np.bincount(list(sampler), minlength=4)


def test_samplers():
    assert list(data.SequentialSampler("abc")) == [0, 1, 2]
    for size, last in itertools.product((1, 2, 3, 7, 9), (False, True)):
        ours, theirs = (cls(range(7), size, last) for cls in mine("BatchSampler"))
        assert list(ours) == list(theirs) and len(ours) == len(theirs)
    for replacement, number in itertools.product((False, True), (None, 3, 10, 25)):
        ours, theirs = (cls(range(10), replacement, number) for cls in mine("RandomSampler"))
        found = list(ours)
        assert len(found) == len(ours) == len(theirs) == len(list(theirs)) and set(found) <= set(range(10))
        if not replacement:
            assert all(len(set(found[i : i + 10])) == len(found[i : i + 10]) for i in range(0, len(found), 10))
    assert list(data.RandomSampler([])) == list(data.RandomSampler([], True)) == []
    assert sorted(data.SubsetRandomSampler([7, 3, 5])) == [3, 5, 7]
    drawn = counts(data.WeightedRandomSampler([0.0, 1.0, 3.0, 0.0], 4000, generator=0)) / 4000
    assert drawn[0] == drawn[3] == 0 and abs(drawn[1] - 0.25) < 0.03
    assert sorted(data.WeightedRandomSampler([0.1, 1.0, 3.0, 2.0], 4, replacement=False)) == [0, 1, 2, 3]
    for cls, arguments in ((data.RandomSampler, (range(20),)), (data.SubsetRandomSampler, (range(20),)), (data.WeightedRandomSampler, (range(1, 20), 20))):
        one, other = (cls(*arguments, generator=3) for _ in range(2))
        assert list(one) == list(other) and list(one) == list(other) and all(type(i) is int for i in one)


def test_parts_of_processes():
    for count, parts, last in itertools.product((1, 5, 8), (1, 2, 3), (False, True)):
        ours = [data.DistributedSampler(range(count), parts, rank, shuffle=False, drop_last=last) for rank in range(parts)]
        theirs = [torch_data.DistributedSampler(range(count), parts, rank, shuffle=False, drop_last=last) for rank in range(parts)]
        if not last or count >= parts:
            assert [list(one) for one in ours] == [list(one) for one in theirs]
            assert [len(one) for one in ours] == [len(one) for one in theirs]
    ours = [data.DistributedSampler(range(8), 2, rank, seed=3) for rank in range(2)]
    first = [list(one) for one in ours]
    assert sorted(sum(first, [])) == list(range(8)) and first == [list(one) for one in ours]
    for one in ours:
        one.set_epoch(1)
    assert sorted(sum(map(list, ours), [])) == list(range(8)) and first != [list(one) for one in ours]
    with pytest.raises(ValueError, match="give num_replicas and rank"):
        data.DistributedSampler(range(3))
    with pytest.raises(ValueError, match="rank 3 is not one of 3 processes"):
        data.DistributedSampler(range(3), 3, 3)


@each("lengths", [[3, 7], [0.3, 0.7], [0.33, 0.33, 0.34], [1 / 3] * 3, [10], [1.0], [0.5, 0.25, 0.25], [5, 5, 0]])
def test_splits_have_pytorchs_lengths(lengths):
    for count in (10, 11, 100) if sum(lengths) < 2 else (10,):
        ours = data.random_split(range(count), lengths, generator=0)
        theirs = torch_data.random_split(range(count), lengths)
        assert [len(one) for one in ours] == [len(one) for one in theirs]
        assert sorted(itertools.chain(*ours)) == list(range(count))
        assert [list(one) for one in ours] == [list(one) for one in data.random_split(range(count), lengths, np.random.default_rng(0))]


def test_splits_that_do_not_fit_are_refused():
    for lengths, message in (([3, 3], "sum to 6, but the dataset has 10"), ([0.5, 0.4], "sum to 0.9"), ([1.5, -0.5], "between 0 and 1")):
        with pytest.raises(ValueError, match=message):
            data.random_split(range(10), lengths)
    with pytest.warns(UserWarning, match="the subset at 1 is empty"):
        data.random_split(range(2), [0.9, 0.1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data.random_split(range(2), [1, 1])


def test_datasets_of_datasets():
    rows = gs.arange(6.0).reshape(3, 2)
    one, two = data.TensorDataset(rows), data.TensorDataset(rows + 10)
    both = one + two
    assert isinstance(both, data.ConcatDataset) and len(both) == 6 and both.cumulative_sizes == [3, 6]
    assert [both[i][0].tolist() for i in (0, 2, 3, -1, -6)] == [[0, 1], [4, 5], [10, 11], [14, 15], [0, 1]]
    for index in (6, -7):
        with pytest.raises(IndexError, match="out of range for 6 samples"):
            both[index]
    part = data.Subset(both, [5, 0])
    assert [row[0].tolist() for row in part] == [[14, 15], [0, 1]] and len(part) == 2
    assert [row[0].tolist() for row in part.__getitems__([1])] == [[0, 1]]
    assert data.Subset(one, [2, 0])[[0, 1]][0].tolist() == [[4, 5], [0, 1]]
    chain = Stream(2) + Stream(3)
    assert list(chain) == [0, 1, 0, 1, 2] and len(chain) == 5 and isinstance(chain, data.ChainDataset)
    assert [batch.tolist() for batch in data.DataLoader(chain, 3)] == [[0, 1, 0], [1, 2]]
    assert data.StackDataset(range(3), "abc")[1] == (1, "b") and len(data.StackDataset(range(3))) == 3
    assert data.StackDataset(n=range(3), c="abc")[2] == {"n": 2, "c": "c"}

    class Together(Squares):
        def __getitems__(self, indices):
            return [-i for i in indices]

    assert batches(data.DataLoader(Together(4), 2)) == batches(data.DataLoader([0, -1, -2, -3], 2))
    assert [b.tolist() for b in data.DataLoader(data.Subset(Together(4), [3, 1]), 2)] == [[-3, -1]]
    for call, message in ((lambda: data.TensorDataset(), "one first length"), (lambda: data.TensorDataset(gs.ones(2), gs.ones(3)), "one first length"),
                          (lambda: data.ConcatDataset([]), "at least one dataset"), (lambda: data.ConcatDataset([Stream(1)]), "write ChainDataset"),
                          (lambda: data.StackDataset(), "by position"), (lambda: data.StackDataset([1], [1, 2]), "different lengths"),
                          (lambda: list(data.ChainDataset([[1]])), "must be IterableDatasets")):  # fmt: skip
        with pytest.raises((TypeError, ValueError), match=message):
            call()
    for cls in (data.Dataset, data.IterableDataset, data.Sampler):
        with pytest.raises(NotImplementedError, match=f"{cls.__name__} needs a method"):
            cls()[0] if cls is data.Dataset else iter(cls())


REFUSED = {
    "num_workers and timeout must not be negative": [{"num_workers": -1}, {"timeout": -1}],
    "are for workers: write num_workers=1": [{"prefetch_factor": 2}, {"persistent_workers": True}, {"multiprocessing_context": "spawn"}],
    "prefetch_factor must be positive": [{"prefetch_factor": 0, "num_workers": 1}],
    "multiprocessing_context must be one of": [{"multiprocessing_context": "nope", "num_workers": 1}],
    "sampler and shuffle exclude each other": [{"shuffle": True, "sampler": [0]}],
    "batch_sampler excludes": [{"batch_sampler": [[0]], name: value} for name, value in (("batch_size", 2), ("shuffle", True), ("sampler", [0]), ("drop_last", True))],
    "batch_size=None loads single samples": [{"batch_size": None, "drop_last": True}],
    "batch_size must be a positive whole number": [{"batch_size": 0}, {"batch_size": 1.5}],
}  # fmt: skip


@each("message, arguments", [(message, arguments) for message, rows in REFUSED.items() for arguments in rows])
def test_arguments_that_exclude_each_other(message, arguments):
    with pytest.raises(ValueError, match=message):
        data.DataLoader(Squares(), **arguments)
    if arguments != {"prefetch_factor": 0, "num_workers": 1}:
        with pytest.raises((ValueError, TypeError)):
            torch_data.DataLoader(Squares(), **arguments)


def test_streams_decide_their_order():
    for arguments in ({"shuffle": True}, {"sampler": [0]}, {"batch_sampler": [[0]]}):
        with pytest.raises(ValueError, match="an IterableDataset decides its own order"):
            data.DataLoader(Stream(3), **arguments)
    loader = data.DataLoader(Squares())
    with pytest.raises(ValueError, match="batch_size is fixed: build another DataLoader"):
        loader.batch_size = 2
    for call in (lambda: data.RandomSampler([1], 2), lambda: data.BatchSampler([1], 1, 0)):
        with pytest.raises(TypeError, match="must be a bool"):
            call()
    for call in (lambda: data.RandomSampler([1], num_samples=0), lambda: data.WeightedRandomSampler([1.0], 0), lambda: data.BatchSampler([1], True, False)):
        with pytest.raises(ValueError, match="must be a positive whole number"):
            call()
    with pytest.raises(ValueError, match="weights have one axis"):
        data.WeightedRandomSampler([[1.0]], 1)


@each("name", data.__all__)
def test_parameters_are_pytorchs(name):
    ours, theirs = (inspect.signature(cls).parameters for cls in mine(name))
    if name not in ("IterableDataset", "Dataset"):
        assert list(ours) == list(theirs)
        assert [p.kind for p in ours.values()] == [p.kind for p in theirs.values()]
        assert all(p.default == theirs[n].default for n, p in ours.items() if n != "generator")


def test_a_file_larger_than_a_batch_is_not_copied(tmp_path):
    """A batch reads its own rows: the dataset shares the file's memory, and so does each sample."""
    rows = np.memmap(tmp_path / "rows", np.float32, "w+", shape=(1000, 8))
    rows[:] = np.arange(8000).reshape(1000, 8)
    rows.flush()
    x = np.memmap(tmp_path / "rows", np.float32, "r", shape=(1000, 8))
    dataset = data.TensorDataset(x, gs.arange(1000))
    assert np.shares_memory(dataset.tensors[0].numpy(), x) and np.shares_memory(dataset[3][0].numpy(), x)
    for workers in (0, 2):
        seen = np.zeros(1000, int)
        for batch, labels in data.DataLoader(dataset, 64, shuffle=True, num_workers=workers):
            assert not np.shares_memory(batch.numpy(), x)
            np.testing.assert_array_equal(batch.numpy(), rows[labels.numpy()])
            seen[labels.numpy()] += 1
        assert (seen == 1).all()


def test_a_model_trains_from_a_loader():
    w, x = np.array([1.0, -2.0]), np.random.default_rng(0).normal(size=(64, 2))
    loader = data.DataLoader(data.TensorDataset(x, x @ w), batch_size=8, shuffle=True, num_workers=2, generator=0)
    model = gs.nn.Linear(2, 1)
    optimizer = gs.optim.Adam(model.parameters(), lr=0.1)
    for _ in range(20):
        for batch, targets in loader:
            optimizer.zero_grad()
            gs.nn.mse_loss(model(batch.to(model.weight.dtype))[:, 0], targets).backward()
            optimizer.step()
    np.testing.assert_allclose(model.weight.detach().numpy()[0], w, atol=0.05)


@pytest.mark.parametrize("context", [None, "fork"])
def test_a_collected_loader_does_not_wait_for_its_workers(context, monkeypatch):
    """The collector may run in a thread that is being started, and holds the locks that a join takes: both would wait forever."""
    loader = data.DataLoader(Squares(), 3, num_workers=2, multiprocessing_context=context, persistent_workers=True)
    list(loader)
    monkeypatch.setattr(threading.Thread, "join", lambda *_: pytest.fail("a finalizer waits"))
    loader.__del__()
    epoch = iter(data.DataLoader(Squares(), 3, num_workers=2, multiprocessing_context=context))
    next(epoch)
    epoch.close()
    monkeypatch.undo()
