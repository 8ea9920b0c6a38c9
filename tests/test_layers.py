"""Layers: a file imports from lower layers only, and a hand-written file stays short.

The tables are DESIGN's tree from the bottom up.  A module in no row is an error: a new file has to be given its place.
"""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# Name of a module, or of a package for all of its modules, in rows from the bottom up.
RUNTIME = [
    ["capi", "constants", "dispatch", "errors", "extension", "formulas.shapes", "generator", "generated.numpy_table", "hooks", "lost_history",
     "worker"],
    ["hints", "kernels.copies", "later", "named_result", "recycling"],
    ["generated.results"],
    ["kernels.broadcast", "kernels.deferred", "kernels.numbers", "kernels.plain", "kernels.tiles", "kernels.wide"],
    ["formulas.calculus", "formulas.contraction", "formulas.fourier", "formulas.linear_algebra", "formulas.statistics",
     "formulas.indices", "formulas.rows", "formulas.windows", "kernels.elsewhere", "kernels.flags", "kernels.forward", "kernels.memory", "kernels.threads"],
    ["formulas", "kernels.direct"],
    [
        "kernels.convolution",
        "kernels.elementwise",
        "kernels.elimination",
        "kernels.folds",
        "kernels.factors",
        "kernels.grids",
        "kernels.transforms",
        "kernels.joining",
        "kernels.losses",
        "kernels.random",
        "kernels.product",
        "kernels.scattering",
        "kernels.slopes",
        "kernels.span",
        "kernels.normalisers",
        "kernels.quadrature",
        "kernels.reductions",
        "kernels.selection",
        "kernels.strides",
        "kernels.triangles",
        "kernels.triangular",
        "kernels.ufunc",
        "kernels.windows",
        "grad_mode",
        "node",
    ],
    ["kernels.powers"],
    ["kernels.axes", "kernels.choice", "kernels.classes", "kernels.error_function", "kernels.exponentials", "kernels.extremes", "kernels.linalg", "kernels.logistic", "kernels.moments", "kernels.plan", "kernels.program_text", "kernels.rows", "kernels.scans", "provenance", "tensor"],
    ["kernels.across", "kernels.add_at", "kernels.counted", "kernels.pieces", "kernels.program", "kernels.running", "kernels.softmax", "kernels.sorting", "kernels.standardization", "kernels.summation"],
    ["kernels.fusion", "kernels.indexing", "kernels.special_functions"],
    ["kernels.basic_index", "kernels.pooling"],
    ["kernels.gamma_beta"],
    ["kernels.incomplete"],
    ["kernels"],
    ["accumulate_grad", "arguments", "operand", "ready_queue"],
    ["anomaly", "forward_ad", "numpy_parameters", "version"],
    ["error_nodes", "graph_task", "input_buffer", "numpy_pieces", "view"],
    ["dual", "numpy_calls", "snapshot"],
    ["numpy_universal"],
    ["numpy_protocol", "pytorch_tensor"],
    ["array_tensor", "saved_tensors_hooks", "saved_variable"],
    ["copy_slices", "engine_hooks", "function_node"],
    ["batched_pass", "inplace"],
    ["put_off"],
    ["engine"],
    ["backward", "function"],
    ["generated.kernels"],
    ["generated.functions"],
    ["generated.variable_type"],
    ["generated.docs"],
    ["_nn", "_random", "_special", "fft", "linalg"],
    ["generated.tensor", "generated.ops", "generated.op_info"],
    ["array_api.creation", "array_api.functions"],
    ["array_api.dtypes", "array_api.fft", "array_api.linalg", "array_api.special"],
    ["array_api"],
    ["generated", "clip_grad", "conversion", "nn.connectionist", "nn.parameters", "nn.recurrent", "nn.running", "optim.optimizer", "promotion", "serialization",
     "signal.windows", "special.polynomials", "spectrum"],
    ["nn.sampling", "signal", "special"],
    ["nn.functional", "nn.utils"],
    ["nn"],
    ["optim.adam", "optim.lbfgs", "optim.lr_scheduler", "optim.rmsprop", "optim.sgd"],
    ["optim"],
    ["autograd.forward_ad", "autograd.differences", "autograd.function", "autograd.mutation", "autograd.nest", "autograd.picture"],
    ["autograd.agreement", "autograd.graph", "autograd.passes", "autograd.variable"],
    ["autograd.checkpoint", "autograd.functional", "autograd.gradcheck"],
    ["func.point"],
    ["func.gradients", "func.products"],
    ["func.matrices", "func.named"],
    ["autograd", "func", "random"],
    ["scipy.objective"],
    ["scipy"],
    ["gradspec"],
]

CODEGEN = [
    ["spec.constants", "spec.model", "spec.numpy_signatures", "verify.numeric", "package", "progress", "build"],
    ["errors"],
    ["spec.documents", "spec.expression", "spec.limits", "spec.names", "spec.nodes", "spec.texts"],
    ["spec.samples", "spec.signature", "spec.formula", "spec.library"],
    ["spec.numpy_names", "spec.order", "spec.results", "spec.shapes", "skeleton"],
    ["spec.elementwise", "spec.given"],
    ["spec.entry"],
    ["spec.reader"],
    ["rules.resolve", "rules.sharing", "rules.statements"],
    ["rules.derive"],
    ["rules.analyze"],
    ["verify.coverage", "verify.passed", "verify.proofs"],
    ["verify.evaluate"],
    ["verify.case"],
    ["verify.batched", "verify.composites", "verify.forms", "verify.reference", "verify.promises", "verify.tried"],
    ["verify.stated"],
    ["verify.check", "verify.prove"],
    ["verify.mutate"],
    ["write.bindings", "write.layout", "write.maths", "write.numpy_calls", "write.programs"],
    ["write.batches", "write.spelling"],
    ["write.examples", "write.modes", "write.node", "write.sections"],
    ["write.op_info", "write.wrapper"],
    ["write.stubs"],
    ["write.files"],
    ["show"],
    ["__main__"],
    ["codegen"],
    ["spec", "rules", "verify", "write"],
]

