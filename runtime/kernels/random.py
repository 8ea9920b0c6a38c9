"""Random numbers of distributions, in the shape and dtype that the arguments request."""

import operator

import numpy as np

__all__ = [
    "bernoulli", "binomial", "draw_indices", "draw_numbers", "draw_places", "geometric", "integers", "normal_", "poisson", "rand",
    "rand_like", "randint_like", "randn", "randn_like", "randperm", "standard", "uniform_",
]  # fmt: skip


def bernoulli(p, generator):
    """1 with probability `p`, else 0, in the dtype of `p`."""
    p = np.asarray(p)
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError("bernoulli: p has to be between 0 and 1")
    return np.asarray(generator.random(p.shape) < p).astype(np.result_type(p, 1.0))


def binomial(n, p, size, generator):
    """The number of successes in `n` trials."""
    return np.asarray(generator.binomial(n, p, size), np.intp)


def draw_indices(shape, size, replace, p, axis, generator):
    """Random indices along one axis of an array of the given shape; other arguments as for `draw_numbers`."""
    return draw_numbers(shape[axis], size, replace, p, generator)


def draw_numbers(count, size, replace, p, generator):
    """Random integers from [0, count), drawn by the weights `p`, repeatedly if `replace`."""
    weights = p if p is None else np.asarray(p, np.float64) / np.sum(p, dtype=np.float64)
    return np.asarray(generator.choice(operator.index(count), size, replace, weights), np.intp)


def draw_places(weights, n, replacement, generator):
    """`n` random indices into one row or each row of weights, drawn by these weights, repeatedly if `replacement`."""
    weights = np.asarray(weights, np.float64)
    if weights.ndim not in (1, 2) or not weights.size or not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("x must be one row or rows of weights that are finite and not negative")
    if (weights.sum(-1) <= 0).any():
        raise ValueError("the weights of a row are all 0")
    if not replacement and n > (weights > 0).sum(-1).min():
        raise ValueError(f"{n} places without replacement want as many weights that are not 0")
    if replacement:
        edges = np.cumsum(weights, -1)
        drawn = generator.random((*weights.shape[:-1], n)) * edges[..., -1:]
        places = (drawn[..., None] >= edges[..., None, :]).sum(-1)
    else:
        with np.errstate(divide="ignore"):  # the first n events of exponential clocks with these rates
            places = np.argsort(generator.exponential(size=weights.shape) / weights, axis=-1)[..., :n]
    return places.astype(np.intp)


def geometric(p, size, generator):
    """Number of trials up to and including the first success."""
    return np.asarray(generator.geometric(p, size), np.intp)


def integers(low, high, size, dtype, endpoint, generator):
    """Integers from `low` up to `high`, which can be drawn if `endpoint`."""
    dtype = np.dtype(np.int64 if dtype is None else dtype)
    return np.asarray(generator.integers(low, high, size, dtype, endpoint), dtype)


def normal_(x, mean, std, generator):
    """Write normal random numbers to `x`; return `x`."""
    x[...] = mean + std * generator.standard_normal(x.shape)
    return x


def poisson(lam, size, generator):
    """Poisson distribution."""
    return np.asarray(generator.poisson(lam, size), np.intp)


def rand(shape, dtype, generator):
    """Uniformly distributed over [0, 1)."""
    return _drawn(generator.random, shape, dtype, _below_one)


def rand_like(x, dtype, generator):
    """Uniformly distributed over [0, 1), with the shape of `x`, and its dtype if `dtype` is None."""
    return rand(np.shape(x), dtype or np.result_type(x), generator)


def randint_like(x, low, high, dtype, generator):
    """Integers from `low` up to `high`, with the shape of `x`, and its dtype if `dtype` is None."""
    return np.asarray(generator.integers(low, high, np.shape(x)), dtype or np.result_type(x))


def randn(shape, dtype, generator):
    """Standard normal numbers."""
    return _drawn(generator.standard_normal, shape, dtype)


def randn_like(x, dtype, generator):
    """Standard normal numbers, with the shape of `x`, and its dtype if `dtype` is None."""
    return randn(np.shape(x), dtype or np.result_type(x), generator)


def randperm(n, generator):
    """The numbers from 0 to ``n - 1`` in random order."""
    return generator.permutation(operator.index(n)).astype(np.intp, copy=False)


def standard(distribution, loc, scale, size, generator):
    """Random numbers of a distribution with location 0 and scale 1.

    The location and scale, applied later, determine the dtype and, if `size` is None, the shape.
    """
    if getattr(loc, "dtype", None) == np.uint64 and loc.shape[-1:] == (2,):
        raise TypeError(f"{distribution}: the location is a key, or keys; write gs.random.{distribution}(key, shape), and "
                        "gs.vmap for several keys")  # fmt: skip
    draws = {
        "cauchy": generator.standard_cauchy, "exponential": generator.standard_exponential, "normal": generator.standard_normal,
        "uniform": generator.random, "gumbel": lambda shape: generator.gumbel(size=shape),
        "laplace": lambda shape: generator.laplace(size=shape), "logistic": lambda shape: generator.logistic(size=shape),
    }  # fmt: skip
    if distribution not in draws:
        raise ValueError(f"there is no distribution {distribution!r}")
    drawn, dtype = np.asarray(draws[distribution](_result_shape(loc, scale, size))), np.result_type(loc, scale, 1.0)
    return _below_one(drawn, dtype) if distribution == "uniform" else drawn.astype(dtype, copy=False)


def uniform_(x, low, high, generator):
    """Write random numbers between two bounds to `x`; return `x`."""
    x[...] = low + (high - low) * generator.random(x.shape)
    if np.isrealobj(low) and np.isrealobj(high) and low < high:  # numbers that the dtype of `x` has rounded up to the bound
        real = x.real
        np.copyto(real, np.nextafter(real, real.dtype.type(low)), where=real >= np.float64(high))
    return x


def _below_one(drawn, dtype):
    """Numbers in [0, 1) in another dtype; a number that would round to 1 becomes the largest number below 1."""
    y = drawn.astype(np.zeros((), dtype).real.dtype)
    return np.where(y > drawn, np.nextafter(y, y.dtype.type(0)), y).astype(dtype, copy=False)


def _drawn(draw, shape, dtype, narrowed=np.ndarray.astype):
    dtype = np.dtype(np.float64 if dtype is None else dtype)
    if dtype.kind not in "fc":
        raise TypeError(f"random numbers of this distribution are floats, not {dtype}")
    if dtype in (np.float32, np.float64):
        return np.asarray(draw(shape, dtype=dtype))
    return narrowed(np.asarray(draw(shape)), dtype)


def _result_shape(loc, scale, size):
    shape = np.broadcast_shapes(np.shape(loc), np.shape(scale))
    if size is None:
        return shape
    if np.broadcast_shapes(shape, size) != tuple(size):
        raise ValueError(f"size {tuple(size)} does not take arguments of shape {shape}")
    return size
