"""Layers: a file imports from lower layers only, and no imports go in a circle.

The tables are the tree from the bottom up, in rows of folders.  Inside of a folder a file may import any other, as long as
there is no circle.  A module that is in no row is an error: a new folder has to be given its place.
"""

import ast
import re
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# Folders, and modules that stand alone, in rows from the bottom up.
RUNTIME = [
    ["support", "generated.kernel_names", "generated.numpy_table"],
    ["formulas", "generated.results"],
    ["kernels.loops"],
    ["kernels.fusion_engine"],
    ["kernels.elementwise", "kernels.indexing", "kernels.joining", "kernels.matrices", "kernels.random", "kernels.transforms"],
    ["kernels.convolution", "kernels.keys", "kernels.reductions", "kernels.special_functions"],
    ["kernels.row_wise"],
    ["kernels"],
    ["core"],
    ["saved"],
    ["engine", "methods"],
    ["generated.kernels"],
    ["generated.functions"],
    ["generated.variable_type"],
    ["generated.docs"],
    ["generated.op_info", "generated.ops", "generated.tensor"],
    ["generated"],
    ["transforms.batching"],
    ["transforms.taylor"],
    ["transforms"],
    ["api"],
    ["_nn", "_random", "_special", "fft", "linalg"],
    ["array_api"],
    ["profiler"],
    ["autograd", "nn", "signal", "special"],
    ["optim", "compiler.tracing", "random"],
    ["func"],
    ["debug", "tree_util", "utils"],
    ["distributed", "extend", "nested", "operators", "scipy", "sparse", "test_util"],
    ["compat", "distributions"],
    ["compiler.guards"],
    ["compiler.record"],
    ["compiler.execute"],
    ["compiler.lowering"],
    ["compiler.passes"],
    ["compiler.specialize"],
    ["compiler.files"],
    ["compiler.native"],
    ["compiler"],
    ["gradspec"],
    ["selftest"],
]

CODEGEN = [
    ["build", "package", "progress", "spec.constants", "spec.model"],
    ["errors"],
    ["spec"],
    ["rules"],
    ["packages"],
    ["spec_cache"],
    ["verify"],
    ["write"],
    ["entries", "extensions", "show", "skeleton", "starter"],
    ["__main__"],
    ["codegen"],
]


def module_of(path):
    """A file's dotted name inside the package: `runtime/` and `library/` are the package itself, and so is `generated/namespaces/`."""
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    if parts[:2] == ["generated", "namespaces"]:
        parts = ["runtime", *parts[2:]]
    if parts[-1] == "__init__":
        parts.pop()
    return parts


@cache
def imported(path):
    """Names of the modules that a file imports, as (line, dots, module, names)."""
    return list(imports_of(path))


def imports_of(path):
    text = path.read_text()
    if path.suffix == ".py":
        for node in ast.walk(skip_type_checking(ast.parse(text))):
            if isinstance(node, ast.ImportFrom):
                yield node.lineno, node.level, node.module or "", [alias.name for alias in node.names]
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    yield node.lineno, 0, alias.name, []
        return
    text = re.sub(r'""".*?"""', lambda found: "\n" * found[0].count("\n"), text, flags=re.DOTALL)
    for found in re.finditer(
        r"^[ \t]*from[ \t]+(\.*)([\w.]*)[ \t]+c?import[ \t]+(\([^)]*\)|.*)|^[ \t]*c?import[ \t]+([\w.]+)",
        text,
        flags=re.MULTILINE,
    ):
        line = text.count("\n", 0, found.start()) + 1
        if found[4]:
            yield line, 0, found[4], []
        else:
            yield line, len(found[1]), found[2], re.findall(r"(\w+)(?:\s+as\s+\w+)?\s*(?:,|\)|#|$)", found[3])


