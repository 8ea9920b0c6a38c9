"""Special functions: gradspec.special.

Defines the names.  The functions are operators of the spec; the polynomials are built from operators.
"""

import gradspec  # noqa: F401 (waits for it)

from .._special import *  # noqa: F403
from .._special import __all__ as _operators
from .logsumexp import logsumexp as logsumexp
from .polynomials import *  # noqa: F403
from .polynomials import __all__ as _polynomials
from ..support.lazy_import import answer

__all__ = sorted([*_polynomials, *_operators])
answer(__name__)
