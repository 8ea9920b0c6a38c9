"""The events of a profile: their nesting, their sums by name, and the ways to show them.

Holds the list, its tree and its averages.  The table, the trace and the flame graph have their own modules.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

from . import chrome_trace, flame_graph, table
from .function_event import FunctionEvent, FunctionEventAvg


class EventList(list):
    """Events of a profile, or their averages.

    Parameters
    ----------
    events : iterable of FunctionEvent or FunctionEventAvg
    profile_memory, with_flops : bool
        Whether the table has columns for memory and for operations.
    between : list of FunctionEventAvg
        Time outside all events: one row each in the averages.
    """

    def __init__(
        self, events: Iterable[Any] = (), *, use_device: str | None = None, profile_memory: bool = False,
        with_flops: bool = False, between: Iterable[FunctionEventAvg] = (), trace: chrome_trace.Trace | None = None,
        dropped: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(events)
        self._use_device, self._profile_memory, self._with_flops = use_device, profile_memory, with_flops
        self._between, self._trace, self._dropped = list(between), trace, dropped
        self._tree_built = False

    def _build_tree(self) -> None:
        self._populate_cpu_children()
        self._remove_dup_nodes()
        self._set_backward_stacktraces()
        self._tree_built = True

    def _populate_cpu_children(self) -> None:
        """Set the parent of each event: the innermost event of the same thread whose interval contains it."""
        here = sorted([event for event in self if not event.is_async], key=lambda event: (event.thread, event.node_id))
        for _, events in itertools.groupby(here, key=lambda event: (event.thread, event.node_id)):
            around: list[FunctionEvent] = []
            for event in sorted(events, key=lambda event: (event.time_range.start, -event.time_range.end)):
                start, end = event.time_range.start, event.time_range.end
                while around and (start >= around[-1].time_range.end or end > around[-1].time_range.end):
                    around.pop()
                if around:
                    around[-1].append_cpu_child(event)
                    event.set_cpu_parent(around[-1])
                around.append(event)

    def _remove_dup_nodes(self) -> None:
        """Merge an event into its parent if both have the same name and the parent has no other child."""
        gone = set()
        for event in self:
            parent = event.cpu_parent
            if parent is not None and parent.name == event.name and len(parent.cpu_children) == 1:
                parent.cpu_children = event.cpu_children
                for child in event.cpu_children:
                    child.cpu_parent = parent
                gone.add(id(event))
        if gone:
            self[:] = [event for event in self if id(event) not in gone]

    def _set_backward_stacktraces(self) -> None:
        """Give events of a backward pass the stack of the call that created their node."""
        forward: dict[tuple[int, int], list[str]] = {}
        for event in self:
            if event.stack and event.scope == 0 and event.sequence_nr >= 0:
                forward.setdefault((event.sequence_nr, event.thread), event.stack)
        for event in self:
            around = event
            while around is not None and around.scope != 1:
                around = around.cpu_parent
            if around is not None:
                event.stack = forward.get((around.sequence_nr, around.fwd_thread), [])

    @property
    def changes(self) -> Sequence[chrome_trace.Change]:
        """Each allocation and release of an array, in order."""
        return () if self._trace is None else self._trace.changes

    @property
    def self_cpu_time_total(self) -> float:
        """The sum of the events' own times and of the time between them, in microseconds."""
        return sum([event.self_cpu_time_total for event in itertools.chain(self, self._between)])

    def __str__(self) -> str:
        return self.table()

    def table(
        self, sort_by: str | None = None, row_limit: int = 100, max_src_column_width: int | None = 75,
        max_name_column_width: int | None = 55, max_shapes_column_width: int | None = 80, header: str | None = None,
        top_level_events_only: bool = False, time_unit: str | None = None,
    ) -> str:  # fmt: skip
        """The events as text, one row each.

        Parameters
        ----------
        sort_by : str, optional
            Attribute to sort by, the greatest value first: "self_cpu_time_total", "cpu_time_total", "cpu_time", "count",
            "cpu_memory_usage", "self_cpu_memory_usage".
        row_limit : int
            Number of rows; -1 for all.
        max_src_column_width, max_name_column_width, max_shapes_column_width : int or None
        header : str, optional
            Text above the table.
        top_level_events_only : bool
            Leave out events inside other events.
        time_unit : {"s", "ms", "us"}, optional

        Returns
        -------
        str
        """
        return table.text_of(
            self, sort_by=sort_by, row_limit=row_limit, source_width=max_src_column_width, name_width=max_name_column_width,
            shapes_width=max_shapes_column_width, header=header, top_level_only=top_level_events_only, unit=time_unit,
            memory=self._profile_memory, flops=self._with_flops, dropped=self._dropped,
        )  # fmt: skip

    def _repr_html_(self) -> str:
        return table.html_of(self if self._between == [] else self.key_averages()) + flame_graph.svg_of(self)

    def export_chrome_trace(self, path: str, metadata: dict[str, Any] | None = None) -> None:
        """Write the events in the format of Chrome's and Perfetto's viewers.

        Parameters
        ----------
        path : str
            Path of the file, compressed if it ends in `.gz`.
        metadata : dict, optional
            Further metadata of the trace.
        """
        trace = self._trace or chrome_trace.Trace()
        chrome_trace.write(path, self, trace._replace(metadata=(*trace.metadata, *(metadata or {}).items())))

    def supported_export_stacks_metrics(self) -> list[str]:
        return ["self_cpu_time_total"]

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write stacks and times in the format of flame graph programs: one line for each event.

        Parameters
        ----------
        path : str
        metric : str
            "self_cpu_time_total", in microseconds.
        """
        if metric not in self.supported_export_stacks_metrics():
            raise ValueError(f"metric should be one of: {self.supported_export_stacks_metrics()}")
        clean = str.maketrans(" ;\t\n", "____")
        with open(path, "w") as file:
            for event in self:
                value = int(getattr(event, metric))
                if event.stack and value > 0:
                    file.write(";".join(entry.translate(clean) for entry in reversed(event.stack)) + f" {value}\n")

    def key_averages(
        self, group_by_input_shapes: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """The sums of the events of each name, and of the time between events.

        Parameters
        ----------
        group_by_input_shapes : bool
            Sum events of different shapes separately.
        group_by_stack_n : int
            Sum events separately if this many innermost entries of their stacks differ.
        group_by_overload_name : bool
            Has no effect: in-place calls and calls with `out=` already have names of their own.

        Returns
        -------
        EventList
            Of FunctionEventAvg.
        """
        if not self._tree_built:
            raise AssertionError("expected the tree to be built before key_averages()")
        sums: dict[tuple[Any, ...], FunctionEventAvg] = {}
        for event in self:
            shapes = str(event.input_shapes) if group_by_input_shapes else None
            stack = tuple((event.stack or ())[:group_by_stack_n]) if group_by_stack_n > 0 else ()
            key = (event.key, event.node_id, event.is_user_annotation, shapes, stack)
            if key not in sums:
                sums[key] = FunctionEventAvg()
            sums[key].add(event)
        for average in sums.values():
            average.stack = (average.stack or [])[:group_by_stack_n]
            if not group_by_input_shapes:
                average.input_shapes = ""
        return EventList(
            [*sums.values(), *self._between], use_device=self._use_device, profile_memory=self._profile_memory,
            with_flops=self._with_flops, dropped=self._dropped,
        )  # fmt: skip

    def total_average(self) -> FunctionEventAvg:
        """The sum of all events, under the name "Total"."""
        total = FunctionEventAvg()
        for event in itertools.chain(self, self._between):
            total += event
            total.key = None
        total.key = "Total"
        return total
