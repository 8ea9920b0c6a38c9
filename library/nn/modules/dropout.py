"""Dropout as layers, which drop while they train.

Owns the table.
"""

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
    """Numbers replaced by 0 with probability p, the others divided by 1 - p."""


class Dropout1d(_Dropout, call=F.dropout1d, trains=True, shown="p inplace"):
    """Whole channels of sequences replaced by 0 with probability p, the others divided by 1 - p."""


class Dropout2d(_Dropout, call=F.dropout2d, trains=True, shown="p inplace"):
    """Whole channels of images replaced by 0 with probability p, the others divided by 1 - p."""


class Dropout3d(_Dropout, call=F.dropout3d, trains=True, shown="p inplace"):
    """Whole channels of volumes replaced by 0 with probability p, the others divided by 1 - p."""


class AlphaDropout(_Dropout, call=F.alpha_dropout, trains=True, shown="p inplace"):
    """Numbers replaced by what SELU gives far from 0, with probability p; mean and variance are kept."""


class FeatureAlphaDropout(_Dropout, call=F.feature_alpha_dropout, trains=True, shown="p inplace"):
    """Whole channels replaced by what SELU gives far from 0, with probability p; mean and variance are kept."""
