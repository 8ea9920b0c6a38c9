"""Python and Cython as tokens: strings, names, numbers and operators, in logical lines.

Owns what a logical line is and which brackets hold a token.  Knows nothing of changes.  Python's own tokenizer refuses
Cython's `&x`, `except? -1` and the like; what is here is enough for sources that compile.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"""(?P<string>[rbfuRBFU]{0,3}(?:\"{3}(?:[^\\]|\\.)*?\"{3}|'{3}(?:[^\\]|\\.)*?'{3}|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'))
    |(?P<comment>\#[^\n]*)
    |(?P<number>0[xXoObB][0-9a-fA-F_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?[jJ]?)
    |(?P<name>[^\W\d]\w*)
    |(?P<newline>\n)
    |(?P<space>[ \t\f\r]+|\\\n)
    |(?P<operator>\*\*=|//=|>>=|<<=|\.\.\.|->|:=|==|!=|<=|>=|\+=|-=|\*=|/=|%=|@=|&=|\|=|\^=|\*\*|//|<<|>>|.)""",
    re.VERBOSE | re.DOTALL,
)
OPEN, CLOSE = frozenset("([{"), frozenset(")]}")


@dataclass
class Token:
    """A word of the source, its place, and how many brackets are open around it; a bracket stands outside of its own."""

    kind: str
    text: str
    start: int
    depth: int
    partner: int = -1  # of a bracket: the index in its line of the other one

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@dataclass
class Line:
    """A logical line: the tokens of a statement, or of the head of a compound one."""

    indent: int
    tokens: list[Token] = field(default_factory=list)

    @property
    def start(self) -> int:
        return self.tokens[0].start

    @property
    def end(self) -> int:
        return self.tokens[-1].end


def lines(text: str) -> Iterator[Line]:
    """The logical lines of a source, without comments."""
    line, opened, begins = None, [], 0
    for match in _TOKEN.finditer(text):
        kind, word = match.lastgroup, match[0]
        if kind == "newline":
            begins = match.end()
            if line is not None and not opened:
                yield line
                line = None
        elif kind in ("string", "number", "name", "operator"):
            if line is None:
                line = Line(match.start() - begins)
            token = Token(kind, word, match.start(), len(opened))
            if word in CLOSE:
                other = opened.pop()
                token.depth, token.partner = len(opened), other
                line.tokens[other].partner = len(line.tokens)
            elif word in OPEN:
                opened.append(len(line.tokens))
            line.tokens.append(token)
    if line is not None:
        yield line
