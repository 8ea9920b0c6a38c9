"""The changes of a source: comparisons, conditions, constants, arguments, statements, each one in one place.

Owns what a slip of a Python or Cython programmer looks like.  Knows nothing of tests or builds.  The changes are made on the
text by tokens, so a type, a cast or a declaration of Cython has to be told from an expression here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .tokens import CLOSE, OPEN, Line, Token, lines

_KEYWORDS = frozenset(
    "and as assert async await break class continue def del elif else except finally for from global if import in is lambda "
    "nonlocal not or pass raise return try while with yield cdef cpdef cimport ctypedef nogil gil".split()
)
_SKIPPED = frozenset("import from cimport class pass global nonlocal ctypedef include assert DEF IF ELSE".split())
_COMPOUND = frozenset("if elif else for while with try except finally match case async".split())
_COMPARED = {"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "==": ("!=",), "!=": ("==",)}
_COMPUTED = {
    "+": "-", "-": "+", "*": "+", "/": "*", "//": "*", "%": "+", "**": "*", "&": "|", "|": "&", "^": "|", "<<": ">>", ">>": "<<",
    "+=": "-=", "-=": "+=", "*=": "+=", "/=": "*=", "//=": "*=", "&=": "|=", "|=": "&=", "<<=": ">>=", ">>=": "<<=",
}  # fmt: skip
_UNORDERED = frozenset("isinstance issubclass getattr hasattr setattr cast max min maximum minimum".split())  # what nobody swaps, or may
_MAKERS = frozenset("frozenset tuple list set bool str".split())  # what they are given often serves as well
_ENDS = frozenset(", : = := if else for async return yield assert while elif lambda or".split())


@dataclass(frozen=True)
class Change:
    """What stands between two places of a source in the place of what was there."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Mutant:
    """A source with one change: where it is, and its lines before and after."""

    path: str
    line: int
    inside: str  # the function or class
    change: Change
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.name}"

    @property
    def name(self) -> str:
        """The mutant without a line number, which moves."""
        return f"{self.inside}: {self.before} -> {self.after}"

    def of(self, text: str) -> str:
        return text[: self.change.start] + self.change.text + text[self.change.end :]


def mutants(path: str, text: str) -> list[Mutant]:
    """Every mutant of a source, in the order of its lines."""
    found = []
    for inside, line in _scoped(text):
        for change in dict.fromkeys(_of_line(line, text, inside)):
            if text[change.start : change.end] != change.text:
                found.append(_mutant(path, text, ".".join(inside.names) or "module", change))
    return found


def _mutant(path: str, text: str, inside: str, change: Change) -> Mutant:
    start = text.rfind("\n", 0, change.start) + 1
    stop = text.find("\n", change.end)
    stop = len(text) if stop < 0 else stop
    before = _squeezed(text[start:stop])
    after = _squeezed(text[start : change.start] + change.text + text[change.end : stop])
    return Mutant(path, text.count("\n", 0, change.start) + 1, inside, change, before, after)


def _squeezed(text: str) -> str:
    """A few lines as one, without what is said about them."""
    return " ".join(re.sub(r"  #[^'\"]*$", "", text, flags=re.MULTILINE).split())


# Lines.


@dataclass
class _Scope:
    """Where a line stands: the functions and classes around it, and the names that the innermost function has assigned."""

    names: list[str]
    typed: bool = False  # inside a Cython function with a C result
    assigned: set[str] | None = None


def _scoped(text: str) -> Iterator[tuple[_Scope, Line]]:
    """The lines that may change, without declarations and what only a type checker reads."""
    around: list[tuple[int, str, bool]] = []  # indentation, name and whether all below is to be left alone
    scope = _Scope([], assigned=set())
    for line in lines(text):
        words = [token.text for token in line.tokens]
        while around and line.indent <= around[-1][0]:
            around.pop()
        names = [name for _, name, _ in around if name]
        if names != scope.names:
            scope = _Scope(names, scope.typed, set())
        left_alone = any(alone for _, _, alone in around)
        if words[-1] == ":":
            head = _head(line)
            name = next((words[i - 1] for i, word in enumerate(words) if word == "(" and line.tokens[i].depth == 0), words[-2])
            if "class" in words[:3]:
                name = words[words.index("class") + 1]
            declares = words[0] in ("cdef", "ctypedef", "cpdef") and not head and "class" not in words
            checked = words[:2] == ["if", "TYPE_CHECKING"] or words[:2] == ["if", "typing"]
            if head or "class" in words[:3]:
                scope.typed = words[0] in ("cdef", "cpdef") and len(words) > 2 and words[1] not in ("object", "tuple", "list", "dict")
            around.append((line.indent, name if head or "class" in words[:3] else "", declares or checked))
            left_alone = left_alone or declares or checked
        if not left_alone:
            yield scope, line


