"""Structure checks: check each field of a saved program before any field is used.

Holds the table of a program file, and the relations between its fields: layouts of arrays and inputs, values within their memory,
operators that the spec has, with the right number of arguments.  `consistency_checks` compares the parts of a recording;
`first_call_check` compares the results of operators with the file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...api.archives import LARGEST, NUMBERS, Damaged, check_size, shortened
from ..tracing.entries import entry_of
from ..tracing.instructions import GUARD
from ..tracing.values import Value, mapped

Check = Callable[[Any, str], None]
TYPES = {"bool": bool, "int": int, "float": float, "complex": complex}
PLAIN = ("differentiated", "cotangents", "targets", "gradients", "inputs", "results", "returned", "roots", "looks", "versions",
         "freeing")  # fmt: skip
FORMS = {"_": "inplace", ".out": "out"}
MADE = "tensor"  # the only instruction that is not an operator: numbers in a different dtype
ROOM = 1 << 28  # bytes that arrays may span beyond 64 times the file's size: elements may be far apart


def refused(where: str, wanted: str, item: Any) -> Damaged:
    return Damaged(f"program.json: {where} should be {wanted}, and is {shortened(item)}")


# Fields.


def text(item: Any, where: str) -> None:
    if type(item) is not str:
        raise refused(where, "text", item)


def flag(item: Any, where: str) -> None:
    if type(item) is not bool:
        raise refused(where, "true or false", item)


def whole(low: int, high: int = LARGEST) -> Check:
    def check(item: Any, where: str) -> None:
        if type(item) is not int or not low <= item < high:
            raise refused(where, f"a whole number from {low} on" if high == LARGEST else f"from {low} to {high - 1}", item)

    return check


def word(*words: str) -> Check:
    def check(item: Any, where: str) -> None:
        if item not in words or type(item) is not str:
            raise refused(where, "one of " + ", ".join(words), item)

    return check


def dtype_of(written: Callable[[np.dtype], str]) -> Check:
    """Check a numeric dtype in native order, written as its name or as NumPy's code."""
    def check(item: Any, where: str) -> None:
        text(item, where)
        try:
            found = np.dtype(item)
        except Exception as error:  # NumPy raises many classes
            raise refused(where, "a dtype of numbers", item) from error
        if found.kind not in NUMBERS or written(found) != item or not found.isnative or found.shape:
            raise refused(where, "a dtype of numbers", item)

    return check


def optional(check: Check) -> Check:
    return lambda item, where: None if item is None else check(item, where)


def listed(check: Check) -> Check:
    def all_of(item: Any, where: str) -> None:
        if type(item) is not list:
            raise refused(where, "a list", item)
        for number, part in enumerate(item):
            check(part, f"{where}[{number}]")

    return all_of


def nonempty(check: Check) -> Check:
    def one_at_least(item: Any, where: str) -> None:
        if item == []:
            raise refused(where, "a list of one or more", item)
        listed(check)(item, where)

    return one_at_least


def row(*checks: Check) -> Check:
    def each(item: Any, where: str) -> None:
        if type(item) is not list or len(item) != len(checks):
            raise refused(where, f"a list of {len(checks)}", item)
        for number, (check, part) in enumerate(zip(checks, item)):
            check(part, f"{where}[{number}]")

    return each


def record(**checks: Check) -> Check:
    def each(item: Any, where: str) -> None:
        if type(item) is not dict:
            raise refused(where, "an object", item)
        for name in [*(checks.keys() - item.keys()), *(item.keys() - checks.keys())]:
            raise Damaged(f"program.json: {where} has {'no' if name in checks else 'an unknown'} {shortened(name)}")
        for name, check in checks.items():
            check(item[name], f"{where}.{name}" if where else name)

    return each


def leaf(item: Any, where: str) -> None:
    literal = type(item) is dict and item.get("text") is not None
    (LITERAL if literal else ARRAY_GIVEN)(item, where)


def place(item: Any, where: str) -> None:
    """Check the user's line of an instruction."""
    if type(item) is not list or len(item) < 2 or not all(part is None or type(part) in (str, int) for part in item):
        raise refused(where, "a file with a line", item)


def hexadecimal(item: Any, where: str) -> None:
    text(item, where)
    try:
        float.fromhex(item)
    except (ValueError, OverflowError) as error:
        raise refused(where, "a number in hexadecimal digits", item) from error


def digits(item: Any, where: str) -> None:
    text(item, where)
    if len(item) > 400 or not item.removeprefix("-").isdecimal() or not item.isascii():
        raise refused(where, "digits", item)


