"""Mutates the text of the spec and watches what becomes of it: a list of refusals with places, or acceptance.

`python -m tests.codegen.fuzz 10000` runs ten thousand mutants and prints what is to be mended; `--seed`, `--first` and
`--show` repeat one of them.  Most mutants are of a few entries cut out of derivatives.yaml with what they call, some are
of the whole spec.  Files of further samples follow in the same text, each below a line `=== samples/FAMILY.yaml`.
"""

from __future__ import annotations

import argparse
import random
import re
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import ModuleType

from codegen.errors import ErrorList, SpecErrors
from codegen.package import Package
from codegen.rules.analyze import analyze
from codegen.spec.cache_format import uncollected
from codegen.spec.library import Library, read_library
from codegen.spec.limits import memory
from codegen.spec.model import Spec
from codegen.spec.reader import FOLDER, read_text
from codegen.spec_cache import analysed
from codegen.verify.check import check_op, quiet
from codegen.verify.evaluate import Evaluator
from codegen.write.files import render

ROOT = Path(__file__).parents[2]
SECONDS = 1.0  # of processor time that reading a mutant may take beyond the text that it was made of, and the check of an entry
_FILE = re.compile(rf"^=== ({FOLDER}/\w+\.yaml)\n", re.MULTILINE)
PER_CUT = 100  # mutants of one cut
WHOLE = 500  # of so many mutants one is of the whole file
WORDS = (
    "x y grad x_t np. kernels. Array Index Mask Scalar int[] int[2] ? * ** / // % @ + - == < <= != ( ) [ ] { } , : ; -> = . .. "
    "... # ' \" \\ | > & ! %TAG --- ... - ? _ __ None True f( x( x() slice(None) Ellipsis inf nan 1e999 1j -1 0 0.5 if else and or "
    "not in is lambda: for yield await *x **x x.shape x.ndim x.dtype x.T x[0] x[::-1] x[::10**18] grad_y where( sum( reshape( "
    "else: else:x x: {n} {axes} ranks 1..3 op doc args ref unlike factor cast pair alias numpy namespace operator variants view domain dtype shape forward inplace placed composite let dy/dx linear "
    "multilinear nondifferentiable vjp jvp samples family about defaults ops presets true false any float real int bool "
    "broadcast(x) reduce(x) (..., n) (_, 1) y, z float[] str='a' class self out state \t \u00e9 \u03c0 \ufeff \x00 \x85 \u2028 \r \r\n"
).split(" ")
NUMBERS = ("0", "-1", "2**63", "2**64", "10**9", "10**18", "10 ** 10 ** 10 ** 10", "9" * 30, "9" * 5000, "1e400", "0x1F", "1_0",
           "0.1.2", "1j", "999999", "-999999")  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    number: int
    base: str
    text: str
    edits: tuple[str, ...]  # names of the mutations, in the order in which they were made


@dataclass(frozen=True)
class Outcome:
    accepted: bool
    failure: str = ""  # empty where all is well
    trace: str = ""
    seconds: float = 0.0


class TimeIsUp(BaseException):
    """Raised into whatever a mutant keeps busy; no `except Exception` holds it."""


# What is mutated.


@cache
def whole() -> str:
    files = [ROOT / "derivatives.yaml", *sorted((ROOT / FOLDER).glob("*.yaml"))]
    texts = [path.read_text(encoding="utf-8") for path in files]
    return texts[0] + "".join(f"=== {FOLDER}/{path.name}\n{text}" for path, text in zip(files[1:], texts[1:]))


def files_of(text: str) -> tuple[str, dict[str, str]]:
    """The spec in a text, and its files of further samples."""
    spec, *rest = _FILE.split(text)
    return spec, dict(zip(rest[::2], rest[1::2]))


@cache
def _library() -> Library:
    return read_library(ROOT)


@cache
def _parts() -> tuple[str, dict[str, str], dict[str, tuple[str, str]], dict[str, str]]:
    """(presets, family -> its head, op -> (family, entry), operator -> op)."""
    head, *families = re.split(r"^---\n(?=family:)", files_of(whole())[0], flags=re.MULTILINE)
    heads, entries, operators = {}, {}, {}
    for family in families:
        name = re.match(r"family: (\w+)", family)[1]
        heads[name], *texts = re.split(r"^(?=- op: )", family, flags=re.MULTILINE)
        for text in texts:
            op = _names(text)[0]
            entries[op] = (name, text.rstrip("\n") + "\n\n")
            if found := re.search(r"^  operator: (\w+)", text, flags=re.MULTILINE):
                operators[found[1]] = op
    return head, heads, entries, operators


