"""Loops over sequences: recurrent networks against their cells, ctc_loss against all sequences, and what both refuse."""

import itertools

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import grad, gradcheck, gradgradcheck
from tests.asked import each

CELLS = {"rnn_tanh": (gs.nn.rnn_tanh_cell, 1), "rnn_relu": (gs.nn.rnn_relu_cell, 1), "gru": (gs.nn.gru_cell, 3), "lstm": (gs.nn.lstm_cell, 4)}


def network(name, layers, sides, biases, shape, dtype=np.float64):
    """Arrays for a network of 2 components and 3 states."""
    random = np.random.default_rng(layers)
    gates, params = CELLS[name][1], []
    for layer, _ in itertools.product(range(layers), range(sides)):
        shapes = [(3 * gates, 3 * sides if layer else 2), (3 * gates, 3), *[(3 * gates,)] * (2 * biases)]
        params += [gs.tensor(random.normal(size=s).astype(dtype), requires_grad=True) for s in shapes]
    x = gs.tensor(random.normal(size=(*shape, 2)).astype(dtype), requires_grad=True)
    states = [gs.tensor(random.normal(size=(layers * sides, *shape[1:], 3)).astype(dtype), requires_grad=True)
              for _ in range(1 + (name == "lstm"))]  # fmt: skip
    return x, states, params


def by_cells(name, x, states, params, layers, sides, each):
    cell = CELLS[name][0]
    behind = [[] for _ in states]
    for layer in range(layers):
        outs = []
        for side in range(sides):
            place = layer * sides + side
            held = [state[place] for state in states]
            steps = range(x.shape[0])[::-1] if side else range(x.shape[0])
            found = {}
            for t in steps:
                after = cell(x[t], held if name == "lstm" else held[0], *params[place * each : (place + 1) * each])
                held = list(after) if name == "lstm" else [after]
                found[t] = held[0]
            outs.append(gs.stack([found[t] for t in range(x.shape[0])]))
            for kept, last in zip(behind, held):
                kept.append(last)
        x = gs.concat(outs, -1)
    return [x, *map(gs.stack, behind)]


