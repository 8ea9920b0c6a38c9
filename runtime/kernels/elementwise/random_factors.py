"""Random factors for each element, as in dropout, and in-place random numbers."""

import numpy as np

__all__ = [
    "bernoulli_", "cauchy_", "dropout_factors", "exponential_", "geometric_", "log_normal_", "random_", "rrelu_slope",
]  # fmt: skip


def dropout_factors(x, p, generator):
    """For each element, 0 with probability `p`, from 0 to 1, else 1 / (1 - p)."""
    x = np.asarray(x)
    dtype = np.result_type(x, 1.0)
    if p in (0, 1):  # no random numbers are needed
        return np.full(x.shape, 1 - p, dtype)
    return np.multiply(generator.random(x.shape) >= p, 1 / (1 - p), dtype=dtype)


def rrelu_slope(x, lower, upper, generator):
    """1 if `x` is positive, else a random number between the bounds."""
    if not lower <= upper:
        raise ValueError(f"rrelu: lower must not be above upper, got {lower} and {upper}")
    x = np.asarray(x)
    return np.where(x > 0, 1, generator.uniform(lower, upper, x.shape)).astype(np.result_type(x, 1.0))


def bernoulli_(x, p, generator):
    """Write to `x` 1 with probability `p`, else 0; return `x`."""
    p = np.broadcast_to(p, x.shape)
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError("bernoulli_: p has to be between 0 and 1")
    x[...] = generator.random(x.shape) < p
    return x


def cauchy_(x, median, sigma, generator):
    """Write random numbers of the Cauchy distribution to `x`; return `x`."""
    x[...] = median + sigma * generator.standard_cauchy(x.shape)
    return x


def exponential_(x, lambd, generator):
    """Write random numbers of the exponential distribution with rate `lambd` to `x`; return `x`."""
    if not lambd > 0:
        raise ValueError(f"exponential_: lambd has to be positive, got {lambd}")
    x[...] = generator.standard_exponential(x.shape) / lambd
    return x


def geometric_(x, p, generator):
    """Write to `x` the number of trials up to and including the first success; return `x`."""
    x[...] = generator.geometric(p, x.shape)
    return x


def log_normal_(x, mean, std, generator):
    """Write exponentials of normal random numbers to `x`; return `x`."""
    x[...] = np.exp(mean + std * generator.standard_normal(x.shape))
    return x


def random_(x, low, high, generator):
    """Write random integers to `x`; return `x`.

    They are from [low, high), or [0, low) if `high` is None; if both are None, from 0 on all integers that the dtype represents
    exactly.
    """
    if high is None:
        low, high = 0, _whole_numbers(x.dtype) if low is None else low
    x[...] = generator.integers(low, high, x.shape, np.uint64 if high > np.iinfo(np.int64).max else np.int64)
    return x


def _whole_numbers(dtype):
    """The number of consecutive integers, from 0 on, that a dtype represents exactly."""
    if dtype.kind in "fc":
        return 2 ** (np.finfo(dtype).nmant + 1) + 1
    return 2 if dtype.kind == "b" else int(np.iinfo(dtype).max) + 1
