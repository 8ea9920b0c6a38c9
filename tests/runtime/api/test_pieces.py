"""Functions made of several operators that are not in the spec: pieces, bags, packed sequences, attention with projections.

Values are those of NumPy and, where it is installed, PyTorch; derivatives are held to differences in both modes.
"""

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import gradcheck, gradgradcheck
from tests.asked import each

RANDOM = np.random.default_rng(0)
A, B = RANDOM.normal(size=(3, 4)), RANDOM.normal(size=(3, 4))


def leaves(*arrays):
    return [gs.tensor(array, requires_grad=True) for array in arrays]


def flat(found):
    return list(found) if isinstance(found, (tuple, list)) else [found]


NUMPY = {
    "block": (lambda m, a, b: m.block([[a, b], [b, a]]), (A, B)),
    "choose": (lambda m, a, b: m.choose([0, 1, 1, 0], [a, b]), (A, B)),
    "choose wrap": (lambda m, a, b: m.choose([5, -1, 2, 0], [a, b], mode="wrap"), (A, B)),
    "float_power": (lambda m, a: m.float_power(a, 3.0), (np.abs(A) + 0.5,)),
    "real_if_close": (lambda m, a: m.real_if_close(a + 0j), (A,)),
    "r_": (lambda m, a, b: m.r_[a[0], 1.0, b[1], 2:5], (A, B)),
    "r_ of matrices": (lambda m, a, b: m.r_[a, b], (A, B)),
    "c_": (lambda m, a, b: m.c_[a[0], b[1]], (A, B)),
    "c_ of matrices": (lambda m, a, b: m.c_[a, b[:, :2]], (A, B)),
    "matvec": (lambda m, a, b: m.matmul(a, b[0]) if not hasattr(np, "matvec") else m.matvec(a, b[0]), (A, B)),
}


@each("name", NUMPY)
def test_as_numpy(name):
    function, arrays = NUMPY[name]
    found = function(gs, *leaves(*arrays))
    np.testing.assert_allclose(found.detach().numpy(), function(np, *arrays), rtol=1e-14)
    assert found.dtype == function(np, *arrays).dtype
    assert gradcheck(lambda *x: function(gs, *x), leaves(*arrays), check_forward_ad=True)


# NumPy's own functions on tensors, whose operators have other parameters.
CALLS = {
    "einsum by numbers": (lambda a, b: np.einsum(a, [0, 1], b, [2, 1], [0, 2]), (A, B)),
    "einsum by numbers, in order": (lambda a, b: np.einsum(a, [1, 0], b, [1, 2]), (A, B)),
    "einsum with an ellipsis": (lambda a: np.einsum(a, [Ellipsis, 5], [5, Ellipsis]), (A,)),
    "linspace": (lambda a, b: np.linspace(a, b, 5), (A[0], B[0])),
    "linspace without the end": (lambda a, b: np.linspace(a, b, 5, endpoint=False, axis=-1), (A[0], B[0])),
    "linspace of one": (lambda a, b: np.linspace(a, b, 1), (A[0], B[0])),
    "cross with axes": (lambda a, b: np.cross(a, b, axisa=0, axisb=0, axisc=0), (A, B)),
    "cross without axis": (lambda a, b: np.cross(a.T, b.T, axis=None), (A, B)),
    "cross along an axis": (lambda a, b: np.cross(a, b, axis=0), (A, B)),
    "rollaxis": (lambda a: np.rollaxis(a, 1), (A,)),
    "choose": (lambda a, b: np.choose([0, 1, 1, 0], [a, b]), (A, B)),
    "real_if_close": (lambda a: np.real_if_close(a + 1j), (A,)),
    "polyadd": (lambda a, b: np.polyadd(a[0], b[0, 1:]), (A, B)),
    "polymul": (lambda a, b: np.polymul(a[0], b[0]), (A, B)),
    "polyder": (lambda a: np.polyder(a[0], 2), (A,)),
    "polyint": (lambda a: np.polyint(a[0], 2, [1.0, 2.0]), (A,)),
    "polydiv": (lambda a, b: np.polydiv(a[0], b[0, 2:]), (A, B)),
    "poly": (lambda a: np.poly(a[0]), (A,)),
}


