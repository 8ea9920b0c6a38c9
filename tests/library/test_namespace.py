"""The namespace: what users see of gradspec, as dir() and the stubs show it."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path
from types import FunctionType, ModuleType

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import forward_ad, functional, graph
from tests.asked import each

ROOT = Path(__file__).parents[2]
NAMESPACES = sorted(path.stem for path in (ROOT / "generated/namespaces").glob("*.pyi"))
STUBS = {gs: "generated/__init__.pyi"} | {
    importlib.import_module(f"gradspec.{name}"): f"generated/namespaces/{name}.pyi" for name in NAMESPACES
}
MODULES = {"autograd", "checkpoint", "compat", "constraints", "data", "debug", "distributed", "distributions", "extend", "forward_ad", "func", "functional", "graph", "init", "lr_scheduler", "modules", "nested", "nn", "operators", "optim",
           "fusion", "parameter", "parametrizations", "parametrize", "profiler", "prune", "rnn", "stateless", "profiler_util", "random", "relaxed", "scipy", "signal", "swa_utils", "sparse", "special", "test_util", "transforms", "tree_util", "utils", "windows", *gs.scipy._modules, *NAMESPACES} - {"_nn", "_random", "_special"}
DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128"


def shown(module):
    return {name for name in dir(module) if not name.startswith("__")}


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout


def described(path):
    """What a stub exports: definitions, and imports under `as` the same name, which is how a stub says so."""
    names = set()
    for node in ast.parse((ROOT / path).read_text()).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets}
        elif isinstance(node, ast.AnnAssign) and not ast.unparse(node.annotation).endswith("TypeAlias"):
            names.add(node.target.id)
        elif isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            names |= set(importlib.import_module(f"gradspec.{node.module}").__all__)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {alias.asname for alias in node.names if alias.asname == alias.name}
    return {name for name in names if not name.startswith("_")}


@pytest.mark.parametrize("module", STUBS, ids=lambda module: module.__name__)
def test_dir_is_what_the_stub_describes(module):
    assert shown(module) == described(STUBS[module])


HIDDEN = ("agreement", "checkpoint_settings", "differences", "flat_derivatives", "graph_drawing", "mutation", "nan_detection", "saved_memory")  # what those of `gradspec.autograd` share
OF_SCIPY = {"csgraph": "sparse.csgraph", "distance": "spatial.distance", "hierarchy": "cluster.hierarchy", "transform": "spatial.transform", "vq": "cluster.vq"}
AUTOGRAD = ("checkpoint", "forward_ad", "function", "functional", "gradcheck", "graph", "profiler", "profiler_util", "variable")
PUBLIC = [
    *(gs, gs.autograd, gs.distributed, gs.distributions, gs.distributions.constraints, gs.distributions.transforms, gs.extend, gs.func, gs.nested, gs.operators, gs.sparse, gs.optim, gs.nn, gs.nn.functional, gs.nn.utils, *(getattr(gs.nn.utils, name) for name in ("fusion", "parametrizations", "parametrize", "prune", "rnn", "stateless")), gs.profiler, gs.random, gs.scipy, gs.test_util, gs.tree_util, gs.utils, gs.utils.data, *(getattr(gs, name) for name in NAMESPACES if not name.startswith("_"))),
    *(importlib.import_module(f"gradspec.autograd.{name}") for name in AUTOGRAD),
    *(getattr(gs.scipy, name) for name in gs.scipy._modules),
    *(importlib.import_module(f"gradspec.scipy.{path}") for path in OF_SCIPY.values()),
]


@each("module", PUBLIC, ids=lambda m: m.__name__)
def test_dir_holds_public_names_and_nothing_else(module):
    assert shown(module) == set(module.__all__)
    assert len(module.__all__) == len(set(module.__all__))
    modules = {name for name in module.__all__ if isinstance(getattr(module, name), ModuleType)}
    assert modules <= {*MODULES, *gs.scipy._modules, *OF_SCIPY}


def test_no_other_module_is_an_attribute():
    modules = "print(*[name for name, value in vars(gradspec).items() if isinstance(value, type(gradspec)) and name[0] != '_'])"
    none, every = run(f"import gradspec\n{modules}\nfor name in gradspec.__all__: getattr(gradspec, name)\n{modules}").splitlines()
    assert set(every.split()) == {name for name in MODULES & set(gs.__all__) if isinstance(getattr(gs, name), ModuleType)}
    assert none == ""  # they are imported when they are asked for


def test_every_module_of_autograd_is_looked_at():
    files = {path.stem for path in (ROOT / "library" / "autograd").glob("*.py")}
    assert {name for name in files if not name.startswith("_")} - set(HIDDEN) == set(AUTOGRAD)


@pytest.mark.parametrize(
    "line",
    [
        "import gradspec.autograd.forward_ad as fwAD; fwAD.dual_level",
        "import gradspec.autograd as autograd; autograd.forward_ad.make_dual",
        "from gradspec.autograd import Function, grad, backward, gradcheck; gradcheck(lambda x: x * x, x)",
        "from gradspec.autograd.function import Function, once_differentiable",
        "from gradspec.autograd.gradcheck import gradcheck, gradgradcheck; gradgradcheck(lambda x: x * x, x)",
        "import gradspec.autograd.gradcheck; gradspec.autograd.gradcheck(lambda x: x * x, x)",
        "import gradspec.nn as nn; nn.relu",
        "from gradspec import autograd, linalg, nn, optim",
    ],
)
def test_imports_as_people_type_them(line):
    x = "import gradspec; x = gradspec.tensor([1.0, 2.0], requires_grad=True)"
    assert run(f"{x}\n{line}") == ""


def test_modules_that_are_not_public_can_be_imported():
    out = run("import gradspec, gradspec.engine.engine; from gradspec.engine import engine; from gradspec.engine.engine import queue_callback\n"
              "print(engine.__name__, hasattr(gradspec, 'engine'), hasattr(gradspec, 'core'))")  # fmt: skip
    assert out.split() == ["gradspec.engine.engine", "False", "False"]


def test_a_wrong_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'gradspec' has no attribute 'nope'"):
        gs.nope  # noqa: B018


def test_what_an_import_brings_along():
    """What these take to import is not ours to take from the user's time; `__future__`, which NumPy left off in 2.5, takes 0.1 ms."""
    code = ("import numpy, sys; before = set(sys.modules); import gradspec\n"
            "print(*sorted({name.split('.')[0] for name in set(sys.modules) - before}))")  # fmt: skip
    heavy = ("asyncio copy dataclasses inspect json pathlib random scipy secrets string threading typing unittest "
             "urllib yaml zipfile")  # fmt: skip
    assert not set(heavy.split()) & set(run(code).split())