def _head(line: Line) -> bool:
    """Whether a line begins a function."""
    words = [token.text for token in line.tokens]
    if words[0] in ("def", "async") and "def" in words[:2]:
        return True
    return words[0] in ("cdef", "cpdef") and "(" in words and words[-1] == ":" and not {"class", "extern", "struct"} & set(words[:3])


def _of_line(line: Line, text: str, scope: _Scope) -> Iterator[Change]:
    tokens, first = line.tokens, line.tokens[0].text
    if _head(line):
        close = next(i for i, token in enumerate(tokens) if token.text == "(" and token.depth == 0)
        for begin, end in _after_equals(tokens, close + 1, tokens[close].partner, 1):
            yield from _expression(tokens, begin, end, text)
    elif first == "@":
        if tokens[1].text != "cython":
            yield Change(line.start, line.end, "")
    elif first in ("cdef", "cpdef"):
        for begin, end in _after_equals(tokens, 0, len(tokens), 0):
            yield from _expression(tokens, begin, end, text)
    elif first in _COMPOUND and (colon := _colon(tokens)) is not None:
        yield from _compound(tokens, colon, text)
        if colon + 1 < len(tokens):
            yield from _simple(tokens, colon + 1, text, scope)
    elif first not in _SKIPPED:
        yield from _simple(tokens, 0, text, scope)


def _colon(tokens: list[Token]) -> int | None:
    """The colon that ends the head of a compound statement."""
    return next((i for i, token in enumerate(tokens) if token.text == ":" and token.depth == 0), None)


def _after_equals(tokens: list[Token], begin: int, end: int, depth: int) -> Iterator[tuple[int, int]]:
    """The values of defaults or of declared names, between `=` and the next comma."""
    start = None
    for i in range(begin, end):
        if tokens[i].depth == depth and tokens[i].text == "=":
            start = i + 1
        elif tokens[i].depth == depth and tokens[i].text == "," and start is not None:
            yield start, i
            start = None
    if start is not None:
        yield start, end


def _compound(tokens: list[Token], colon: int, text: str) -> Iterator[Change]:
    first = tokens[0].text
    if first in ("if", "elif", "while") and colon > 1:
        for value in ("True", "False") if first != "while" else ("False",):
            yield Change(tokens[1].start, tokens[colon - 1].end, value)
    if first == "with" and not any(token.text in ("as", "nogil", "gil") for token in tokens[:colon]):
        yield Change(tokens[0].start, tokens[colon].end, "if True:")
    yield from _expression(tokens, 1, colon, text)


def _simple(tokens: list[Token], begin: int, text: str, scope: _Scope) -> Iterator[Change]:
    """Changes of a simple statement: left out, or in what it computes."""
    first, end = tokens[begin], len(tokens)
    whole = (first.start, tokens[-1].end)
    if all(token.kind == "string" for token in tokens[begin:]):
        return
    if first.text in ("break", "continue"):
        yield Change(*whole, "continue" if first.text == "break" else "break")
        yield Change(*whole, "pass")
        return
    if first.text in ("raise", "del"):
        yield Change(*whole, "pass")
        return
    if first.text == "return":
        if end - begin == 1:
            yield Change(*whole, "pass")
        elif not scope.typed and [token.text for token in tokens[begin + 1 :]] != ["None"]:
            yield Change(*whole, "return None")
        yield from _expression(tokens, begin + 1, end, text)
        return
    equals = [i for i in range(begin, end) if tokens[i].depth == 0 and tokens[i].text.endswith("=") and _assigns(tokens[i].text)]
    colon = next((i for i in range(begin, equals[0] if equals else end) if tokens[i].depth == 0 and tokens[i].text == ":"), None)
    if colon is not None and tokens[begin].kind == "name":  # an annotated name
        if equals:
            yield from _expression(tokens, equals[0] + 1, end, text)
        return
    if _may_go(tokens, begin, equals, scope):
        yield Change(*whole, "pass")
    yield from _expression(tokens, begin, end, text)


def _assigns(word: str) -> bool:
    return word == "=" or word in _COMPUTED or word in ("@=", "%=", "^=", "**=")