def scalar_type(item: Any, where: str) -> None:
    text(item, where)
    found = getattr(np, item, None) if item.isidentifier() else None
    if not isinstance(found, type) or not issubclass(found, np.number | np.bool_):
        raise refused(where, "a class of NumPy's numbers", item)


def pair_of_trees(item: Any, where: str) -> None:
    if type(item) is not list or len(item) != 2 or type(item[0]) is not dict or not item[0].keys() <= {"int", "str"}:
        raise refused(where, "a key with its item", item)
    tree(item[0], where)
    tree(item[1], where)


def tree(item: Any, where: str) -> None:
    """Check a tree of values and literals, as `Writer.tree` writes it."""
    if item is None or type(item) is bool:
        return
    if type(item) is list:
        for number, part in enumerate(item):
            tree(part, f"{where}[{number}]")
        return
    if type(item) is not dict or item.keys() != {"array", "scalar"} and len(item) != 1:
        raise refused(where, "a value or a literal", item)
    kind, content = next(iter(item.items()))
    if kind not in LITERALS:
        raise refused(where, "one of " + ", ".join(LITERALS), kind)
    LITERALS[kind](content, f"{where}.{kind}")
    if kind == "array":
        flag(item.get("scalar"), f"{where}.scalar")


def line(item: Any, where: str) -> None:
    """Check an instruction; a guard has bytes in hexadecimal digits beside its value."""
    guards = type(item) is list and item[:1] == [GUARD]
    row(text, row(tree, octets) if guards else tree, tree, optional(place))(item, where)


def octets(item: Any, where: str) -> None:
    text(item, where)
    try:
        bytes.fromhex(item)
    except ValueError as error:
        raise refused(where, "bytes in hexadecimal digits", item) from error


# The table.

DTYPE = dtype_of(str)
STRIDES = listed(whole(-LARGEST))
ARRAY = row(whole(0), STRIDES)  # the number of a member, and the array's strides
LITERALS: dict[str, Check] = {
    "value": whole(0), "int": digits, "str": text, "float": hexadecimal, "complex": row(hexadecimal, hexadecimal),
    "tuple": listed(tree), "dict": listed(pair_of_trees), "slice": row(tree, tree, tree), "ellipsis": flag,
    "dtype": dtype_of(lambda dtype: dtype.str), "type": word(*TYPES), "numpy": scalar_type, "array": ARRAY,
}  # fmt: skip
VALUE = row(word("input", "constant", "result"), listed(whole(0)), DTYPE, STRIDES, optional(whole(0)), whole(0, 1 << 63),
            optional(ARRAY))  # fmt: skip
LITERAL = record(text=text, written=flag)
ARRAY_GIVEN = record(text=optional(text), dtype=DTYPE, shape=listed(whole(0)), strides=STRIDES, requires_grad=flag, written=flag)
RECORDING = record(**dict.fromkeys(PLAIN, tree), passed=listed(row(whole(0), whole(0))), spent=listed(row(whole(0), text)),
                   lines=nonempty(listed(line)))  # fmt: skip
KIND = record(leaves=listed(leaf), grad=flag, form=tree, count=whole(0), programs=listed(RECORDING))
HELD = record(way=text, data=ARRAY, memory=whole(0), address=whole(0, 1 << 63), requires_grad=flag, grad=optional(ARRAY))
PROGRAM = record(format=whole(1), gradspec=text, values=listed(VALUE), kinds=listed(KIND), held=listed(HELD))


def check_document(document: Any, arrays: list[np.ndarray], size: int) -> None:
    """Refuse a document that is not a program.

    Parameters
    ----------
    document : object
        Parsed JSON.
    arrays : list of ndarray
        The members of the file.
    size : int
        Bytes of the file.

    Raises
    ------
    Damaged
        With the path of the faulty field.
    """
    PROGRAM(document, "")
    room = 64 * size + ROOM
    for number, (kind, shape, dtype, strides, memory, address, data) in enumerate(document["values"]):
        where = f"values[{number}]"
        check_layout(shape, strides, np.dtype(dtype).itemsize, address, where)
        if memory is not None and (memory >= number or document["values"][memory][4] is not None):
            raise refused(f"{where}[4]", "None or the number of a value before it with memory of its own", memory)
        if data is not None:
            if kind != "constant":
                raise Damaged(f"program.json: {where} has numbers but is not a constant")
            room -= check_array(data, arrays, where, np.dtype(dtype), shape, strides)
    ways: set[str] = set()
    for number, one in enumerate(document["held"]):
        where = f"held[{number}]"
        room -= check_array(one["data"], arrays, f"{where}.data")
        array = arrays[one["data"][0]]
        check_layout(array.shape, one["data"][1], array.itemsize, one["address"], where)
        if one["grad"] is not None:
            room -= check_array(one["grad"], arrays, f"{where}.grad", array.dtype, array.shape)
        if array.dtype.kind not in "fc" and (one["requires_grad"] or one["grad"] is not None):
            raise Damaged(f"program.json: {where} is {array.dtype} and requires grad")
        if one["way"] in ways:
            raise Damaged(f"program.json: {where}.way occurs twice: {shortened(one['way'])}")
        ways.add(one["way"])
    if room < 0:
        raise Damaged("program.json: the strides of arrays are so large that they need far more memory than the file has "
                      "bytes")  # fmt: skip
    for number, kind in enumerate(document["kinds"]):
        for place, one in enumerate(kind["leaves"]):
            if one["text"] is None:
                size = np.dtype(one["dtype"]).itemsize
                check_layout(one["shape"], one["strides"], size, None, f"kinds[{number}].leaves[{place}]")