@cache
def _further() -> dict[str, tuple[str, str]]:
    """op -> (file, its further samples)."""
    return {op: (file, text) for file, source in files_of(whole())[1].items() for op, text in _by_operator(source).items()}


def _by_operator(source: str) -> dict[str, str]:
    _, *texts = re.split(r"^(?=\w+:)", source, flags=re.MULTILINE)
    return {text.partition(":")[0]: text for text in texts}


def _names(entry: str) -> list[str]:
    """The operators of an entry, one for each of its ranks."""
    name = re.match(r"- op: ([\w{}]+)", entry)[1]
    ranks = re.search(r"^  ranks: (\d)\.\.(\d)", entry, flags=re.MULTILINE)
    return [name.replace("{n}", str(n)) for n in range(int(ranks[1]), int(ranks[2]) + 1)] if ranks else [name]


_SYMBOLS = {"+": "__add__", "*": "__mul__", "/": "__truediv__", "**": "__pow__", "@": "__matmul__", "<": "__lt__",
            "<=": "__le__", "==": "__eq__", "!=": "__ne__", ">": "__gt__", ">=": "__ge__", "&": "__and__", "|": "__or__", "^": "__xor__"}  # fmt: skip


def cut(seed: int, roots: int = 3) -> str:
    """A few entries of derivatives.yaml with all that they call, in the order of the file."""
    head, heads, entries, operators = _parts()
    spellings = {alias: op for op, (_, text) in entries.items() for alias in [*_aliases(text), *_names(text)]}
    pending, kept = random.Random(seed).sample(sorted(entries), roots), set()
    users: dict[str, list[str]] = {}
    while pending:
        op = pending.pop()
        if op in kept:
            continue
        kept.add(op)
        rules = re.sub(r"^  (doc|args|ref|samples|domain|shape):.*\n(    .*\n|  - .*\n)*", "", entries[op][1], flags=re.MULTILINE)
        called = {spellings[word] for word in re.findall(r"(?<![.\w])(\w+)\(", rules.partition("\n")[2]) if word in spellings}
        for name in sorted(called - {op}):
            users.setdefault(name, []).append(op)
        pending += sorted(called)
        pending += [operators[method] for sign, method in _SYMBOLS.items() if f" {sign} " in rules and method in operators]
        pending += [operators[method] for sign, method in [("-", "__sub__"), ("-", "__neg__")] if sign in rules]
        pending += [operators["__getitem__"]] if re.search(r"\w\[", rules) else []
        pending += ["conj", "zeros_like"]  # what rules are made with
    texts, order = [head], []
    for family, start in heads.items():
        arranged = _arranged([op for op in entries if entries[op][0] == family and op in kept], users)
        ops = [entries[op][1] for op in arranged]
        texts += ["---\n", _described(start, ops), *ops] if ops else []
        order += arranged
    further: dict[str, list[str]] = {}
    names = [name for op in order for name in _names(entries[op][1])]
    for op in (name for name in names if name in _further()):
        file, text = _further()[op]
        further.setdefault(file, []).append(text)
    return "".join([*texts, *(f"=== {file}\n{''.join(parts)}" for file, parts in further.items())])


def _arranged(ops: list[str], users: dict[str, list[str]]) -> list[str]:
    """Names in order, with each private one that only one of them calls below that one: a cut may leave it one caller, or none."""
    owner_of = {op: users[op][0] for op in ops if op.startswith("_") and len(users.get(op, [])) == 1 and users[op][0] in ops}

    def below(op: str) -> list[str]:
        return [op, *(name for other in ops if owner_of.get(other) == op for name in below(other))]

    leaders = sorted((op for op in ops if op not in owner_of), key=lambda op: op.lstrip("_"))
    return [name for op in leaders for name in below(op)]


def _described(start: str, entries: list[str]) -> str:
    """The beginning of a family with those lines of `args:` that an entry has an argument for."""
    arguments = {word for entry in entries for word in re.findall(r"\w+", entry.partition("->")[0])}
    start = re.sub(r"^    (\w+): .*\n", lambda found: found[0] if found[1] in arguments else "", start, flags=re.MULTILINE)
    start = re.sub(r"^  args:\n(?!    )", "", start, flags=re.MULTILINE)
    return re.sub(r"^defaults:\n(?!  )", "", start, flags=re.MULTILINE)