def _may_go(tokens: list[Token], begin: int, equals: list[int], scope: _Scope) -> bool:
    """Whether a statement can be left out with what follows still naming what exists."""
    if not equals:
        return not any(token.text in ("yield", "await") for token in tokens[begin:])
    target = tokens[begin : equals[0]]
    if tokens[equals[0]].text != "=" or any(token.text in (".", "[") for token in target):
        return True
    names = {token.text for token in target if token.kind == "name"}
    known = names <= scope.assigned
    scope.assigned |= names
    return known


# Expressions.


def _operand(token: Token | None) -> bool:
    """Whether an operand ends with this token, so that an operator may follow."""
    if token is None:
        return False
    return token.kind in ("number", "string") or token.text in CLOSE or (token.kind == "name" and token.text not in _KEYWORDS)


def _begins(token: Token | None) -> bool:
    if token is None:
        return False
    return token.kind in ("number", "string") or token.text in "([{-+~<&" or (token.kind == "name" and token.text not in _KEYWORDS)


def _expression(tokens: list[Token], begin: int, end: int, text: str) -> Iterator[Change]:
    i = begin
    while i < end:
        token = tokens[i]
        before = tokens[i - 1] if i > begin else None
        after = tokens[i + 1] if i + 1 < end else None
        if token.text == "<" and not _operand(before):  # a cast of Cython
            i = next((j for j in range(i, end) if tokens[j].text == ">" and tokens[j].depth == token.depth), i) + 1
            continue
        yield from _word(tokens, i, begin, end, before, after)
        if token.text in ("and", "or"):
            yield from _conjuncts(tokens, i, begin, end)
        elif token.text == "if":
            yield from _condition(tokens, i, end)
        elif token.text == "(" and _operand(before) and before.kind != "string":
            yield from _call(tokens, i, begin, text)
        elif token.text == "[" and _operand(before):
            yield from _slice(tokens, i, text)
        i += 1


def _word(tokens: list[Token], i: int, begin: int, end: int, before: Token | None, after: Token | None) -> Iterator[Change]:
    """Changes of one operator, constant or keyword."""
    token = tokens[i]
    word = token.text
    between = _operand(before) and _begins(after)
    if word in _COMPARED and between:
        yield from (Change(token.start, token.end, other) for other in _COMPARED[word])
    elif word in _COMPUTED and between and "string" not in (before.kind, after.kind):
        yield Change(token.start, token.end, _COMPUTED[word])
    elif word in ("-", "~") and not _operand(before):
        yield Change(token.start, token.end, "")
    elif word == "is":
        negated = after is not None and after.text == "not"
        yield Change(token.start, after.end if negated else token.end, "is" if negated else "is not")
    elif word == "not" and after is not None:
        if after.text == "in":
            yield Change(token.start, after.end, "in")
        elif before is None or before.text != "is":
            yield Change(token.start, after.start, "")
    elif word == "in" and before is not None and before.text != "not" and not _of_loop(tokens, i):
        yield Change(token.start, token.end, "not in")
    elif word in ("and", "or"):
        yield Change(token.start, token.end, "or" if word == "and" else "and")
    elif word in ("True", "False") and (after is None or after.text != "="):
        yield Change(token.start, token.end, "False" if word == "True" else "True")
    elif token.kind == "number":
        yield from (Change(token.start, token.end, other) for other in _other_numbers(word))


def _other_numbers(word: str) -> list[str]:
    if re.fullmatch(r"[\d_]+|0[xX][0-9a-fA-F_]+", word):
        value = int(word, 0) if word.strip("0_") else 0
        return [str(value + 1), str(value - 1) if value else "(-1)"]
    if word[-1] in "jJ" or word[:2].lower() in ("0o", "0b"):
        return []
    return [repr(1.25 * float(word)) if float(word) else "1.0"]


def _of_loop(tokens: list[Token], i: int) -> bool:
    """Whether this `in` belongs to a `for`."""
    for j in range(i - 1, -1, -1):
        if tokens[j].depth == tokens[i].depth and tokens[j].text in ("for", "in", "if"):
            return tokens[j].text == "for"
    return False


def _reach(tokens: list[Token], i: int, begin: int, end: int, step: int, ends: frozenset[str]) -> int:
    """The last token of the operand that begins beside the token i, to the left or to the right."""
    depth, last, j = tokens[i].depth, i, i + step
    while begin <= j < end:
        token = tokens[j]
        if token.text in (CLOSE if step > 0 else OPEN) and token.depth < depth:
            break
        if token.depth == depth and token.text in ends:
            break
        last, j = j, j + step
    return last


