"""Damaged and hostile files for every reader: a clear error, or numbers that come from the file.

A case takes a file that gradspec or PyTorch would write, and changes bytes, members of the archive, headers of arrays, trees of JSON or
the instructions of a pickle.  It is read twice, while memory that was freed is full of one pattern and of another, and if it is a program
it is called as it was recorded.  Wrong are a crash, an error of another class than the reader names, and results that differ between the
two: they come from elsewhere than the file.

    python -m tests.runtime.fuzzed_files MINUTES --seed S [--reader gsp|npz|pt|safetensors] [--case N]
"""

import argparse
import copy
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings

import numpy as np

import gradspec as gs
from gradspec.compiler.tracing.values import held, mapped
from tests.runtime.api.test_pytorch_files import many, name, number, pack, rebuilt, reference, text

from .changed_files import changed

READERS = ("gsp", "npz", "pt", "safetensors")
CHUNK = 250  # cases of a process
NOTES = "which a program of a file calls", "which was replayed"  # an operator that fails on numbers says so


# The corpus.


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def programs():
    """Functions with calls: together they have every kind of step that an executable has."""
    w, b = gs.asarray(numbers(3, 4, seed=1), requires_grad=True), gs.asarray(numbers(4, seed=2), requires_grad=True)
    x = numbers(2, 3)

    def train(x):
        loss = ((gs.tanh(x @ w + b)) ** 2).mean()
        loss.backward()
        with gs.no_grad():
            for p in (w, b):
                p -= 0.1 * p.grad
                p.grad = None
        return {"loss": loss.detach(), "more": [1.5, "words", None]}

    yield train, (x,)
    v = gs.asarray(numbers(6, seed=3))
    front, back = v[:4], v[2:]

    def shared(y):
        front.add_(y)
        return back * 1, v

    yield shared, (numbers(4),)
    yield lambda x: x * 2 + gs.random.standard_normal(3) if x.sum() > 0 else x[::-1].T - 1, (x,)
    yield lambda x, i: (gs.exp(x[i:] @ w.detach()), x.sum(axis=0)[..., None], gs.argmax(x), gs.concat([x, x * 2], 1)), (x, 1)
    yield lambda x: (gs.linalg.svd(x)[1], gs.pad(x, ((1, 1), (0, 2))), x.astype("float32").cumsum(0), gs.as_strided(x * 1, (2, 2), (3, 1))), (x,)
    yield lambda x: gs.func.grad(lambda y: (gs.sin(y) * gs.softmax(y, -1)).sum())(x), (gs.asarray(x),)
    t = gs.tensor(x, requires_grad=True)
    yield lambda x: (gs.sin(x * t) ** 2).sum(), (gs.tensor(x, requires_grad=True),)
    yield several, (gs.tensor(x, requires_grad=True), gs.asarray(numbers(4)))
    yield lambda x, k: (gs.take(x, k, 1), gs.where(x > 0, x, gs.zeros(3)), gs.empty_like(x).fill_(2.0), gs.sort(x)), (x, np.array([2, 0]))


def several(x, buffer):
    """Several results with a graph, one whose graph is gone, views of results and of what is given, and writes."""
    a, b = gs.exp(x) * 2, gs.sin(x).sum(axis=1)
    gone = gs.tanh(x).sum()
    gs.autograd.grad(gone, x)
    buffer.add_(1)
    return a, a[1:].T, b, gone, gs.exp(a.detach()), buffer, buffer[::2], x.T


def slopes(found, leaves):
    """Derivatives by what requires grad: of all results together, and of each."""
    outs, parts = [], []
    mapped(found, lambda item: outs.append(item) if isinstance(item, gs.Tensor) and item.requires_grad and not item.is_leaf else None)
    leaves = [leaf for leaf in leaves if isinstance(leaf, gs.Tensor) and leaf.requires_grad]
    for asked in [outs, *([out] for out in outs)] if leaves and outs else ():
        try:
            grads = gs.autograd.grad(asked, leaves, [gs.ones_like(out) for out in asked], retain_graph=True, allow_unused=True)
            parts.append(bits(list(grads)))
        except RuntimeError as error:  # of a graph that is gone the message is the file's own
            parts.append(type(error).__name__)
        except Exception as error:
            if not noted(error):
                raise
            parts.append(type(error).__name__)
    return parts


def corpus(folder):
    """Files of each reader, with the calls of the programs."""
    found = {reader: [] for reader in READERS}

    def whole(path, call=None):
        with open(path, "rb") as file:
            found[path.rpartition(".")[2]].append((file.read(), call))

    for place, (function, call) in enumerate(programs()):
        compiled = gs.compile(function)
        gs.manual_seed(0)
        compiled(*call), compiled(*call)
        path = os.path.join(folder, f"{place}.gsp")
        compiled.save(path)
        whole(path, call)
    state = {"w": gs.tensor(numbers(2, 3), requires_grad=True), "n": gs.asarray([1, 2, 3]), "f": gs.asarray(np.asfortranarray(numbers(2, 2)))}
    nest = {"model": state, "step": 3, "best": float("inf"), "mask": np.array([True, False]), "z": 1j, "list": [gs.ones(()), (None, "x")]}
    for place, item in enumerate((state, nest, gs.ones((0, 3)))):
        path = os.path.join(folder, f"{place}.npz")
        gs.save(path, item)
        whole(path)
    path = os.path.join(folder, "0.safetensors")
    try:
        gs.save(path, {**state, "b": gs.asarray([True, False]), "h": gs.asarray(np.ones(2, "float16"))})
        whole(path)
    except ImportError:  # its package is not there
        del found["safetensors"]
    path = os.path.join(folder, "0.pt")
    pack(path, name("collections.OrderedDict") + b")R(" + text("w") + rebuilt(shape=(2, 2), strides=(2, 1)) + text("v")
         + rebuilt(reference(key="1", kind="torch.LongStorage", count=2), shape=(2,)) + b"u", **{"data/1": np.arange(2).tobytes(), "byteorder": b"little"})  # fmt: skip
    whole(path)
    pack(path, b"}(" + text("k") + many(number(1), rebuilt(start=1, shape=(2, 2), strides=(1, 1)), b"\x88") + text("b")
         + rebuilt(reference("torch.BoolStorage", key="1")) + b"u", **{"data/1": b"\0\1\2\xff"})  # fmt: skip
    whole(path)
    return found