@each("name", CALLS)
def test_calls_of_numpy(name):
    function, arrays = CALLS[name]
    for y, z in zip(flat(function(*leaves(*arrays))), flat(function(*arrays)), strict=True):
        assert isinstance(y, gs.Tensor) and y.shape == np.shape(z)
        np.testing.assert_allclose(y.detach().numpy(), z, rtol=1e-10, atol=1e-12)
    assert gradcheck(lambda *x: [y for y in flat(function(*x)) if y.requires_grad], leaves(*arrays))


def test_roots():
    found = gs.roots([2.0, -6.0, 3.0, 1.0]).numpy()
    np.testing.assert_allclose(np.sort_complex(found), np.sort_complex(np.roots([2.0, -6.0, 3.0, 1.0])), rtol=1e-12)


def test_directives_are_refused():
    with pytest.raises(TypeError, match="^r_: directives as '0,2' are not known"):
        gs.r_["0,2", [1.0], [2.0]]


def test_put_along_axis():
    x = gs.zeros(2, 3)
    (values,) = leaves(np.array([[5.0], [7.0]]))
    gs.put_along_axis(x, [[2], [0]], values, 1)
    assert x.tolist() == [[0, 0, 5], [7, 0, 0]] and x.requires_grad


@pytest.mark.parametrize("b", [np.array([1.0, 2.0, 0.5, 3.0]), np.array([[1.0], [-2.0], [0.5]]), np.array([1.0, 0.0, 2.0, 0.0])])
@pytest.mark.parametrize("axis", [None, 1])
def test_logsumexp_with_factors(b, axis):
    special = pytest.importorskip("scipy.special")
    value, sign = gs.special.logsumexp(A, axis, b=b, return_sign=True)
    wanted, wanted_sign = special.logsumexp(A, axis, b=b, return_sign=True)
    np.testing.assert_allclose(value.numpy(), wanted, rtol=1e-13)
    np.testing.assert_array_equal(sign.numpy(), wanted_sign)
    function = lambda x, b: gs.special.logsumexp(x, axis, True, b=b, return_sign=True)[0]  # noqa: E731
    assert gradcheck(function, leaves(A, np.where(b == 0, 0.25, b)), check_forward_ad=True)
    assert gradgradcheck(function, leaves(A, np.where(b == 0, 0.25, b)))


def test_logsumexp_of_far_numbers():
    assert gs.special.logsumexp([1000.0, 1000.0], b=[1.0, 3.0]).item() == pytest.approx(1000 + np.log(4))
    assert gs.special.logsumexp([np.inf, 1.0], b=[0.0, 1.0]).item() == 1


@pytest.mark.parametrize("word", ["sum", "mean", "prod", "max", "min"])
def test_segments(word):
    x = RANDOM.normal(size=(6, 2))
    of = {"sum": np.sum, "mean": np.mean, "prod": np.prod, "max": np.max, "min": np.min}[word]
    wanted = [of(x[:2], 0), of(x[2:3], 0), of(x[3:], 0)]
    np.testing.assert_allclose(gs.segment_reduce(x, word, lengths=[2, 1, 3]).numpy(), wanted)
    np.testing.assert_allclose(gs.segment_reduce(x.T, word, offsets=[0, 2, 3, 6], axis=1).numpy(), np.transpose(wanted))
    assert gradcheck(lambda x: gs.segment_reduce(x, word, lengths=[2, 1, 3]), leaves(x), check_forward_ad=True)
    empty = {"sum": 0, "mean": np.nan, "prod": 1, "max": -np.inf, "min": np.inf}[word]
    np.testing.assert_equal(gs.segment_reduce(x[:2], word, lengths=[0, 2]).numpy()[0], [empty, empty])


def test_segments_that_are_refused():
    with pytest.raises(ValueError, match=r"whose sum is 6, got \[1, 2\]"):
        gs.segment_reduce(np.ones(6), "sum", lengths=[1, 2])
    with pytest.raises(ValueError, match="either lengths or offsets"):
        gs.segment_reduce(np.ones(6), "sum")


def test_unique_consecutive():
    x = gs.tensor([1.0, 1.0, 2.0, 2.0, 1.0], requires_grad=True)
    y, places, counts = gs.unique_consecutive(x, True, True)
    assert (y.tolist(), places.tolist(), counts.tolist()) == ([1, 2, 1], [0, 0, 1, 1, 2], [2, 2, 1])
    y.sum().backward()
    assert x.grad.tolist() == [1, 0, 1, 0, 1]
    rows = [[1.0, 2.0], [1.0, 2.0], [3.0, 4.0]]
    assert gs.unique_consecutive(rows, axis=0).tolist() == [[1, 2], [3, 4]]
    assert gs.unique_consecutive(np.ones((0,))).shape == (0,)


