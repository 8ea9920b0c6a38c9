"""Decide which steps of a program are profiled, and where their traces are written."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from enum import Enum
from typing import Any


class ProfilerAction(Enum):
    """Action of a profile in one step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def always(step: int) -> ProfilerAction:
    """The default schedule: record every step."""
    return ProfilerAction.RECORD


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> Callable[[int], ProfilerAction]:
    """A schedule by counts of steps.

    Parameters
    ----------
    wait, warmup, active : int
        Lengths of the phases of a cycle: steps without a profile, steps whose recording is discarded, recorded steps.
    repeat : int
        Number of cycles; 0 for no limit.
    skip_first : int
        Steps before the first cycle.
    skip_first_wait : int
        If not 0, the first cycle begins with its warmup.

    Returns
    -------
    callable
        Returns the action of a step.

    Examples
    --------
    >>> plan = gs.profiler.schedule(wait=1, warmup=1, active=2)
    >>> [plan(step).name for step in range(4)]
    ['NONE', 'WARMUP', 'RECORD', 'RECORD_AND_SAVE']
    """
    if wait < 0 or warmup < 0 or active <= 0 or repeat < 0 or skip_first < 0:
        raise AssertionError(f"schedule: wait, warmup, repeat and skip_first must be at least 0, active at least 1, got "
                             f"wait={wait}, warmup={warmup}, active={active}, repeat={repeat}, "
                             f"skip_first={skip_first}")  # fmt: skip
    if warmup == 0:
        warnings.warn("Profiler won't be using warmup, this can skew profiler results", stacklevel=2)
    cycle = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        if step < 0:
            raise AssertionError(f"a step is at least 0, got {step}")
        step -= skip_first
        if step < 0:
            return ProfilerAction.NONE
        if skip_first_wait:
            step += wait
        if repeat and step >= repeat * cycle:
            return ProfilerAction.NONE
        step %= cycle
        if step < wait:
            return ProfilerAction.NONE
        if step < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD_AND_SAVE if step == cycle - 1 else ProfilerAction.RECORD

    return action


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False, use_python_export: bool = False
) -> Callable[[Any], None]:
    """An `on_trace_ready` that writes each trace into a folder, under the file names that TensorBoard searches for.

    Parameters
    ----------
    dir_name : str
        Created if it does not exist.
    worker_name : str, optional
        Start of the file names; by default the machine's name and the process number.
    use_gzip : bool
        Compress the files.
    use_python_export : bool
        Accepted, without effect: Python always writes the trace.

    Returns
    -------
    callable
    """
    import socket
    import time

    def write(profile: Any) -> None:
        try:
            os.makedirs(dir_name, exist_ok=True)
        except OSError as error:
            raise RuntimeError(f"Can't create directory: {dir_name}") from error
        name = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        suffix = ".gz" if use_gzip else ""
        profile.export_chrome_trace(os.path.join(dir_name, f"{name}.{time.time_ns()}.pt.trace.json{suffix}"))

    return write
