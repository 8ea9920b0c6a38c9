"""Write the types of public functions and methods for the stub files.

Defines the Python type for each type of the spec, for arguments and for results.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..spec.model import Argument, Output, Type
from .arguments import Bindings
from .wrapper import OpText

# Names that the stub templates define or import; `bool`, `int` and `float` are dtypes of the namespace.
_ARGUMENT = {
    "Array": "Operand", "Index": "Index", "Mask": "Operand", "Scalar": "complex", "DType": "npt.DTypeLike",
    "int": "_int", "float": "_float", "bool": "_bool", "str": "str", "Generator": "np.random.Generator | _int",
}  # fmt: skip


def argument_type(type_: Type) -> str:
    base = _ARGUMENT[type_.base]
    if type_.is_list:
        # A single int means a sequence of one.
        base = f"{base} | Sequence[{base}]" if type_.base in ("int", "float") else f"Sequence[{base}]"
    base += " | str" if type_.or_word else ""
    return f"{base} | None" if type_.optional else base


def result_type(op: Bindings) -> str:
    return f"_results.{op.result_class}" if op.result_class else output_type(op.visible[0])


def output_type(output: Output) -> str:
    if output.type.is_list:
        return "tuple[Tensor, ...]" if output.type.is_tuple else "list[Tensor]"
    return "Tensor"


def function_parameters(op: OpText) -> str:
    return ", ".join(parameters_of(op))


def parameters_of(op: OpText) -> list[str]:
    """The parameters of the function, each with its type."""
    extra = [f"{name}: Any = None" for name in op.function_beside] + _adapted(op)
    extra += ["out: Tensor | None = None"] if "out" in op.op.variants else []
    parameters = _parameters(op.arguments, extra + _leaf(op), ["inplace: _bool = False"] if op.may_overwrite else [])
    return op.placed(parameters).parameters


def method_parameters(op: OpText) -> str:
    first, *rest = op.arguments
    if op.takes_star:
        star, *rest = rest
        return ", ".join(["self", f"*{star.name}: {argument_type(star.type)}", *map(_parameter, rest)])
    more = op.numpy_method.beside if op.numpy_method else []
    parameters = _parameters(rest, [*(f"{name}: Any = None" for name in more), *_adapted(op), *_leaf(op)])
    return ", ".join(op.placed(["self", *parameters], "self").parameters)


def _adapted(op: OpText) -> list[str]:
    types = {"multiplied": "Operand", "converted": "npt.DTypeLike"}
    return [f"{keyword}: {types[function]} | None = None" for keyword, _, function in op.adapted]


def _leaf(op: OpText) -> list[str]:
    return ["requires_grad: _bool = False"] if op.is_creation else []


def _parameters(arguments: Iterable[Argument], extra: list[str], last: Iterable[str] = ()) -> list[str]:
    positional = [*[_parameter(a) for a in arguments if not a.keyword_only], *last]
    keyword_only = [_parameter(a) for a in arguments if a.keyword_only] + extra
    star = ["*"] if keyword_only and not any(a.variadic for a in arguments) else []
    return [*positional, *star, *keyword_only]


def _parameter(a: Argument) -> str:
    if a.variadic:
        return f"*{a.name}: {argument_type(replace(a.type, is_list=False))} | {argument_type(a.type)}"
    return f"{a.name}: {argument_type(a.type)}" + ("" if a.default is None else f" = {a.default}")
