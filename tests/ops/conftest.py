"""Which entries these tests ask about: those of `pytest --op NAME`, or all of them."""

from __future__ import annotations

import difflib

import pytest

from gradspec.generated.op_info import OPS, OpInfo

from . import questions


def pytest_configure(config: pytest.Config) -> None:
    spellings = {spelling: op.name for op in OPS for spelling in (op.name, *op.aliases)}
    for name in config.getoption("--op"):
        if name not in spellings:
            near = difflib.get_close_matches(name, spellings)
            raise pytest.UsageError(f"--op {name}: no operator has this name" + (f"; did you mean {' or '.join(near)}?" if near else ""))
        questions.chosen.add(spellings[name])


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where entries are chosen, no test stays that names none of them."""
    if questions.chosen:
        kept = [item for item in items if is_about(item)]
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = kept


def is_about(item: pytest.Item) -> bool:
    """Whether a parameter of a test is a chosen entry, its name, or a family of it alone."""
    parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
    names = (value if isinstance(value, str) else value.name for value in parameters if isinstance(value, (str, OpInfo, questions.Family)))
    return any(name in questions.chosen for name in names)
