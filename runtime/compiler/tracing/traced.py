"""Trace: record a call as a program of operators.

Defines the class that users meet.  Inputs have the names of the function's parameters, and results are found among the values.
The program is run once and compared with the call, bit by bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy, deepcopy
from functools import lru_cache, wraps
from types import CodeType
from typing import Any

from ...methods.dual_level import dual_level
from ...support.errors import CallTypeError
from ...support.pytree import flatten
from .drawing import dot_text, svg_text
from .inputs import TAKEN, Inputs, anew, keywords_of, parameters_of
from .instructions import Instruction, straightened
from .literals import literal
from .numpy_program import numpy_text
from .passes.common_subexpressions import share_subexpressions
from .passes.constant_folding import fold_constants
from .passes.dead_code import eliminate_dead_code
from .passes.no_ops import eliminate_no_ops
from .program import line_text, program_text
from .sizes import find_sizes
from .tracer import Call, Recorder, place
from .values import Memory, Source, Value, held, mapped, same_bits, values_in


class Trace:
    """The operators of a call, in order, over named values.

    Attributes
    ----------
    instructions : list of Instruction
    inputs, constants : list of Value
    results : tree of Value
        The call's return value.
    notes : list of str
        Facts that the program cannot express: numbers that Python read.
    """

    def __init__(self, function: Callable[..., Any], lines: list[Instruction], recorded: dict[str, Any]) -> None:
        self.function = function
        self.inputs: list[Value] = recorded["inputs"]
        self.parameters: list[str] = recorded["parameters"]
        self.unpacked: list[tuple[Value, str]] = recorded["unpacked"]
        self.fixed: list[tuple[str, str]] = recorded["fixed"]
        self.results = recorded["results"]
        self.sources: list[Source] = recorded["sources"]
        self.notes: list[str] = recorded["notes"]
        self.arguments: tuple = recorded["arguments"]
        self.keywords: dict[str, Any] = recorded["keywords"]
        self.lasting: set[Value] = set()  # constants that keep the writes of one run for the next run
        self.shapes: Mapping[str, tuple] = {}
        self.symbols: list[str] = []
        self.instructions: list[Instruction] = []
        self.constants: list[Value] = []
        self.take(lines)

    def take(self, lines: list[Instruction]) -> None:
        """Use these instructions and name their values."""
        self.instructions = lines
        found = [value for line in lines for value in (*line.read, *line.made)] + values_in(self.results)
        taken = {*self.parameters, *self.keywords, *self.symbols, *TAKEN, *(one.name for one in (*self.inputs, *self.sources))}
        self.constants = list(dict.fromkeys(value for value in found if value.kind == "constant"))
        results = list(dict.fromkeys(value for value in found if value.kind == "result"))
        for letter, values in (("c", self.constants), ("v", results)):
            while any(f"{letter}{number}" in taken for number in range(len(values))):
                letter += "_"
            for number, value in enumerate(values):
                value.name = f"{letter}{number}"

    def shortened(self, lines: list[Instruction]) -> Trace:
        """A trace of the same call with other instructions, whose values keep their names."""
        other = copy(self)
        other.instructions = lines
        found = [value for line in lines for value in line.read] + values_in(self.results)
        other.constants = list(dict.fromkeys(value for value in found if value.kind == "constant"))
        return other

    def __str__(self) -> str:
        head = [f"{value.name}: {value.type}" for value in self.inputs]
        lines = [f"# {note}" for note in self.notes]
        lines.append(f"program({', '.join([*head, *(source.path or source.name for source in self.sources)])})")
        lines += [f"    {value.name}: {value.type} is a constant{origin(value)}" for value in self.constants]
        for line in self.instructions:
            types = ", ".join(value.type for value in line.made)
            lines.append(f"    {line_text(line):<56} # {types}, {place(line.line)}")
        lines.append(f"    return {literal(self.results)}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Trace of {getattr(self.function, '__name__', 'a function')}: {len(self.instructions)} instructions>"

    def python(self, numpy: bool = False) -> str:
        """The text of a Python module; its function `program` has the arguments and results of the call.

        Parameters
        ----------
        numpy : bool
            Whether the module uses only NumPy, and SciPy for SciPy's operators.  Its function then takes and returns arrays.

        Raises
        ------
        TypeError
            An operator has no NumPy text.
        """
        return numpy_text(self) if numpy else program_text(self)

    def compiled(self, numpy: bool = False) -> Callable[..., Any]:
        """The function of `python()`."""
        names: dict[str, Any] = {}
        exec(code_of(self.python(numpy)), names)
        return names["program"]

    def run(self, *args: Any, **keywords: Any) -> Any:
        """Run the program with other arguments.  Draws from the default generator are taken from `generator=` instead."""
        return self.compiled()(*args, **keywords)

    def states(self) -> dict[str, Any]:
        """Copies, from before the call, of the generators that were not among its arguments."""
        return {source.name: deepcopy(source.state) for source in self.sources if not source.path}

    def where(self, op: str) -> list[Instruction]:
        """The instructions of an operator, in any of its forms."""
        return [line for line in self.instructions if line.name in (op, f"{op}_", f"{op}.out")]

    def dot(self) -> str:
        """The program as DOT text, for graphviz."""
        return dot_text(self)

    def svg(self) -> str:
        """The program as a picture."""
        return svg_text(self)

    def _repr_svg_(self) -> str:
        return self.svg()

    # Derived programs of the same call.

    def decompose(self, names: str | Iterable[str] | None = None, depth: int | None = None) -> Trace:
        """The program with operators replaced by their parts.

        Parameters
        ----------
        names : str or iterable of str, optional
            The operators to replace: all composites by default, so that core operators remain.
        depth : int, optional
            Number of levels to replace: all levels by default.
        """
        chosen = None if names is None else {names} if isinstance(names, str) else set(names)

        def wanted(call: Call, level: int) -> bool:
            named = chosen is None or call.name in chosen or call.name.removesuffix("_") in chosen
            return named and (depth is None or level < depth)

        with dual_level():  # a dual level computes composites by their parts, even without tangents
            again = trace_call(self.with_generators(self.states()), *anew(self.arguments), check=False, apart=wanted,
                               shapes=self.shapes, keywords=anew(self.keywords))  # fmt: skip
        again.function, again.notes = self.function, self.notes
        for source, mine in zip(again.sources, self.sources):
            source.state = mine.state
        return again

    def with_generators(self, generators: dict[str, Any]) -> Callable[..., Any]:
        """The program as a function of the call's arguments alone."""
        program = self.compiled()

        @wraps(program)
        def run(*args: Any, **keywords: Any) -> Any:
            return program(*args, **keywords, **generators)

        return run

    def derivative(self, argnums: int | tuple[int, ...] = 0) -> Trace:
        """The trace of the function's value and gradient with respect to `argnums`; the backward pass is traced as operators."""
        import gradspec

        function = gradspec.func.value_and_grad(self.function, argnums)
        return trace_call(function, *anew(self.arguments), shapes=self.shapes, keywords=anew(self.keywords))

    def without_dead_code(self) -> Trace:
        """The program without instructions that no result depends on; writes to inputs and random draws stay."""
        return self.shortened(eliminate_dead_code(self.instructions, values_in(self.results)))

    def without_looks(self) -> Trace:
        """The program without operators that returned their input, such as `conj` of a real array."""
        return self.shortened(eliminate_no_ops(self.instructions, self.inputs))

    def with_folded_constants(self) -> Trace:
        """The program with instructions of constant operands evaluated in advance."""
        return self.shortened(fold_constants(self.instructions, values_in(self.results)))

    def without_common_subexpressions(self) -> Trace:
        """The program with equal operators on equal operands computed once; memory written in place is excluded."""
        return self.shortened(share_subexpressions(self.instructions, values_in(self.results)))