@each("name", CELLS)
@each(("layers", "bidirectional", "biases", "shape"), [
    (1, False, True, (4, 2)), (2, True, True, (3, 2)), (3, False, False, (2,)), (2, True, False, (1, 1)),
])  # fmt: skip
def test_a_network_is_its_cells_one_after_the_other(name, layers, bidirectional, biases, shape):
    sides, each = 1 + bidirectional, 4 if biases else 2
    x, states, params = network(name, layers, sides, biases, shape)
    hx = states if name == "lstm" else states[0]
    found = getattr(gs.nn, name)(x, hx, params, biases, layers, bidirectional=bidirectional)
    wanted = by_cells(name, x, states, params, layers, sides, each)
    leaves = [x, *states, *params]
    weights = [gs.tensor(np.random.default_rng(1).normal(size=y.shape)) for y in wanted]
    gradients = [grad(sum((y * w).sum() for y, w in zip(ys, weights)), leaves) for ys in (found, wanted)]
    for got, due in zip([*found, *gradients[0]], [*wanted, *gradients[1]], strict=True):
        np.testing.assert_allclose(got.detach().numpy(), due.detach().numpy(), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("name", CELLS)
def test_derivatives_of_any_order_in_both_modes(name):
    x, states, params = network(name, 1, 2, True, (2, 1))

    def f(x, *rest):
        hx = rest[: len(states)]
        return getattr(gs.nn, name)(x, hx if name == "lstm" else hx[0], rest[len(states) :], bidirectional=True)

    assert gradcheck(f, [x, *states, *params], check_forward_ad=True)
    assert gradgradcheck(f, [x, *states, *params])


@pytest.mark.parametrize("name", CELLS)
def test_batch_first_dropout_and_dtype(name):
    x, states, params = network(name, 2, 1, True, (3, 2), np.float32)
    hx = states if name == "lstm" else states[0]
    function = getattr(gs.nn, name)
    plain = function(x, hx, params, num_layers=2)
    turned = function(gs.swapaxes(x, 0, 1), hx, params, num_layers=2, batch_first=True)
    np.testing.assert_array_equal(gs.swapaxes(turned[0], 0, 1).detach().numpy(), plain[0].detach().numpy())
    assert all(y.dtype == np.float32 for y in (*plain, *turned))
    np.testing.assert_array_equal(function(x, hx, params, num_layers=2, dropout=0.5)[0].detach(), plain[0].detach())
    dropped = [function(x, hx, params, num_layers=2, dropout=0.5, train=True, generator=seed)[0].detach().numpy() for seed in (0, 0, 1)]
    assert (dropped[0] == dropped[1]).all() and (dropped[0] != dropped[2]).any()


@pytest.mark.parametrize("name", CELLS)
def test_networks_refuse_what_does_not_fit(name):
    x, states, params = network(name, 1, 1, True, (3, 2))
    function = getattr(gs.nn, name)

    def called(x=x, states=states, params=params, **others):
        return function(x, states if name == "lstm" else states[0], params, **others)

    called()
    for bad in ({"params": params[:3]}, {"num_layers": 2}, {"has_biases": False}, {"bidirectional": True}, {"x": x[0, 0]},
                {"x": x[:0]}, {"states": [s[:, :1] for s in states]}, {"params": [params[0][:-1], *params[1:]]},
                {"num_layers": 0}):  # fmt: skip
        with pytest.raises(ValueError, match=f"{name}: "):
            called(**bad)
    if name == "lstm":
        with pytest.raises(ValueError, match="the states and the cells"):
            function(x, states[:1], params)


def test_padded_sequences():
    parts = [gs.tensor(np.arange(2.0 * n).reshape(n, 2), requires_grad=True) for n in (1, 3, 0)]
    y = gs.nn.pad_sequence(parts, padding_value=-1.0)
    assert y.shape == (3, 3, 2) and y[:, 0].tolist() == [[0, 1], [-1, -1], [-1, -1]] and (y[:, 2].detach().numpy() == -1).all()
    left = gs.nn.pad_sequence(parts, True, padding_side="left")
    assert left.shape == (3, 3, 2) and left[0].tolist() == [[0, 0], [0, 0], [0, 1]]
    weights = gs.tensor(np.arange(18.0).reshape(3, 3, 2))
    found = grad((left * weights).sum(), parts)
    assert [g.tolist() for g in found] == [[[4, 5]], [[6, 7], [8, 9], [10, 11]], []]
    for bad, error in (([], "at least one"), ([1.0], "an axis of time")):
        with pytest.raises(ValueError, match=error):
            gs.nn.pad_sequence(bad)
    with pytest.raises(ValueError, match="padding_side"):
        gs.nn.pad_sequence(parts, padding_side="both")


def collapsed(path, blank):
    """What a sequence of classes says: repetitions and blanks left out."""
    return [c for i, c in enumerate(path) if c != blank and (i == 0 or path[i - 1] != c)]


def by_enumeration(x, target, steps, blank):
    """The loss of one example, and its derivative, by all sequences there are."""
    total, slope = 0.0, np.zeros_like(x)
    for path in itertools.product(range(x.shape[1]), repeat=steps):
        if collapsed(path, blank) == list(target):
            share = np.exp(sum(x[t, c] for t, c in enumerate(path)))
            total += share
            for t, c in enumerate(path):
                slope[t, c] += share
    return (-np.log(total), -slope / total) if total else (np.inf, slope)


class TestCTC:
    X = np.random.default_rng(0).normal(size=(5, 6, 3))
    TARGETS = np.array([[1, 2, 1], [1, 1, 2], [2, 0, 0], [2, 1, 0], [1, 1, 1], [1, 2, 0]])
    STEPS, LENGTHS = [5, 4, 3, 2, 4, 0], [3, 3, 1, 0, 3, 2]  # the fifth has too few steps, the last none

    def test_all_sequences(self):
        x = gs.tensor(self.X, requires_grad=True)
        losses = gs.nn.ctc_loss(x, self.TARGETS, self.STEPS, self.LENGTHS, reduction="none")
        (found,) = grad(losses[:4].sum(), x)
        for n, (steps, length) in enumerate(zip(self.STEPS, self.LENGTHS)):
            loss, slope = by_enumeration(self.X[:, n], self.TARGETS[n, :length], steps, 0)
            np.testing.assert_allclose(losses[n].item(), loss, rtol=1e-13)
            if n < 4:
                np.testing.assert_allclose(found.numpy()[:, n], slope, rtol=1e-12, atol=1e-15)
        assert np.isinf(losses.detach().numpy()[4:]).all()

    @pytest.mark.parametrize("blank", [0, 1, 2])
    def test_any_class_may_be_the_blank(self, blank):
        a, b = (c for c in range(3) if c != blank)
        for target in ([a, b], [a, a], [b], []):
            found = gs.nn.ctc_loss(self.X[:, 0], np.array(target, int), [5], [len(target)], blank, "none")
            np.testing.assert_allclose(found.item(), by_enumeration(self.X[:, 0], target, 5, blank)[0], rtol=1e-13)

    def test_reductions_and_infinities(self):
        given = self.X, self.TARGETS, self.STEPS, self.LENGTHS
        plain = gs.nn.ctc_loss(*given, reduction="none").numpy()
        assert gs.nn.ctc_loss(*given).item() == np.inf == gs.nn.ctc_loss(*given, reduction="sum").item()
        x = gs.tensor(self.X, requires_grad=True)
        zeroed = gs.nn.ctc_loss(x, *given[1:], reduction="none", zero_infinity=True)
        np.testing.assert_array_equal(zeroed.detach().numpy(), np.where(np.isinf(plain), 0, plain))
        (found,) = grad(zeroed.sum(), x)
        assert np.isfinite(found.numpy()).all() and (found.numpy()[:, 4:] == 0).all()
        mean = gs.nn.ctc_loss(*given, zero_infinity=True).item()
        np.testing.assert_allclose(mean, np.mean(zeroed.detach().numpy() / np.maximum(self.LENGTHS, 1)), rtol=1e-14)

    def test_targets_one_after_the_other(self):
        flat = np.concatenate([row[:n] for row, n in zip(self.TARGETS, self.LENGTHS)])
        found, wanted = (gs.nn.ctc_loss(self.X, targets, self.STEPS, self.LENGTHS, reduction="none") for targets in (flat, self.TARGETS))
        np.testing.assert_array_equal(found.numpy(), wanted.numpy())

    def test_impossible_classes_and_far_ones(self):
        with np.errstate(divide="ignore"):
            x = np.log([[[0.5, 0.5, 0.0]], [[0.25, 0.75, 0.0]]])
        leaf = gs.tensor(x, requires_grad=True)
        loss = gs.nn.ctc_loss(leaf, [[1]], [2], [1], reduction="sum")
        np.testing.assert_allclose(loss.item(), -np.log(1 - 0.125), rtol=1e-14)
        assert np.isfinite(grad(loss, leaf)[0].numpy()).all()
        far = np.full((3, 1, 2), -1e4)
        np.testing.assert_allclose(gs.nn.ctc_loss(far, [[1]], [3], [1], reduction="sum").item(), 3e4 - np.log(6), rtol=1e-14)

    def test_second_order_and_both_modes(self):
        def f(x):
            return gs.nn.ctc_loss(x, self.TARGETS[:4], self.STEPS[:4], self.LENGTHS[:4], reduction="none")

        x = gs.tensor(self.X[:, :4], requires_grad=True)
        assert gradcheck(f, [x], check_forward_ad=True) and gradgradcheck(f, [x])

    def test_single_precision(self):
        loss = gs.nn.ctc_loss(self.X.astype(np.float32), self.TARGETS, self.STEPS, self.LENGTHS, reduction="none")
        assert loss.dtype == np.float32
        np.testing.assert_allclose(loss.numpy(), gs.nn.ctc_loss(self.X, self.TARGETS, self.STEPS, self.LENGTHS, reduction="none").numpy(), 1e-5)

    @each(("change", "error"), [
        ({"blank": 3}, ValueError), ({"reduction": "all"}, ValueError), ({"input_lengths": [6] * 6}, ValueError),
        ({"input_lengths": [1.0] * 6}, TypeError), ({"target_lengths": [4] * 6}, ValueError), ({"target_lengths": [1]}, ValueError),
        ({"targets": np.full((6, 3), 3)}, ValueError), ({"targets": np.zeros((6, 3), int)}, ValueError),
        ({"targets": np.ones((6, 3))}, TypeError), ({"targets": np.ones(3, int)}, ValueError),
        ({"log_probs": np.ones((5, 6, 3), int)}, ValueError), ({"log_probs": np.ones(5)}, ValueError),
        ({"log_probs": np.ones((0, 6, 3))}, ValueError),
    ])  # fmt: skip
    def test_refusals(self, change, error):
        given = {"log_probs": self.X, "targets": self.TARGETS, "input_lengths": self.STEPS, "target_lengths": self.LENGTHS}
        with pytest.raises(error, match="ctc_loss: "):
            gs.nn.ctc_loss(**{**given, **change})


class TestGumbelSoftmax:
    def test_a_rounded_draw_is_one_class_with_the_gradient_of_the_soft_one(self):
        x = gs.tensor(np.random.default_rng(0).normal(size=(4, 3)), requires_grad=True)
        weights = gs.tensor(np.arange(12.0).reshape(4, 3))
        soft, hard = (gs.nn.gumbel_softmax(x, 0.5, hard, 0, generator=3) for hard in (False, True))
        rounded = hard.detach().numpy()
        assert sorted(set(rounded.reshape(-1).tolist())) == [0, 1]
        np.testing.assert_array_equal(rounded.argmax(0), soft.detach().numpy().argmax(0))
        assert rounded.sum(0).tolist() == [1, 1, 1]
        (a,), (b,) = grad((soft * weights).sum(), x), grad((hard * weights).sum(), x)
        np.testing.assert_array_equal(a.numpy(), b.numpy())

    def test_classes_are_drawn_as_often_as_they_are_likely(self):
        p = np.array([0.2, 0.5, 0.3])
        draws = gs.nn.gumbel_softmax(np.log(p) * np.ones((20000, 1)), 2.0, True, generator=0).numpy()
        np.testing.assert_allclose(draws.mean(0), p, atol=0.015)

    def test_the_dtype_is_that_of_the_logits(self):
        for hard in (False, True):
            assert gs.nn.gumbel_softmax(np.ones(3, np.float32), hard=hard).dtype == np.float32
