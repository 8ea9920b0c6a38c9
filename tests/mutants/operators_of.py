"""The operators that run a function of a kernel: their tests judge it, whatever file they stand in.

Owns the way from a function to the entries of the spec, over the functions that call it by name.  Knows nothing of tests.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
KERNELS = ROOT / "runtime" / "kernels"
_FUNCTION = re.compile(r"^(?:def|cdef|cpdef)\b[^\n=]*?(\w+)\(|^cdef class (\w+)|^class (\w+)|^(?:cdef \w+ )?(\w+) = ", re.MULTILINE)
_MOST = 12  # operators that a function is judged by, the nearest first


def operators_of(function: str) -> list[str]:
    """Names of entries whose kernels run this function or use this constant, those that name it first, then those that call them."""
    reached, seen, callers, (by_kernel, by_operator) = [function], {function}, _callers(), _entries()
    for name in reached:
        new = sorted(callers.get(name, set()) - seen)
        reached += new
        seen.update(new)
    found = list(dict.fromkeys(op for name in reached for op in by_kernel.get(name, [])))
    for name in found:
        found += [op for op in by_operator.get(name, []) if op not in found] if name.startswith("_") else []
    return found[:_MOST]


@functools.cache
def _callers() -> dict[str, set[str]]:
    """Name -> the functions, classes and values of `runtime/kernels` that name it."""
    bodies: dict[str, list[str]] = {}
    for path in sorted(KERNELS.rglob("*.py*")):
        if path.suffix in (".py", ".pyx"):
            text = path.read_text()
            heads = list(_FUNCTION.finditer(text))
            for head, end in zip(heads, [*(after.start() for after in heads[1:]), len(text)]):
                bodies.setdefault(next(filter(None, head.groups())), []).append(text[head.end() : end])
    found: dict[str, set[str]] = {}
    for name, texts in bodies.items():
        for word in set(re.findall(r"\w+", " ".join(texts))) - {name}:
            found.setdefault(word, set()).add(name)
    return found


@functools.cache
def _entries() -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Kernel -> the entries that name it, and private operator -> those that call it; of several ranks the second."""
    by_kernel: dict[str, list[str]] = {}
    by_operator: dict[str, list[str]] = {}
    for entry in re.split(r"^- op: ", (ROOT / "derivatives.yaml").read_text(), flags=re.MULTILINE)[1:]:
        name = re.match(r"[\w.{}]+", entry)[0].replace("{n}", "2")
        for kernel in dict.fromkeys(re.findall(r"\bkernels\.(\w+)", entry)):
            by_kernel.setdefault(kernel, []).append(name)
        for called in dict.fromkeys(re.findall(r"(?<![\w.])(_[a-z]\w*)\(", entry)):
            by_operator.setdefault(called, []).append(name)
    return by_kernel, by_operator
