"""Gradients of embeddings that stay rows: the same numbers as arrays give, whoever asks, and no array where nobody does."""

import copy
import pickle

import numpy as np
import pytest

import gradspec as gs
from gradspec.core.leaf_gradient import rows_of_gradient
from gradspec.nn import functional as F
from tests.asked import each

RANDOM = np.random.default_rng(3)
PLACES = np.array([[3, 1, 3], [0, -1, 1]])


def table(dtype=np.float64):
    return gs.tensor(np.random.default_rng(0).normal(size=(6, 4)).astype(dtype), requires_grad=True)


def loss(weight, sparse, **options):
    return (F.embedding(PLACES, weight, sparse=sparse, **options) ** 3).sum()


def bags(weight, sparse, mode):
    found = F.embedding_bag(np.array([3, 1, 3, 0, 5, 1]), weight, np.array([0, 2, 2]), mode=mode, sparse=sparse)
    return (found**3).sum()


@each("options", [{}, {"padding_idx": 1}, {"scale_grad_by_freq": True}, {"max_norm": 1.0}])
@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
def test_rows_wait_and_are_the_gradient(options, dtype):
    weight, plain = table(dtype), table(dtype)
    gs.real(loss(weight, True, **options)).backward()
    gs.real(loss(plain, False, **options)).backward()
    places, rows = rows_of_gradient(weight)
    assert places.tolist() == [0, 1, 3, 5]
    np.testing.assert_allclose(rows, plain.grad[places], rtol=1e-6)
    np.testing.assert_allclose(weight.grad, plain.grad, rtol=1e-6)
    assert rows_of_gradient(weight) is None and weight.grad is weight.grad


@each("mode", ["sum", "mean", "max"])
def test_bags(mode):
    weight, plain = table(), table()
    bags(weight, True, mode).backward()
    bags(plain, False, mode).backward()
    assert rows_of_gradient(weight)[0].tolist() == [0, 1, 3, 5]
    np.testing.assert_allclose(weight.grad, plain.grad, rtol=1e-12)


def test_sums_with_what_arrives_as_an_array_before_behind_and_beside():
    weight, plain = table(), table()
    for w, sparse in ((weight, True), (plain, False)):
        loss(w, sparse).backward()
        (loss(w, sparse) + (w * w).sum()).backward()
        loss(w, sparse).backward()
    np.testing.assert_allclose(weight.grad, plain.grad, rtol=1e-12)
    held = weight.grad
    loss(weight, True).backward()
    loss(plain, False).backward()
    assert weight.grad is held  # added in place
    np.testing.assert_allclose(held, plain.grad, rtol=1e-12)


ASKED = {
    "grad": lambda w, s: gs.autograd.grad(loss(w, s), [w])[0],
    "inputs": lambda w, s: (loss(w, s).backward(inputs=[w]), w.grad)[1],
    "recorded": lambda w, s: gs.autograd.grad((gs.autograd.grad(loss(w, s), [w], create_graph=True)[0] ** 2).sum(), [w])[0],
    "recorded backward": lambda w, s: (loss(w, s).backward(create_graph=True), w.grad.detach())[1],
    "hook": lambda w, s: (w.register_hook(lambda grad: 2 * grad), loss(w, s).backward(), w.grad)[2],
    "behind": lambda w, s: (w.register_post_accumulate_grad_hook(lambda w: setattr(w, "grad", 3 * w.grad)), loss(w, s).backward(), w.grad)[2],
    "not a leaf": lambda w, s: (loss(w * 2, s).backward(), w.grad)[1],
    "gs.grad": lambda w, s: gs.grad(lambda w: loss(w, s))(w.detach()),
    "hessian": lambda w, s: gs.hessian(lambda w: loss(w, s))(w.detach()),
    "jvp": lambda w, s: gs.jvp(lambda w: loss(w, s), (w.detach(),), (gs.ones_like(w),))[1],
    "forward over reverse": lambda w, s: gs.jvp(gs.grad(lambda w: loss(w, s)), (w.detach(),), (gs.ones_like(w),))[1],
    "vmap": lambda w, s: gs.vmap(gs.grad(lambda w: loss(w, s)))(gs.stack([w.detach(), 2 * w.detach()])),
    "jet": lambda w, s: gs.func.jet(lambda w: loss(w, s), (w.detach(),), ([gs.ones_like(w)] * 2,))[1][1],
    "compiled": lambda w, s: gs.compile(gs.grad(lambda w: loss(w, s)))(w.detach()),
    "anomaly": lambda w, s: anomaly(w, s),
    "pickle": lambda w, s: (loss(w, s).backward(), pickle.loads(pickle.dumps(w)).grad)[1],
    "deepcopy": lambda w, s: (loss(w, s).backward(), copy.deepcopy(w).grad)[1],
    "clipped": lambda w, s: (loss(w, s).backward(), gs.nn.utils.clip_grad_norm_([w], 0.1), w.grad)[2],
    "dtype": lambda w, s: (setattr(w, "grad_dtype", np.float32), loss(w, s).backward(), w.grad)[2],
}  # fmt: skip