def check_layout(shape: Any, strides: Any, itemsize: int, address: int | None, where: str) -> None:
    """Refuse a layout whose elements leave the address space."""
    check_size(tuple(shape), itemsize, f"program.json: {where}")
    if len(strides) != len(shape):
        raise Damaged(f"program.json: {where} has {len(shape)} axes and {len(strides)} strides")
    low, high = ends(shape, strides, itemsize)
    if high - low >= LARGEST or address is not None and not 0 <= address + low <= address + high < 1 << 63:
        raise Damaged(f"program.json: {where} reaches out of memory by its strides {shortened(strides)}")


def ends(shape: Any, strides: Any, itemsize: int) -> tuple[int, int]:
    """The bounds of an array's memory, in bytes from its first element."""
    if 0 in shape:
        return 0, 0
    reach = [(size - 1) * stride for size, stride in zip(shape, strides)]
    return sum(min(one, 0) for one in reach), sum(max(one, 0) for one in reach) + itemsize


def check_array(
    described: list[Any], arrays: list[np.ndarray], where: str, dtype: Any = None, shape: Any = None, strides: Any = None
) -> int:
    """Refuse an array whose member has a different dtype, shape or strides; returns the bytes that it spans."""
    number, steps = described
    if number >= len(arrays):
        raise Damaged(f"program.json: {where} names {number}.npy, which is missing")
    array = arrays[number]
    if dtype is not None and (array.dtype != dtype or list(array.shape) != list(shape)):
        raise Damaged(f"{number}.npy is {array.dtype}{list(array.shape)}, but program.json says {dtype}{list(shape)} in {where}")
    check_layout(array.shape, steps, array.itemsize, None, where)
    if strides is not None and any(size > 1 and a != b for size, a, b in zip(array.shape, steps, strides)) and array.size:
        raise Damaged(f"program.json: {where} has the strides {shortened(strides)}, and its numbers {shortened(steps)}")
    low, high = ends(array.shape, steps, array.itemsize)
    return high - low


def check_instruction(name: str, arguments: Any, outputs: Any, where: str) -> None:
    """Refuse an instruction with an unknown operator or unsuitable arguments, before it is built."""
    if type(arguments) is not tuple:
        raise Damaged(f"program.json: {where} has no arguments")
    check_operator(name, len(arguments), where)
    if not all(item is None or type(item) is Value for item in leaves_of(outputs)):
        raise Damaged(f"program.json: {where} has an output that is not a value")
    if name == GUARD:
        value, wanted = arguments
        if type(value) is not Value or len(wanted) != value.layout.count * value.dtype.itemsize:
            raise Damaged(f"program.json: {where} compares {len(wanted)} bytes with {getattr(value, 'type', shortened(value))}")
    elif name.endswith(("_", ".out")) and type(arguments[-1 if name.endswith(".out") else 0]) is not Value:
        raise Damaged(f"program.json: {where}: {name} writes to an argument that is not a value")


def leaves_of(tree: Any) -> list[Any]:
    found: list[Any] = []
    mapped(tree, found.append)
    return found


def check_operator(name: str, count: int, where: str) -> None:
    """Refuse an unknown operator, or one with a different number of arguments."""
    entry = entry_of(name)
    if entry is None:
        if (name, count) in ((GUARD, 2), (MADE, 2)):
            return
        raise Damaged(f"program.json: {where} calls {shortened(name)}, which is not an operator of the spec")
    form = name.removeprefix(entry.name)
    if form and FORMS.get(form) not in entry.variants:
        raise Damaged(f"program.json: {where} calls {shortened(name)}, which {entry.name} has not")
    wanted = len(entry.arguments) + name.endswith(".out")
    if count != wanted or not count and name.endswith("_"):
        raise Damaged(f"program.json: {where} calls {name} with {count} arguments, and it takes {wanted}")
