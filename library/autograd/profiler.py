"""The profiler under the names of the autograd namespace: one interval of a program, and ranges.

Defines the names; the implementation is in `gradspec.profiler`.
"""

import gradspec  # noqa: F401 (waits for it)
import gradspec.profiler  # noqa: F401 (as well)

from ..profiler.event_list import EventList
from ..profiler.function_event import FunctionEvent, FunctionEventAvg
from ..profiler.profile import ProfilerActivity
from ..profiler.record_function import record_function
from ..profiler.session import _profiler_enabled, kineto_available, profile  # noqa: F401 (PyTorch's name, found but not shown)
from ..support.lazy_import import answer

__all__ = ["EventList", "FunctionEvent", "FunctionEventAvg", "ProfilerActivity", "kineto_available", "profile", "record_function"]
answer(__name__)
