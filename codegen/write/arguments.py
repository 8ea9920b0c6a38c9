"""Bindings: spell an operator's parameter lists, the conversions of users' arguments, methods and Python operators.

Also names the in-place form.  Depends on the op alone, not on formulas, nodes or stubs.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterable
from typing import NamedTuple

from ..spec.model import Argument, Op

COMPARISONS = ("__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__")


def with_keywords(parameters: list[str], names: Iterable[str]) -> list[str]:
    """Parameters as Python source, with further keywords whose default is None."""
    more = [f"{name}=None" for name in names]
    star = ["*"] if more and not any(p.startswith("*") for p in parameters) else []
    return [*parameters, *star, *more]


def name_of(parameter: str) -> str:
    """The name of a parameter as Python source, such as `x` of `*x: int = 0`."""
    return re.match(r"\**(\w*)", parameter)[1]


class Positions(NamedTuple):
    """The parameters of a function as Python source, and the meaning of a truth value in another order."""

    parameters: list[str]
    swapped: tuple[str, str] | None = None  # True or False in the place of the first is the second, as PyTorch has it


class Bindings:
    """The signature of one op, for the templates."""

    def __init__(self, op: Op):
        self.op = op
        self.name, self.node, self.signature, self.doc = op.name, op.node, op.signature, op.doc
        self.arguments = op.signature.arguments
        self.arrays = op.signature.arrays
        self.outputs, self.visible = op.signature.outputs, op.signature.visible
        self.is_function = "function" in op.variants

    @property
    def forward_arguments(self) -> list[str]:
        return [self.array_argument(a) for a in self.arguments]

    @staticmethod
    def array_argument(argument: Argument) -> str:
        """The argument of a forward on arrays, as an expression of a converted argument."""
        name, base, is_list = argument.name, argument.type.base, argument.type.is_list
        if base == "Array":
            return f"{'arrays_of' if is_list else 'array_of'}({name})"
        return f"index_of({name})" if base in ("Index", "Mask") else name

    @property
    def is_creation(self) -> bool:
        """Whether the op reads no array values, like `zeros_like`, which reads a shape and dtype: then the result is a leaf."""
        if any(a.type.base in ("Index", "Mask") for a in self.arguments):
            return False
        return not self.arrays or any(a.type.base == "DType" for a in self.arguments) and self._reads_no_values()

    def _reads_no_values(self) -> bool:
        """Whether a composite reads only metadata of arrays; a nondifferentiable op is assumed to."""
        if self.op.composite is None:
            return self.op.form == "nondifferentiable"
        described = {id(node.value) for node in ast.walk(self.op.composite.tree) if isinstance(node, ast.Attribute)}
        arrays = {a.name for a in self.arrays}
        read = [node for node in ast.walk(self.op.composite.tree) if isinstance(node, ast.Name) and node.id in arrays]
        return all(id(node) in described for node in read)

    def conversion(self, entry: str) -> dict[str, str]:
        """Argument name -> the call that converts a user's argument for the forward; errors name `entry`."""
        where = f'"{entry}"'
        operand = "as_operand" if self.op.takes_every_dtype else f"as_{self.op.dtype}_operand"
        calls = {}
        for a in self.arguments:
            base, is_list = a.type.base, a.type.is_list
            if base == "Array":
                calls[a.name] = f'{operand}{"s" if is_list else ""}({a.name}, {where}, "{a.name}")'
            elif base == "Index":
                calls[a.name] = f'as_index({a.name}, {where}, "{a.name}")'
            elif base == "Mask":
                calls[a.name] = f'as_mask({a.name}, {where}, "{a.name}")'
            elif base == "int" and is_list and self.names_axes(a):
                calls[a.name] = f"as_axes({a.name}, {self.arrays[0].name}, {where})"
            elif base == "int" and is_list:
                calls[a.name] = f'as_ints({a.name}, {where}, "{a.name}", {a.type.length or -1})'
            elif not is_list:
                calls[a.name] = f'as_{base.lower()}({a.name}, {where}, "{a.name}")'
            if a.type.or_word:
                calls[a.name] = f"{a.name} if isinstance({a.name}, str) else {calls[a.name]}"
            if a.type.optional and a.name in calls and base != "Generator":  # None is a valid generator
                calls[a.name] = f"None if {a.name} is None else {calls[a.name]}"
        return calls

    def names_axes(self, argument: Argument) -> bool:
        """Whether an argument has only axes of the first array, which may be a number; formulas have converted theirs."""
        several = [a for a in self.arguments if a.type.base == "int" and a.type.is_list]
        return argument.name == "axis" and argument.type.optional and len(several) == 1 and not self.name.startswith("_")

    def inplace_conversion(self, entry: str) -> dict[str, str]:
        """`conversion` for an in-place operator: its target must be a tensor of a dtype that the op takes."""
        calls, first = self.conversion(entry), self.arguments[0].name
        if self.op.takes_every_dtype:
            del calls[first]
        else:
            calls[first] = calls[first].replace(f"({first},", f'(writable({first}, "{entry}"), ', 1).replace(",  ", ", ")
        return calls

    def placed(self, parameters: list[str], *first: str) -> Positions:
        """Parameters in the entry's order; `first` replaces its first parameter."""
        return Positions(parameters)

    @property
    def misplaced(self) -> list[tuple[str, str]]:
        """An optional int and the optional ints behind it: a tuple in the place of the first is the second, as PyTorch has it."""
        return [
            (number.name, ints.name) for number, ints in itertools.pairwise(self.arguments)
            if number.type.base == ints.type.base == "int" and number.default == ints.default == "None"
            and ints.type.is_list and not number.type.is_list
        ]  # fmt: skip

    @property
    def adapted(self) -> list[tuple[str, str, str]]:
        """Keywords beside the operator's arguments: (name, array, function that computes the operator's array from both)."""
        found = [(*self.op.factor, "multiplied")] if self.op.factor else []
        return [*found, *([("dtype", self.op.cast, "converted")] if self.op.cast else [])]

    @property
    def may_overwrite(self) -> bool:
        """Whether the function takes PyTorch's `inplace=`, like PyTorch's activations."""
        return self.op.namespace == "nn" and "inplace" in self.op.variants

    @property
    def method_parameters(self) -> str:
        rest = self.arguments[1:]
        if self.takes_star:
            return f"self, *{rest[0].name}, **keyword_"
        return ", ".join(["self", *self._parameter_list(rest, out=False)])

    @property
    def takes_star(self) -> bool:
        """`x.reshape(2, 3)` is `x.reshape((2, 3))`: the integers are the only argument, and None if they are left out."""
        rest = self.arguments[1:]
        ints = len(rest) == 1 and rest[0].type.is_list and rest[0].type.base == "int"
        return ints and rest[0].default in (None, "None")

    def _parameter(self, a: Argument) -> str:
        return "*" * a.variadic + (a.name if a.default is None else f"{a.name}={a.default}")

    def _parameter_list(self, arguments: Iterable[Argument], out: bool = True) -> list[str]:
        parts, starred = [], False
        inplace = ["inplace=False"] if out and self.may_overwrite else []  # PyTorch's position: after all positional parameters
        for a in arguments:
            starred = starred or a.variadic
            if a.keyword_only and not starred:
                parts += inplace
                inplace = []
                parts.append("*")
                starred = True
            parts.append(self._parameter(a))
        extra = [f"{keyword}=None" for keyword, _, _ in self.adapted]
        parts += inplace
        extra += ["out=None"] if out and "out" in self.op.variants else []
        extra += ["requires_grad=False"] if self.is_creation else []
        if extra and not starred:
            parts.append("*")
        return [*parts, *extra, *(["**keyword_"] if any(self._takes_ints(a) for a in arguments) else [])]

    @staticmethod
    def _takes_ints(a: Argument) -> bool:
        """`ones(2, 3)` is `ones((2, 3))` and `ones(shape=(2, 3))`."""
        return a.variadic and a.type.base == "int"

    @property
    def takes_shape_and_dtype(self) -> bool:
        """`ones((2, 3), int)` is `ones((2, 3), dtype=int)`."""
        return any(map(self._takes_ints, self.arguments[:1])) and any(a.name == "dtype" for a in self.arguments)

    @property
    def result_class(self) -> str | None:
        """`EighResult`, the class of several results; None for a single result."""
        if len(self.visible) == 1 or self.name.startswith("_"):
            return None
        return "".join(part.title() for part in self.name.split("_")) + "Result"

    @property
    def names(self) -> list[str]:
        return [a.name for a in self.arguments]

    @property
    def public_arguments(self) -> list[str]:
        """The arguments that the public function passes to the operator."""
        return [f'star({a.name}, keyword_, "{self.name}", "{a.name}", False)' if self._takes_ints(a)
                else f"listed({a.name})" if a.variadic else a.name for a in self.arguments]  # fmt: skip

    @property
    def method_names(self) -> list[str]:
        return [self.name, *self.op.aliases]

    @property
    def binary(self) -> bool:
        return len([a for a in self.arguments if a.default is None]) == 2

    @property
    def reflected(self) -> str | None:
        """`__radd__` for `__add__`; None for comparisons and item access."""
        operator = self.op.operator
        if not operator or not self.binary or operator in COMPARISONS or operator.endswith("item__"):
            return None
        return f"__r{operator[2:]}"

    @property
    def inplace_operator(self) -> str | None:
        operator = self.op.operator
        if not self.reflected or "inplace" not in self.op.variants:
            return None
        return f"__i{operator[2:]}"

    @property
    def inplace_names(self) -> list[str]:
        return [name if self.op.inplace_only else f"{name}_" for name in self.method_names]

    @property
    def inplace_entry(self) -> str:
        return self.name if self.op.inplace_only else f"{self.name}_"

    @property
    def writes_in_place(self) -> bool:
        return "inplace" in self.op.variants or self.op.inplace_only

    @property
    def is_bound(self) -> bool:
        """Whether the Tensor class calls this op."""
        return bool({"method", "property", "inplace"} & set(self.op.variants)) or self.op.operator is not None

    @property
    def method_arguments(self) -> str:
        """The arguments that the method passes to the operator."""
        if self.takes_star:
            only = self.arguments[1]
            optional = only.default is not None
            return f'self, star({only.name}, keyword_, "{self.name}", "{only.name}", {optional})'
        return ", ".join(["self", *self.public_arguments[1:]])

    @property
    def operator_defaults(self) -> str:
        return "".join(f", {a.default}" for a in self.arguments if a.default is not None)

    @property
    def is_array_method(self) -> bool:
        return "method" in self.op.variants and not self.op.inplace_only

    def is_list(self, name: str) -> bool:
        item = self.signature.argument(name) or self.signature.output(name)
        return item.type.is_list
