"""`gs.autograd.profiler.profile`: profile one interval of a program.

Holds the settings, and ensures that a thread has at most one profile at a time.
"""

from __future__ import annotations

import os
import threading
import uuid
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .chrome_trace import Change
from .event_list import EventList
from .function_event import FunctionEventAvg
from .recording import LIMIT, Recording

_running = threading.local()


def _stop_in_child() -> None:
    """Stop profiling in a forked child process; the parent's profile continues."""
    profile = getattr(_running, "profile", None)
    if profile is not None:
        _running.profile = None
        profile._recording.recorder.stop()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_stop_in_child)


def _profiler_enabled() -> bool:
    """Whether this thread is profiled."""
    return getattr(_running, "profile", None) is not None


def kineto_available() -> bool:
    """False: the recorder is not PyTorch's.

    Returns
    -------
    bool
    """
    return False


class profile:
    """Record the operations of this thread inside the `with` block.

    Parameters
    ----------
    enabled : bool
        If False, nothing is recorded.
    use_cuda, use_device
        Cause a warning: there are no other devices.
    record_shapes, with_flops, profile_memory, with_stack : bool
        Further information to record, besides times.
    with_modules, use_kineto, use_cpu, experimental_config, activity_filters, post_processing_timeout_s
        Accepted, without effect.
    acc_events : bool
        Keep the events of earlier intervals.
    custom_trace_id_callback : callable, optional
        Returns the identifier of an interval in its trace.
    limit : int
        Maximal number of events; the profile counts the events beyond it.

    Examples
    --------
    >>> with gs.autograd.profiler.profile() as prof:
    ...     y = gs.exp(gs.ones(3))
    >>> [event.name for event in prof.function_events]
    ['ones', 'exp']
    """

    def __init__(
        self, enabled: bool = True, *, use_cuda: bool = False, use_device: str | None = None, record_shapes: bool = False,
        with_flops: bool = False, profile_memory: bool = False, with_stack: bool = False, with_modules: bool = False,
        use_kineto: bool = False, use_cpu: bool = True, experimental_config: Any = None, acc_events: bool = False,
        custom_trace_id_callback: Callable[[], str] | None = None, post_processing_timeout_s: float | None = None,
        activity_filters: Any = None, limit: int = LIMIT,
    ) -> None:  # fmt: skip
        if post_processing_timeout_s is not None and post_processing_timeout_s < 0:
            raise ValueError("post_processing_timeout_s must be non-negative")
        if use_cuda or use_device is not None:
            warnings.warn(f"{use_device or 'cuda'} is not available: tensors are in memory, the CPU is profiled", stacklevel=2)
        self.enabled, self.entered, self.use_device = enabled, False, None
        self.record_shapes, self.with_flops, self.profile_memory = record_shapes or with_flops, with_flops, profile_memory
        self.with_stack, self.with_modules, self.use_cpu = with_stack, with_modules, use_cpu
        self.acc_events, self.limit = acc_events, limit
        self.custom_trace_id_callback, self.trace_id = custom_trace_id_callback, ""
        self.metadata: dict[str, Any] = {}
        self._recording: Recording | None = None
        self._events: EventList | None = None
        self._finished = False

    def __enter__(self) -> profile:
        if not self.enabled:
            return self
        if self.entered and not self._finished:
            raise RuntimeError("Profiler context manager is not reentrant")
        if _profiler_enabled():
            raise RuntimeError("this thread is profiled already: profiles cannot be nested")
        before = list(self.function_events) if self.acc_events and self._finished else []
        self.entered, self._finished, self._events, self._before = True, False, None, before
        self._recording = Recording(shapes=self.record_shapes, memory=self.profile_memory, stack=self.with_stack,
                                    with_flops=self.with_flops, limit=self.limit)  # fmt: skip
        self.trace_id = self.create_trace_id()
        self.metadata["trace_id"] = self.trace_id
        self._recording.metadata = self.metadata
        _running.profile = self
        self._recording.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        if not self.enabled:
            return
        if self._recording is None:
            raise RuntimeError("the profile was not started")
        _running.profile = None
        self._recording.stop()
        self._finished = True

    def default_trace_id(self) -> str:
        """Thirty-two random digits that identify an interval."""
        return uuid.uuid4().hex.upper()

    def create_trace_id(self) -> str:
        """The identifier of the next interval: from `custom_trace_id_callback`, else random digits."""
        return self.default_trace_id() if self.custom_trace_id_callback is None else self.custom_trace_id_callback()

    def toggle_collection_dynamic(self, enabled: bool, activities: Iterable[Any]) -> None:
        """Pause or resume the recording.

        Parameters
        ----------
        enabled : bool
        activities : iterable of ProfilerActivity
            The activities to pause or resume; without the CPU among them the call has no effect.
        """
        if self._recording is not None and not self._finished and any(activity.name == "CPU" for activity in activities):
            self._recording.pause(not enabled)

    @property
    def function_events(self) -> EventList:
        """All events, in the order of their starts."""
        if self._recording is None or not self._finished:
            raise AssertionError("the profile has no results yet: it has not been stopped")
        if self._events is None:
            self._events = self._recording.events()
            self._events.extend(self._before)
        return self._events

    @property
    def dropped(self) -> int:
        """Number of events that were dropped because the profile was full."""
        return 0 if self._recording is None else self._recording.recorder.dropped

    def __repr__(self) -> str:
        return repr(list(self.function_events)) if self._finished else "<unfinished profile>"

    def __str__(self) -> str:
        return self.table() if self._finished else "<unfinished profile>"

    def _repr_html_(self) -> str | None:
        return self.function_events._repr_html_() if self._finished else None

    def table(self, *args: Any, **kwargs: Any) -> str:
        """The events as text; for the arguments see `EventList.table`."""
        return self.function_events.table(*args, **kwargs)

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """The sums of the events of each name; for the arguments see `EventList.key_averages`."""
        return self.function_events.key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def total_average(self) -> FunctionEventAvg:
        """The sum of all events."""
        return self.function_events.total_average()

    @property
    def self_cpu_time_total(self) -> float:
        """The time from start to end, in microseconds."""
        return self.function_events.self_cpu_time_total

    def memory(self) -> Sequence[Change]:
        """Each allocation and release: `time` in microseconds, `bytes`, `live` after it, `thread`; requires `profile_memory`."""
        if not self.profile_memory:
            raise AssertionError("memory() requires profile_memory=True")
        return self.function_events.changes

    def export_chrome_trace(self, path: str, metadata: dict[str, Any] | None = None, use_python_export: bool = False) -> None:
        """Write the events in the format of Chrome's and Perfetto's viewers; `metadata` is further metadata of the trace."""
        self.function_events.export_chrome_trace(path, metadata)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write stacks and times in the format of flame graph programs; requires `with_stack`."""
        if not self.with_stack:
            raise AssertionError("export_stacks() requires with_stack=True")
        self.function_events.export_stacks(path, metric)
