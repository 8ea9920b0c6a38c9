"""The docstrings of the reference in the eyes of numpydoc's validator: few findings in each room, and fewer with time."""

import importlib
import sys
import warnings
from collections import Counter
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
# Findings by room, which may only fall.
BOUNDS = {
    "autograd": {"PR01": 8, "PR03": 1},
    "func": {"PR01": 1, "PR02": 1, "PR03": 6},
    "distributions": {"PR01": 14, "PR02": 1, "RT01": 1},
    "distributed": {"PR01": 1},
    "profiler": {"PR01": 2},
    "tree_util": {"PR02": 1, "RT01": 1},
    "debug": {"PR03": 2},
    "lax": {"PR01": 21, "RT01": 21},
    "test_util": {"RT01": 1},
    "": {"PR01": 11, "RT01": 2, "SS06": 1},
}
THEIRS = ("gradspec.finfo", "gradspec.iinfo")  # NumPy's own classes


def shown():
    """The path of each function and class of the reference, without SciPy's that are only handed on."""
    for module, name in pages.described().values():
        path = ".".join(filter(None, ("gradspec", module, name)))
        value = getattr(importlib.import_module(path.rpartition(".")[0]), name)
        if getattr(value, "kind", None) not in ("value", "refused", "tool") and path not in THEIRS:
            yield module.partition(".")[0], path


@pytest.mark.slow
def test_docstrings_have_few_findings_and_fewer_with_time():
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for room, path in shown():
            for code, words in validator.validate(path)["errors"]:
                if code in CHECKS:
                    found.setdefault(room, []).append((code, path, words))
    counts = {room: dict(sorted(Counter(code for code, *_ in rows).items())) for room, rows in found.items()}
    more = [row for room, rows in found.items() for row in rows if counts[room][row[0]] > BOUNDS.get(room, {}).get(row[0], 0)]
    assert more == [], "write the section that is missing, as numpydoc wants it"
    assert counts == BOUNDS, f"fewer than before: {counts}"


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
