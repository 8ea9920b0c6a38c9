"""The model of derivatives.yaml, as plain frozen data.

Defines locations, types, arguments, formulas, operators and the results of analysis.  Does not depend on YAML, on templates or on
arrays.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .expression import Expression

ARRAY = "Array"
CONST = "Const"  # an output that is an array without a gradient
# The order is that of docs/grammar.md.
TYPES = ("Array", "Const", "Index", "Mask", "Scalar", "int", "float", "bool", "str", "DType", "Generator")
FORMS = ("partial", "linear", "multilinear", "vjp_jvp", "composite", "nondifferentiable", "unimplemented")
WITHOUT_RULE = ("nondifferentiable", "unimplemented")
VARIANTS = ("function", "method", "bound", "property", "inplace", "out")
NAMESPACES = ("", "linalg", "fft", "nn", "special", "random")
LAWS = ("memory", "axes", "parts")  # checks that an entry may exclude
TESTED = ("numpy", "single")  # comparisons in the tests that an entry may exclude
# Batching rules that an entry may state: see docs/grammar.md.
VMAPS = (
    "along", "along-whole", "beside", "beside-2", "broadcast", "elements", "grouped", "images", "images-2", "images-3", "index",
    "inserted", "matrices", "order", "padded", "places", "reduced", "refused", "rows", "scattered", "summed", "taken", "widened",
)  # fmt: skip
DTYPES = ("any", "float", "real", "complex", "int", "bool")


@dataclass(frozen=True)
class Location:
    """A place in the spec; lines and columns count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True)
class Span(Location):
    """A place with its end: the line, and the column after the last character."""

    end_line: int
    end_column: int


@dataclass(frozen=True)
class Text:
    """A string of the spec with the position of each of its characters."""

    value: str
    file: str
    places: tuple[tuple[int, int], ...]  # (line, column) of each character, then of the end

    def at(self, offset: int) -> Location:
        return Location(self.file, *self.places[min(offset, len(self.places) - 1)])

    def part(self, start: int, stop: int) -> Text:
        """The text between two offsets, without the blanks around it."""
        while start < stop and self.value[start].isspace():
            start += 1
        while stop > start and self.value[stop - 1].isspace():
            stop -= 1
        return Text(self.value[start:stop], self.file, self.places[start : stop + 1])

    @property
    def location(self) -> Location:
        return self.at(0)


@dataclass(frozen=True)
class Type:
    """`int[]?` is Type("int", is_list=True, optional=True); `int[2]` has length 2, and `int[2]|str` may be a string."""

    base: str
    is_list: bool = False
    length: int | None = None
    optional: bool = False
    or_word: bool = False

    @property
    def is_array(self) -> bool:
        """Whether a value of this type can carry a gradient."""
        return self.base == ARRAY

    @property
    def is_tuple(self) -> bool:
        """Whether a list of outputs is a tuple: of indices it is, so that `x[...]` takes it; of arrays it is a list, as in NumPy."""
        return self.is_list and self.base == "Index"

    def __str__(self) -> str:
        suffix = f"[{self.length or ''}]" if self.is_list else ""
        return f"{self.base}{suffix}{'|str' if self.or_word else ''}{'?' if self.optional else ''}"


@dataclass(frozen=True)
class Argument:
    name: str
    type: Type
    default: str | None = None  # Python source of the literal; None for a required argument
    keyword_only: bool = False
    location: Location | None = None
    variadic: bool = False  # `*operands`: one list, or its items one by one

    @property
    def is_array(self) -> bool:
        return self.type.is_array

    @functools.cached_property
    def given(self) -> object:
        """The value of the default, if there is one."""
        return None if self.default is None else ast.literal_eval(self.default)


@dataclass(frozen=True)
class Output:
    name: str
    type: Type
    location: Location | None = None

    @property
    def hidden(self) -> bool:
        """`_mask` is computed and saved but not returned."""
        return self.name.startswith("_")

    @property
    def differentiable(self) -> bool:
        """Whether the output can carry a gradient: a hidden output gets none."""
        return self.type.is_array and not self.hidden


