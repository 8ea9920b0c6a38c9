"""`python -m tests.mutants MODULE...`: does a test see it when a line of ours is changed?

A module is a file or a folder of `runtime/`, `library/` or `codegen/`; `runtime/saved/view.pyx:130` is one line of it.  Each mutant is one
change, and is put before the tests of its module: those named after it, `--tests` adds others; a kernel's also before what
`tests/ops` asks of the operators that run it.  What survives wants a test, or a place in `equivalent.yaml` with the reason why it
means the same.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import warnings
from collections import Counter
from pathlib import Path

import yaml

from .changes import Mutant, mutants
from .operators_of import KERNELS, operators_of
from .tests_of import tests_of
from .trial import ROOT, Trial, Verdict

EQUIVALENT = Path(__file__).parent / "equivalent.yaml"
_WORDS = ("killed", "timed out", "survived", "equivalent", "refused", "untested")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description="Change a line, run the tests of its module.")
    parser.add_argument("modules", nargs="+", metavar="MODULE", help="a file or folder of runtime/, library/ or codegen/, or file:line")
    parser.add_argument("--count", type=int, default=20, help="mutants of a module, 0 for all (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="which ones (default: %(default)s)")
    parser.add_argument("--tests", action="append", default=[], help="run these tests too")
    parser.add_argument("--list", action="store_true", help="print the mutants and run nothing")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # which leaves no tests running and no folder behind
    counts: dict[str, Counter[str]] = {}
    for module in options.modules:
        for path, line in files_of(module):
            chosen = choose(path, line, options.count, options.seed)
            if options.list:
                print(*chosen, sep="\n")
                continue
            counts.setdefault(path.parent.relative_to(ROOT).as_posix(), Counter()).update(try_all(path, chosen, options.tests))
    if counts:
        summarise(counts)
    return int(any(count["survived"] or count["untested"] for count in counts.values()))


def files_of(module: str) -> list[tuple[Path, int]]:
    """The sources that an argument names, each with a line or 0."""
    name, _, line = module.partition(":")
    path = (ROOT / name).resolve()
    found = [path] if path.is_file() else sorted(p for p in path.rglob("*.py*") if p.suffix in (".py", ".pyx"))
    if not found:
        raise SystemExit(f"{module}: no such module")
    return [(file, int(line or 0)) for file in found]


def choose(path: Path, line: int, count: int, seed: int) -> list[Mutant]:
    """As many mutants as wanted, from different lines as far as there are enough; the same ones for the same seed and source."""
    text = path.read_text()
    by_line: dict[int, list[Mutant]] = {}
    for mutant in mutants(path.relative_to(ROOT).as_posix(), text):
        if line in (0, mutant.line):
            by_line.setdefault(mutant.line, []).append(mutant)
    dice, chosen = random.Random(seed), []
    for group in by_line.values():
        dice.shuffle(group)
    rounds = list(by_line.values())
    while rounds and (len(chosen) < count or not count):
        dice.shuffle(rounds)
        for group in rounds:
            mutant = group.pop()
            if path.suffix == ".pyx" or _compiles(mutant.of(text)):
                chosen.append(mutant)
        rounds = [group for group in rounds if group]
    return sorted(chosen[: count or None], key=lambda mutant: mutant.change.start)


def _compiles(text: str) -> bool:
    try:
        with warnings.catch_warnings(action="ignore"):
            compile(text, "mutant", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


def try_all(path: Path, chosen: list[Mutant], tests: list[str]) -> Counter[str]:
    """Put the mutants of one module before its tests, and print each verdict."""
    found, name = [*tests_of(path), *tests], path.relative_to(ROOT).as_posix()
    count: Counter[str] = Counter()
    if not chosen:
        return count
    kernel = KERNELS in path.parents
    if not found and not kernel:
        print(f"{name}: no tests", flush=True)
        return Counter(untested=len(chosen))
    later = [test for test in found if kernel and test.startswith("tests/ops/")]  # of every operator, so after those of its own
    trial, text, reasons = Trial(path, [test for test in found if test not in later], later), path.read_text(), equivalents(name)
    begun = trial.begin()
    if begun.word != "survived":
        print(f"{name}: without a mutant its tests fail: {begun}", flush=True)
        return Counter(untested=len(chosen))
    print(f"{name}: {len(chosen)} mutants, {' '.join(found)} in {trial.seconds:.0f} s", flush=True)
    for number, mutant in enumerate(chosen, 1):
        operators = operators_of(_subject(mutant)) if kernel else []
        verdict = Verdict("equivalent", reasons[mutant.name]) if mutant.name in reasons else trial.of(mutant.of(text), operators)
        count[verdict.word] += 1
        print(f"[{number:{len(str(len(chosen)))}}/{len(chosen)}] {mutant}: {verdict}", flush=True)
    known = {mutant.name for mutant in mutants(name, text)}
    for listed in reasons.keys() - known:
        print(f"{name}: {EQUIVALENT.name} lists what is no mutant any more: {listed}", file=sys.stderr)
    return count


def _subject(mutant: Mutant) -> str:
    """The function of a mutant, or the name that a line outside of functions assigns."""
    inside = mutant.inside.partition(".")[0]
    return inside if inside != "module" else mutant.before.partition("=")[0].split()[-1]


def equivalents(name: str) -> dict[str, str]:
    """The mutants of a module that mean the same as their source, with the reasons."""
    groups = yaml.safe_load(EQUIVALENT.read_text()).get(name, [])
    return {mutant: group["reason"] for group in groups for mutant in group["mutants"]}


def summarise(counts: dict[str, Counter[str]]) -> None:
    width = max(map(len, counts))
    print(f"\n{'folder':{width}}", *(f"{word:>10}" for word in _WORDS))
    for folder, count in counts.items():
        print(f"{folder:{width}}", *(f"{count[word]:10}" for word in _WORDS))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