def _conjuncts(tokens: list[Token], i: int, begin: int, end: int) -> Iterator[Change]:
    """One side of `and` or `or` left out."""
    word = tokens[i].text
    ends = _ENDS | {"and"} if word == "and" else _ENDS
    left, right = (_reach(tokens, i, begin, end, step, ends) for step in (-1, 1))
    if left == i or right == i:
        return
    previous = tokens[left - 1].text if left > begin else ""
    if previous != word:  # else the one before has left it out
        yield Change(tokens[left].start, tokens[i + 1].start, "")
    yield Change(tokens[i - 1].end, tokens[right].end, "")


def _condition(tokens: list[Token], i: int, end: int) -> Iterator[Change]:
    """The condition of `a if b else c`, or of a comprehension."""
    last = _reach(tokens, i, 0, end, 1, frozenset(("else", "for", "if", "async")))
    if last == i:
        return
    values = ("True", "False") if last + 1 < end and tokens[last + 1].text == "else" else ("True",)
    yield from (Change(tokens[i + 1].start, tokens[last].end, value) for value in values)


def _arguments(tokens: list[Token], i: int) -> list[tuple[int, int]]:
    """Where the arguments of the bracket i begin and end."""
    found, start, close = [], i + 1, tokens[i].partner
    for j in range(i + 1, close + 1):
        if j == close or (tokens[j].text == "," and tokens[j].depth == tokens[i].depth + 1):
            if j > start:
                found.append((start, j))
            start = j + 1
    return found


def _call(tokens: list[Token], i: int, begin: int, text: str) -> Iterator[Change]:
    """Arguments swapped or left out, ranges one shorter, and the call left out."""
    depth, arguments = tokens[i].depth + 1, _arguments(tokens, i)

    def source(argument: tuple[int, int]) -> str:
        return text[tokens[argument[0]].start : tokens[argument[1] - 1].end]

    def has(argument: tuple[int, int], *words: str) -> bool:
        return any(token.text in words for token in tokens[argument[0] : argument[1]] if token.depth == depth)

    if not arguments or any(has(argument, "for") for argument in arguments):
        return
    plain = [a for a in arguments if not has(a, "=") and tokens[a[0]].text not in ("*", "**")]
    name = tokens[i - 1].text
    if name not in _UNORDERED:
        for one, other in zip(plain, plain[1:]):
            if source(one) != source(other):
                gap = text[tokens[one[1] - 1].end : tokens[other[0]].start]
                yield Change(tokens[one[0]].start, tokens[other[1] - 1].end, source(other) + gap + source(one))
    for argument in arguments:
        if has(argument, "=") and argument is not arguments[0]:
            yield Change(tokens[argument[0] - 2].end, tokens[argument[1] - 1].end, "")
    if name == "range" and len(plain) in (1, 2):
        last = tokens[plain[-1][1] - 1].end
        yield Change(last, last, " - 1")
        yield Change(tokens[plain[0][0]].start, tokens[plain[0][0]].start, "1, " if len(plain) == 1 else "1 + ")
    start = i - 1
    while start - 2 >= begin and tokens[start - 1].text == "." and tokens[start - 2].kind == "name":
        start -= 2
    simple = tokens[start].kind == "name" and (start == 0 or tokens[start - 1].text not in (".", "*", "&"))
    if simple and plain and plain[0] is arguments[0] and start > 0 and name not in _MAKERS:
        first = source(plain[0])
        yield Change(tokens[start].start, tokens[tokens[i].partner].end, first if plain[0][1] - plain[0][0] == 1 else f"({first})")


def _slice(tokens: list[Token], i: int, text: str) -> Iterator[Change]:
    """Bounds of a slice moved by one; those that are numbers change as numbers."""
    depth, close = tokens[i].depth + 1, tokens[i].partner
    if any(token.text == "lambda" for token in tokens[i:close]):
        return
    for begin, end in _arguments(tokens, i):
        colon = next((j for j in range(begin, end) if tokens[j].text == ":" and tokens[j].depth == depth), None)
        if colon is None:
            continue
        stop = next((j for j in range(colon + 1, end) if tokens[j].text == ":" and tokens[j].depth == depth), end)
        if stop != end:
            continue
        if colon == begin:
            yield Change(tokens[colon].start, tokens[colon].start, "1")
        elif tokens[colon - 1].kind != "number":
            yield Change(tokens[colon].start, tokens[colon].start, " + 1")
        if stop == colon + 1:
            yield Change(tokens[colon].end, tokens[colon].end, "-1")
        elif tokens[stop - 1].kind != "number":
            yield Change(tokens[stop - 1].end, tokens[stop - 1].end, " - 1")
