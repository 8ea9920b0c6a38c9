"""The events of a profile: which stands inside of which, their sums by name, and the ways to show them.

Owns the list, its tree and its averages.  A table, a trace and a flame graph are modules of their own.
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
        What the table has columns for.
    between : list of FunctionEventAvg
        Time that no event has: a row each of the averages.
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
        """Say of each event which one is around it, by their times: of one thread, and whole inside of it."""
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
        """An event that only stands around another of its name is that one."""
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
        """What runs in a backward pass has the stack of the call that made its node."""
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
        """Each array that came or died, in their order."""
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
        """The events as text, a row each.

        Parameters
        ----------
        sort_by : str, optional
            Which attribute comes greatest first: "self_cpu_time_total", "cpu_time_total", "cpu_time", "count",
            "cpu_memory_usage", "self_cpu_memory_usage".
        row_limit : int
            How many rows; -1 for all.
        max_src_column_width, max_name_column_width, max_shapes_column_width : int or None
        header : str, optional
            What stands above the table.
        top_level_events_only : bool
            Leave out what other events are around of.
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
        """Write the events as Chrome's and Perfetto's viewers read them.

        Parameters
        ----------
        path : str
            Of a file, compressed where it ends in `.gz`.
        metadata : dict, optional
            What else the trace says of itself.
        """
        trace = self._trace or chrome_trace.Trace()
        chrome_trace.write(path, self, trace._replace(metadata=(*trace.metadata, *(metadata or {}).items())))

    def supported_export_stacks_metrics(self) -> list[str]:
        return ["self_cpu_time_total"]

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write stacks and times as programs for flame graphs read them: a line for each event.

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
        """The sums of the events of each name, and of the time between them.

        Parameters
        ----------
        group_by_input_shapes : bool
            Events of other shapes are summed apart.
        group_by_stack_n : int
            Events of which these many innermost entries of the stack differ are summed apart.
        group_by_overload_name : bool
            Has no effect: a name tells in-place calls and calls with `out=` apart.

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
        """The sum of all events, under the name "Total".

        Returns
        -------
        FunctionEventAvg
        """
        total = FunctionEventAvg()
        for event in itertools.chain(self, self._between):
            total += event
            total.key = None
        total.key = "Total"
        return total
