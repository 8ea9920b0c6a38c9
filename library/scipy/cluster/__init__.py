"""SciPy's clusters: gradspec.scipy.cluster."""

from typing import TYPE_CHECKING

import gradspec  # noqa: F401 (waits for it)

from ...support.lazy_import import later

if TYPE_CHECKING:
    from . import hierarchy as hierarchy
    from . import vq as vq
else:
    __getattr__ = later(__name__, {"": ("hierarchy", "vq")})

__all__ = ["hierarchy", "vq"]