@pytest.mark.parametrize("function", [gs.unique, np.unique])
@pytest.mark.parametrize("axis", [None, 0, -1])
def test_unique_says_what_numpys_says(function, axis):
    values = np.array([[2.0, 1.0, 2.0], [2.0, 1.0, 2.0], [3.0, 1.0, 3.0]])
    x = gs.tensor(values, requires_grad=True)
    y, *found = function(x, return_index=True, return_inverse=True, return_counts=True, axis=axis)
    wanted, *places = np.unique(values, True, True, True, axis)
    np.testing.assert_array_equal(y.detach().numpy(), wanted)
    for one, other in zip(found, places):
        np.testing.assert_array_equal(one, other)
        assert not one.requires_grad
    y.sum().backward()
    kept = np.zeros(9 if axis is None else 3)
    kept[places[0]] = 1
    by = kept.reshape(3, 3) if axis is None else np.broadcast_to(kept[:, None] if axis == 0 else kept, (3, 3))
    np.testing.assert_array_equal(x.grad.numpy(), by)
    assert [part.tolist() for part in function(x, return_counts=True)] == [[1, 2, 3], [3, 4, 2]]


def test_questions():
    assert gs.is_nonzero([[2.0]]) is True and gs.is_nonzero(0) is False
    assert gs.is_same_size(A, B) is True and gs.is_same_size(A, B[0]) is False
    with pytest.raises(ValueError, match="expected one element, got 2"):
        gs.is_nonzero([1.0, 2.0])


# Functions of networks, beside PyTorch's.

E, W = RANDOM.normal(size=(5, 3)), RANDOM.normal(size=6)


@each("mode", ["sum", "mean", "max"])
@each("padding", [None, 2, -5])
def test_bags(mode, padding):
    torch = pytest.importorskip("torch")
    places = np.array([0, 2, 1, 4, 4, 2])
    for offsets, last in ((np.array([0, 2, 2, 5]), False), (np.array([0, 1, 6]), True), (None, False)):
        given = places.reshape(2, 3) if offsets is None else places
        wanted = torch.nn.functional.embedding_bag(
            torch.tensor(given), torch.tensor(E), None if offsets is None else torch.tensor(offsets), mode=mode,
            include_last_offset=last, padding_idx=padding)  # fmt: skip
        call = lambda w, given=given, offsets=offsets, last=last: gs.nn.embedding_bag(given, w, offsets, mode, None, last, padding)  # noqa: E731
        np.testing.assert_allclose(call(E).numpy(), wanted.numpy(), rtol=1e-14)
        assert gradcheck(call, leaves(E), check_forward_ad=True)


def test_bags_with_factors():
    function = lambda e, w: gs.nn.embedding_bag([0, 2, 1, 4, 4, 2], e, [0, 2], "sum", w, padding_idx=4)  # noqa: E731
    wanted = [E[0] * W[0] + E[2] * W[1], E[1] * W[2] + E[2] * W[5]]
    np.testing.assert_allclose(function(E, W).numpy(), wanted)
    assert gradcheck(function, leaves(E, W), check_forward_ad=True) and gradgradcheck(function, leaves(E, W))


