"""Dropout as layers, active in training mode only."""

from __future__ import annotations

from .. import functional as F
from .operator import Operator


class _Dropout(Operator):
    p: float = 0.5
    inplace: bool = False

    def _prepare(self) -> None:
        if not 0 <= self.p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {self.p}")


class Dropout(_Dropout, call=F.dropout, trains=True, shown="p inplace"):
    """Each number replaced by 0 with probability p; the others are divided by 1 - p."""


class Dropout1d(_Dropout, call=F.dropout1d, trains=True, shown="p inplace"):
    """Each channel of sequences replaced by 0 with probability p; the others are divided by 1 - p."""


class Dropout2d(_Dropout, call=F.dropout2d, trains=True, shown="p inplace"):
    """Each channel of images replaced by 0 with probability p; the others are divided by 1 - p."""


class Dropout3d(_Dropout, call=F.dropout3d, trains=True, shown="p inplace"):
    """Each channel of volumes replaced by 0 with probability p; the others are divided by 1 - p."""


class AlphaDropout(_Dropout, call=F.alpha_dropout, trains=True, shown="p inplace"):
    """Each number replaced by SELU's negative limit with probability p, then scaled to keep mean and variance."""


class FeatureAlphaDropout(_Dropout, call=F.feature_alpha_dropout, trains=True, shown="p inplace"):
    """Each channel replaced by SELU's negative limit with probability p, then scaled to keep mean and variance."""
