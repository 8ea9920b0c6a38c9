"""What the events of a profile are made of, under PyTorch's names.

Owns the names.
"""

import gradspec  # noqa: F401 (waits for it)
import gradspec.profiler  # noqa: F401 (as well)

from ..profiler.event_list import EventList
from ..profiler.function_event import FormattedTimesMixin, FunctionEvent, FunctionEventAvg, Interval
from ..support.lazy_import import answer

__all__ = ["EventList", "FormattedTimesMixin", "FunctionEvent", "FunctionEventAvg", "Interval"]
answer(__name__)


def __dir__() -> list[str]:
    return __all__
