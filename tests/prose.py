"""Patterns of prose that have to be read twice, counted by file: `python -m tests.prose [PATH ...]` prints the lines.

Counts docstrings, comments, messages, pages and the texts of the spec.  The patterns are regular expressions: they find most
inverted sentences, and some that are not inverted.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("runtime", "library", "codegen", "docs", "benchmarks", "examples")
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "derivatives.yaml")
GENERATED = {"docs/modules.md", "docs/scipy_names.md"}  # from docstrings, which are counted
LONGEST = 35  # words of a sentence

BEFORE = "about|among|and|around|as|at|before|behind|beside|between|but|by|for|from|in|into|is|of|on|or|over|than|through|to|under|with"
PATTERNS = {
    "a clause in the place of a noun": rf"^(What|Whatever|Whoever|Whose|Where|Who) |\b({BEFORE}) (what|whatever|whoever|who)\b",
    "a preposition before a relative": r"\b(of|to|by|from|in|at|with|for|on|behind|beside|through|along|under|over) (which|whom)\b",
    "a figurative verb": r"\b(stands?|stood|hangs? on|hung on|lets? go|letting go|goes on|go on)\b",
    "a pronoun for a noun": r"\b([Tt]hose of|of (these|those)|[Oo]nes? that|that of the)\b",
    "made of": r"\b(is|are|was|were|be|been) made of\b|\bmakes? of\b|\bbecomes? of\b",
    "a negated noun": r"(?<!there )\b(is|are|was|were) no\b|\b(is|are|was|were) none\b|\b(has|have|had) (not|none)\b(?! (been|yet))|\bnobody\b|\banother one\b"
                      r"|\b(as (it|they) (is|are|was|were))\b|\bis otherwise\b",
    "Owns": r"^Owns\b",
}  # fmt: skip
_FOUND = {name: re.compile(pattern) for name, pattern in PATTERNS.items()}
_DOCSTRING = re.compile(r'"""(.*?)"""', re.DOTALL)
_COMMENT = re.compile(r"(?:^|\s)#:? (\S.*)$")
_LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
_FIELD = re.compile(r"\{[^{}]*\}")
TEXTS = ("doc", "about", "unlike", "ref")  # keys of an entry; those of `args` and `breaks` are texts, too
_SENTENCE = re.compile(r"(?<=[.:;!?])\s+(?=[A-Z`\[(*])")


def paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """The paragraphs of a docstring or a page, each with its line: no code, no headings, no tables of numbers."""
    lines, start, fenced = [], 0, False
    for number, line in enumerate([*text.split("\n"), ""]):
        bare = line.strip()
        if bare.startswith("```"):
            fenced, bare = not fenced, ""
        if re.fullmatch(r"[\w*]+(, [\w*]+)*( : .*)?|\*?[A-Z]\w*", bare):  # numpydoc: a parameter, a section, an error
            bare = ""
        item = re.match(r"([-*] |\d+\. |\| |\.\. )", bare)
        if fenced or not bare or item or bare.startswith(("#", ">>>", "...", "---", "|-")):
            if lines:
                yield start, " ".join(lines)
            lines = []
        if fenced or not bare or bare.startswith(("#", ">>>", "...", "---", "|-")):
            continue
        if item and bare.startswith("|"):
            yield from ((number, cell.strip()) for cell in bare.strip("|").split(" | ") if " " in cell.strip())
            continue
        if not lines:
            start = number
        lines.append(bare[item.end() :] if item else bare)


def texts_of_spec(text: str) -> Iterator[tuple[int, str]]:
    """The texts of all entries, which are the help of operators, each with its line."""

    def scalars(node: yaml.Node, inside: bool) -> Iterator[tuple[int, str]]:
        if isinstance(node, yaml.ScalarNode) and inside:
            yield node.start_mark.line + 1, node.value
        for item in node.value if isinstance(node, yaml.SequenceNode) else ():
            yield from scalars(item, inside)
        for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
            yield from scalars(value, inside or key.value in (*TEXTS, "args", "breaks"))

    for document in yaml.compose_all(text, yaml.CSafeLoader):
        yield from scalars(document, False)


def sentences(path: Path) -> Iterator[tuple[int, str]]:
    """The sentences of a file's docstrings and comments, or of a page, each with the line where its paragraph begins."""
    text = path.read_text()
    parts: list[tuple[int, str]] = []
    if path.suffix == ".md":
        parts = [(line + 1, words) for line, words in paragraphs(text)]
    elif path.suffix == ".yaml":
        parts = list(texts_of_spec(text))
    else:
        for found in _DOCSTRING.finditer(text):
            begins = text.count("\n", 0, found.start()) + 1
            parts += [(begins + line, words) for line, words in paragraphs(found[1])]
        outside = _DOCSTRING.sub(lambda found: "\n" * found[0].count("\n"), text)
        for number, line in enumerate(outside.split("\n"), 1):
            if found := _COMMENT.search(line):
                parts.append((number, found[1]))
            elif path.suffix != ".pxd":  # parts of messages, from three words on
                parts += [(number, _FIELD.sub("`x`", words[1])) for words in _LITERAL.finditer(line) if words[1].count(" ") > 2]
    for line, words in parts:
        words = re.sub(r"`[^`]*`", "`x`", words)
        for sentence in _SENTENCE.split(words):
            yield line, sentence


def faults(path: Path) -> list[tuple[int, str, str]]:
    """(line, pattern, sentence) of each pattern that a file has."""
    found = []
    for line, sentence in sentences(path):
        found += [(line, name, sentence) for name, pattern in _FOUND.items() for _ in pattern.finditer(sentence)]
        if len(sentence.split()) > LONGEST:
            found.append((line, f"above {LONGEST} words", sentence))
    return found


def files() -> list[Path]:
    """All files with prose that people write."""
    found = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*")) if path.suffix in (".py", ".pyx", ".pxd", ".md")]
    found = [path for path in found if not any(part.startswith(".") for part in path.relative_to(ROOT).parts)]  # environments of benchmarks
    found = [*found, *(ROOT / page for page in PAGES)]
    return [path for path in found if "__pycache__" not in path.parts and path.relative_to(ROOT).as_posix() not in GENERATED]


def main(arguments: list[str]) -> None:
    chosen = [path for path in files() if not arguments or any(path.is_relative_to(Path(one).resolve()) for one in arguments)]
    total = read = 0
    for path in chosen:
        every = faults(path)
        read += sum(1 for _ in sentences(path))
        total += len(every)
        for line, name, sentence in every:
            print(f"{path.relative_to(ROOT)}:{line}: {name}: {sentence}")
    print(f"{total} in {read} sentences of {len(chosen)} files")


if __name__ == "__main__":
    main(sys.argv[1:])
