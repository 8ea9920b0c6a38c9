"""Profiles: record the operators of a program, their times, their memory and their callers.

Defines the names, which are PyTorch's.  A profile is a listener of the event stream; its recording becomes a table, a trace or a
flame graph on request.
"""

import gradspec  # noqa: F401 (waits for it)

from ..support.lazy_import import answer
from .profile import ProfilerActivity, profile, supported_activities
from .record_function import record_function
from .schedule import ProfilerAction, schedule, tensorboard_trace_handler
from .session import kineto_available

__all__ = ["ProfilerAction", "ProfilerActivity", "kineto_available", "profile", "record_function", "schedule",
           "supported_activities", "tensorboard_trace_handler"]  # fmt: skip
answer(__name__)
