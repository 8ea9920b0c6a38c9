"""Run the cases: each peer is a live process, and the peers take turns, so that a busy moment of the machine affects them all."""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import ModuleType

from .environments import HERE, Peer


class WorkerFailed(Exception):
    """A peer failed at a request; the message is for the table's footnotes."""


class Worker:
    """The process of one peer.  A crash or a time-out ends the process, not the run: `restart` starts a new process."""

    def __init__(self, peer: Peer, least_time: float, timeout: float) -> None:
        self.peer, self.least_time, self.timeout = peer, least_time, timeout
        self.restart()

    def restart(self) -> None:
        self.process = subprocess.Popen(
            [self.peer.interpreter, "-m", "benchmarks.worker", self.peer.library, str(self.least_time)],
            cwd=HERE.parent,
            env={**os.environ, **self.peer.variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.versions = self.read()["versions"]

    def read(self) -> dict:
        timer = threading.Timer(self.timeout, self.process.kill)
        timer.start()
        line = self.process.stdout.readline()
        in_time = timer.is_alive()
        timer.cancel()
        if not line:
            code = self.process.wait()
            raise WorkerFailed(f"crashed (exit status {code})" if in_time else f"not done after {self.timeout:.0f} s")
        answer = json.loads(line)
        if "error" in answer:
            raise WorkerFailed(answer["error"])
        return answer

    def ask(self, **request) -> dict:
        if self.process.poll() is not None:
            self.restart()
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return self.read()

    def close(self) -> None:
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


@dataclass
class Figures:
    """The measurements of one peer in one case; `note` says why any are missing."""

    seconds: list[float] = field(default_factory=list)
    first: float | None = None
    note: str | None = None

    @property
    def median(self) -> float | None:
        return statistics.median(self.seconds) if self.seconds else None


def difference(digests: list, reference: list) -> float:
    """The largest relative difference between two peers' results; infinite for other sizes and for NaN."""
    if [size for size, _, _ in digests] != [size for size, _, _ in reference]:
        return math.inf
    gaps = [0.0]
    for (_, *found), (_, *expected) in zip(digests, reference):
        scale = expected[0] or 1.0  # the sum of absolute values
        gaps += [abs(ours - theirs) / scale for ours, theirs in zip(found, expected)]
    return math.inf if any(map(math.isnan, gaps)) else max(gaps)


def run_case(
    name: str, case: ModuleType, workers: Iterable[Worker], rounds: int, report: Callable[[str], None]
) -> dict[str, Figures]:
    """Prepare `case` in every worker, compare their results, then time them in turns."""
    figures, ready, reference = {}, {}, None
    for worker in workers:
        peer, figure = worker.peer, Figures()
        figures[peer.name] = figure
        if reason := getattr(case, "not_comparable", {}).get(peer.library):
            figure.note = reason
            continue
        if peer.is_partial and not hasattr(case, f"with_{peer.library}"):
            del figures[peer.name]
            continue
        report(f"{name}: {peer.name}")
        try:
            prepared = worker.ask(prepare=name)
        except WorkerFailed as failure:
            figure.note = str(failure)
            continue
        if reference is None and not peer.is_limit:
            reference = peer.name, prepared["digests"]
        if not peer.is_limit and (gap := difference(prepared["digests"], reference[1])) > getattr(case, "tolerance", 1e-4):
            figure.note = f"WRONG: differs from {reference[0]} by {gap:.1e}"
            continue
        figure.first = prepared["first"]
        ready[worker] = prepared["loops"]

    for turn in range(rounds):
        for worker, loops in list(ready.items()):
            report(f"{name}: round {turn + 1} of {rounds}: {worker.peer.name}")
            time.sleep(0.06)  # let the threads of the previous peer stop spinning: OpenBLAS's take 25 ms, OpenMP's 8
            try:
                figures[worker.peer.name].seconds.append(worker.ask(time=loops)["seconds"])
            except WorkerFailed as failure:
                figures[worker.peer.name] = Figures(note=str(failure))
                del ready[worker]
    return figures