def skip_type_checking(tree):
    """What only a type checker reads is no import."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            node.body = [ast.Pass()]
    return tree


@cache
def sources(folders):
    """Every source file of some folders, with its dotted name inside the package as a list."""
    return list(files_of(folders))


def files_of(folders):
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.p*")):
            if path.suffix in (".py", ".pyx", ".pxd") and "__pycache__" not in path.parts:
                parts = module_of(path)
                yield path, parts[1:] if parts[0] in ("runtime", "library", "codegen") else parts


def edges(package):
    """For each file of the package: its path, its module, and the modules of the package that it imports, with their lines."""
    folders, _ = PACKAGES[package]
    modules = {".".join(parts) for _, parts in sources(folders)}
    for path, here in sources(folders):
        inside = here if path.stem == "__init__" else here[:-1]
        targets = []
        for line, dots, module, names in imported(path):
            if dots:
                start = inside[: len(inside) - dots + 1]
            elif module == package and not names:
                continue  # a namespace takes nothing of the package here, but waits until another thread has imported it
            elif module.split(".")[0] == package:
                start, module = [], module[len(package) + 1 :]
            else:
                continue
            base = ".".join([*start, *filter(None, module.split("."))])
            for name in names or [""]:
                whole = f"{base}.{name}".strip(".")
                targets.append((line, whole if whole in modules else base or package))
        yield path.relative_to(ROOT).as_posix(), ".".join(here) or package, targets


def place_of(module, rows):
    """The row of a module and the folder of that row that holds it."""
    while module:
        for level, row in enumerate(rows):
            if module in row:
                return level, module
        module = module.rpartition(".")[0]
    return None, None


PACKAGES = {"gradspec": (("runtime", "library", "generated"), RUNTIME), "codegen": (("codegen",), CODEGEN)}


@pytest.mark.parametrize("package", PACKAGES)
def test_every_file_has_its_place(package):
    _, rows = PACKAGES[package]
    lost = [path for path, module, _ in edges(package) if place_of(module, rows) == (None, None)]
    assert lost == []


@pytest.mark.parametrize("package", PACKAGES)
def test_files_import_from_lower_layers_only(package):
    _, rows = PACKAGES[package]
    wrong = []
    for path, module, targets in edges(package):
        here, folder = place_of(module, rows)
        for line, target in targets:
            level, other = place_of(target, rows)
            if other != folder and (level is None or level >= here):
                wrong.append(f"{path}:{line}: {module} (layer {here}) imports {target} (layer {level})")
    assert wrong == []


@pytest.mark.parametrize("package", PACKAGES)
def test_no_imports_go_in_a_circle(package):
    known = {}
    for _, module, targets in edges(package):
        known.setdefault(module, set()).update(target for _, target in targets if target != module)
    try:
        TopologicalSorter(known).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


def test_the_generator_does_not_import_the_library_and_the_reverse():
    crossings = []
    for folder, foreign in (("codegen", "gradspec"), ("runtime", "codegen"), ("library", "codegen"), ("generated", "codegen")):
        for path in sorted((ROOT / folder).rglob("*.p*")):
            if path.suffix in (".py", ".pyx", ".pxd"):
                crossings += [
                    f"{path}:{line}"
                    for line, dots, module, _ in imported(path)
                    if not dots and module.split(".")[0] == foreign
                ]
    assert crossings == []


def test_the_private_folder_imports_nothing_of_the_public_one():
    """`runtime/` is what nobody imports by name; its `__init__` offers what stands in `library/` when it is asked for."""
    public = {path.stem for path in (ROOT / "library").iterdir()}
    wrong = [(path, target) for path, _, targets in edges("gradspec") if path.startswith(("runtime/", "generated/"))
             and not path.startswith("generated/namespaces/") for _, target in targets if target.split(".")[0] in public]  # fmt: skip
    assert wrong == []


def test_every_row_names_something_that_exists():
    for package, (_, rows) in PACKAGES.items():
        present = {module for _, module, _ in edges(package)}
        present |= {".".join(module.split(".")[: i + 1]) for module in present for i in range(module.count(".") + 1)}
        assert {name for row in rows for name in row} - present == set()


def test_imports_are_found():
    """The test of the test: every form of import is seen in a file that is known to hold it."""
    found = {(dots, module) for _, dots, module, _ in imported(ROOT / "runtime/core/tensor.pyx")}
    assert (2, "engine") not in found and (1, "node") in found and (0, "numpy") in found
    targets = {path: {target for _, target in targets} for path, _, targets in edges("gradspec")}
    assert {"support.errors", "kernels.loops.memory"} <= targets["runtime/kernels/fusion_engine/ufunc.pyx"]
    assert {"core.conversion", "formulas", "kernels"} <= targets["generated/kernels/linear_algebra.pyx"]
    assert {"support.dispatch"} <= targets["runtime/engine/backward.pyx"]
    assert {"api.spectrum", "support.constants", "generated.ops"} <= targets["runtime/__init__.py"]


def test_a_kernel_is_not_hidden_by_a_folder_of_its_name():
    """An import of `kernels.x.y` makes x an attribute of the package, in the place of a kernel of that name."""
    from gradspec.generated.kernel_names import COMPILED, PYTHON

    offered = [name for table in (COMPILED, PYTHON) for names in table.values() for name in names]
    assert len(set(offered)) == len(offered)  # by one module each
    below = {path.stem for path in (ROOT / "runtime/kernels").iterdir()}
    assert below.isdisjoint(offered)


@pytest.mark.parametrize("folder", ["runtime", "runtime/kernels"])
def test_compiled_modules_are_listed_for_the_build(folder):
    """In one list, from which they are also found; those that share an extension share no name, which C would see twice."""
    listed = [line.split()[0] for line in (ROOT / folder / "modules.txt").read_text().splitlines()]
    folders = ("runtime", "library") if folder == "runtime" else (folder,)
    paths = [path.relative_to(ROOT / one) for one in folders for path in (ROOT / one).rglob("*.pyx")]
    assert listed == sorted(".".join(path.with_suffix("").parts) for path in paths if folder != "runtime" or path.parts[0] != "kernels")
    assert len({name.rpartition(".")[2] for name in listed}) == len(listed)


def test_the_helpers_of_formulas_are_all_there():
    import gradspec.formulas as formulas

    files = {path.stem for path in (ROOT / "runtime" / "formulas").glob("*.py")}
    assert files == {"__init__", "shapes", *formulas._REST}
    for path in files - {"__init__"}:
        tree = ast.parse((ROOT / "runtime" / "formulas" / f"{path}.py").read_text())
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                assert getattr(formulas, node.name).__module__ == f"gradspec.formulas.{path}"
    with pytest.raises(AttributeError, match="no attribute 'nope'"):
        formulas.nope  # noqa: B018