@lru_cache(maxsize=64)
def code_of(text: str) -> CodeType:
    """The code of a program, cached by its text."""
    return compile(text, "<trace>", "exec")


def origin(value: Value) -> str:
    inner = "" if value.inner is None else f", made inside of {value.inner} by no operator"
    return f" of {place(value.line)}{inner}"


def trace_call(
    f: Callable[..., Any], *args: Any, check: bool = True, apart: Callable[[Call, int], bool] = lambda call, level: False,
    shapes: Mapping[str, tuple] | None = None, keywords: Mapping[str, Any] | None = None,
) -> Trace:  # fmt: skip
    """The operators of a call of `f`, as a program.

    Parameters
    ----------
    f : callable
    *args
        Arguments of the call.  Tensors and arrays, also in tuples, lists and dictionaries, are the program's inputs, and
        are Tensors inside `f`; all other arguments are parts of the program.
    check : bool
        Run the program once and compare all bits of its results with the results of the call.
    apart : callable
        Decides which operators to replace by their parts, from the call and the number of enclosing operators.
    shapes : mapping of str to tuple, optional
        Sizes that the program leaves open, such as `{"x": ("n", 3)}`: for each input a tuple of symbols and lengths.
        The call is traced at other sizes, too, to find the numbers that depend on them.
    keywords : mapping, optional
        The keyword arguments of `f`.

    Returns
    -------
    Trace

    Raises
    ------
    TypeError
        The call did something that a program cannot express; the message has the line and the way out.
    """
    memory = Memory()
    recorder = Recorder(memory)
    parameters, keywords = parameters_of(f, len(args)), dict(keywords or {})
    memory.reserved = {*parameters, *keywords}
    inputs = Inputs(recorder)
    given = [inputs.tensors(parameter, argument) for parameter, argument in zip(parameters, args)]
    named = {name: inputs.tensors(name, argument) for name, argument in keywords.items()}
    try:
        recorder.start()
        outcome = f(*given, **named)
    finally:
        recorder.stop()
    if recorder.failure is not None:
        raise recorder.failure
    final = Ending(recorder)
    results = mapped(outcome, final.leaf)
    recorded = {
        "inputs": inputs.values, "fixed": inputs.fixed, "parameters": parameters, "unpacked": inputs.unpacked, "results": results,
        "notes": recorder.notes, "sources": list(memory.sources.values()), "arguments": tuple(inputs.before[: len(args)]),
        "keywords": dict(zip(keywords, inputs.before[len(args) :])),
    }  # fmt: skip
    taken = Trace(f, straightened(recorder.root, values_in(results), apart), recorded)
    if check:
        compare(taken, outcome, [args, keywords])
    if shapes:
        find_sizes(taken, shapes, lambda args, named: trace_call(f, *args, check=check, apart=apart, keywords=named))
    return taken


