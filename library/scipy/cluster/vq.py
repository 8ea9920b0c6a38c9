"""SciPy's vector quantisation: whiten with derivatives, and names without any: gradspec.scipy.cluster.vq."""

from typing import Any

import gradspec  # noqa: F401 (waits for it)

from ...generated.ops import where
from ...support.dispatch import ops
from ..values import reals
from ..without import add_without_derivative


def whiten(obs: Any, check_finite: bool | None = None) -> Any:
    """Observations, in rows, over the standard deviation of each column; a constant column is unchanged."""
    (obs,) = reals("whiten", obs)
    spread = ops.var(obs, axis=0)
    return obs / where(spread == 0, 1.0, ops.sqrt(where(spread == 0, 1.0, spread)))


__all__ = ["whiten"]
add_without_derivative(globals())