@dataclass(frozen=True)
class Signature:
    name: str  # "sum"; "_minors" is private, "zero_" is in place only
    arguments: tuple[Argument, ...]
    outputs: tuple[Output, ...]
    source: str
    location: Location

    @functools.cached_property
    def arrays(self) -> tuple[Argument, ...]:
        """The arguments that can carry a gradient, in order."""
        return tuple(a for a in self.arguments if a.is_array)

    @functools.cached_property
    def generators(self) -> tuple[str, ...]:
        """The names of the arguments that are random generators."""
        return tuple(a.name for a in self.arguments if a.type.base == "Generator")

    @functools.cached_property
    def visible(self) -> tuple[Output, ...]:
        """The outputs that callers receive."""
        return tuple(o for o in self.outputs if not o.hidden)

    def argument(self, name: str) -> Argument | None:
        return next((a for a in self.arguments if a.name == name), None)

    def output(self, name: str) -> Output | None:
        return next((o for o in self.outputs if o.name == name), None)


@dataclass(frozen=True)
class Formula:
    """A parsed expression; `tree` contains whitelisted nodes only, with positions in the file."""

    source: str
    tree: ast.expr
    location: Location
    names: frozenset[str] = frozenset()  # every name that is read, without called functions
    expression: Expression | None = None  # the resolved formula

    def is_of(self, op: Op) -> bool:
        """Whether a sample is written in or below the entry; samples of a shape or a preset come from above all entries."""
        return self.location.file != op.location.file or self.location.line > op.location.line

    @functools.cached_property
    def calls(self) -> frozenset[str]:
        """The operators and helpers that the formula calls, by their written names."""
        return frozenset(n.func.id for n in ast.walk(self.tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name))

    def __getattr__(self, name: str) -> ast.expr:
        """The tree of a cached formula, which is unpacked when it is first read."""
        if name != "tree" or "packed" not in vars(self):
            raise AttributeError(f"a formula has no {name}")
        tree = vars(self)["tree"] = vars(self).pop("packed")()
        return tree


@dataclass(frozen=True)
class Stated:
    """A call, and the entry's statement about it: its value, or its derivatives at a kink."""

    call: Formula
    value: Formula


@dataclass(frozen=True)
class Saved:
    """A value that backward needs.

    kind is "input" (an array argument), "output", "index" (an Index or Mask argument), "static" (a parameter such as
    axis), or "shape" / "ndim" / "dtype" (metadata of `name`, which does not keep the array alive).
    """

    name: str
    kind: str

    @classmethod
    def of(cls, name: str, attribute: str) -> Saved:
        """A saved piece of metadata: the size is computed from the shape."""
        return cls(name, "shape" if attribute == "size" else attribute)

    @property
    def is_variable(self) -> bool:
        """Whether the value may contain arrays, which can be modified."""
        return self.kind in ("input", "output", "index")

    @property
    def field(self) -> str:
        return f"{self.name}_{self.kind}" if self.kind in ("shape", "ndim", "dtype") else self.name


@dataclass(frozen=True)
class Derived:
    """The results of analysis for an entry with a derivative; all are derived from its formulas."""

    vjp: dict[str, Expression]  # array input -> its cotangent, before the reduction to the input's shape
    saved_for: dict[str, tuple[Saved, ...]]  # array input -> the values that its formula reads, directly or through lets
    saved: tuple[Saved, ...]  # the union, in order of first use
    jvp: dict[str, Expression]  # differentiable output -> its tangent (empty for a jointly linear op)
    joint_linear: tuple[str, ...] = ()  # inputs of a `linear:` op: y_t = op(x_t...), absent tangents are zeros


