"""The analysed spec, read when the first test wants it.  Knows nothing of tests."""

from functools import cache
from pathlib import Path

from gradspec.codegen.package import Package
from gradspec.codegen.rules.analyze import analyze
from gradspec.codegen.spec.reader import read

PACKAGE = Package(Path(__file__).parents[2])


@cache
def the_spec():
    return analyze(read(PACKAGE.path(PACKAGE.spec)), PACKAGE)
