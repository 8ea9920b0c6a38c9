"""Write modules.md: each module with the words of its docstring.  Run `python docs/modules.py`."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEAD = """\
# Modules

Each hand-written module, in the first two paragraphs of its docstring. `python docs/modules.py` writes this page, and a test
compares them. The folders are in the reading order of [architecture.md](architecture.md).
"""


def docstring(path):
    """The docstring of a module, below comments; a .pxd beside a .pyx of its name is that module's."""
    found = re.match(r'(?:#[^\n]*\n|\s)*"""(.*?)"""', path.read_text(), re.DOTALL)
    return found[1].strip() if found else ""


def words(path):
    """The first paragraph of a module, and the first sentence of the second: what the module decides, holds or computes."""
    first, *others = [" ".join(part.split()) for part in docstring(path).split("\n\n")]
    second = re.match(r"(.*?[.:])(?: +[A-Z`]|$)", others[0])[1] if others and re.match(r".*?[.:](?: |$)", others[0]) else ""
    return [text.replace("|", "\\|") for text in (first, second)]


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
    lines = ["| module | what it does | what it decides, holds or computes |", "|---|---|---|"]
    for name, what, owns in rows:
        lines.append(f"| `{name}` | {what} | {owns} |".replace(" |  |", " | |"))
    return "\n".join([f"\n## {folder.relative_to(ROOT).as_posix()}/\n", *([about, ""] if about else []), *lines, ""])


def order():
    """The folders that the contents of architecture.md name, in their order."""
    text = (ROOT / "docs/architecture.md").read_text()
    contents = text[text.index("## Contents") : text.index("## The four words")]
    rows = [row.split("|")[1] for row in contents.splitlines() if row.startswith("| `")]
    return [folder for row in rows for folder in re.findall(r"`([^`]+)`", row)]


def page():
    """The text of modules.md."""
    named = order()

    def place(folder):
        name = folder.relative_to(ROOT).as_posix()
        above = [i for i, other in enumerate(named) if name == other or name.startswith(other + "/")]
        return max(above, key=lambda i: len(named[i]), default=len(named)), name

    folders = [folder for top in ("runtime", "library", "codegen") for folder in (ROOT / top, *sorted((ROOT / top).rglob("*")))]
    return HEAD + "".join(table(folder) for folder in sorted((one for one in folders if one.is_dir()), key=place))


if __name__ == "__main__":
    (ROOT / "docs/modules.md").write_text(page())