def test_triplets_with_a_distance():
    a, b, c = A, B, RANDOM.normal(size=(3, 4))
    plain = gs.nn.triplet_margin_with_distance_loss(a, b, c, margin=2.0, swap=True)
    np.testing.assert_allclose(plain.numpy(), gs.nn.triplet_margin_loss(a, b, c, 2.0, swap=True).numpy())
    function = lambda *x: gs.nn.triplet_margin_with_distance_loss(  # noqa: E731
        *x, distance_function=lambda x, y: 1 - gs.nn.cosine_similarity(x, y), margin=2.0, reduction="none")  # fmt: skip
    assert function(a, b, c).shape == (3,) and gradcheck(function, leaves(a, b, c))


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("lengths", [[4, 2, 2], [1, 4, 3]])
def test_packed_and_padded(lengths, first):
    x = RANDOM.normal(size=(3, 4, 2) if first else (4, 3, 2))
    ordered = lengths[0] == max(lengths)
    packed = gs.nn.pack_padded_sequence(x, lengths, first, ordered)
    assert packed.data.shape == (sum(lengths), 2)
    y, found = gs.nn.pad_packed_sequence(packed, first, -1.0, 5)
    assert found.tolist() == lengths
    wanted = np.full((3, 5, 2), -1.0)
    for i, length in enumerate(lengths):
        wanted[i, :length] = (x if first else x.swapaxes(0, 1))[i, :length]
    np.testing.assert_array_equal(y.numpy(), wanted if first else wanted.swapaxes(0, 1))
    assert gradcheck(lambda x: gs.nn.pack_padded_sequence(x, lengths, first, ordered).data, leaves(x))
    function = lambda data: gs.nn.pad_packed_sequence(packed._replace(data=data))[0]  # noqa: E731
    assert gradcheck(function, [packed.data.detach().requires_grad_()], check_forward_ad=True)
    torch = pytest.importorskip("torch")
    theirs = torch.nn.utils.rnn.pack_padded_sequence(torch.tensor(x), torch.tensor(lengths), first, ordered)
    assert packed.batch_sizes.tolist() == theirs.batch_sizes.tolist()
    if len(set(lengths)) == 3 or ordered:  # torch does not say where equal lengths go
        np.testing.assert_array_equal(packed.data.numpy(), theirs.data.numpy())


def test_lengths_that_rise_are_refused():
    with pytest.raises(ValueError, match="lengths must not rise"):
        gs.nn.pack_padded_sequence(np.ones((4, 2)), [1, 4])


HEADS = {
    "plain": {},
    "with one more key": {"bias_k": RANDOM.normal(size=(1, 1, 4)), "bias_v": RANDOM.normal(size=(1, 1, 4)), "add_zero_attn": True},
    "masked": {"attn_mask": np.triu(np.ones((3, 5), bool), 2), "key_padding_mask": np.array([[False, True, False, False, True]] * 2)},
    "added to": {"attn_mask": RANDOM.normal(size=(4, 3, 5)), "average_attn_weights": False},
    "masked, with one more key": {"key_padding_mask": np.array([[False, True, False, False, True]] * 2), "add_zero_attn": True},
    "separate": {"use_separate_proj_weight": True, "in_proj_weight": None, "q_proj_weight": RANDOM.normal(size=(4, 4)),
                 "k_proj_weight": RANDOM.normal(size=(4, 4)), "v_proj_weight": RANDOM.normal(size=(4, 4)), "need_weights": False},
}  # fmt: skip
Q, K, V = RANDOM.normal(size=(3, 2, 4)), RANDOM.normal(size=(5, 2, 4)), RANDOM.normal(size=(5, 2, 4))
OWN = {"embed_dim_to_check": 4, "num_heads": 2, "in_proj_weight": RANDOM.normal(size=(12, 4)), "in_proj_bias": RANDOM.normal(size=12),
       "bias_k": None, "bias_v": None, "add_zero_attn": False, "dropout_p": 0.0, "out_proj_weight": RANDOM.normal(size=(4, 4)),
       "out_proj_bias": RANDOM.normal(size=4)}  # fmt: skip


@pytest.mark.parametrize("name", HEADS)
def test_attention_of_several_heads(name):
    given = OWN | HEADS[name]
    y, weights = gs.nn.multi_head_attention_forward(Q, K, V, **given)
    function = lambda q, k, v: gs.nn.multi_head_attention_forward(q, k, v, **given)[0]  # noqa: E731
    assert gradcheck(function, leaves(Q, K, V), check_forward_ad=True)
    torch = pytest.importorskip("torch")
    theirs = {name: torch.tensor(v) if isinstance(v, np.ndarray) else v for name, v in given.items()}
    wanted = torch.nn.functional.multi_head_attention_forward(*map(torch.tensor, (Q, K, V)), **theirs)
    np.testing.assert_allclose(y.numpy(), wanted[0].numpy(), rtol=1e-12, atol=1e-13)
    assert (weights is None) == (wanted[1] is None)
    if weights is not None:
        np.testing.assert_allclose(weights.numpy(), wanted[1].numpy(), rtol=1e-12, atol=1e-13)


def test_attention_without_a_batch():
    y, weights = gs.nn.multi_head_attention_forward(Q[:, 0], K[:, 0], V[:, 0], **OWN)
    whole, both = gs.nn.multi_head_attention_forward(Q, K, V, **OWN)
    np.testing.assert_allclose(y.numpy(), whole.numpy()[:, 0])
    np.testing.assert_allclose(weights.numpy(), both.numpy()[0])
