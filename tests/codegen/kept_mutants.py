"""Entries whose mutants were tried as all is now: kept in `kept_mutants.txt`, and some of them tried anew by each run.

    python -m tests.codegen.kept_mutants    try the mutants of every entry that the table does not have, and write it; some minutes

Owns by what an entry is found: all that its check rests on (`codegen.verify.result_cache`: texts, kernels, the generator, versions) and what is
listed of it in equivalent_mutants.yaml.  So where any of these is another, its mutants are tried.  `KEPT=none` in the environment
tries all.
"""

from __future__ import annotations

import hashlib
import os
import random
import sys
import time
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import yaml

from codegen.package import Package
from codegen.spec.model import Op, Spec
from codegen.spec_cache import analysed
from codegen.verify.mutate import survivors
from codegen.verify.result_cache import Passed

ROOT = Path(__file__).parents[2]
FILE = Path(__file__).with_suffix(".txt")
EQUIVALENT = yaml.safe_load((Path(__file__).parent / "equivalent_mutants.yaml").read_text())
ANEW = 1 / 50  # of the entries that the table has so many are tried all the same
SEED = int(os.environ.get("KEPT_SEED", time.time_ns() % 10**6))


@cache
def the_spec() -> Spec:
    return analysed(Package(ROOT))


@cache
def passed() -> Passed:
    return Passed(the_spec(), ROOT)


def listed(names: Iterable[str]) -> set[str]:
    """The mutants of some entries that are listed as meaning the same."""
    names = set(names)
    return {mutant for group in EQUIVALENT for mutant in group["mutants"] if mutant.partition(":")[0] in names}


def found(op: Op) -> str:
    """By what an entry is found in the table."""
    rests_on = "\n".join([passed().mark(op), *sorted(listed([op.name]))])
    return f"{op.name} {hashlib.sha256(rests_on.encode()).hexdigest()[:12]}"


@cache
def table() -> frozenset[str]:
    none = os.environ.get("KEPT") == "none" or not FILE.exists()
    return frozenset() if none else frozenset(FILE.read_text().splitlines())


def to_try(ops: Iterable[Op]) -> list[str]:
    """The names of the entries whose mutants a run tries."""
    return [op.name for op in ops if random.Random(f"{SEED} {op.name}").random() < ANEW or found(op) not in table()]


def wrong(names: Iterable[str]) -> set[str]:
    """What survives and is not listed, and what is listed and dies.

    Samples see those that are listed only with LISTED_TOO=1 in the environment, where this takes three times as long.
    """
    if not names:  # of which `survivors` makes all
        return set()
    expected = listed(names)
    known = () if os.environ.get("LISTED_TOO") else expected
    return {str(mutant) for mutant in survivors(the_spec(), ROOT, names, known=known)} ^ expected


def make() -> int:
    """Writes the table anew."""
    ops = list(the_spec().ops.values())
    bad = sorted(wrong(to_try(ops)))
    entries = {mutant.partition(":")[0] for mutant in bad}
    FILE.write_text("".join(f"{found(op)}\n" for op in ops if op.name not in entries))
    print(*bad, sep="\n")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(make())
