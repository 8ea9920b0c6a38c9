"""Evaluation: runs the formulas of a spec on plain NumPy arrays, before anything is generated or compiled.

Owns the meaning of a name in a running formula: ops are their `forward` (or composite), helpers come from
runtime/formulas.py, kernels from their Python source or the built package.  Knows nothing of derivative forms.
"""

from __future__ import annotations

import ast
import copy
import importlib
import importlib.util
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import numpy as np

from ..spec.formula import calls_in
from ..spec.limits import OPERATIONS, bounded
from ..spec.model import Argument, Formula, Op, Spec
from .coverage import Record, watched


class ArrayList(list):
    """A list of arrays, of which `.shape` and its like are the lists."""

    shape = property(lambda self: [np.shape(array) for array in self])
    ndim = property(lambda self: [np.ndim(array) for array in self])
    size = property(lambda self: [np.size(array) for array in self])
    dtype = property(lambda self: [array.dtype for array in self])


class Evaluator:
    def __init__(self, spec: Spec, root: Path, kernels: ModuleType | None = None):
        self.ops = {spelling: op for op in spec.ops.values() for spelling in (op.name, *op.aliases)}
        self.kernels = kernels or _kernels(root, {kernel for op in spec.ops.values() for kernel in _kernels_of(op)})
        self.record = Record()
        self._code: dict[int, tuple[Formula, CodeType]] = {}
        self._signatures = {name: _python_signature(op) for name, op in self.ops.items()}
        functions = _helpers(root) | {name: self._function(op) for name, op in self.ops.items()}
        # A call is looked up under a name that no argument can have: an argument may be called like an op.
        self._globals = {f"{name}()": function for name, function in functions.items()}
        self._globals |= self.record.functions
        self._globals |= {**OPERATIONS, "np": np, "kernels": self.kernels, "__builtins__": {}}
        self._cannot_run = self._find_cannot_run()

    def deferred(self, op: Op) -> bool:
        """Whether the op, or something that its formulas call, needs a kernel that is not built."""
        formulas = [*op.lets.values(), *op.partials.values(), *op.vjp.values(), *op.jvp.values()]
        return op.name in self._cannot_run or any(self._calls_cannot_run(formula) for formula in formulas)

    def forward(self, op: Op, arguments: Mapping[str, Any]) -> list[Any]:
        """The outputs of an op for what users pass, as a list of arrays and lists of arrays.

        A generator gives the same numbers in every call.
        """
        ints = {a.name: as_ints(a, arguments[a.name]) for a in op.signature.arguments}
        drawn = {name: copy.deepcopy(arguments[name]) for name in _generators(op)}
        return self._forward(op, {**arguments, **ints, **drawn})

    def _forward(self, op: Op, arguments: Mapping[str, Any]) -> list[Any]:
        """The same for what formulas pass, which reaches a forward as it is."""
        values = dict(arguments)
        for name in _generators(op):
            values[name] = values[name] or np.random.default_rng(0)
        if op.forward is None and op.inplace is not None:
            first = op.signature.arguments[0].name
            values[first] = np.array(values[first])
            self.evaluate(op, op.inplace, values)
            result = values[first]
        elif op.forward is not None:
            result = self.evaluate(op, op.forward, values)
        else:
            result = self.evaluate(op, op.composite, as_arrays(op, values))
        outputs = op.signature.outputs
        return [
            ArrayList(map(np.asarray, value)) if output.type.is_list else np.asarray(value)
            for output, value in zip(outputs, result if len(outputs) > 1 else [result], strict=True)
        ]

    def evaluate(self, op: Op, formula: Formula, values: Mapping[str, Any]) -> Any:
        return eval(self._compiled(formula), self._globals, _Names(self, op, values))

    def swap(self, op: Op) -> Op:
        """Takes an op in the place of the one of its name, which is returned."""
        before = self.ops[op.name]
        for spelling in (op.name, *op.aliases):
            self.ops[spelling], self._globals[f"{spelling}()"] = op, self._function(op)
        return before

    def _function(self, op: Op) -> Callable[..., Any]:
        def function(*args: Any, **kwargs: Any) -> Any:
            bound = self._signatures[op.name].bind(*args, **kwargs)
            bound.apply_defaults()
            outputs = self._forward(op, bound.arguments)[: len(op.signature.visible)]
            return outputs[0] if len(outputs) == 1 else tuple(outputs)

        return function

    def _compiled(self, formula: Formula) -> CodeType:
        if id(formula) not in self._code:
            tree = copy.deepcopy(formula.tree)
            for call in calls_in(tree):
                call.func.id += "()"
            tree = bounded(watched(tree))
            code = compile(ast.Expression(tree), formula.location.file, "eval")
            self._code[id(formula)] = (formula, code)  # the formula is kept, so that its id stays its own
        return self._code[id(formula)][1]

    def _find_cannot_run(self) -> set[str]:
        found = {name for name, op in self.ops.items() if any(not hasattr(self.kernels, k) for k in _kernels_of(op))}
        while True:
            more = {
                name
                for name, op in self.ops.items()
                if op.composite and any(_calls(f, found) for f in (op.composite, *op.lets.values()))
            }
            if more <= found:
                return found
            found |= more

    def _calls_cannot_run(self, formula: Formula) -> bool:
        return _calls(formula, self._cannot_run)


