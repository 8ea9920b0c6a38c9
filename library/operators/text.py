"""`gs.operator`: define an operator by an entry at run time, and check it.

The generator of `gradspec.codegen` reads, analyses and checks the text, and writes the module that is executed.  The finished
operator then undergoes the same checks as the operators of packages in their tests.
"""

from __future__ import annotations

import importlib
import linecache
import sys
import textwrap
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from .defined import Operator

_COUNT = iter(range(1, 1 << 62))


class OperatorError(ValueError):
    """An entry is refused; the message shows its lines with carets, as the check does."""


def operator(text: str, kernels: Mapping[str, Callable[..., Any]] | ModuleType | None = None) -> Operator:
    """Define an operator by its entry, in the format of `derivatives.yaml`; its rules are checked here, or it is refused.

    Parameters
    ----------
    text : str
        One entry: `op: logcosh(x) -> y` and the lines below it.  A second entry may follow for an operator that the formulas of
        the first call, such as an adjoint; each then begins with `- op:`.
    kernels : mapping of str to callable, or module, optional
        The functions `kernels.name` in `forward`; they take NumPy's arrays.

    Returns
    -------
    Operator
        The operator of the first entry.  `print(op.page)`, and the last line of a notebook's cell, show the comparisons made.

    Raises
    ------
    OperatorError
        The entry is not well formed, clashes with an operator of gradspec, or its derivative is wrong.
    ImportError
        PyYAML or Jinja2 is missing: `pip install "gradspec[codegen]"`.

    Notes
    -----
    The rules are compared with differences at samples, as by `python -m gradspec.codegen check`.  Then the finished operator is
    checked for derivatives of second order, batches, Taylor series, replays, single precision, `out=` and in-place writes.

    Examples
    --------
    >>> import gradspec as gs
    >>> logcosh = gs.operator('''
    ... op: logcosh(x) -> y
    ... doc: log(cosh(x)) without overflow.
    ... dtype: real
    ... shape: x -> x
    ... forward: np.logaddexp(x, -x) - log(2)
    ... dy/dx: tanh(x)
    ... ''')
    >>> gs.grad(logcosh)(1000.0).item()
    1.0
    """
    caller = sys._getframe(1).f_globals.get("__name__", "__main__")
    beside = kernels if isinstance(kernels, ModuleType) else ModuleType("kernels")
    vars(beside).update({} if isinstance(kernels, ModuleType) else kernels or {})
    try:
        module = importlib.import_module("gradspec.codegen.entries").of_text(textwrap.dedent(text).strip("\n"), beside)
    except ModuleNotFoundError as missing:
        if missing.name not in ("yaml", "jinja2"):
            raise
        raise ImportError("gs.operator checks an entry by the generator, which needs PyYAML and Jinja2: "
                          'pip install "gradspec[codegen]"', name=missing.name) from None  # fmt: skip
    except Exception as refused:
        if type(refused).__name__ != "SpecErrors":
            raise
        raise OperatorError(f"\n{refused}") from None
    made = _run(module.source, caller, beside)
    for name in module.names:
        _ask(made[name])
    return made[module.names[0]]


def _run(source: str, name: str, kernels: Any) -> dict[str, Any]:
    """Execute a generated module and return its names; tracebacks show its lines."""
    file = f"<operator {next(_COUNT)}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    names: dict[str, Any] = {"__name__": name, "kernels": kernels}
    exec(compile(source, file, "exec"), names)
    return names


def _ask(made: Operator) -> None:
    """Record the comparisons of the check and of `checks`, or refuse the operator."""
    from .checks import CHECKS

    proofs = [("check", f"differences at {len(made.facts.samples)} samples, before anything was defined")]
    for check in CHECKS:
        try:
            proofs.append((check.__name__.replace("_", " "), check(made)))
        except AssertionError as wrong:
            raise OperatorError(f"{made.facts.name}: {check.__name__.replace('_', ' ')}: {wrong}") from None
    made.proofs = tuple(proofs)