def _aliases(entry: str) -> list[str]:
    found = re.search(r"^  alias: \[?([^\]\n]*)", entry, flags=re.MULTILINE)
    return [name.strip() for name in found[1].split(",")] if found else []


# How it is mutated: each takes a text and gives another.


def _place(text: str, r: random.Random) -> int:
    """Any place; one in an entry as a rule, for the presets are the smaller part of what there is to break."""
    start = text.find("\nfamily:") if r.random() < 0.9 else 0
    return r.randrange(max(start, 0), len(text) + 1)


def _delete(text: str, r: random.Random) -> str:
    i = _place(text, r)
    return text[:i] + text[i + r.choice([1, 1, 1, 2, 5, 30]) :]


def _duplicate(text: str, r: random.Random) -> str:
    i, n = _place(text, r), r.choice([1, 1, 3, 20])
    return text[: i + n] + text[i : i + n] * r.choice([1, 1, 3, 300]) + text[i + n :]


def _swap(text: str, r: random.Random) -> str:
    i = min(_place(text, r), len(text) - 2)
    return text[:i] + text[i + 1] + text[i] + text[i + 2 :]


def _insert(text: str, r: random.Random) -> str:
    i = _place(text, r)
    return text[:i] + r.choice("()[]{}<>'\"\\|&!%@#*+-/=.,:;?~`^$ \n\tabgxy0159_\x00\x7f\x85\u00e9\u2028\ufeff\U0001f600") + text[i:]


def _word(text: str, r: random.Random) -> str:
    i = _place(text, r)
    return text[:i] + r.choice(["", " "]) + r.choice(WORDS) + r.choice(["", " "]) + text[i:]


def _replace_word(text: str, r: random.Random) -> str:
    return _substitute(text, r, r"\w+", lambda _: r.choice([*WORDS, *re.findall(r"\w+", text)]))


def _number(text: str, r: random.Random) -> str:
    return _substitute(text, r, r"(?<![\w.])\d+(\.\d+)?", lambda _: r.choice(NUMBERS))


def _bracket(text: str, r: random.Random) -> str:
    return _substitute(text, r, r"[\[\](){}]", lambda _: r.choice(["", "(", ")", "[", "]", "((", "))", "{", "}", "(" * 300]))


def _operator(text: str, r: random.Random) -> str:
    signs = "+ - * / ** @ // % < <= == != and or in is not , . : = ->".split()
    return _substitute(text, r, r" (\+|-|\*|/|\*\*|@|==|<|>|->) ", lambda _: f" {r.choice(signs)} ")


def _key(text: str, r: random.Random) -> str:
    keys = re.findall(r"^ *(?:- )?([\w/][^:#\n]*):", text, flags=re.MULTILINE)
    return _substitute(text, r, r"^( *(?:- )?)[\w/][^:#\n]*(?=:)", lambda m: m[1] + r.choice(keys), re.MULTILINE)


def _value(text: str, r: random.Random) -> str:
    """The value of one key under another: formulas exchanged between entries, and much else."""
    values = re.findall(r"^ *(?:- )?[\w/]+: (.+)$", text, flags=re.MULTILINE)
    return _substitute(text, r, r"^( *(?:- )?[\w/]+: ).+$", lambda m: m[1] + r.choice(values), re.MULTILINE)


def _same_key(text: str, r: random.Random) -> str:
    """The formula of an entry in the place of another's under the same key."""
    def other(match: re.Match[str]) -> str:
        return match[1] + r.choice(re.findall(rf"^{re.escape(match[1])}(.+)$", text, flags=re.MULTILINE))

    return _substitute(text, r, r"^( *(?:- )?[\w/]+: ).+$", other, re.MULTILINE)


def _sample(text: str, r: random.Random) -> str:
    calls = re.findall(r"^  - (f\(.*\))$", text, flags=re.MULTILINE)
    return _substitute(text, r, r"(?<=^  - )f\(.*\)$", lambda _: r.choice(calls), re.MULTILINE) if calls else text


def _line(text: str, r: random.Random) -> str:
    lines = text.split("\n")
    i = text.count("\n", 0, _place(text, r))
    j = min(i + r.choice([1, 1, 2, 5]), len(lines))
    match r.randrange(5):
        case 0:
            del lines[i:j]
        case 1:
            lines[i:i] = lines[i:j]
        case 2:
            k = r.randrange(len(lines))
            lines[i], lines[k] = lines[k], lines[i]
        case 3:
            lines[i] = " " * r.randrange(9) + lines[i].lstrip()
        case 4:
            lines[i : i + 2] = [" ".join(lines[i : i + 2])]
    return "\n".join(lines)


