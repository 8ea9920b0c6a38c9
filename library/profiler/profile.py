"""`gs.profiler.profile`: profile chosen steps of a program.

Decides when a recording begins and ends, step by step, and when it is passed to the callback.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import Any

from . import session
from .chrome_trace import Change
from .event_list import EventList
from .function_event import FunctionEventAvg
from .record_function import record_function
from .recording import LIMIT
from .schedule import ProfilerAction, always

RECORD, SAVE = RECORDING = ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE


class ProfilerActivity(Enum):
    """Devices that can be profiled: only the CPU."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


def supported_activities() -> set[ProfilerActivity]:
    """The activities that `profile` can record: only the CPU.

    Returns
    -------
    set of ProfilerActivity
    """
    return {ProfilerActivity.CPU}


def chosen(activities: Iterable[Any]) -> set[ProfilerActivity]:
    """The set of activities in a list of activities or of dicts with activities as keys."""
    found: set[ProfilerActivity] = set()
    for item in activities:
        for activity in item if isinstance(item, dict) else [item]:
            if not isinstance(activity, ProfilerActivity):
                raise TypeError(f"activities: expected a ProfilerActivity or a dict of them, got {type(activity).__name__}")
            if activity in found:
                raise ValueError(f"activities: {activity} is there more than once")
            found.add(activity)
    return found


