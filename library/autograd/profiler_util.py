"""The parts of a profile's events, under PyTorch's names."""

import gradspec  # noqa: F401 (waits for it)
import gradspec.profiler  # noqa: F401 (as well)

from ..profiler.event_list import EventList
from ..profiler.function_event import FormattedTimesMixin, FunctionEvent, FunctionEventAvg, Interval
from ..support.lazy_import import answer

__all__ = ["EventList", "FormattedTimesMixin", "FunctionEvent", "FunctionEventAvg", "Interval"]
answer(__name__)