def _splice(text: str, r: random.Random) -> str:
    """The beginning of an entry with the end of another."""
    starts = [m.start() for m in re.finditer(r"^- op: ", text, flags=re.MULTILINE)]
    if len(starts) < 2:
        return text
    one, two = r.sample(starts, 2)
    i, j = (text.find("\n", start + r.randrange(150)) + 1 for start in (one, two))
    return text[:i] + text[j:] if r.random() < 0.5 else text[:i] + text[j : j + r.randrange(400)] + text[i:]


def _document(text: str, r: random.Random) -> str:
    i = text.rfind("\n", 0, _place(text, r)) + 1
    return text[:i] + r.choice(["---\n", "...\n", "%YAML 1.1\n", "---\n---\n", "- \n", "? \n", "# \n", "&a\n", "<<: *a\n"]) + text[i:]


def _substitute(text: str, r: random.Random, pattern: str, new: Callable[[re.Match[str]], str], flags: int = 0) -> str:
    found = list(re.finditer(pattern, text, flags))
    if not found:
        return text
    place = _place(text, r)
    match = next((m for m in found if m.start() >= place), found[-1])
    return text[: match.start()] + new(match) + text[match.end() :]


MUTATIONS = (_delete, _duplicate, _swap, _insert, _word, _replace_word, _number, _bracket, _operator, _key, _value, _same_key,
             _sample, _line, _splice, _document)  # fmt: skip


