"""Attention and its adjoint."""

import math

import numpy as np

from ..matrices.matmul import matmul
from .softmax import softmax_backward, softmax_or_zero


def attention(query, key, value, mask):
    """``softmax(query @ key.mT + mask) @ value``; the mask may also be true for the keys that count, or None."""
    if min(np.ndim(query), np.ndim(key), np.ndim(value)) < 2:
        shapes = ", ".join(str(np.shape(x)) for x in (query, key, value))
        raise ValueError(f"query, key and value have the axes (..., positions, features), got shapes {shapes}")
    return matmul(_weights(query, key, mask), value)


def attention_backward(grad, query, key, value, mask):
    """The adjoints of attention in query, key and value, of their broadcast shapes."""
    weights, slopes = _weights(query, key, mask), matmul(grad, _turned(value))
    scores = softmax_backward(slopes, np.broadcast_to(weights, slopes.shape), -1)
    return matmul(scores, key), matmul(_turned(scores), query), matmul(_turned(weights.astype(scores.dtype, copy=False)), grad)


def _turned(x):
    return np.swapaxes(x, -1, -2)


def _weights(query, key, mask):
    scores = matmul(query, _turned(key))
    if mask is not None:
        scores = np.where(mask, scores, -math.inf) if np.asarray(mask).dtype == bool else scores + mask
    return softmax_or_zero(scores, -1, False)
