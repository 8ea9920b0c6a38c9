"""The analysed spec, read when the first test wants it.  Knows nothing of tests."""

from functools import cache
from pathlib import Path

from gradspec.codegen.package import Package
from gradspec.codegen.spec_cache import analysed

PACKAGE = Package(Path(__file__).parents[2])


@cache
def the_spec():
    return analysed(PACKAGE)
