"""Vectors of small parameters: the bits of parameters that are moved one by one, whatever happens between the steps."""

import copy
import pickle

import numpy as np
import pytest

import gradspec as gs
from gradspec.optim import optimizer, vectors
from tests.asked import each

OPTIMIZERS = [
    ("SGD", {}), ("SGD", {"momentum": 0.9, "dampening": 0.1, "weight_decay": 0.01}), ("SGD", {"momentum": 0.9, "nesterov": True, "maximize": True}),
    ("Adam", {}), ("Adam", {"amsgrad": True, "weight_decay": 0.1}), ("AdamW", {"maximize": True}), ("Adadelta", {}), ("Adamax", {"weight_decay": 0.1}),
    ("NAdam", {"decoupled_weight_decay": True, "weight_decay": 0.1}), ("RAdam", {}), ("ASGD", {"t0": 2}), ("Rprop", {}), ("Adagrad", {"lr_decay": 0.1}),
    ("RMSprop", {"centered": True, "momentum": 0.5}), ("Adafactor", {}),
]  # fmt: skip
SHAPES = [(3,), (), (2, 3), (0, 2), (4, 1, 2), (3000,), (5,), (1, 1)]


def leaves(dtype=np.float64, shapes=SHAPES):
    rng = np.random.default_rng(0)
    return [gs.tensor(random(rng, shape, dtype), requires_grad=True) for shape in shapes]


def random(rng, shape, dtype):
    found = rng.normal(size=shape)
    return np.asarray(found + 1j * rng.normal(size=shape) if np.dtype(dtype).kind == "c" else found, dtype)


class Pair:
    """An optimiser of many parameters, and one for each of the same parameters."""

    def __init__(self, name, options, dtype=np.float64, shapes=SHAPES):
        self.many, self.single = leaves(dtype, shapes), leaves(dtype, shapes)
        self.together = getattr(gs.optim, name)(self.many, **options)
        self.alone = [getattr(gs.optim, name)([param], **options) for param in self.single]
        self.rng = np.random.default_rng(1)

    def step(self, without=()):
        for i, (a, b) in enumerate(zip(self.many, self.single)):
            grad = random(self.rng, a.shape, a.dtype)
            a.grad, b.grad = (None, None) if i in without else (gs.asarray(grad), gs.asarray(grad.copy()))
        self.together.step()
        for one in self.alone:
            one.step()
        self.compare()

    def compare(self):
        for a, b, one in zip(self.many, self.single, self.alone):
            np.testing.assert_array_equal(a.detach().numpy(), b.detach().numpy(), strict=True)
            states = self.together.state.get(a, {}), one.state.get(b, {})
            assert list(states[0]) == list(states[1])
            for name in states[0]:
                np.testing.assert_array_equal(states[0][name].numpy(), states[1][name].numpy(), err_msg=name, strict=True)

    def vectors(self):
        return [vector for kept in optimizer.KEPT.get(self.together, {}).values() for vector in kept.vectors]


@each("dtype", [np.float64, np.float32, np.complex64])
@each(("name", "options"), OPTIMIZERS)
def test_steps_have_the_bits_of_parameters_alone(name, options, dtype):
    if name == "Adafactor" and np.dtype(dtype).kind == "c":
        return
    pair = Pair(name, options, dtype)
    for _ in range(3):
        pair.step()
    made = pair.vectors()
    assert [len(vector.params) for vector in made] == ([] if name == "Adafactor" else [7])
    pair.step(without=[1, 4])
    pair.step(without=[1])
    pair.step()
    assert made == [] or pair.vectors() != made