@dataclass(frozen=True)
class Op:
    """One entry, with the defaults of its family applied."""

    family: str
    signature: Signature
    form: str  # one of FORMS
    doc: str
    location: Location
    aliases: tuple[str, ...] = ()
    args: dict[str, str] = field(default_factory=dict)  # argument -> its description, in one line
    ref: str = ""  # the source of the formulas, in one line
    unlike: tuple[str, str] | None = None  # difference from PyTorch, in calls without an argument: (argument or "", words)
    factor: tuple[str, str] | None = None  # a keyword of the public functions, and the array that it multiplies
    cast: str = ""  # the array that the public functions first convert to `dtype=`
    pair: str = ""  # the operator of two arrays that a call means if its second argument is a tensor
    numpy: tuple[str, ...] = ()  # the NumPy functions that a public op implements, "linalg.svd"
    elsewhere: tuple[tuple[str, str], ...] = ()  # (namespace, name) of the function in other namespaces
    namespace: str = ""  # "", "linalg", "nn", "special"
    operator: str | None = None  # "__add__"
    variants: tuple[str, ...] = ("function",)
    domain: Formula | None = None
    dtype: str = "any"  # "float" real or complex, "real", "complex", "any" integers too, "bool", "int"
    result_dtypes: tuple[str | None, ...] = ()  # one per visible output, None for the default; empty if all are default
    shape: str | None = None
    view: str | None = None
    forward: Formula | None = None
    over: tuple[str, ...] = ()  # inputs whose memory the forward may reuse for its result
    inplace: Formula | None = None  # kernel call, used as a statement, that writes into the first input
    placed: Formula | None = None  # kernel call whose result a backward pass adds to an existing gradient
    composite: Formula | None = None
    reference: Formula | None = None  # the value in mpmath's functions, if forward does not give it
    lets: dict[str, Formula] = field(default_factory=dict)
    partials: dict[tuple[str, str], Formula] = field(default_factory=dict)  # (output, input)
    linear: tuple[str, ...] = ()
    multilinear: tuple[str, ...] = ()
    vjp: dict[str, Formula] = field(default_factory=dict)
    jvp: dict[str, Formula] = field(default_factory=dict)
    batched: bool = False  # the rules also apply to cotangents with one more axis at the front
    rows: Formula | None = None  # for a linear op: the op on each row of an `x` with one more axis at the front
    vmap: str | None = None  # the batching rule, if it does not follow from the entry
    parts: Formula | None = None  # the decomposition for batches, if `vmap` gives one
    jet: tuple[str, int] | None = None  # the op that takes all coefficients of a series, and the last order that does not need it
    laws: tuple[Formula, ...] = ()  # equations that hold for real numbers
    breaks: dict[str, Text] = field(default_factory=dict)  # one of LAWS or TESTED -> the reason why it does not hold
    samples: tuple[Formula, ...] = ()
    examples: tuple[Stated, ...] = ()  # calls and their values, one for each output
    kinks: tuple[Stated, ...] = ()  # calls and the derivatives of the sum of the outputs, one for each array input
    places: dict[str, Location] = field(default_factory=dict, compare=False)  # key -> the place of its value
    derived: Derived | None = None
    loops: str = ""  # in the table for other packages: the function that a forward by inner loops calls, "np.exp"

    @property
    def name(self) -> str:
        return self.signature.name

    @property
    def called(self) -> str:
        """The op's name in errors: `linalg.norm` if NumPy's name is an alias in the entry's own namespace."""
        own = [f"{place}.{name}" for place, name in self.elsewhere if place == self.namespace]
        return next((name for name in own if name in self.numpy), self.name)

    @property
    def private(self) -> bool:
        """Whether only formulas call the op."""
        return self.name.startswith("_")

    @property
    def node(self) -> str:
        """The Node class: `_take_rows` is TakeRowsBackward."""
        words = self.name.strip("_").split("_")
        return "".join(w[:1].upper() + w[1:] for w in words) + "Backward"

    @property
    def differentiable(self) -> bool:
        return self.form != "nondifferentiable"

    @property
    def takes_every_dtype(self) -> bool:
        """Whether the op takes all dtypes: `float` converts integers and booleans to floats, so it rejects no more than `any`."""
        return self.dtype in ("any", "float")

    @property
    def let_expressions(self) -> dict[str, Expression]:
        """The resolved lets, in the order of their definition."""
        return {name: formula.expression for name, formula in self.lets.items()}

    @property
    def claim(self) -> str:
        """The numbers that the op takes, by the runtime's name; empty if it takes all."""
        return {"real": "REALS", "complex": "COMPLEXES", "int": "INTEGERS", "bool": "BOOLEANS"}.get(self.dtype, "")

    @property
    def inplace_only(self) -> bool:
        return self.signature.name.endswith("_")


@dataclass(frozen=True)
class Family:
    name: str
    about: str
    ops: tuple[Op, ...]
    location: Location
    small: bool = False  # its kernels take much longer than their calls: the calls' code is compiled quickly


@dataclass(frozen=True)
class Spec:
    families: tuple[Family, ...]
    file: str = "derivatives.yaml"  # its name in error messages
    source: str = field(default="", repr=False)
    presets: dict[str, tuple[Formula, ...]] = field(default_factory=dict)  # lists of samples by name
    further: dict[str, str] = field(default_factory=dict, repr=False)  # the texts of the files of further samples, by file

    @functools.cached_property
    def ops(self) -> Mapping[str, Op]:
        """Every operator by Python name, in reading order, without aliases."""
        return MappingProxyType({op.name: op for family in self.families for op in family.ops})

    @property
    def by_spelling(self) -> dict[str, Op]:
        """Every operator by name and by each alias."""
        return {spelling: op for op in self.ops.values() for spelling in (op.name, *op.aliases)}
