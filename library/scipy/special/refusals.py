"""Functions of scipy.special that are refused: each says why."""

from typing import Any


def wright_bessel(a: Any, b: Any, x: Any) -> Any:
    """Refused: SciPy computes it for few arguments, and its derivatives are values at other arguments."""
    raise NotImplementedError(
        "scipy.special.wright_bessel has no derivative here: that in x is wright_bessel(a, a + b, x), those in a and b have no "
        "closed form; for values alone call SciPy's with x.detach().numpy(), and write gs.custom_jvp around it"
    )
