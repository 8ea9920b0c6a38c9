"""What the whole suite has in common: tests of chosen entries, the order of the files, and the list of what may be skipped.

Owns `pytest --op NAME`, which test runs before which, how many threads BLAS may use, where bytecode is kept, and tests/skips.toml: a test that is skipped for
another reason, or more often than that list says, is a failure on CI, and printed everywhere.
"""

from __future__ import annotations

import gc
import math
import os
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parent
if sys.dont_write_bytecode:
    # Where Python keeps no bytecode, each process of a run compiles the library again, and pytest rewrites all tests in each of its
    # workers: it is kept in a folder of its own.
    sys.dont_write_bytecode, sys.pycache_prefix = False, str(TESTS.parent / "build" / "bytecode")
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ.setdefault("GRADSPEC_PASSES", "check")  # an illegal program is an error with the name of the pass that made it
# CPython reads the .pth files of a virtual environment twice.  Of two finders of one editable install each asks ninja again after
# every import that fails.
for twin in [finder for i, finder in enumerate(sys.meta_path) if repr(finder) in map(repr, sys.meta_path[:i])]:
    sys.meta_path.remove(twin)
# Workers share the processors: two that each let BLAS use both wait for one another, at up to twice the time of an example.
WORKERS = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
if WORKERS > 1:
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    for variable in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, str(max(1, (os.cpu_count() or 1) // WORKERS)))
from tests import agreeing, day  # noqa: E402  imports NumPy, which reads the number of threads

agreeing.install()
OPS = TESTS / "ops"
# What finds most in least time runs first, and what takes longest before what is short; everything else follows by name.
FIRST = ("test_generated", "test_layers", "test_gradients", "test_stated", "test_hard_", "test_forms", "test_dtypes", "test_batches", "test_arrays", "test_writes",
         "test_mutate", "test_fuzz", "test_shapes", "test_traces", "test_contributing", "test_install", "test_instructions")  # fmt: skip
QUICK = ("core", "saved", "engine", "methods", "support", "transforms")  # rooms of tests/runtime
skipped: Counter[str] = Counter()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="run everything: every sample of an operator and every slow test, not the day's tenth")
    parser.addoption("--op", action="append", default=[], metavar="NAME", help="run what tests/ops asks of this operator; may be given again")


def pytest_configure(config: pytest.Config) -> None:
    day.every = day.every or config.getoption("--all") or bool(config.getoption("--op"))


def names_tests(config: pytest.Config) -> bool:
    """Whether the command line names folders, tests or marks: then it gets them on any day."""
    asked = getattr(config, "workerinput", {}).get("names_tests")  # a worker knows the paths only
    return config.args_source is pytest.Config.ArgsSource.ARGS or bool(config.option.keyword or config.option.markexpr) if asked is None else asked


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput["names_tests"] = names_tests(node.config)


def pytest_report_header() -> str:
    return "everything is run" if day.every else f"a tenth of the samples of operators and of the slow tests, those of DAY={day.DAY}; --all runs all"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Chosen entries are asked about in one folder only."""
    inside = collection_path == OPS or OPS in collection_path.parents or collection_path in OPS.parents
    return True if config.getoption("--op") and not inside else None


def is_quick(item: pytest.Item) -> bool:
    """Whether a test is about the core: two minutes for all of them together."""
    return item.path.parent.name in QUICK and "slow" not in item.keywords


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    def rank(item: pytest.Item) -> int:
        return next((i for i, start in enumerate(FIRST) if item.path.stem.startswith(start)), len(FIRST))

    items.sort(key=rank)
    other_days = [] if names_tests(config) else [item for item in items if "slow" in item.keywords and not day.is_today(item.nodeid)]
    if other_days:
        config.hook.pytest_deselected(items=other_days)
        items[:] = [item for item in items if item not in set(other_days)]
    for item in filter(is_quick, items):
        item.add_marker("quick")


@pytest.fixture(autouse=True, scope="session")
def caches_are_not_the_users(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Builds of `backend="c"`, which may end after their test, go to a temporary folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(autouse=True, scope="module")
def nothing_of_earlier_modules_is_collected() -> Iterator[None]:
    """A collection looks at what came since: with all that the other modules keep it takes a second, and tests collect often."""
    gc.collect()
    gc.freeze()
    yield
    assert gc.isenabled(), "something in this module has left Python's collector turned off"


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.skipped and not hasattr(report, "wasxfail"):
        skipped[reason_of(report)] += 1
    if report.when == "call":
        skipped.update(value for name, value in report.user_properties if name == "left out")


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.skipped:
        skipped[reason_of(report)] += 1


def reason_of(report: pytest.TestReport | pytest.CollectReport) -> str:
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return reason.removeprefix("Skipped: ")


def allowed(ci: bool = bool(os.environ.get("CI"))) -> dict[str, float]:
    """Reason, as a regular expression -> how many tests or samples may be skipped for it; off CI any number for want of something."""
    tables = tomllib.loads((TESTS / "skips.toml").read_text())
    return tables["skips"] | (tables["not_here"] if ci else dict.fromkeys(tables["not_here"], math.inf))


def judged(found: Counter[str], listed: Mapping[str, float]) -> tuple[list[str], list[str]]:
    """Lines that say how many were skipped for which reason, and those of them that the list does not allow."""
    counts: Counter[str] = Counter()
    for reason, count in found.items():
        counts[next((pattern for pattern in listed if re.fullmatch(pattern, reason, re.DOTALL)), reason)] += count
    most = {reason: listed.get(reason, 0) for reason in counts}
    lines = [f"{count:5} {'' if most[reason] == math.inf else f'of at most {most[reason]:4}':15}  {reason}" for reason, count in sorted(counts.items())]
    return lines, [line for line, (reason, count) in zip(lines, sorted(counts.items())) if count > most[reason]]


def pytest_sessionfinish(session: pytest.Session) -> None:
    if os.environ.get("CI") and not hasattr(session.config, "workerinput") and judged(skipped, allowed())[1] and session.exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    lines, refused = judged(skipped, allowed())
    if lines:
        terminalreporter.section("skipped or left out, and how often tests/skips.toml allows it")
    for line in lines:
        terminalreporter.write_line(f"{line}  NOT ALLOWED" if line in refused else line, red=line in refused)
