"""Spelling: NumPy's ufuncs in C99, a row for each, and numbers as C.

A row is an expression of operands of one type; `{f}` is the suffix of libm's functions of that type, `{t}` the type.  A ufunc
without a row is refused.  Independent of operators.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import numpy as np

TYPES = {np.dtype(kind): text for kind, text in {
    "bool": "bool", "int32": "int32_t", "int64": "int64_t", "float32": "float", "float64": "double",
}.items()}  # fmt: skip
COMPARED = {
    "equal": "{0} == {1}", "not_equal": "{0} != {1}", "less": "{0} < {1}", "less_equal": "{0} <= {1}",
    "greater": "{0} > {1}", "greater_equal": "{0} >= {1}",
    "logical_and": "({0} != 0) && ({1} != 0)", "logical_or": "({0} != 0) || ({1} != 0)", "logical_not": "{0} == 0",
    "logical_xor": "({0} != 0) != ({1} != 0)",
}  # fmt: skip
LIBM = (
    {
        name: name
        for name in """
    exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh cbrt sqrt fabs floor ceil trunc rint erf erfc
""".split()
    }
    | {f"arc{name}": f"a{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")}
    | {"absolute": "fabs", "gamma": "tgamma"}
)
LIBM_OF_TWO = {
    "power": "pow", "arctan2": "atan2", "hypot": "hypot", "copysign": "copysign", "fmod": "fmod", "nextafter": "nextafter",
}  # fmt: skip
OWN = "logaddexp", "logaddexp2", "remainder", "floor_divide"  # in functions_template.h
FLOATS = {
    "add": "{0} + {1}", "subtract": "{0} - {1}", "multiply": "{0} * {1}", "divide": "{0} / {1}", "negative": "-{0}",
    "positive": "{0}", "conjugate": "{0}", "square": "{0} * {0}", "reciprocal": "1 / {0}",
    "maximum": "{0} >= {1} || isnan({0}) ? {0} : {1}", "minimum": "{0} <= {1} || isnan({0}) ? {0} : {1}",
    "fmax": "{0} >= {1} || isnan({1}) ? {0} : {1}", "fmin": "{0} <= {1} || isnan({1}) ? {0} : {1}",
    "sign": "{0} > 0 ? 1 : {0} < 0 ? -1 : {0} == 0 ? 0 : {0}",
    "isnan": "isnan({0}) != 0", "isinf": "isinf({0}) != 0", "isfinite": "isfinite({0}) != 0", "signbit": "signbit({0}) != 0",
    "deg2rad": "{0} * ({t}) 0.017453292519943295", "rad2deg": "{0} * ({t}) 57.29577951308232",
    "xlog1py": "{0} == 0 && !isnan({1}) ? 0 : {0} * log1p{f}({1})",
    "heaviside": "isnan({0}) ? {0} : {0} == 0 ? {1} : {0} < 0 ? 0 : 1",
    **{name: f"{word}{{f}}({{0}})" for name, word in LIBM.items()},
    **{name: f"{word}{{f}}({{0}}, {{1}})" for name, word in LIBM_OF_TWO.items()},
    **{name: f"gs_{name}{{f}}({{0}}, {{1}})" for name in OWN},
}  # fmt: skip
INTS = {  # NumPy's integers wrap around: in C only unsigned ones do
    "add": "({t}) ((u{t}) {0} + (u{t}) {1})", "subtract": "({t}) ((u{t}) {0} - (u{t}) {1})",
    "multiply": "({t}) ((u{t}) {0} * (u{t}) {1})", "negative": "({t}) (0 - (u{t}) {0})", "positive": "{0}", "conjugate": "{0}",
    "maximum": "{0} > {1} ? {0} : {1}", "minimum": "{0} < {1} ? {0} : {1}", "sign": "({0} > 0) - ({0} < 0)",
    "absolute": "{0} < 0 ? ({t}) (0 - (u{t}) {0}) : {0}", "square": "({t}) ((u{t}) {0} * (u{t}) {0})",
    # A division by 0 is 0, and the least integer divided by -1 is itself.
    "floor_divide": "{1} == 0 ? 0 : {1} == -1 ? ({t}) (0 - (u{t}) {0}) : {0} / {1} - ({0} % {1} != 0 && ({0} < 0) != ({1} < 0))",
    "remainder": "{1} == 0 || {1} == -1 ? 0 : {0} % {1} + ({0} % {1} != 0 && ({0} < 0) != ({1} < 0) ? {1} : 0)",
    "fmod": "{1} == 0 || {1} == -1 ? 0 : {0} % {1}",
    "bitwise_and": "{0} & {1}", "bitwise_or": "{0} | {1}", "bitwise_xor": "{0} ^ {1}", "invert": "~{0}",
    "left_shift": "(u{t}) {1} < {bits} ? ({t}) ((u{t}) {0} << {1}) : 0",
    "right_shift": "(u{t}) {1} < {bits} ? {0} >> {1} : {0} < 0 ? -1 : 0",
}  # fmt: skip
BOOLS = {
    "bitwise_and": "{0} && {1}", "bitwise_or": "{0} || {1}", "bitwise_xor": "{0} != {1}", "invert": "!{0}",
    "maximum": "{0} || {1}", "minimum": "{0} && {1}", "multiply": "{0} && {1}", "add": "{0} || {1}",
}  # fmt: skip


def expression(name: str, dtype: np.dtype) -> str | None:
    """The expression of a ufunc for operands of one dtype; None for a ufunc that C lacks."""
    table = {"f": FLOATS, "i": INTS, "b": BOOLS}[dtype.kind]
    found = COMPARED.get(name) or table.get(name)
    return found and found.replace("{f}", suffix(dtype)).replace("{t}", TYPES[dtype]).replace("{bits}", str(8 * dtype.itemsize))


def suffix(dtype: np.dtype) -> str:
    """The end of the names of functions for a dtype, as in libm."""
    return "f" if dtype == np.float32 else ""


@cache
def definitions() -> dict[str, str]:
    """The functions of functions_template.h, by name, in order."""
    text = Path(__file__).with_name("functions_template.h").read_text(encoding="utf-8")
    return {
        one[2]: one[1] for one in re.finditer(r"^(static (?:T|int|void) TYPED\((\w+)\)\([^{]*\{\n.*?^\}\n)", text, re.M | re.S)
    }


def written_out(wanted: set[tuple[str, np.dtype]]) -> str:
    """The text of functions, and of the functions that they call."""
    texts = []
    for dtype in sorted({dtype for _, dtype in wanted}, key=str):
        names = {name for name, other in wanted if other == dtype}
        for name, text in reversed(definitions().items()):
            names |= set(re.findall(r"TYPED\((\w+)\)", text)) if name in names else set()
        for name in (name for name in definitions() if name in names):
            text = re.sub(r"TYPED\((\w+)\)", rf"gs_\1{suffix(dtype)}", definitions()[name])
            texts.append(re.sub(r"\bT\b", TYPES[dtype], re.sub(r"\bF\((\w+)\)", rf"\1{suffix(dtype)}", text)))
    return "\n".join(texts)


class Literal(str):
    """A number as C, with its value."""

    value: np.ndarray


def literal(value: object, dtype: np.dtype) -> Literal:
    text = Literal(number(value, dtype))
    text.value = np.asarray(value).astype(dtype)
    return text


def number(value: object, dtype: np.dtype) -> str:
    """A number as C, to the last bit."""
    item = np.asarray(value).astype(dtype)[()]
    if dtype.kind == "b":
        return "true" if item else "false"
    if dtype.kind == "i":
        size, item = 8 * dtype.itemsize, int(item)
        if item == -(1 << size - 1):
            return f"(-INT{size}_C({-(item + 1)}) - 1)"
        text = str(abs(item)) if abs(item) < 1 << 15 else f"INT{size}_C({abs(item)})"
        return text if item >= 0 else f"(-{text})"
    if not np.isfinite(item):
        return f"(({TYPES[dtype]}) {'NAN' if item != item else 'INFINITY' if item > 0 else '-INFINITY'})"
    return f"({item}{suffix(dtype)})" if np.signbit(item) else f"{item}{suffix(dtype)}"