class _Names(dict):
    """The names of one formula; lets are evaluated when they are first read."""

    def __init__(self, evaluator: Evaluator, op: Op, values: Mapping[str, Any]):
        super().__init__(values)
        self._evaluator, self._op = evaluator, op

    def __missing__(self, name: str) -> Any:
        if name not in self._op.lets:
            raise KeyError(name)
        self[name] = value = eval(self._evaluator._compiled(self._op.lets[name]), self._evaluator._globals, self)
        return value


def as_arrays(op: Op, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call with Python scalars and lists made arrays where an Array is declared, and ints tuples."""
    return {a.name: _as_array(a, as_ints(a, arguments[a.name])) for a in op.signature.arguments}


def as_ints(argument: Argument, value: Any) -> Any:
    """What wrappers make of an `int[]`: a tuple. One int stands for as many as `int[2]` says; another count is refused."""
    if value is None or not (argument.type.base == "int" and argument.type.is_list):
        return value
    length = argument.type.length
    ints = tuple(value) if isinstance(value, (tuple, list)) else (value,) * (length or 1)
    if length not in (None, len(ints)):
        raise ValueError(f"'{argument.name}' takes an int or {length} ints, got {len(ints)}")
    return ints


def _generators(op: Op) -> list[str]:
    return [a.name for a in op.signature.arguments if a.type.base == "Generator"]


def _as_array(argument: Argument, value: Any) -> Any:
    if value is None or argument.type.base not in ("Array", "Mask"):
        return value
    return ArrayList(map(np.asarray, value)) if argument.type.is_list else np.asarray(value)


def _python_signature(op: Op) -> inspect.Signature:
    parameters = []
    for a in op.signature.arguments:
        kind = inspect.Parameter.KEYWORD_ONLY if a.keyword_only else inspect.Parameter.POSITIONAL_OR_KEYWORD
        default = inspect.Parameter.empty if a.default is None else ast.literal_eval(a.default)
        parameters.append(inspect.Parameter(a.name, kind, default=default))
    return inspect.Signature(parameters)


def _calls(formula: Formula, names: set[str]) -> bool:
    return any(call.func.id in names for call in calls_in(formula.tree))


def _kernels_of(op: Op) -> set[str]:
    """The kernels that running an op takes."""
    return {
        node.attr
        for formula in (op.forward, op.inplace)
        if formula is not None
        for node in ast.walk(formula.tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "kernels"
    }


def _kernels(root: Path, needed: set[str]) -> ModuleType:
    """Kernels from their source where that is plain Python, and from the built package, if there is one, where not."""
    found = ModuleType("kernels")
    for path in sorted((root / "runtime" / "kernels").glob("*.py")) if needed else ():
        try:
            vars(found).update(vars(_module(path)))
        except ImportError:  # it builds on a compiled kernel
            continue
    if missing := needed - vars(found).keys():
        try:
            built = importlib.import_module("gradspec.kernels")
        except Exception:  # a package that does not import, whatever the reason, is not built
            return found
        vars(found).update({name: getattr(built, name) for name in missing if hasattr(built, name)})
    return found


def _module(path: Path) -> ModuleType:
    """A source file as a module that belongs to no package."""
    spec = importlib.util.spec_from_file_location(f"_checked_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _helpers(root: Path) -> dict[str, Any]:
    path = root / "runtime" / "formulas.py"
    return dict(vars(_module(path))) if path.exists() else {}