@each(("name", "options"), [("Adam", {"lr": 0.1}), ("SGD", {"momentum": 0.5}), ("ASGD", {"t0": 1})])
def test_what_happens_between_steps(name, options):
    pair = Pair(name, options)
    pair.step()
    pair.step()
    made = pair.vectors()
    pair.step()
    assert pair.vectors() is not made and all(map(lambda a, b: a is b, pair.vectors(), made))  # kept from step to step
    for both in zip(pair.many, pair.single):  # other numbers, in the same memory and in another
        for param in both:
            with gs.no_grad():
                param *= 2
            param.data = param.detach() + 1
    pair.step()
    for optim in (pair.together, *pair.alone):  # states: written to, put in the place of others, step counts, options
        for state in optim.state.values():
            for tensor in state.values():
                tensor += 1
    pair.step()
    for optim in (pair.together, *pair.alone):
        optim.param_groups[0]["lr"] = 0.05
    for first in (pair.together.state[pair.many[0]], pair.alone[0].state[pair.single[0]]):
        for key, tensor in first.items():
            first[key] = tensor * 2
    pair.step()
    for optim in (pair.together, *pair.alone):
        optim.load_state_dict(pickle.loads(pickle.dumps(optim.state_dict())))
    pair.step()
    assert all(np.shares_memory(part.numpy(), vector.whole[name].numpy()) or not part.size
               for vector in pair.vectors() for name, parts in vector.held.items() for part in parts)  # fmt: skip


def test_a_copy_has_vectors_of_its_own():
    for made in (copy.deepcopy, lambda pair: pickle.loads(pickle.dumps(pair))):
        pair = Pair("Adam", {})
        pair.step()
        twin = made(pair)
        pair.step()
        twin.step()
        twin.step(without=[0])
        assert twin.vectors() and pair.vectors()


def test_other_dtypes_and_groups():
    pair = Pair("Adam", {})
    pair.step()
    for both in zip(pair.many, pair.single):
        for param in both:
            param.data, param.grad = param.detach().astype(np.float32), None
    for optim in (pair.together, *pair.alone):
        optim.load_state_dict(optim.state_dict())
    pair.step()
    assert {vector.changes.dtype for vector in pair.vectors()} == {np.dtype(np.float32)}
    more, others = leaves(np.float32), leaves(np.float32)
    pair.together.add_param_group({"params": more, "lr": 0.5})
    pair.many, pair.single, pair.alone = pair.many + more, pair.single + others, pair.alone + [gs.optim.Adam([param], lr=0.5) for param in others]
    pair.step()
    pair.step(without=range(8))


def test_vectors_are_of_some_length():
    pair = Pair("SGD", {}, shapes=[(vectors.SMALL,)] * 40 + [(1,)] * 3)
    pair.step()
    assert [sum(param.size for param in vector.params) for vector in pair.vectors()] == [vectors.LONG, 8 * vectors.SMALL + 3]
    pair = Pair("SGD", {}, shapes=[(2,)] * (vectors.FEW - 1) + [(vectors.SMALL + 1,)] * 2)
    pair.step()
    assert pair.vectors() == []


class Clipped(gs.optim.Adam):
    """A step is at most 1e-3 long in each parameter: not elementwise, though Adam is."""

    def update(self, param, grad, state, group):
        step = super().update(param, grad, state, group)
        return step * gs.minimum(1e-3 / gs.linalg.norm(step.ravel()), 1.0) if step.size else step


def test_a_class_with_an_update_of_its_own_is_asked_of_each_parameter():
    many = leaves()
    optim = Clipped(many, lr=1.0)
    before = [param.detach().numpy().copy() for param in many]
    for param in many:
        param.grad = gs.ones_like(param)
    optim.step()
    for old, param in zip(before, many):
        if param.size:
            assert abs(np.linalg.norm(old - param.detach().numpy()) - 1e-3) < 1e-9


def test_a_recording_is_of_parameters():
    pair = Pair("Adam", {}, shapes=[(2,)] * 5)
    pair.step()
    assert len(pair.vectors()) == 1
    with gs.profiler.profile() as found:
        pair.together.step()
    for one in pair.alone:
        one.step()
    pair.compare()
    assert pair.vectors() == [] and sum("sqrt" in event.name for event in found.events()) >= 5
    pair.step()
    assert len(pair.vectors()) == 1


def test_a_graph_that_saved_a_parameter_hears_of_the_step():
    params = [gs.ones(2, requires_grad=True) for _ in range(5)]
    optim = gs.optim.SGD(params, lr=0.1)
    loss = sum((param * param * param).sum() for param in params)
    for param in params:
        param.grad = gs.ones(2)
    optim.step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()