LIMIT = 400
# Files that ought to be two, and how far they may grow until they are.
TOO_LONG: dict[str, int] = {}


def module_of(path):
    """A file's dotted name inside the package: `runtime/` is the package itself, `generated/namespaces/` is installed there."""
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    if parts[:2] == ["generated", "namespaces"]:
        parts = ["runtime", *parts[2:]]
    if parts[-1] == "__init__":
        parts.pop()
    return parts


def imported(path):
    """Names of the modules that a file imports, as (line, dots, module, names)."""
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


def graph(folders, package, modules):
    """For each file of the package the modules of the package that it imports."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.p*")):
            if path.suffix not in (".py", ".pyx", ".pxd") or "__pycache__" in path.parts:
                continue
            parts = module_of(path)
            here = parts[1:] if parts[0] in ("runtime", "codegen") else parts
            inside = here if path.stem == "__init__" else here[:-1]
            targets = []
            for line, dots, module, names in imported(path):
                if dots:
                    start = inside[: len(inside) - dots + 1]
                elif module.split(".")[0] == package:
                    start, module = [], module[len(package) + 1 :]
                else:
                    continue
                base = ".".join([*start, *filter(None, module.split("."))])
                for name in names or [""]:
                    whole = f"{base}.{name}".strip(".")
                    target = whole if whole in modules else base or package
                    targets.append((line, target))
            yield path.relative_to(ROOT).as_posix(), ".".join(here) or package, targets


def level_of(module, rows):
    """The row of a module: its own, or that of the package it is in."""
    while module:
        for level, row in enumerate(rows):
            if module in row:
                return level
        module = module.rpartition(".")[0]
    return None


PACKAGES = {"gradspec": (("runtime", "generated"), RUNTIME), "codegen": (("codegen",), CODEGEN)}


def edges(package):
    folders, rows = PACKAGES[package]
    modules = {name for row in rows for name in row}
    return graph(folders, package, modules)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_file_has_its_place(package):
    _, rows = PACKAGES[package]
    lost = [path for path, module, _ in edges(package) if level_of(module, rows) is None]
    assert lost == []


@pytest.mark.parametrize("package", PACKAGES)
def test_files_import_from_lower_layers_only(package):
    _, rows = PACKAGES[package]
    wrong = []
    for path, module, targets in edges(package):
        here = level_of(module, rows)
        for line, target in targets:
            level = level_of(target, rows)
            if target != module and (level is None or level >= here):
                wrong.append(f"{path}:{line}: {module} (layer {here}) imports {target} (layer {level})")
    assert wrong == []


def test_the_generator_does_not_import_the_library_and_the_reverse():
    crossings = []
    for folder, foreign in (("codegen", "gradspec"), ("runtime", "codegen"), ("generated", "codegen")):
        for path in sorted((ROOT / folder).rglob("*.p*")):
            if path.suffix in (".py", ".pyx", ".pxd"):
                crossings += [
                    f"{path}:{line}"
                    for line, dots, module, _ in imported(path)
                    if not dots and module.split(".")[0] == foreign
                ]
    assert crossings == []


def test_every_row_names_something_that_exists():
    for package, (_, rows) in PACKAGES.items():
        present = {module for _, module, _ in edges(package)}
        present |= {".".join(module.split(".")[: i + 1]) for module in present for i in range(module.count(".") + 1)}
        assert {name for row in rows for name in row} - present == set()


def test_hand_written_files_are_short():
    sizes = {
        path.relative_to(ROOT).as_posix(): len(path.read_text().splitlines())
        for folder in ("runtime", "codegen")
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in (".py", ".pyx", ".pxd", ".j2")
    }
    too_long = {path: size for path, size in sizes.items() if size > TOO_LONG.get(path, LIMIT)}
    assert too_long == {}
    assert {path for path in TOO_LONG if sizes[path] <= LIMIT} == set()  # to be taken off the list


def test_imports_are_found():
    """The test of the test: every form of import is seen in a file that is known to hold it."""
    found = {(dots, module) for _, dots, module, _ in imported(ROOT / "runtime/tensor.pyx")}
    assert (1, "engine") not in found and (1, "node") in found and (0, "numpy") in found
    tensor = dict((path, targets) for path, _, targets in edges("gradspec"))
    assert {"errors"} <= {target for _, target in tensor["runtime/kernels/ufunc.pyx"]}
    assert {"operand", "formulas", "kernels"} <= {target for _, target in tensor["generated/kernels/linear_algebra.pyx"]}
    assert {"dispatch"} <= {target for _, target in tensor["runtime/backward.pyx"]}
    assert {"generated.variable_type", "autograd"} & {target for _, target in tensor["runtime/__init__.py"]}


def test_a_kernel_is_not_hidden_by_a_module_of_its_name():
    """An import of `kernels.x` makes it an attribute of the package: of kernels that wait for their first use, the only one."""
    tree = ast.parse((ROOT / "runtime/kernels/__init__.py").read_text())
    (places,) = [ast.literal_eval(node.args[1]) for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "later"]
    modules = {path.stem for path in (ROOT / "runtime/kernels").glob("*.py*")}
    assert modules & {name for names in places.values() for name in names} == set()
    at_once = {alias.name: node.module for node in tree.body if isinstance(node, ast.ImportFrom) and node.level == 1 for alias in node.names}
    assert {name: module for name, module in at_once.items() if name in modules and name != module} == {}


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
