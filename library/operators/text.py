"""`gs.operator`: an operator of an entry that is written at run time, checked when it is defined.

Owns how a text becomes an operator: the generator of `gradspec.codegen` reads, analyses and checks it, and writes the module
that is run.  The finished operator is then asked what the operators of packages are asked by their tests.
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
    """What an entry is refused for, with the lines and carets of the check."""


def operator(text: str, kernels: Mapping[str, Callable[..., Any]] | ModuleType | None = None) -> Operator:
    """Define an operator by its entry, as `derivatives.yaml` has them: its rules are checked here, or it is refused.

    Parameters
    ----------
    text : str
        One entry: `op: logcosh(x) -> y` and the lines below it.  An operator that its formulas call, as an adjoint, may
        follow as a second entry; each then begins with `- op:`.
    kernels : mapping of str to callable, or module, optional
        What `kernels.name` means in `forward`: functions of NumPy's arrays.

    Returns
    -------
    Operator
        The operator of the first entry.  `print(op.page)` and the last line of a notebook's cell say what was compared with what.

    Raises
    ------
    OperatorError
        The entry is not well formed, clashes with an operator of gradspec, or its derivative is wrong.
    ImportError
        PyYAML or Jinja2 is missing: `pip install "gradspec[codegen]"`.

    Notes
    -----
    The rules are compared with differences at samples, as `python -m gradspec.codegen check` does; then the finished operator is
    asked for derivatives of second order, batches, Taylor series, replays, single precision, `out=` and writes in place.

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
    """The names of a generated module; tracebacks show its lines."""
    file = f"<operator {next(_COUNT)}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    names: dict[str, Any] = {"__name__": name, "kernels": kernels}
    exec(compile(source, file, "exec"), names)
    return names


def _ask(made: Operator) -> None:
    """Note what the check and the questions have compared, or refuse."""
    from .questions import QUESTIONS

    proofs = [("check", f"differences at {len(made.facts.samples)} samples, before anything was defined")]
    for question in QUESTIONS:
        try:
            proofs.append((question.__name__.replace("_", " "), question(made)))
        except AssertionError as wrong:
            raise OperatorError(f"{made.facts.name}: {question.__name__.replace('_', ' ')}: {wrong}") from None
    made.proofs = tuple(proofs)