def anomaly(w, sparse):
    with gs.autograd.set_detect_anomaly(True):
        loss(w, sparse).backward()
    return w.grad


@pytest.mark.filterwarnings("ignore:Using backward:UserWarning")
@each("name", ASKED)
def test_whoever_asks_gets_the_whole_gradient(name):
    found, wanted = ASKED[name](table(), True), ASKED[name](table(), False)
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-7 if name == "dtype" else 1e-12)


def test_gradients_are_forgotten():
    for forget in (lambda w: setattr(w, "grad", None), lambda w: delattr(w, "grad"), lambda w: gs.optim.SGD([w]).zero_grad()):
        weight = table()
        loss(weight, True).backward()
        forget(weight)
        assert rows_of_gradient(weight) is None and weight.grad is None
    weight = table()
    loss(weight, True).backward()
    gs.optim.SGD([weight]).zero_grad(set_to_none=False)
    assert (weight.grad == 0).all()
    loss(weight, True).backward()
    weight.grad = gs.ones_like(weight)
    assert (weight.grad == 1).all()


def test_a_compiled_step_finds_what_waits():
    weight, plain = table(), table()

    def step(w):
        (w * w).sum().backward()
        found = w.grad * 1
        w.grad = None
        return found

    compiled = gs.compile(step)
    for _ in range(4):
        loss(weight, True).backward()
        loss(plain, False).backward()
        np.testing.assert_allclose(compiled(weight), step(plain), rtol=1e-12)
        assert weight.grad is None


def test_data_of_another_shape():
    weight = table()
    loss(weight, True).backward()
    weight.data = gs.zeros((2, 4))
    with pytest.raises(RuntimeError, match="wait at a leaf whose data was replaced"):
        weight.grad


OPTIMISERS = {
    "SGD": lambda w: gs.optim.SGD([w], 0.1),
    "SGD that climbs": lambda w: gs.optim.SGD([w], 0.1, maximize=True),
    "SGD with momentum": lambda w: gs.optim.SGD([w], 0.1, momentum=0.9),
    "Adagrad": lambda w: gs.optim.Adagrad([w], 0.1, lr_decay=0.1, initial_accumulator_value=0.5),
    "Adagrad with decay": lambda w: gs.optim.Adagrad([w], 0.1, weight_decay=0.1),
    "Adam": lambda w: gs.optim.Adam([w], 0.1),
}


@each("name", OPTIMISERS)
def test_optimisers_move_as_with_arrays(name):
    weight, plain = table(), table()
    for w, sparse in ((weight, True), (plain, False)):
        optimizer = OPTIMISERS[name](w)
        for _ in range(3):
            optimizer.zero_grad()
            loss(w, sparse).backward()
            optimizer.step()
    np.testing.assert_allclose(weight.detach(), plain.detach(), rtol=1e-12)


def test_no_array_is_made_of_a_gradient_in_a_step():
    table = gs.nn.Embedding(20_000, 50, sparse=True)
    for kind in (gs.optim.SGD, gs.optim.SparseAdam, gs.optim.Adagrad):
        optimizer = kind(table.parameters(), lr=0.1)
        for _ in range(2):
            optimizer.zero_grad()
            (table(np.array([7, 3, 7])) ** 2).sum().backward()
            assert rows_of_gradient(table.weight)[0].tolist() == [3, 7]
            optimizer.step()
            assert rows_of_gradient(table.weight) is not None  # still nobody has asked
    table.zero_grad()
    assert rows_of_gradient(table.weight) is None and table.weight.grad is None


def test_sparse_adam_is_torchs():
    torch = pytest.importorskip("torch")
    start = RANDOM.normal(size=(6, 4))
    for options in ({}, {"lr": 0.1, "betas": (0.8, 0.95), "eps": 1e-3, "maximize": True}):
        ours = gs.nn.Embedding(6, 4, sparse=True, _weight=gs.tensor(start.copy()))
        theirs = torch.nn.Embedding(6, 4, sparse=True, _weight=torch.tensor(start.copy()))
        pairs = ((ours, gs.optim.SparseAdam(ours.parameters(), **options)),
                 (theirs, torch.optim.SparseAdam(theirs.parameters(), **options)))  # fmt: skip
        for places in ([1, 2, 1], [2, 5], [0], [1, 5, 5]):
            for (module, optimizer), library in zip(pairs, (gs.tensor, torch.tensor)):
                optimizer.zero_grad()
                (module(library(places)) ** 2).sum().backward()
                optimizer.step()
        np.testing.assert_allclose(ours.weight.detach(), theirs.weight.detach().numpy(), rtol=1e-12)


def test_sparse_adam_refuses_arrays():
    weight = table()
    optimizer = gs.optim.SparseAdam([weight])
    (weight * weight).sum().backward()
    with pytest.raises(RuntimeError, match="does not support dense gradients, please consider Adam"):
        optimizer.step()
    with pytest.raises(ValueError, match="Invalid epsilon"):
        gs.optim.SparseAdam([weight], eps=0.0)