@each("name", DTYPES.split())
def test_dtypes_are_what_arrays_have(name):
    dtype = getattr(gs, name)
    x = gs.ones((2,), dtype=dtype)
    assert x.dtype is dtype and dtype == name and {dtype: 1}[x.dtype] == 1
    assert gs.asarray([1]).astype(dtype).dtype is dtype


def test_constants():
    assert (gs.pi, gs.e, gs.inf) == (np.pi, np.e, np.inf) and np.isnan(gs.nan)
    assert gs.ones((2,))[:, gs.newaxis].shape == (2, 1)


def test_classes_and_functions_say_where_they_are_found():
    """What pickle needs of them, and what a reader of a traceback or of `help` looks for."""
    modules = [gs, *(getattr(gs, name) for name in MODULES if isinstance(getattr(gs, name, None), ModuleType)), graph, forward_ad, functional]
    lost = []
    for module in modules:
        for name in shown(module):
            found = getattr(module, name)
            if isinstance(found, (type, FunctionType)) and found.__module__.split(".")[0] in ("gradspec", "importlib", "builtins"):
                place = importlib.import_module(found.__module__)
                for part in found.__qualname__.split("."):
                    place = getattr(place, part, None)
                if place is not found and found.__module__ != "builtins":
                    lost.append(f"{module.__name__}.{name}: {found.__module__}.{found.__qualname__}")
    assert not lost


def test_hasattr_answers_for_every_public_object():
    """Whatever an object refuses, `hasattr` and `getattr` with a default never raise."""
    modules = [gs, *(getattr(gs, name) for name in sorted(MODULES & {*dir(gs)})), *(getattr(gs.scipy, name) for name in gs.scipy._modules)]
    asked = 0
    for module in modules:
        for name in (*shown(module), "no_such_name"):
            found = getattr(module, name, None)
            for attribute in ("pdf", "shape", "no_such_name", "__wrapped__", "_private"):
                hasattr(found, attribute)
                asked += 1
    assert asked > 5000