# The question.


def poison(byte):
    """Leave a pattern in memory that is free."""
    held_there = [np.full(size, byte, np.uint8) for size in (8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512, 1024, 4096, 1 << 16) for _ in range(6)]
    tensors = [gs.asarray(np.full(size, byte, np.uint8).view("f8")) * 1 for size in (8, 32, 64, 96, 128, 1024) for _ in range(3)]
    del held_there, tensors


def bits(tree):
    """A result bit by bit."""
    def leaf(item):
        array = held(item)
        return (str(array.dtype), array.shape, array.tobytes()) if array is not None else repr(item)

    return repr(mapped(tree, leaf))


def answer(reader, path, call, byte):
    """What a reader gives of a file, or its refusal."""
    poison(byte)
    try:
        found = gs.load_program(path) if reader == "gsp" else gs.load(path)
    except ValueError as error:
        if path not in str(error) or not str(error).startswith("load"):
            raise AssertionError(f"an error that does not name the file: {error}") from error
        return "refused"
    if reader != "gsp":
        return bits(found)
    parts = [bits(found.weights)]
    for _ in range(2):
        gs.manual_seed(1)
        poison(byte)
        try:
            given = copy.deepcopy(call)
            result = found(*given)
            parts += [bits(result), *slopes(result, [*given, *found.weights.values()])]
        except RuntimeError as error:
            if "load_program" not in str(error) and not noted(error):
                raise
            parts.append("not recorded")
        except ValueError as error:
            if path not in str(error) and not noted(error):
                raise
            parts.append("refused")
        except Exception as error:
            if not noted(error):
                raise
            parts.append(type(error).__name__)
    return repr([*parts, bits(found.weights)])


def noted(error):
    return any(words in note for note in getattr(error, "__notes__", ()) for words in NOTES)


def ask(reader, path, call):
    """Whether a file is read right.

    Returns
    -------
    str
        "refused" by the reader, "stopped" where a call is refused, or "read".

    Raises
    ------
    AssertionError
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        first, second = (answer(reader, path, call, byte) for byte in (0x5A, 0xC3))
    if first != second:
        raise AssertionError(f"numbers that are not of the file: {first[:300]} and {second[:300]}")
    return first if first == "refused" else "stopped" if "'refused'" in first or "'not recorded'" in first else "read"


def case_of(files, reader, seed, count):
    """The changed file that a number stands for."""
    rng = random.Random(f"{reader} {seed} {count}")
    data, call = rng.choice(files[reader])
    return changed(rng, reader, data), call


def run(reader, seed, numbers_of_cases, folder, files):
    """Ask some cases; how many were refused, and what is wrong."""
    path, counts, wrong = os.path.join(folder, f"case.{reader}"), {"refused": 0, "stopped": 0, "read": 0}, []
    for count in numbers_of_cases:
        data, call = case_of(files, reader, seed, count)
        with open(path, "wb") as file:
            file.write(data)
        with open(os.path.join(folder, "number"), "w") as file:
            file.write(str(count))
        try:
            counts[ask(reader, path, call)] += 1
        except Exception:
            wrong.append((count, traceback.format_exc()[-1500:]))
    return counts, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("minutes", type=float)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--reader", choices=READERS)
    parser.add_argument("--case", type=int)
    parser.add_argument("--first", type=int, help="of a chunk; what the program starts for itself")
    given = parser.parse_args()
    if given.case is not None or given.first is not None:
        signal.signal(signal.SIGALRM, lambda *_: sys.exit("a case takes more than 5 minutes"))
        with tempfile.TemporaryDirectory() as own:
            files = corpus(own)
            folder = os.environ.get("FUZZED_FILES", own)
            cases = [given.case] if given.case is not None else range(given.first, given.first + CHUNK)
            signal.alarm(300)
            counts, wrong = run(given.reader, given.seed, cases, folder, files)
        print(json.dumps([counts, wrong]))
        return 0
    until, first, failures = time.monotonic() + 60 * given.minutes, 0, 0
    total = {reader: {"refused": 0, "stopped": 0, "read": 0} for reader in READERS if given.reader in (None, reader)}
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < until:
            for reader in total:
                command = [sys.executable, "-m", "tests.runtime.fuzzed_files", "0", "--seed", str(given.seed), "--reader", reader, "--first", str(first)]
                found = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "FUZZED_FILES": folder})
                try:
                    counts, wrong = json.loads(found.stdout.splitlines()[-1])
                except (ValueError, IndexError):
                    with open(os.path.join(folder, "number")) as file:
                        wrong = [(file.read(), f"ended with {found.returncode}: {found.stderr[-3000:]}")]
                    counts = {}
                for kind, count in counts.items():
                    total[reader][kind] += count
                failures += len(wrong)
                for count, words in wrong:
                    print(f"--reader {reader} --seed {given.seed} --case {count}: {words}", flush=True)
            first += CHUNK
            print(f"{(until - time.monotonic()) / 60:.1f} minutes left: {total}, {failures} wrong", flush=True)
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
