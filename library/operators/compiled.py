"""Operators that another package has compiled: register them with the rest of the library.

Enters their facts for batching, Taylor series, traces and replays, which find the library's own operators in the tables of
`gradspec.generated`.  The functions themselves are generated from the library's own templates.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from ..compiler.tracing.entries import enter
from ..generated.op_info import OpInfo
from ..generated.series import SERIES
from ..transforms.batching.rules import Record
from ..transforms.batching.vmap_levels import RECORDS
from .facts import Facts, Required


def compiled(facts: Facts, made: ModuleType) -> Callable[..., Any]:
    """Register an operator with a compiled wrapper, and return its function.

    Parameters
    ----------
    facts : Facts
    made : module
        The compiled module.

    Returns
    -------
    callable
        With the attribute `facts`, and `in_place` if the operator has that form.

    Raises
    ------
    ImportError
        The compiled module is older than the entry.
    """
    if not hasattr(made, facts.name):
        way = "build its package again: python -m pip install -e . --no-build-isolation"
        raise ImportError(f"{facts.key} is not compiled yet; {way}", name=made.__name__)
    RECORDS[facts.key] = Record(facts.key, *facts.batch)
    SERIES[facts.key] = facts.series
    arguments = tuple([(a.name, a.type, None if isinstance(a.default, Required) else repr(a.default), a.keyword_only)
                       for a in facts.arguments])  # fmt: skip
    package, _, family = made.__name__.replace(".variable_type.", ":").partition(":")
    enter(OpInfo(facts.key, family, facts.signature, facts.form, facts.dtype, domain=facts.domain, variants=facts.variants,
                 arguments=arguments, outputs=facts.visible, linear=facts.linear, program=facts.program, package=package,
                 inputs=facts.arrays if facts.form != "nondifferentiable" else ()))  # fmt: skip
    function = getattr(made, facts.name)
    function.__module__, function.__doc__, function.facts = facts.module, facts.doc, facts
    if "inplace" in facts.variants:
        function.in_place = write = getattr(made, f"{facts.name}_")
        write.__module__ = facts.module
        write.__doc__ = f"{facts.name}, written into its first argument.\n\nReturns\n-------\nTensor\n    The first argument."
    return function
