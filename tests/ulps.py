"""How far elementary functions are from the truth, in units of the last digit: the figures of docs/accuracy.md.

    python -m tests.ulps               every function: floats by one of 1021, 400 000 doubles
    python -m tests.ulps exp sinh      two of them
    python -m tests.ulps --all exp     all 2**32 floats, 20 million doubles

Floats are held to NumPy's functions of doubles, doubles to those of long doubles, or to mpmath where these are no longer.  An
error of 0.5 is one rounding.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import mpmath
import numpy as np

from gradspec.kernels.fusion_engine.ufunc import Ufunc
from gradspec.kernels.fusion_engine.vectors import chosen

BLOCK = 1 << 20
MPMATH = {
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh", "log10": "log10",
}  # fmt: skip


def function(name: str) -> Ufunc:
    return Ufunc(getattr(np, name), name)


def errors(found: np.ndarray, exact: Sequence | np.ndarray) -> np.ndarray:
    """Distances in units of the last digit of what is exact, a double or a number of mpmath; 0 where both are no number."""
    limits = np.finfo(found.dtype)
    rounded = np.array(exact, float)
    with np.errstate(all="ignore"):
        exponents = np.maximum(np.frexp(rounded)[1], limits.minexp + 1)
        if isinstance(exact, np.ndarray):
            distance = (found.astype(exact.dtype) - exact).astype(float)
        else:
            distance = np.array([float(mpmath.mpf(float(y)) - z) if mpmath.isfinite(z) else 0 for y, z in zip(found, exact)])
        y = np.abs(distance) / np.ldexp(1.0, exponents - limits.nmant - 1)
        same = (found == rounded.astype(found.dtype)) | (np.isnan(found) & np.isnan(rounded))
    return np.where(same & ~np.isfinite(rounded.astype(found.dtype)), 0, y)


def worst_of_floats(name: str, stride: int = 1, threads: int = 1) -> float:
    """The largest error over the floats whose bits are multiples of `stride`: all of them where it is 1."""
    ours, numpys = function(name), getattr(np, name)

    def worst(start: int) -> float:
        x = np.arange(start, min(start + BLOCK * stride, 1 << 32), stride, dtype=np.uint64).astype(np.uint32).view(np.float32)
        with np.errstate(all="ignore"):
            return float(errors(ours.function(x), numpys(x.astype(np.float64))).max())

    with ThreadPoolExecutor(threads) as pool:
        return max(pool.map(worst, range(0, 1 << 32, BLOCK * stride)))


def doubles(name: str, count: int) -> Iterator[np.ndarray]:
    """Arguments in the domain: of a few units, and of all sizes."""
    rng = np.random.default_rng(0)
    with np.errstate(all="ignore"):
        near, far = rng.uniform(-4, 4, count), np.exp(rng.uniform(-700, 700, count // 2)) * rng.choice([-1, 1], count // 2)
        middle = rng.uniform(-700, 700, count // 2)
        for x in (near, far, middle):
            y = getattr(np, name)(x)
            yield x[np.isfinite(y) & (np.abs(y) > np.finfo(float).tiny)]


def worst_of_doubles(name: str, count: int, used: Any = None) -> float:
    """The largest error over random doubles, of our function or of another one."""
    used, numpys, worst = used or function(name).function, getattr(np, name), 0.0
    for x in doubles(name, count):
        with np.errstate(all="ignore"):
            if np.finfo(np.longdouble).nmant > 62:
                found = errors(used(x), numpys(x.astype(np.longdouble)))
            else:
                found = errors(used(x[:1000]), [exact(name, v) for v in x[:1000]])
        worst = max(worst, float(found.max()))
    return worst


def exact(name: str, x: float) -> mpmath.mpf:
    """The value by mpmath, to 60 digits."""
    with mpmath.workprec(200):
        if name == "exp2":
            return mpmath.power(2, mpmath.mpf(x))
        return mpmath.log(x, 2) if name == "log2" else getattr(mpmath, MPMATH.get(name, name))(mpmath.mpf(x))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.ulps", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("name", nargs="*", help="NumPy's names; default: all")
    parser.add_argument("--all", action="store_true", help="all floats")
    parser.add_argument("--threads", type=int, default=2, help="default: %(default)s")
    options = parser.parse_args()
    print("| function | float32 | by | float64 | by |\n|---|--:|---|--:|---|")
    for name in options.name or sorted(chosen()):
        single = worst_of_floats(name, 1 if options.all else 1021, options.threads)
        twice = worst_of_doubles(name, 10**7 if options.all else 2 * 10**5)
        by = chosen()[name]
        print(f"| `{name}` | {single:.4f} | {by['float32']} | {twice:.2f} | {by['float64']} |", flush=True)


if __name__ == "__main__":
    main()
