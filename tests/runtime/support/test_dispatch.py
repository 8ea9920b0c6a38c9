"""Operators by name: what enters itself is there, and a name that is none says what to look at."""

import pytest

from gradspec.support import dispatch


def test_a_name_that_is_no_operators():
    with pytest.raises(AttributeError, match="no operator named 'expp'; is it in derivatives.yaml, and gradspec fully imported"):
        dispatch.ops.expp  # noqa: B018
    assert not hasattr(dispatch.ops, "__wrapped__")


def test_operators_of_a_package_stand_apart(monkeypatch):
    """Formulas of the library see none of them but under a dotted name, which no formula has."""
    monkeypatch.setattr(dispatch, "ops", dispatch.Operators())
    monkeypatch.setattr(dispatch, "_OF_PACKAGES", {})
    dispatch.register({"own": 1})
    dispatch.register({"theirs": 2}, "package")
    dispatch.register({"more": 3}, "package")
    assert vars(dispatch.ops) == {"own": 1, "package.theirs": 2, "package.more": 3}
    assert vars(dispatch.operators_of("package")) == {"theirs": 2, "more": 3}
    assert vars(dispatch.operators_of("another")) == {}
