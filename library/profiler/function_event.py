"""One event of a profile, and the sum of several events of one name.

Defines the attributes of an event and the format of times.  The names are PyTorch's.  Times of other devices exist and are zero;
other device attributes are left out.
"""

from __future__ import annotations

from typing import Any


class Interval:
    """Start and end, in microseconds."""

    __slots__ = ("end", "start")

    def __init__(self, start: float, end: float) -> None:
        self.start, self.end = start, end

    def elapsed_us(self) -> float:
        return self.end - self.start


def time_text(microseconds: float, unit: str | None = None) -> str:
    """A time as text, in the requested unit or else in a suitable one."""
    if unit is None:
        unit = "s" if microseconds >= 1e6 else "ms" if microseconds >= 1e3 else "us"
    return f"{microseconds / {'s': 1e6, 'ms': 1e3, 'us': 1}[unit]:.3f}{unit}"


def memory_text(count: int) -> str:
    """A number of bytes as text."""
    for unit, size in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if abs(count) >= size:
            return f"{count / size:.2f} {unit}"
    return f"{count} B"


def _in_words(name: str) -> property:
    return property(lambda self: time_text(getattr(self, name)))


class FormattedTimesMixin:
    """The average time of a call, and times as text."""

    __slots__ = ()
    cpu_time_total: float
    device_time_total: float
    count: int

    cpu_time_str = _in_words("cpu_time")
    device_time_str = _in_words("device_time")
    cpu_time_total_str = _in_words("cpu_time_total")
    device_time_total_str = _in_words("device_time_total")
    self_cpu_time_total_str = _in_words("self_cpu_time_total")
    self_device_time_total_str = _in_words("self_device_time_total")

    @property
    def cpu_time(self) -> float:
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def device_time(self) -> float:
        return self.device_time_total / self.count if self.count else 0.0


# Further attributes of PyTorch's events, and their values here unless a caller sets them.
MORE: dict[str, Any] = {
    "activity_type": None, "concrete_inputs": None, "device_index": 0, "device_resource_id": None,
    "event_metadata": None, "external_id": 0, "extra_meta": None, "flow_id": None, "flow_start": None,
    "flow_type": None, "input_dtypes": None, "is_python_function": False, "kwinputs": None, "linked_correlation_id": 0,
    "metadata_json": None, "python_id": -1, "python_module_id": -1, "python_parent_id": -1, "self_cpu_percent": -1,
    "structured_input_strides": None, "total_cpu_percent": -1, "total_device_percent": -1,
}  # fmt: skip


class FunctionEvent(FormattedTimesMixin):
    """An operator, a node of a backward pass, a hook or a range that ran once.

    Attributes
    ----------
    name, key : str
    time_range : Interval
        In microseconds since the start of the profile.
    thread, fwd_thread : int
        Numbers of threads, in order of appearance.  For a node, the second is the thread of the call that created it.
    sequence_nr : int
        Equal for a recorded call and for the node it created; -1 for other events.
    scope : int
        0 for an operator, 1 for a node, 7 for a range.
    input_shapes, structured_input_shapes : list
        With `record_shapes`: a list of lengths for each input, empty if it is not an array.  For a sequence of arrays, the second
        attribute has the lengths of each.
    stack : list of str
        With `with_stack`: file, line and function, the innermost first.  A node has the stack of the call that created it.
    line : str
        File and line in the user's code.
    cpu_memory_usage, self_cpu_memory_usage : int
        With `profile_memory`: bytes that the library allocated during the event, minus the bytes it freed.
    flops : int or None
        With `with_flops`.
    is_async : bool
        Whether a worker thread ran the event as part of a large loop, beside its operator; such an event has no own time in sums.
    elements : int
        Number of loop elements that the worker processed.
    cpu_children, cpu_parent
        The events inside this one and the event around it.
    """

    __slots__ = (
        "count", "cpu_children", "cpu_memory_usage", "cpu_parent", "device_memory_usage", "device_type", "elements", "flops",
        "fwd_thread",
        "_more", "id", "input_shapes", "is_async", "is_legacy", "is_remote", "is_user_annotation", "kind", "line", "name",
        "node_id", "overload_name", "output_shapes", "scope", "sequence_nr", "stack", "structured_input_shapes", "thread",
        "time_range", "trace_name", "use_device",
    )  # fmt: skip

    def __init__(
        self, id: int, name: str, thread: int, start_us: float, end_us: float, overload_name: str | None = None,
        fwd_thread: int | None = None, input_shapes: Any = None, stack: list[str] | None = None, scope: int = 0,
        use_device: str | None = None, cpu_memory_usage: int = 0, device_memory_usage: int = 0, is_async: bool = False,
        is_remote: bool = False, sequence_nr: int = -1, node_id: int = -1, device_type: Any = None, is_legacy: bool = False,
        flops: int | None = None, trace_name: str | None = None, is_user_annotation: bool = False,
        structured_input_shapes: Any = None, output_shapes: Any = None, kind: str = "operator", line: str = "",
        elements: int = 0, **more: Any,
    ) -> None:  # fmt: skip
        self.id, self.name, self.thread, self.fwd_thread, self.node_id = id, name, thread, fwd_thread, node_id
        self.overload_name, self.trace_name, self.kind, self.line = overload_name, trace_name or name, kind, line
        self.time_range, self.count = Interval(start_us, end_us), 1
        self.cpu_children: list[FunctionEvent] = []
        self.cpu_parent: FunctionEvent | None = None
        self.input_shapes, self.output_shapes = input_shapes, output_shapes
        self.structured_input_shapes = structured_input_shapes
        self.stack, self.scope, self.sequence_nr, self.flops = stack, scope, sequence_nr, flops
        self.use_device, self.device_type = use_device, device_type
        self.cpu_memory_usage, self.device_memory_usage = cpu_memory_usage, device_memory_usage
        self.is_async, self.is_remote = is_async, is_remote
        self.is_legacy, self.is_user_annotation = is_legacy, is_user_annotation
        self.elements = elements
        if unknown := more.keys() - MORE.keys():
            raise TypeError(f"FunctionEvent has no argument {min(unknown)!r}")
        self._more = more

    def __getattr__(self, name: str) -> Any:
        if name not in MORE:
            raise AttributeError(f"FunctionEvent has no attribute {name!r}")
        return self._more.get(name, MORE[name])

    def append_cpu_child(self, child: FunctionEvent) -> None:
        self.cpu_children.append(child)

    def set_cpu_parent(self, parent: FunctionEvent) -> None:
        self.cpu_parent = parent

    @property
    def key(self) -> str:
        return self.name

    @property
    def cpu_time_total(self) -> float:  # type: ignore[override]
        return self.time_range.elapsed_us()

    @property
    def self_cpu_time_total(self) -> float:
        return 0 if self.is_async else self.cpu_time_total - sum([child.cpu_time_total for child in self.cpu_children])

    @property
    def self_cpu_memory_usage(self) -> int:
        return 0 if self.is_async else self.cpu_memory_usage - sum([child.cpu_memory_usage for child in self.cpu_children])

    kernels: tuple[Any, ...] = ()  # on other devices
    device_time_total = self_device_time_total = self_device_memory_usage = 0

    def __repr__(self) -> str:
        return (
            f"<FunctionEvent id={self.id} name={self.name} cpu_time={self.cpu_time_str} start_us={self.time_range.start} "
            f"end_us={self.time_range.end} cpu_children={[child.id for child in self.cpu_children]} thread={self.thread} "
            f"input_shapes={self.input_shapes} cpu_memory_usage={self.cpu_memory_usage} seq_nr={self.sequence_nr}>"
        )


