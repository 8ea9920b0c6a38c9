"""Values of mpmath that take long: worked out once, kept in `kept.txt`, and some of them worked out anew by each run.

Owns which values are kept and by what they are found: the text of the code that works them out, of the formulas that they are values
of, and the arguments.  So what was kept of another formula, or by other code, is never found.  `python -m tests.ops.kept` makes the
table anew, which takes some minutes; `KEPT=none` in the environment does without it.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import random
import sys
import time
from collections.abc import Callable
from functools import cache, wraps
from pathlib import Path
from typing import Any

import mpmath
from mpmath import mp, mpc, mpf

from gradspec.codegen.spec.expression import Call, walk
from gradspec.codegen.spec.model import Op
from gradspec.codegen.verify import reference

from .spec import the_spec

FILE = Path(__file__).with_suffix(".txt")
LONG = 1e-3  # seconds of processor time from which on a value is kept
ANEW = 1 / 50  # of what is found so much is worked out all the same
DIGITS = 20  # of mpmath's numbers
SEED = int(os.environ.get("KEPT_SEED", time.time_ns() % 10**6))
_chosen = random.Random(SEED)
_quick: dict[str, Any] = {}  # what this run has worked out, and what is in no table: both precisions ask for it
_made: dict[str, str] | None = None  # what `python -m tests.ops.kept` has found so far


class Stale(AssertionError):
    """A kept value that is not what mpmath gives."""


def kept(*parts: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Keeps what a function of operators, numbers and names gives, by the text of the function and of the functions and modules `parts`.

    Raises
    ------
    Stale
        Where a kept value that is worked out anew differs by more than 1e-14 of it.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        code = "\n".join(map(inspect.getsource, (function, *parts, reference)))

        @wraps(function)
        def found(*args: Any) -> Any:
            key = key_of(code, args)
            if key in table() and _chosen.random() >= ANEW:
                return read(table()[key])
            if key in _quick:
                return _quick[key]
            start = time.process_time()
            value = function(*args)
            if key in table() and not alike(read(table()[key]), read(written(value))):
                at = ", ".join(map(str, args[1:]))
                raise Stale(f"{described(args[0]).split()[0]} at {at}: kept {table()[key]}, mpmath gives {written(value)} (KEPT_SEED={SEED}): run python -m tests.ops.kept")
            if _made is not None and time.process_time() - start > LONG:
                _made[key] = written(value)
            if key not in table():
                _quick[key] = value
            return value

        found.key = lambda *args: key_of(code, args)
        return found

    return decorate


def key_of(code: str, args: tuple[Any, ...]) -> str:
    """By what a value is found."""
    hashed = _begun(code).copy()
    hashed.update("\n".join(map(described, args)).encode())
    return hashed.hexdigest()[:12]


@cache
def _begun(code: str) -> Any:
    return hashlib.sha256(code.encode())


@cache
def table() -> dict[str, str]:
    if _made is not None or os.environ.get("KEPT") == "none":
        return {}
    return dict(line.split(" ", 1) for line in FILE.read_text().splitlines())


def described(argument: Any) -> str:
    """What the value of an argument hangs on: of an operator its formulas, and those of the operators that they call."""
    if isinstance(argument, Op):
        return formulas(argument.name)
    return source_of(argument) if callable(argument) else repr(argument)


source_of = cache(inspect.getsource)


@cache
def formulas(name: str) -> str:
    ops, texts, waiting, seen = the_spec().ops, [], [name], {name}
    while waiting:
        op = ops[waiting.pop()]
        told = [op.reference, op.domain, op.composite, op.forward, *op.lets.values()]
        texts.append(" ".join([op.name, *(f"{a.name}={a.default}" for a in op.signature.arguments), *(t.source for t in told if t is not None)]))
        expressions = [t.expression for t in (op.composite, op.forward, *op.lets.values()) if t is not None and t.expression is not None]
        called = {node.op for e in expressions for node in walk(e) if isinstance(node, Call) and node.op}
        waiting += sorted(called - seen)
        seen |= called
    return "\n".join(texts)


def written(value: Any) -> str:
    """A value as one line: lists, None, doubles, and mpmath's numbers as strings."""

    def plain(value: Any) -> Any:
        if isinstance(value, (tuple, list)):
            return [plain(item) for item in value]
        if isinstance(value, mpc):
            return f"{plain(value.real)} {plain(value.imag)}"
        return mp.nstr(value, DIGITS, min_fixed=0, max_fixed=0) if isinstance(value, mpf) else value

    return json.dumps(plain(value), separators=(",", ":"))


def read(line: str) -> Any:
    def number(value: Any) -> Any:
        if isinstance(value, list):
            return [number(item) for item in value]
        if isinstance(value, str):
            parts = [mpf(part) for part in value.split(" ")]
            return parts[0] if len(parts) == 1 else mpc(*parts)
        return value

    with mp.workdps(DIGITS + 5):
        return number(json.loads(line))


def alike(a: Any, b: Any) -> bool:
    if isinstance(a, list) or isinstance(b, list):
        return isinstance(a, list) and isinstance(b, list) and len(a) == len(b) and all(map(alike, a, b))
    if a is None or b is None or isinstance(a, mpc) is not isinstance(b, mpc):
        return a is b
    if mpmath.isnan(a) or mpmath.isnan(b):
        return bool(mpmath.isnan(a) and mpmath.isnan(b))
    return a == b or bool(abs(a - b) <= 1e-14 * abs(b))


def make() -> int:
    """Writes the table anew, from a run of all that asks for it."""
    import pytest  # noqa: PLC0415

    global _made  # noqa: PLW0603
    _made = {}
    code = pytest.main(["-q", *(str(FILE.with_name(f"test_hard_{name}.py")) for name in ("points", "pairs", "special", "complex"))])
    if code == 0:
        FILE.write_text("".join(f"{key} {value}\n" for key, value in sorted(_made.items())))
    return int(code)


if __name__ == "__main__":
    sys.path.insert(0, str(FILE.parents[1]))
    from ops import kept as imported  # which the tests call it: their package is this folder

    sys.exit(imported.make())
