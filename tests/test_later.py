"""The suite runs with the packages that `make setup` installs: a test that wants another one asks for it, and is skipped without it."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.later import later

ROOT = Path(__file__).parents[1]
MADE = re.compile(r'ModuleType\("(\w+)"\)')  # a module that a test makes
ASKED = re.compile(r"importorskip|find_spec|\btry:|later\(.*reason|fixture|pytest\.skip")


def canonical(distribution):
    return re.sub(r"[-_.]+", "-", distribution).lower()


def installed():
    """The packages that README's test command installs, by the names under which they are imported."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    wanted = {
        re.split(r"[^\w-]", line)[0].lower()
        for extra in ("build", "codegen", "test", "examples", "lint")
        for line in extras[extra]
    }
    return {name for name, owners in packages_distributions().items() if wanted & set(map(canonical, owners))}


def imports(tree):
    """(package, line, the function around it or the module) for each import."""
    pending = [(tree, tree)]
    while pending:
        node, around = pending.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            around = node
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module]
        yield from ((name.partition(".")[0], node.lineno, around) for name in names)
        pending += [(child, around) for child in ast.iter_child_nodes(node)]


def unasked(text, known):
    """Lines of the imports that fail where a package is missing."""
    lines, known = text.splitlines(), known | set(MADE.findall(text))
    for package, line, around in sorted(imports(ast.parse(text)), key=lambda found: found[1]):
        start = getattr(around, "lineno", 1) - 1 - len(getattr(around, "decorator_list", ()))
        if package in [argument.arg for argument in getattr(getattr(around, "args", None), "args", ())]:
            continue  # a fixture that imports it
        if getattr(around, "name", "") == "main":
            continue  # a program's: the test that starts it asks
        before = [text for text in lines[start : line - 1] if start or not text.startswith(" ")]
        if package not in known and not ASKED.search("\n".join(before)):
            yield f"{line}: {lines[line - 1].strip()}"


def test_what_setup_does_not_install_is_asked_for():
    ours = {path.stem for path in [*ROOT.glob("docs/*.py"), *ROOT.glob("docs/site/*.py"), *ROOT.glob("tests/**/*.py")]}
    ours |= {path.name for path in [*ROOT.iterdir(), *ROOT.glob("tests/*")] if path.is_dir()} | {"gradspec"}
    known = set(sys.stdlib_module_names) | installed() | ours | {"numpy"}
    found = {
        path.relative_to(ROOT).as_posix(): lines
        for path in sorted(ROOT.glob("tests/**/*.py"))
        if "newcomers" not in path.parts and (lines := list(unasked(path.read_text(), known)))
    }
    assert found == {}


def test_an_unasked_import_is_found():
    text = "import numpy\nimport absent\n\n\ndef test():\n    from absent.part import name\n\n\ndef asked():\n    pytest.importorskip('absent')\n    import absent\n"
    assert list(unasked(text, {"numpy"})) == ["2: import absent", "6: from absent.part import name"]


def test_a_missing_library_is_a_skipped_test():
    absent = later("a_library_that_nobody_has.part")
    with pytest.raises(pytest.skip.Exception, match="could not import"):
        absent.name  # noqa: B018
