"""Measure gradspec, PyTorch, JAX, HIPS autograd and CasADi on the same work in one run.

    python -m benchmarks                          everything
    python -m benchmarks chain mlp_small          two measurements
    python -m benchmarks --peers gradspec,torch   fewer peers
    python -m benchmarks --before PYTHON          beside the gradspec of another interpreter
    python -m benchmarks --list                   the names
    python -m benchmarks kernels [WORD ...]       kernels beside the NumPy expressions that they replace
    python -m benchmarks threads [WORD ...]       our threads beside BLAS's, 1, 2 and 4 of each
    python -m benchmarks memory [NAME ...]        the memory of a replayed step beside an eager step's
    python -m benchmarks accuracy                 errors of elementary functions beside JAX's
    python -m benchmarks elementary               our loops of elementary functions beside NumPy's
    python -m benchmarks capture                  the cost of a recording
    python -m benchmarks growth                   time and memory of larger and larger work
    python -m benchmarks in_place [SIZE ...]      in-place operators and steps of optimisers beside PyTorch's
    python -m benchmarks native [CASE ...]        machine code, `backend="c"`, beside replays and JAX
    python -m benchmarks native_problems --casadi PYTHON   exported C beside CasADi's, on four problems of control
    python -m benchmarks sweep [--op NAME ...]    operators beside PyTorch's and NumPy's, at four sizes
    python -m benchmarks thread_sweep [--busy]    the same operators on one thread and on two

Peers run in virtual environments of their own; `python -m benchmarks.environments` creates them.
"""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path

from . import (
    accuracy,
    capture,
    elementary,
    growth,
    in_place,
    kernels,
    memory,
    native,
    native_problems,
    sweep,
    table,
    thread_sweep,
    threads,
)
from .cases import CASES
from .environments import HERE, PEERS, Peer
from .rounds import Worker, WorkerFailed, run_case

#: Environment variables that choose instructions of the libraries.
SWITCHES = ("OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES", "ATEN_CPU_CAPABILITY", "ONEDNN_MAX_CPU_ISA", "MKL_ENABLE_INSTRUCTIONS", "XLA_FLAGS")

# Measurements with arguments of their own.
OTHERS: dict[str, Callable[[list[str]], int]] = {
    "accuracy": lambda words: accuracy.main(), "capture": lambda words: capture.main(), "elementary": lambda words: elementary.main(),
    "growth": lambda words: growth.main(), "in_place": in_place.main,
    "kernels": kernels.main, "memory": memory.main, "native": native.main,
    "native_problems": native_problems.main, "sweep": sweep.main, "thread_sweep": thread_sweep.main, "threads": threads.main,
}  # fmt: skip


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("case", nargs="*", help="measurements, by name; default: all")
    parser.add_argument("--list", action="store_true", help="print the names of the measurements and stop")
    parser.add_argument("--peers", default="gradspec,torch,jax,autograd,casadi,numpy", metavar="A,B", help="default: %(default)s")
    parser.add_argument("--before", type=Path, metavar="PYTHON", help="an interpreter with an earlier gradspec")
    parser.add_argument("--rounds", type=int, default=7, help="turns of every peer (default %(default)s)")
    parser.add_argument("--seconds", type=float, default=0.1, help="least length of one turn (default %(default)s)")
    parser.add_argument("--timeout", type=float, default=300, help="seconds until a peer is given up (default %(default)s)")
    parser.add_argument("--output", type=Path, default=HERE / "results", help="folder of results.{md,json,svg}")
    options = parser.parse_args()
    if unknown := set(options.case) - set(CASES):
        parser.error(f"no measurement named {', '.join(sorted(unknown))}; there are {', '.join(CASES)}")
    libraries = {peer.library for peer in PEERS}
    if unknown := set(options.peers.split(",")) - libraries:
        parser.error(f"no peer named {', '.join(sorted(unknown))}; there are {', '.join(sorted(libraries))}")
    return options


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def load() -> float | None:
    """Mean number of processes that wanted a core in the last minute."""
    return round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None


def start_workers(options: argparse.Namespace) -> list[Worker]:
    workers = []
    peers = [peer for peer in PEERS if peer.library in options.peers.split(",")]
    if options.before:
        peers.append(Peer("before", "gradspec", python=options.before))
    for peer in peers:
        reason = peer.missing()
        if reason is None:
            try:
                workers.append(Worker(peer, options.seconds, options.timeout))
                continue
            except WorkerFailed as failure:
                reason = str(failure)
        print(f"{peer.name} is left out: {reason}", file=sys.stderr)
    return workers


def progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def main() -> int:
    if sys.argv[1:] and sys.argv[1] in OTHERS:
        return OTHERS[sys.argv[1]](sys.argv[2:])
    options = arguments()
    cases = {name: importlib.import_module(f"benchmarks.cases.{name}") for name in options.case or CASES}
    titles = {name: case.title for name, case in cases.items()}
    if options.list:
        for name, title in titles.items():
            print(f"{name:20}{title}")
        return 0
    busy = load()
    if busy is not None and busy > 0.5:
        print(f"the machine is busy (load {busy}): times will be too long, most of all with threads", file=sys.stderr)
    workers = start_workers(options)
    if not workers:
        print("nothing to measure", file=sys.stderr)
        return 1

    results = {}
    for name, case in cases.items():
        results[name] = run_case(name, case, workers, options.rounds, progress)
        progress("")
        medians = ((peer, figure) for peer, figure in results[name].items())
        row = ", ".join(f"{peer} {table.duration(f.median) if f.median else table.NOTHING}" for peer, f in medians)
        print(f"{name}: {row}", file=sys.stderr, flush=True)

    versions = {name: version for worker in workers for name, version in worker.versions.items()}
    for worker in workers:
        worker.close()
    machine = {
        "processor": processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "load": busy,
        "versions": versions,
        "rounds": options.rounds,
    }
    text = table.markdown(titles, results)
    bases = {name: case.multiple_of for name, case in cases.items() if hasattr(case, "multiple_of")}
    if further := table.multiples(titles, bases, results):
        text += f"\n{further}"
    named = ", ".join(f"{name} {version}" for name, version in versions.items())
    text += f"\n{machine['processor']}, {machine['cores']} cores, Python {machine['python']}, {named}. "
    text += f"Medians of {options.rounds} interleaved rounds; ratios to PyTorch's better time of 1 and 2 threads. "
    text += "Compiled calls replay; the calls that are recorded anew to check them are not counted.\n"
    if switches := [f"`{name}={os.environ[name]}`" for name in SWITCHES if name in os.environ]:
        text += f"With {', '.join(switches)}.\n"
    print(text)

    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "results.md").write_text(text)
    table.save_json(options.output / "results.json", table.document(machine, titles, results))
    if not table.save_plot(options.output / "results.svg", titles, results):
        print("matplotlib is not installed: no picture", file=sys.stderr)
    failures = [f for figures in results.values() for f in figures.values() if f.note and f.note.startswith("WRONG")]
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
