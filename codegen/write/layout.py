"""Break the long lines of generated code, like a person would.

Defines the width and the style: a call keeps its name on the first line and its closing bracket on the last, and an expression
of operators is broken before them.  Recognises brackets, strings and operators, but no further grammar.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

WIDTH = 130
# A statement: the text before its expression, the expression, and the text after it.
_STATEMENT = re.compile(
    r"(?P<indent> *)(?P<before>return |raise |if |cdef \w+ (?=\w+\()|def |[\w., ]+ = (?:<\w+> )?|)"
    r"(?P<value>.*?)(?P<after>(?: from None)?:?)"
)
_OPERATORS = (", ", " else ", " if ", " or ", " and ", " (?:==|!=|<|>|<=|>=) ", r" \+ | - ", r" \* | / | @ ")


def broken(text: str) -> str:
    """The text with long lines of code broken; comments, docstrings and imports are unchanged."""
    return "\n".join(part for line in text.split("\n") for part in (_statement(line) if len(line) > WIDTH else [line]))


def _statement(line: str) -> list[str]:
    match = _STATEMENT.fullmatch(line)
    if match is None or line.lstrip().startswith(("#", '"""', "from ", "import ")) or _depth(line) is None:
        return [line]
    return _lines(match["before"], match["value"], match["after"], len(match["indent"]), bracketed=False)


def _lines(before: str, value: str, after: str, indent: int, *, bracketed: bool) -> list[str]:
    """`before value after` in lines; inside brackets an expression may be broken without brackets of its own."""
    whole = " " * indent + before + value + after
    if len(whole) <= WIDTH:
        return [whole]
    for operator in _OPERATORS:
        parts = _split(value, operator)
        if len(parts) > 1:
            fill = operator != " else "
            if bracketed:
                return _rows(parts, indent, before, after, fill=fill)
            return [" " * indent + before + "(", *_rows(parts, indent + 4, fill=fill), " " * indent + ")" + after]
    opening = re.match(r"(?:\w+=)?(?:-|not )?[\w.]*[(\[]", value)
    if opening is None:
        return [whole]
    close = _depth(value).index(0, opening.end())
    inner, after = value[opening.end() : close].rstrip(","), value[close:] + after
    comma = "," if value[close - 1] == "," else ""
    return [" " * indent + before + opening[0], *_lines("", inner, comma, indent + 4, bracketed=True), " " * indent + after]


def _rows(parts: list[str], indent: int, before: str = "", after: str = "", *, fill: bool = True) -> list[str]:
    """Parts, each with its operator, in rows: several in a row if `fill` is set; a part that is too long is broken again."""
    rows = [" " * indent + before]
    for i, part in enumerate(parts):
        last = after if i == len(parts) - 1 else ""
        if part.endswith(", "):
            part, last = part[:-2], ", "
        if len(rows[-1]) + len(part) + len(last) <= WIDTH and (fill or i == 0):
            rows[-1] += part + last
            continue
        if rows[-1].strip():
            rows.append(" " * indent)
        lead = re.match(r" *(?:\+ |- |\* |/ |@ |or |and |if |else |[=!]= |[<>]=? |)", part)[0]
        rows[-1:] = _lines(rows[-1].lstrip() + lead.lstrip(), part[len(lead) :], last, indent, bracketed=True)
    return [*(row.rstrip() for row in rows[:-1]), rows[-1]]  # the blank after a comma is kept for the next part on its row


def _split(value: str, operator: str) -> list[str]:
    """The value split before each of its outermost operators; a comma stays with the part before it."""
    cuts = [0]
    depths = _depth(value)
    for match in re.finditer(operator, value):
        if depths is not None and depths[match.start()] == 0:
            cuts.append(match.end() if operator == ", " else match.start())
    return [value[start:stop] for start, stop in zip(cuts, [*cuts[1:], len(value)])]


def _depth(value: str) -> list[int] | None:
    """For each character, the number of brackets and strings around it; None if they do not match."""
    depths, depth, quote = [], 0, ""
    for char in value:
        if quote:
            depths.append(depth + 1)
            quote = "" if char == quote else quote
            continue
        if char in ")]}":
            depth -= 1
        depths.append(depth)
        if char in "'\"":
            quote = char
        elif char in "([{":
            depth += 1
    return depths if depth == 0 and not quote else None


_DEFINITION = re.compile(r"\n+(?=(?:cdef (?:object (?!forward_)|tuple |class )|def |class |register\())")


def spaced(text: str) -> str:
    """The text with one or two blank lines before each definition."""
    return _DEFINITION.sub(_between, text)


def _between(blank: re.Match[str]) -> str:
    """One blank line between the parts of an operator, and two between operators, where a template leaves at least four."""
    return "\n\n\n" if blank[0].count("\n") > 4 else "\n\n"


_IMPORT = re.compile(r"^from (\S+) (c?import) (?:\(([^)]*)\)|(.*))\n|^import (\S+)(?: as (\w+))?\n", re.MULTILINE)


def tidy(text: str) -> str:
    """The text without unused imports, blanks at line ends and superfluous blank lines."""
    rest = _IMPORT.sub("", text)
    words = set(re.findall(r"\w+", rest))

    def used(match: re.Match[str]) -> str:
        module, kind, listed, row, plain, alias = match.groups()
        if plain:
            return match[0] if (alias or plain) in words else ""
        names = [name.strip() for name in (listed or row).split(",") if name.strip()]
        if "__all__" not in text:  # the imports of a namespace are its content
            names = [name for name in names if name.split(" as ")[-1] in words]
        line = f"from {module} {kind} {', '.join(names)}\n"
        if len(line) > 120:  # a name a line: changes by two people do not meet
            line = "\n".join([f"from {module} {kind} (", *(f"    {name}," for name in names), ")\n"])
        return line if names else ""

    text = _IMPORT.sub(used, text)
    text = re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)
    text = re.sub(r"\n{4,}", "\n\n\n", text)
    text = re.sub(r"\n{3,}(?=from |import )", "\n\n", text)
    return text.strip("\n") + "\n" if text.strip() else ""


def items(values: Iterable[object]) -> list[str]:
    """The items of a tuple, each with its comma."""
    return [f"{value!r}," for value in values]


def packed(parts: Iterable[str], first: str, indent: str) -> Iterator[str]:
    """The parts in rows of WIDTH; the opening part is on a row with the next one, and the closing part on the last row."""
    row = first
    for part in parts:
        if len(row) + len(part) + 1 > WIDTH and row.strip():
            yield row.rstrip()
            row = indent
        glue = "" if not row.strip() or row.endswith("(") or part == ")" else " "
        row += glue + part
    yield row