class FunctionEventAvg(FormattedTimesMixin):
    """Common attributes of several events of one name, and the sums of their times and bytes."""

    def __init__(self) -> None:
        self.key: str | None = None
        self.count = self.node_id = 0
        self.is_async = self.is_remote = self.is_legacy = self.is_user_annotation = False
        self.use_device: str | None = None
        self.cpu_time_total: float = 0
        self.self_cpu_time_total: float = 0
        self.device_time_total: float = 0
        self.self_device_time_total: float = 0
        self.cpu_memory_usage = self.self_cpu_memory_usage = self.device_memory_usage = self.self_device_memory_usage = 0
        self.input_shapes: Any = None
        self.overload_name: str | None = None
        self.stack: list[str] | None = None
        self.line = ""
        self.scope: int | None = None
        self.cpu_children: list[FunctionEvent] | None = None
        self.cpu_parent: FunctionEvent | None = None
        self.device_type: Any = None
        self.flops: int | None = 0

    def add(self, other: FunctionEvent | FunctionEventAvg) -> FunctionEventAvg:
        """Add one more event of the same name to the sums.

        Parameters
        ----------
        other : FunctionEvent or FunctionEventAvg

        Returns
        -------
        FunctionEventAvg
            This object.
        """
        if not isinstance(other, (FunctionEvent, FunctionEventAvg)):
            raise AssertionError(f"expected a FunctionEvent or a FunctionEventAvg, got {type(other).__name__}")
        if self.key is None:
            for name in ("key", "node_id", "is_async", "is_remote", "cpu_parent", "cpu_children", "overload_name", "input_shapes",
                         "stack", "line", "scope", "device_type", "is_legacy", "use_device", "is_user_annotation"):  # fmt: skip
                setattr(self, name, getattr(other, name))
        elif other.key != self.key:
            raise AssertionError(f"expected events of one name, got {self.key} and {other.key}")
        self.count += other.count
        self.cpu_time_total += other.cpu_time_total
        self.self_cpu_time_total += other.self_cpu_time_total
        self.device_time_total += other.device_time_total
        self.self_device_time_total += other.self_device_time_total
        self.cpu_memory_usage += other.cpu_memory_usage
        self.self_cpu_memory_usage += other.self_cpu_memory_usage
        self.device_memory_usage += other.device_memory_usage
        self.self_device_memory_usage += other.self_device_memory_usage
        self.flops = (self.flops or 0) + (other.flops or 0)
        return self

    __iadd__ = add

    def __repr__(self) -> str:
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} cpu_time={self.cpu_time_str} "
            f"input_shapes={self.input_shapes} cpu_memory_usage={self.cpu_memory_usage}>"
        )
