"""Kernels: functions of arrays, which know nothing of gradients."""

from .leaking import leak as leak
from .spreading import spread as spread