def mutants(count: int, seed: int = 0, first: int = 0) -> Iterator[Mutant]:
    """Mutants by number; the same number and seed give the same one."""
    for number in range(first, first + count):
        r = random.Random(f"{seed} {number}")
        base = whole() if number % WHOLE == WHOLE - 1 else _cut_of(seed, number // PER_CUT)
        edits = tuple(r.choice(MUTATIONS) for _ in range(r.choice([1, 1, 1, 2, 4])))
        text = base
        for edit in edits:
            text = edit(text, r)
        yield Mutant(number, base, text, tuple(edit.__name__.strip("_") for edit in edits))


@cache
def _cut_of(seed: int, number: int) -> str:
    return cut(1000 * seed + number)


# What becomes of it.


def run(text: str, entries: dict[str, str], seconds: float, write: bool = False) -> Outcome:
    """Reads, analyses and checks a text; of the numeric check only the ops whose entry is not in `entries`.

    Reading and analysing may take so many seconds of processor time, each entry that is checked `SECONDS`.  With `write`, what is
    accepted is also made into code, which has no limit.
    """
    _kernels()  # which take their time once
    start = time.process_time()
    try:
        with warnings.catch_warnings(), memory(2**29), uncollected():
            warnings.simplefilter("error")
            with _limit(seconds):
                spec = analysed_text(text)
                texts = _entries(text)
                changed = {op for op in spec.ops if entries.get(op) != texts.get(op)}
            with _limit(SECONDS * (1 + len(changed))):
                _check(spec, changed)
            if write:
                render(spec, ROOT)
        failure, trace, accepted = "", "", True
    except SpecErrors as errors:
        failure, trace, accepted = _wrong_message(errors, text), str(errors), False
    except TimeIsUp:
        frames = [f for f in traceback.extract_tb(sys.exc_info()[2]) if "fuzz.py" not in f.filename]
        failure, trace, accepted = f"takes too long: {_where(frames)}", traceback.format_exc(), False
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        failure, trace, accepted = f"{type(error).__name__}: {_where(frames)}", traceback.format_exc(), False
    return Outcome(accepted, failure, trace, time.process_time() - start)


def analysed_text(text: str) -> Spec:
    source, further = files_of(text)
    return analyze(read_text(source, further=further), ROOT, _library_for(text))


def _check(spec: Spec, names: set[str]) -> None:
    """The numeric check of some ops."""
    errors = ErrorList(spec.file, spec.source, spec.further)
    evaluator = Evaluator(spec, ROOT, _kernels())
    with quiet():
        for name, op in spec.ops.items():
            if name in names and not evaluator.deferred(op):
                check_op(op, evaluator, errors)
    errors.raise_if_any()


@cache
def _kernels() -> ModuleType:
    """The kernels of the package, which no mutant changes, once for all of them."""
    return Evaluator(analysed(Package(ROOT)), ROOT).kernels


_ticking = False


@contextmanager
def _limit(seconds: float) -> Iterator[None]:
    """Raises TimeIsUp inside after so much processor time.

    The handler stays: a signal that is late, with nobody to take it, would end the process.
    """
    global _ticking
    signal.signal(signal.SIGPROF, _time_is_up)
    _ticking = True
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        _ticking = False
        signal.setitimer(signal.ITIMER_PROF, 0)


def _time_is_up(*_: object) -> None:
    global _ticking
    if _ticking:
        _ticking = False
        raise TimeIsUp


def _where(frames: list[traceback.FrameSummary]) -> str:
    """The innermost frame of the generator, by which failures are told apart."""
    own = [f for f in frames if "/codegen/" in f.filename and "/tests/" not in f.filename]
    return f"{Path(own[-1].filename).name}:{own[-1].lineno} {own[-1].name}" if own else "outside"


def _wrong_message(errors: SpecErrors, text: str) -> str:
    source, further = files_of(text)
    lines = {name: part.count("\n") + 1 for name, part in [("derivatives.yaml", source), *further.items()]}
    for error in errors.errors:
        there = error.file in _library().formulas or 1 <= error.line <= lines.get(error.file, 0)
        if not (error.file and there and error.column >= 1 and error.message.strip()):
            return f"no place: {error.file}:{error.line}:{error.column} {error.message[:60]}"
    try:
        str(errors).encode()
    except UnicodeEncodeError:
        return "a message that cannot be printed"
    return "" if errors.errors else "a refusal without a message"


def _library_for(text: str) -> Library:
    """The helpers that the text calls: a cut need not call all of them."""
    library = _library()
    called = library.helpers.keys() & set(re.findall(r"(\w+)\(", text))
    return replace(library, helpers={name: helper for name, helper in library.helpers.items() if name in called})


def _entries(text: str) -> dict[str, str]:
    """Each entry with all that stands above its family's entries, which it can depend on, and its further samples."""
    found = {}
    source, further = files_of(text)
    more = {name: part for text in further.values() for name, part in _by_operator(text).items()}
    for document in re.split(r"^---", source, flags=re.MULTILINE):
        head, *entries = re.split(r"^(?=- op: )", document, flags=re.MULTILINE)
        for entry in entries:
            for name in _names(entry) if re.match(r"- op: \w+", entry) else ():
                found[name] = head + entry.rstrip() + more.get(name, "")
    return found


@cache
def baseline(base: str) -> tuple[dict[str, str], float]:
    """The entries of a text that is right, and how long it takes to read and analyse."""
    outcome = run(base, _entries(base), 100.0)
    assert outcome.accepted, outcome.trace
    return _entries(base), outcome.seconds


def judge(mutant: Mutant, write: bool = False) -> Outcome:
    entries, seconds = baseline(mutant.base)
    return run(mutant.text, entries, seconds + SECONDS, write)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.codegen.fuzz", description=__doc__.partition("\n")[0])
    parser.add_argument("count", type=int, nargs="?", default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first mutant")
    parser.add_argument("--write", action="store_true", help="make what is accepted into code too")
    parser.add_argument("--show", action="store_true", help="print what becomes of each")
    options = parser.parse_args()
    failures: dict[str, list[Mutant]] = {}
    outcomes, edits, slowest = Counter(), Counter(), 0.0
    for mutant in mutants(options.count, options.seed, options.first):
        outcome = judge(mutant, options.write)
        outcomes["failed" if outcome.failure else "accepted" if outcome.accepted else "refused"] += 1
        edits.update(mutant.edits)
        slowest = max(slowest, 0.0 if options.write else outcome.seconds - baseline(mutant.base)[1])
        if mutant.number % 1000 == 999:
            print(f"... {mutant.number + 1}", file=sys.stderr, flush=True)
        if options.show:
            print(f"{mutant.number} ({', '.join(mutant.edits)}): {outcome.failure or outcome.accepted}\n{outcome.trace}")
        if outcome.failure:
            if outcome.failure not in failures:
                print(f"mutant {mutant.number} ({', '.join(mutant.edits)}): {outcome.failure}\n{outcome.trace}", flush=True)
            failures.setdefault(outcome.failure, []).append(mutant)
    print(f"{options.count} mutants: {dict(outcomes)}; the slowest took {slowest:.2f} s more than its base; {dict(edits)}")
    for failure, found in sorted(failures.items(), key=lambda item: -len(item[1])):
        print(f"{len(found):6} {failure}   e.g. --first {found[0].number}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
