"""Writes modules.md: what each module is and what it owns, in the words of its docstring.  Run `python docs/modules.py`."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEAD = """\
# Modules

What each hand-written module is, and what it alone owns. `python docs/modules.py` makes this page of the modules'
docstrings, and a test compares them. [architecture.md](architecture.md) draws the folders.
"""


def docstring(path):
    """The docstring of a module, below comments; a .pxd beside a .pyx of its name is that module's."""
    found = re.match(r'(?:#[^\n]*\n|\s)*"""(.*?)"""', path.read_text(), re.DOTALL)
    return found[1].strip() if found else ""


def words(path):
    """What a module is, its first paragraph, and what it owns, the sentence that begins with `Owns`."""
    paragraphs = [" ".join(part.split()) for part in docstring(path).split("\n\n")]
    owned = [part for part in paragraphs[1:] if part.startswith("Owns")]
    owns = re.match(r"Owns (.*?[.:])(?: +[A-Z`]|$)", owned[0])[1] if owned else ""
    return [text.replace("|", "\\|") for text in (paragraphs[0], owns)]


def modules(folder):
    """The modules of one folder, without those below it."""
    paths = sorted(path for path in (ROOT / folder).iterdir() if path.suffix in (".py", ".pyx", ".pxd", ".h"))
    compiled = {path.stem for path in paths if path.suffix == ".pyx"}
    return [path for path in paths if docstring(path) and not (path.suffix == ".pxd" and path.stem in compiled)]


def table(folder):
    """The part of one folder, empty where it holds no module."""
    rows = [[path.name, *words(path)] for path in modules(folder) if path.name != "__init__.py"]
    if not rows:
        return ""
    start = folder / "__init__.py"
    about = words(start)[0] if start.exists() and docstring(start) else ""
    lines = ["| module | what it is | it owns |", "|---|---|---|"]
    for name, what, owns in rows:
        lines.append(f"| `{name}` | {what} | {owns} |".replace(" |  |", " | |"))
    return "\n".join([f"\n## {folder.relative_to(ROOT).as_posix()}/\n", *([about, ""] if about else []), *lines, ""])


def page():
    """The text of modules.md."""
    folders = [folder for top in ("runtime", "library", "codegen") for folder in (ROOT / top, *sorted((ROOT / top).rglob("*")))]
    return HEAD + "".join(table(folder) for folder in folders if folder.is_dir())


if __name__ == "__main__":
    (ROOT / "docs/modules.md").write_text(page())