def trace_of(f: Callable[..., Any], *args: Any, **keywords: Any) -> Trace:
    """`trace_call` for `gs.trace`: `check` and `shapes` belong to the tracer, all other keywords to the function."""
    rest = keywords_of(f, keywords, ("check", "shapes"))
    return trace_call(f, *args, check=keywords.get("check", True), shapes=keywords.get("shapes"), keywords=rest)


class Ending:
    """Looks up the results at the end of a call."""

    line = None

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder

    def leaf(self, item: Any) -> Any:
        array = held(item)
        if array is None:
            return item
        if self.recorder.met.known(array) is None and self.recorder.met.block(array) is None:
            self.recorder.notes.append("a result was computed by no operator: it stands here as it was")
        return self.recorder.value(array, self)


def compare(taken: Trace, outcome: Any, given: list) -> None:
    """Run a program, and refuse it if its results or its writes to inputs differ in any bit from the call."""
    again = [anew(taken.arguments), anew(taken.keywords)]
    found = taken.run(*again[0], **again[1], **taken.states())
    pairs = list(zip(flatten(found)[0], flatten(outcome)[0]))
    pairs += list(zip(flatten(again)[0], flatten(given)[0]))
    for got, wanted in pairs:
        got, wanted = held(got), held(wanted)
        if wanted is not None and not same_bits(got, wanted):
            raise CallTypeError("trace: the program's results differ in some bits from the call's; does the call depend on the "
                                "effects of an earlier call, or on numbers that other code wrote?")  # fmt: skip
