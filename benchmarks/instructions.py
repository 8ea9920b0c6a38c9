"""Count the instructions of small operations, which do not depend on other programs, and compare them with the committed table.

    python -m benchmarks.instructions             count, and show beside the table
    python -m benchmarks.instructions --accept    count, and write the table

Needs valgrind.  The table is valid for the versions at its head; other versions have other counts.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

TABLE = Path(__file__).with_name("instructions.tsv")
REPEATS = 200  # of a single unit of work; a case of many units is repeated a fifth as often


def cases() -> dict[str, tuple[Callable[[], object], int]]:
    """Name -> the function that is run, and its number of units of work."""
    import numpy as np

    import gradspec as gs
    from gradspec.autograd import forward_ad
    from gradspec.profiler.recorder import Recorder

    x, w, b = (gs.tensor(np.linspace(0.5, 1.5, 8, dtype=np.float32), requires_grad=True) for _ in range(3))
    plain, scalar = gs.tensor(x.detach().numpy()), gs.tensor(2.0, requires_grad=True)
    matrix = gs.tensor(np.linspace(-1, 1, 64).reshape(8, 8).astype(np.float32), requires_grad=True)

    def chain(y, length=100):
        for _ in range(length // 2):
            y = y * w
            y = y + b
        return y

    def chain_backward():
        x.grad = w.grad = b.grad = None
        chain(x).backward(plain)

    def without_gradient():
        with gs.no_grad():
            chain(plain)

    def dual():
        with forward_ad.dual_level():
            chain(forward_ad.make_dual(plain, plain))

    def second_order():
        (slope,) = gs.autograd.grad(gs.sum(gs.exp(x) * x), x, create_graph=True)
        gs.autograd.grad(gs.sum(slope), x)

    def scalars():
        y = scalar
        for _ in range(50):
            y = y * 0.5 + 1.0
        gs.autograd.grad(y, scalar)

    def rows():
        buffer = gs.zeros((20, 8), dtype=gs.float32)
        for i in range(20):
            buffer[i] = x * 2
        gs.autograd.grad(gs.sum(buffer), x)

    params = [gs.ones(4, dtype=gs.float32).requires_grad_() for _ in range(100)]
    for param in params:
        param.grad = gs.ones(4, dtype=gs.float32)
    step = gs.compile(gs.optim.SGD(params, lr=0.1).step, recheck=False)  # a compared call costs as much as a recording

    def profiled(**settings):
        def operators():
            with Recorder(**settings):
                for _ in range(100):
                    gs.exp(plain)

        return operators

    return {
        "recorded multiply": (lambda: x * w, 1),
        "recorded exp": (lambda: gs.exp(x), 1),
        "recorded tanh": (lambda: gs.tanh(x), 1),
        "recorded sum": (lambda: gs.sum(x), 1),
        "recorded matrix product": (lambda: matrix @ matrix, 1),
        "recorded index": (lambda: matrix[1], 1),
        "recorded in-place add": (lambda: (x * w).add_(b), 1),
        "unrecorded multiply": (lambda: plain * plain, 1),
        "a chain without gradients, per operation": (without_gradient, 100),
        "a chain and its backward, per operation": (chain_backward, 100),
        "a chain and its grad(inputs), per operation": (lambda: gs.autograd.grad(chain(x), [x, w, b], plain), 100),
        "a chain in forward mode, per operation": (dual, 100),
        "a chain of scalars and its gradient, per operation": (scalars, 100),
        "a second derivative": (second_order, 1),
        "a row written into a buffer, and its backward": (rows, 20),
        "tanh and its backward": (lambda: gs.tanh(x).backward(plain), 1),
        "softmax and its backward": (lambda: gs.nn.softmax(x, 0).backward(plain), 1),
        "a replayed step of SGD, per parameter": (step, len(params)),
        "exp in a profile": (profiled(), 100),
        "exp in a profile with shapes, memory and stack": (profiled(shapes=True, memory=True, stack=True), 100),
    }


def run_cases() -> None:
    """Run every case between calls of getppid; at each call, callgrind writes its counts."""
    import gc

    found = cases()
    for run, _ in found.values():
        for _ in range(20):
            run()
    gc.disable()
    start_counting()
    os.getppid()
    for run, units in found.values():
        for _ in range(repeats(units)):
            run()
        os.getppid()


def start_counting() -> None:
    """Start counting: before this call, callgrind runs the program without counting, five times as fast."""
    said = subprocess.Popen(["callgrind_control", "--instr=on", str(os.getpid())], stdout=subprocess.DEVNULL)
    while said.poll() is None:
        pass
    if said.returncode:
        raise RuntimeError("callgrind_control could not start the counting")


def repeats(units: int) -> int:
    return REPEATS if units == 1 else REPEATS // 5


def count() -> dict[str, int]:
    """Instructions of each case, per unit of work."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--dump-before=getppid"]
        command += [f"--callgrind-out-file={folder}/out", sys.executable, "-m", __spec__.name, "--run"]
        variables = os.environ | {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        for other in ("OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES"):  # the table is for valgrind's processor
            variables.pop(other, None)
        done = subprocess.run(command, env=variables, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr)
        dumps = sorted(Path(folder).glob("out.*"), key=lambda path: int(path.suffix[1:]))
        totals = [int(re.search(r"^totals: (\d+)", path.read_text(), re.MULTILINE)[1]) for path in dumps]
    found = cases()
    return {name: round(total / repeats(units) / units) for (name, (_, units)), total in zip(found.items(), totals[1:])}


def versions() -> str:
    """The versions that the counts depend on."""
    compiler = subprocess.run([os.environ.get("CC", "cc"), "-dumpfullversion"], capture_output=True, text=True).stdout.strip()
    python = ".".join(map(str, sys.version_info[:3]))
    return f"Python {python}, NumPy {metadata.version('numpy')}, Cython {metadata.version('cython')}, compiler {compiler}"


def committed() -> tuple[str, dict[str, int]]:
    """The versions and the counts of the table."""
    head, *rows = TABLE.read_text().splitlines()
    return head.removeprefix("# "), {name: int(number) for name, number in (row.split("\t") for row in rows)}


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.instructions", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--accept", action="store_true", help="write the table")
    parser.add_argument("--run", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        run_cases()
        return 0
    if shutil.which("valgrind") is None:
        print("valgrind is not installed", file=sys.stderr)
        return 1
    found = count()
    if options.accept:
        TABLE.write_text(f"# {versions()}\n" + "".join(f"{name}\t{number}\n" for name, number in found.items()))
    _, before = committed()
    for name, number in found.items():
        print(f"{number:8}  {before.get(name, 0):8}  {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