class profile:
    """Record the operations of this thread, in all steps or in chosen ones.

    Parameters
    ----------
    activities : iterable of ProfilerActivity, or of dicts that have such keys
        As in PyTorch; the CPU is the only activity.
    schedule : callable, optional
        Returns the action of each step; see `gs.profiler.schedule`.
    on_trace_ready : callable, optional
        Called with this object at the end of each cycle.
    record_shapes : bool
        Record the shapes of the operators' inputs.
    profile_memory : bool
        Record the bytes of the arrays that operators return, until the arrays are freed.
    with_stack : bool
        Record the Python functions around each event.
    with_flops : bool
        Estimate the number of arithmetic operations.
    with_modules, experimental_config, execution_trace_observer, use_cuda, post_processing_timeout_s
        Accepted, without effect.
    custom_trace_id_callback : callable, optional
        Returns the identifier of a cycle in its trace.
    acc_events : bool
        Keep the events of earlier cycles.
    limit : int
        Maximal number of events; the profile counts the events beyond it.

    Examples
    --------
    >>> x = gs.ones((3,), requires_grad=True)
    >>> with gs.profiler.profile() as prof:
    ...     gs.exp(x).sum().backward()
    >>> print(prof.key_averages().table(sort_by="self_cpu_time_total"))  # doctest: +SKIP
    """

    def __init__(
        self, *, activities: Iterable[ProfilerActivity] | None = None, schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[..., Any] | None = None, record_shapes: bool = False, profile_memory: bool = False,
        with_stack: bool = False, with_flops: bool = False, with_modules: bool = False, experimental_config: Any = None,
        execution_trace_observer: Any = None, acc_events: bool = False, use_cuda: bool | None = None,
        custom_trace_id_callback: Callable[[], str] | None = None, post_processing_timeout_s: float | None = None,
        limit: int = LIMIT,
    ) -> None:  # fmt: skip
        self.activities = chosen(activities) if activities else supported_activities()
        self.custom_trace_id_callback, self.post_processing_timeout_s = custom_trace_id_callback, post_processing_timeout_s
        self.execution_trace_observer, self.experimental_config = execution_trace_observer, experimental_config
        self.schedule, self.record_steps, self.on_trace_ready = schedule or always, schedule is not None, on_trace_ready
        self.record_shapes, self.profile_memory, self.with_stack = record_shapes, profile_memory, with_stack
        self.with_flops, self.with_modules, self.acc_events, self.limit = with_flops, with_modules, acc_events, limit
        self.step_num, self.current_action = 0, self.schedule(0)
        self.profiler: session.profile | None = None
        self._metadata: dict[str, Any] = {}
        self._step: record_function | None = None
        self._on = False

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begin the first step."""
        if self._on:
            raise RuntimeError("the profile runs already")
        self._on = True
        if self.current_action in RECORDING:
            self._begin()
        self._enter_step()

    def stop(self) -> None:
        """End with the current step."""
        if not self._on:
            raise RuntimeError("the profile was not started")
        self._leave_step()
        self._on = False
        if self.current_action in RECORDING:
            self._end()
            self._hand_on()

    def step(self) -> None:
        """Begin the next step."""
        if not self._on:
            raise RuntimeError("the profile was not started")
        self._leave_step()
        before = self.current_action
        self.step_num += 1
        self.current_action = self.schedule(self.step_num)
        if before is SAVE or before is RECORD and self.current_action not in RECORDING:
            self._end()
            if before is SAVE:
                self._hand_on()
        if self.current_action in RECORDING and before is not RECORD:
            self._begin()
        self._enter_step()

    def prepare_trace(self) -> None:
        """Do nothing: a recording is ready when it starts."""

    def start_trace(self) -> None:
        """Begin to record regardless of the schedule; most programs need `start()`."""
        self._begin()

    def stop_trace(self) -> None:
        """End the recording that `start_trace()` began."""
        if self.profiler is None:
            raise AssertionError("the profile has recorded nothing yet")
        self._end()

    def toggle_collection_dynamic(self, enable: bool, activities: Iterable[ProfilerActivity]) -> None:
        """Pause or resume the recording; without the CPU among `activities` this has no effect."""
        if self.profiler is not None:
            self.profiler.toggle_collection_dynamic(enable, activities)

    def get_trace_id(self) -> str | None:
        """The identifier of the cycle in its trace; None before the first cycle."""
        return None if self.profiler is None else self.profiler.trace_id

    def set_custom_trace_id_callback(self, callback: Callable[[], str]) -> None:
        """Use this callback for the identifiers of later cycles."""
        self.custom_trace_id_callback = callback

    def _begin(self) -> None:
        if self.profiler is None or not self.acc_events:
            self.profiler = session.profile(
                record_shapes=self.record_shapes, profile_memory=self.profile_memory, with_stack=self.with_stack,
                with_flops=self.with_flops, with_modules=self.with_modules, acc_events=self.acc_events, limit=self.limit,
                custom_trace_id_callback=self.custom_trace_id_callback, post_processing_timeout_s=self.post_processing_timeout_s,
            )  # fmt: skip
        flags = ("profile_memory", "with_stack", "record_shapes", "with_modules", "with_flops")
        self.profiler.metadata = {**{name: 1 for name in flags if getattr(self, name)}, **self._metadata}
        self.profiler.custom_trace_id_callback = self.custom_trace_id_callback
        self.profiler.__enter__()

    def _end(self) -> None:
        assert self.profiler is not None
        self.profiler.__exit__(None, None, None)

    def _hand_on(self) -> None:
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def _enter_step(self) -> None:
        if self.record_steps:
            self._step = record_function(f"ProfilerStep#{self.step_num}")
            self._step.__enter__()

    def _leave_step(self) -> None:
        if self._step is not None:
            self._step.__exit__(None, None, None)
            self._step = None

    def _results(self) -> session.profile:
        if self.profiler is None:
            raise AssertionError("the profile has recorded nothing yet")
        return self.profiler

    def events(self) -> EventList:
        """All events of the last cycle, in the order of their starts."""
        return self._results().function_events

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """The sums of the events of each name; for the arguments see `EventList.key_averages`."""
        return self._results().key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def total_average(self) -> FunctionEventAvg:
        """The sum of all events."""
        return self._results().total_average()

    def memory(self) -> Sequence[Change]:
        """Each allocation and release: `time` in microseconds, `bytes`, `live` after it, `thread`; requires `profile_memory`."""
        return self._results().memory()

    def export_chrome_trace(self, path: str, use_python_export: bool = False) -> None:
        """Write the last cycle in the format of Chrome's and Perfetto's viewers.

        Parameters
        ----------
        path : str
            Path of the file, compressed if it ends in `.gz`.
        use_python_export : bool
            Accepted, without effect: Python always writes the trace.
        """
        self._results().export_chrome_trace(path)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write stacks and times in the format of flame graph programs; requires `with_stack`."""
        self._results().export_stacks(path, metric)

    def add_metadata(self, key: str, value: str) -> None:
        """Add a text to the metadata of the trace."""
        self._put(key, value)

    def add_metadata_json(self, key: str, value: str) -> None:
        """Add a JSON value to the metadata of the trace."""
        self._put(key, json.loads(value))

    def preset_metadata_json(self, key: str, value: str) -> None:
        """Like `add_metadata_json`, before the profile starts."""
        self._put(key, json.loads(value))

    def _put(self, key: str, value: Any) -> None:
        self._metadata[key] = value
        if self.profiler is not None:
            self.profiler.metadata[key] = value

    def _repr_html_(self) -> str | None:
        return None if self.profiler is None else self.profiler._repr_html_()
