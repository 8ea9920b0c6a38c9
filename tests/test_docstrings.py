"""The docstrings of the reference in the eyes of numpydoc's validator, which finds nothing that a reader needs."""

import importlib
import sys
import warnings
from enum import Enum
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs/site"))

import pages  # noqa: E402

validator = pytest.importorskip("numpydoc.validate")

# What a reader needs; other checks are matters of style: a verb first, an example everywhere, a list of similar functions.
CHECKS = {
    "GL06": "an unknown section", "GL07": "sections in another order", "GL08": "no docstring", "PR01": "parameters that are not documented",
    "PR02": "parameters that are not there", "PR03": "parameters in another order", "PR10": "no space before the colon of a parameter",
    "RT01": "no section of results", "SS03": "a summary without a full stop", "SS06": "a summary of several lines",
}  # fmt: skip
THEIRS = ("gradspec.finfo", "gradspec.iinfo")  # NumPy's own classes


def shown():
    """The path of each function and class of the reference, without SciPy's that are only handed on, and without enumerations,
    which nobody calls."""
    for module, name in pages.described().values():
        path = ".".join(filter(None, ("gradspec", module, name)))
        value = getattr(importlib.import_module(path.rpartition(".")[0]), name)
        enumeration = isinstance(value, type) and issubclass(value, Enum)
        if getattr(value, "kind", None) not in ("value", "refused", "tool") and path not in THEIRS and not enumeration:
            yield path


@pytest.mark.slow
def test_docstrings_have_each_section():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [(path, code, words) for path in shown() for code, words in validator.validate(path)["errors"] if code in CHECKS]
    assert found == [], "write the section that is missing, as numpydoc wants it"


@pytest.mark.filterwarnings("ignore:Unknown section")
def test_the_validator_sees_what_is_missing():
    """The test of the test."""

    def function(x, y):
        """Add
        numbers.

        Results
        -------
        z : float
        """
        return x + y

    codes = {code for code, _ in validator.validate(validator.get_doc_object(function))["errors"]}
    assert {"PR01", "RT01", "SS06"} <= codes
