"""multi_head_attention_forward under masks: rows that see no key, all kinds of masks, beside PyTorch's and beside fewer rows."""

import itertools

import numpy as np
import pytest

import gradspec as gs
from gradspec import nn

TIME, KEYS, BATCH, SIZE, HEADS = 3, 4, 2, 4, 2
SOME = np.triu(np.ones((TIME, KEYS), bool), 1)
ROW = np.array([[False] * KEYS, [True, False, True, False], [True] * KEYS])  # the last query sees nothing
EACH = np.stack([np.roll(ROW, n, 0) for n in range(BATCH * HEADS)])
PADDED = np.array([[False, False, True, True], [True] * KEYS])  # the second example has no keys at all


def summand(mask):
    return np.where(mask, -np.inf, 0.25)


ATTN = {"none": None, "some": SOME, "row": ROW, "each": EACH, "some added": summand(SOME), "row added": summand(ROW)}
PADDING = {"none": None, "padded": PADDED, "padded added": summand(PADDED)}


def numbers(library, need_weights, attn, padding, bias_kv=False, zero_attn=False):
    """Results, weights and gradients of all that is differentiable, of the first query's result alone and of all."""
    is_torch = library.__name__ == "torch"
    module = library.nn.MultiheadAttention(
        SIZE, HEADS, add_bias_kv=bias_kv, add_zero_attn=zero_attn, dtype=library.float64 if is_torch else np.float64
    )
    draw = np.random.default_rng(5)
    with library.no_grad():
        for parameter in module.parameters():
            parameter.copy_(library.tensor(draw.normal(size=tuple(parameter.shape))))
    q, k, v = (library.tensor(draw.normal(size=(n, BATCH, SIZE)), requires_grad=True) for n in (TIME, KEYS, KEYS))
    masks = [None if mask is None else library.tensor(mask) for mask in (padding, attn)]
    y, weights = module(q, k, v, masks[0], need_weights, masks[1])
    first = library.autograd.grad((y[0, 0] * y[0, 0]).sum(), [q, k, v], retain_graph=True)
    every = library.autograd.grad((y * y).sum(), [q, k, v, *module.parameters()])
    return [None if item is None else item.detach().numpy() for item in (y, weights, *first, *every)]


CASES = list(itertools.product([False, True], ATTN, PADDING, [(False, False), (True, False), (False, True)]))


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning", "ignore:Support for mismatched:UserWarning")
def test_masks_are_pytorchs():
    torch = pytest.importorskip("torch", reason="compares with PyTorch's attention, and PyTorch is not installed")
    for need_weights, attn, padding, further in CASES:
        if "added" in padding and "added" not in attn != "none":
            continue  # masks of two kinds are deprecated there
        here = numbers(gs, need_weights, ATTN[attn], PADDING[padding], *further)
        there = numbers(torch, need_weights, ATTN[attn], PADDING[padding], *further)
        for place, (one, other) in enumerate(zip(here, there)):
            where = f"need_weights={need_weights}, {attn}, {padding}, {further}: {place}"
            assert (one is None) == (other is None), where
            if one is not None:
                np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12, err_msg=where)


@pytest.mark.parametrize("kind", [lambda mask: mask, lambda mask: np.where(mask, -np.inf, 0.0)])
def test_a_query_that_sees_no_key_leaves_the_others_alone(kind):
    whole = numbers(gs, False, kind(ROW), None)
    fewer = numbers(gs, False, kind(np.where(np.arange(TIME)[:, None] == TIME - 1, False, ROW)), None)
    np.testing.assert_array_equal(whole[0][:2], fewer[0][:2])
    assert all(np.isfinite(item).all() for item in whole if item is not None)
    np.testing.assert_allclose(whole[0][2], np.broadcast_to(bias_of_projection(), (BATCH, SIZE)))
    for mine, theirs in zip(whole[2:5], fewer[2:5]):  # the gradients of another query's result
        np.testing.assert_array_equal(mine, theirs)


def bias_of_projection():
    draw = np.random.default_rng(5)
    return [draw.normal(size=tuple(parameter.shape)) for parameter in nn.MultiheadAttention(SIZE, HEADS).parameters()][3]


def test_an_example_without_keys_has_finite_gradients_in_a_transformer():
    layer = nn.TransformerEncoderLayer(SIZE, HEADS, 8, dropout=0.0, batch_first=True)
    x = gs.asarray(np.random.default_rng(0).normal(size=(BATCH, KEYS, SIZE)), requires_grad=True)
    y = layer(x, src_key_padding_mask=gs.asarray(PADDED))
    alone = layer(x[:1], src_key_padding_mask=gs.asarray(PADDED[:1]))
    np.testing.assert_allclose(y[:1].detach().numpy(), alone.detach().numpy(), rtol=1e-12)
    grads = gs.autograd.grad((y * y).sum(), [x, *layer.parameters()])
    assert all(np.isfinite(grad.numpy()).all() for grad in grads)
