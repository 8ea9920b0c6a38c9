"""What editors and type checkers see: the programs of README and of docs/five_minutes.md pass mypy --strict and pyright, and what is misspelt does not."""

import ast
import importlib
import inspect
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gradspec as gs
from tests.asked import each

ROOT = Path(__file__).resolve().parents[1]
CONFIG = """
[mypy]
strict = True
ignore_missing_imports = True
[mypy-gradspec.*]
ignore_errors = True
"""

WRONG = {
    "a keyword of tensor": "gs.tensor([1.0], requires_gradd=True)",
    "a keyword of an operator": "gs.sum(x, axiss=0)",
    "a keyword of a method": "x.sum(axiss=0)",
    "PyTorch's keyword": "gs.nn.softmax(x, dim=1)",
    "a keyword of a creation": "gs.zeros(2, 3, requires_gradd=True)",
    "a keyword of backward": "x.backward(create_grap=True)",
    "a keyword of func": "gs.func.grad(gs.sin, argnumss=1)",
    "a keyword of autograd": "gs.autograd.grad(x, x, create_grap=True)",
    "a keyword of functional": "gs.autograd.functional.hessian(gs.sin, x, create_grap=True)",
    "a keyword of an optimiser": "gs.optim.Adam([x], rl=0.1)",
    "a function of gs": "gs.sinn(x)",
    "a function of nn": "gs.nn.relo(x)",
    "a function of linalg": "gs.linalg.cholesk(x)",
    "a function of func": "gs.func.grd",
    "a module of autograd": "gs.autograd.functionall",
    "a method": "x.summ()",
    "a method of a gradient": "x.grad.summ()",
    "what detach gives": "x.detach().nump()",
    "a string for an array": "gs.optim.SGD('x')",
    "a number for a function": "gs.func.grad(1.0)",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The package as it is installed, without what is compiled."""
    folder = tmp_path_factory.mktemp("site")
    package = folder / "gradspec"
    compiled = shutil.ignore_patterns("*.pyx", "*.pxd", "__pycache__", "*.so")
    shutil.copytree(ROOT / "runtime", package, ignore=compiled)
    shutil.copytree(ROOT / "library", package, ignore=compiled, dirs_exist_ok=True)
    shutil.copytree(ROOT / "generated", package / "generated", ignore=compiled)
    for path in (ROOT / "generated" / "namespaces").glob("*.py*"):
        shutil.copy(path, package)
    shutil.move(package / "generated" / "__init__.pyi", package)
    (folder / "mypy.ini").write_text(CONFIG)
    return folder


def complaints(site, source):
    """What mypy says, a line each."""
    (site / "program.py").write_text(source)
    command = [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", "--no-error-summary", "--cache-dir", ".cache", "program.py"]
    found = subprocess.run(command, cwd=site, capture_output=True, text=True)
    assert not found.stderr
    return found.stdout.splitlines()


def errors_of_pyright(site, source):
    """(line, message) of each error that pyright finds in a program."""
    (site / "program.py").write_text(source)
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, "program.py"]
    found = subprocess.run(command, cwd=site, capture_output=True, text=True)
    assert found.stdout, found.stderr
    said = json.loads(found.stdout)["generalDiagnostics"]
    return [(line["range"]["start"]["line"] + 1, line["message"]) for line in said if line["severity"] == "error"]


def annotated(source):
    """A program whose functions say that they take and give anything, as strict checks want it."""
    tree, anything = ast.parse(source), ast.Name("Any")
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.returns = anything
            for argument in node.args.args:
                argument.annotation = anything
    return "from typing import Any\n" + ast.unparse(tree)


@pytest.fixture(scope="module")
def readme():
    from test_readme import blocks

    pages = ("README.md", "docs/five_minutes.md")
    return "\n".join(source for page in pages for _, source in blocks((ROOT / page).read_text(), "python"))


MISSPELT = "\n".join(["import gradspec as gs", "x = gs.tensor([1.0], requires_grad=True)", *WRONG.values()])


def missed(lines):
    """The misspelt lines at which nothing is said; what is right has to stay unmentioned."""
    assert min(lines) == 3
    return [name for i, name in enumerate(WRONG, 3) if i not in lines]


ARRAYS_FIRST = pytest.mark.skipif(tuple(map(int, np.__version__.split(".")[:2])) >= (2, 5), reason="NumPy 2.5's stubs have an array of array @ tensor")


@pytest.mark.slow
@ARRAYS_FIRST
def test_programs_of_the_readme_pass_mypy(site, readme):
    assert complaints(site, annotated(readme)) == []


@ARRAYS_FIRST
def test_programs_of_the_readme_pass_pyright(site, readme):
    assert errors_of_pyright(site, annotated(readme)) == []


@pytest.mark.slow
def test_what_is_misspelt_is_found_by_mypy(site):
    assert missed({int(line.split(":")[1]) for line in complaints(site, MISSPELT) if ": error:" in line}) == []


def test_what_is_misspelt_is_found_by_pyright(site):
    assert missed({line for line, _ in errors_of_pyright(site, MISSPELT)}) == []


PUBLIC = ["distributed", "extend", "linalg", "nn", "nn.functional", "nn.init", "nn.modules", "nn.parameter", "nn.utils", "nn.utils.fusion", "nn.utils.parametrizations", "nn.utils.parametrize", "nn.utils.rnn", "nn.utils.stateless", "fft", "func", "optim", "optim.lr_scheduler", "optim.swa_utils", "scipy", "random", "test_util", "tree_util", "autograd", "autograd.functional", "autograd.checkpoint",
          "autograd.graph", "autograd.forward_ad", "autograd.function", "profiler", "autograd.profiler", "autograd.profiler_util"]  # fmt: skip


def test_every_public_name_has_a_type(site):
    """No name is Any for want of a stub, but the few that hold anything."""
    lines, names = ["import gradspec as gs"], []
    for module in ["", *PUBLIC]:
        lines += [f"import gradspec.{module}"] if module else []
        for name in (importlib.import_module(f"gradspec.{module}") if module else gs).__all__:
            names.append(f"{module}.{name}".lstrip("."))
            lines.append(f"reveal_type(gradspec.{names[-1]})" if module else f"reveal_type(gs.{name})")
    found = [line for line in complaints(site, "\n".join(lines)) if "Revealed type is" in line or ": error:" in line]
    untyped = [line for line in found if 'Revealed type is "Any"' in line or ": error:" in line]
    assert "\n".join(f"{line} # {lines[int(line.split(chr(58))[1]) - 1]}" for line in untyped) == ""
    assert len(found) >= len(names)


STUBS = {path.relative_to(ROOT / folder).as_posix(): path for folder in ("runtime", "library") for path in (ROOT / folder).rglob("*.pyi")}


@each("stub", sorted(STUBS))
def test_stubs_have_the_parameters_of_what_they_describe(stub):
    module = importlib.import_module("gradspec." + stub.removesuffix(".pyi").replace("/", "."))

    def compare(definitions, owner, place):
        for node in definitions:
            if isinstance(node, ast.ClassDef):
                compare(node.body, getattr(owner, node.name), f"{place}{node.name}.")
            elif isinstance(node, ast.FunctionDef) and not (node.name.startswith("__") and node.name != "__init__"):
                function = inspect.getattr_static(owner, node.name)
                if isinstance(function, property) or not hasattr(getattr(owner, node.name), "__code__"):
                    continue
                code = getattr(owner, node.name).__code__
                given = node.args
                stated = [a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
                known = list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
                assert stated == known, f"{place}{node.name}"

    compare(ast.parse(STUBS[stub].read_text()).body, module, "")


@pytest.mark.slow
def test_what_is_a_tensor_to_a_type_checker(site):
    """docs/tour.md, Types: NumPy's stubs make an ndarray of what has `__array__`, and the left operand is asked first."""
    tensors = ["gs.sin(x)", "x * a", "x + 1", "x.sum()", "gs.array([1.0])", "gs.from_dlpack(a)"]
    arrays = ["np.sin(x)", "a * x", "a @ x"]
    program = ["import numpy as np", "import gradspec as gs", "x, a = gs.tensor([1.0]), np.ones(1)", *(f"reveal_type({each})" for each in tensors + arrays)]
    found = [line.partition("Revealed type is ")[2] for line in complaints(site, "\n".join(program))]
    assert found[: len(tensors)] == ['"gradspec.Tensor"'] * len(tensors)
    assert len(found) == len(tensors + arrays) and all("numpy.ndarray" in line for line in found[len(tensors) :])
