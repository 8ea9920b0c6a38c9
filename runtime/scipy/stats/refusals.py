"""Names of scipy.stats whose results have no derivative: each says so, and what to take in its place.

Owns the words.
"""

from __future__ import annotations

from typing import Any

INSTEAD = {
    "rankdata": "ranks are whole numbers; sum a smooth step over all pairs, gs.sigmoid((x[:, None] - x) / t).sum(1)",
    "spearmanr": "it is made of ranks; take pearsonr, of smooth ranks if need be",
    "kendalltau": "it is made of signs; take the mean of gs.tanh((x[:, None] - x) / t) * gs.tanh((y[:, None] - y) / t)",
    "mode": "it is the place of a count; take gaussian_kde and its greatest density",
}


def _refusal(name: str, words: str) -> Any:
    def refuse(*args: Any, **kwds: Any) -> Any:
        raise NotImplementedError(f"scipy.stats.{name} has no derivative: {words}; for values alone call SciPy's with "
                                  "x.detach().numpy()")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = f"Refused: {words}."
    return refuse


rankdata, spearmanr, kendalltau, mode = (_refusal(name, words) for name, words in INSTEAD.items())
