"""An import: what is there at once, and threads that import at the same time."""

import ast
import importlib.util
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gradspec
from gradspec import autograd
from tests.asked import each
from tests.test_layers import edges

IN_THE_MIDDLE = """
import sys, threading
found = []
def ask():
    while "gradspec.kernels" not in sys.modules: pass
    early = "gradspec.nn" not in sys.modules
    import gradspec
    found.append((early, hasattr(gradspec, "Tensor"), len(dir(gradspec))))
threads = [threading.Thread(target=ask) for _ in range(2)]
sys.setswitchinterval(1e-5)
for thread in threads: thread.start()
import pytest

import gradspec
from gradspec import autograd
for thread in threads: thread.join()
assert found == [(True, True, len(dir(gradspec)))] * 2, found
"""


def test_a_thread_that_imports_in_the_middle_of_an_import_waits_for_its_end():
    done = subprocess.run([sys.executable, "-c", IN_THE_MIDDLE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_kernels_in_python_are_imported_when_an_operator_needs_them():
    code = """
import sys, gradspec as gs
assert "gradspec.kernels.convolution.pooling" not in sys.modules
gs.nn.max_pool2d(gs.ones((1, 1, 4, 4)), 2)
assert "gradspec.kernels.convolution.pooling" in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


NAMESPACES = ("autograd", "debug", "fft", "func", "linalg", "nn", "optim", "profiler", "random", "scipy", "signal", "special", "utils")


def test_namespaces_are_modules_that_are_there_when_asked_for():
    code = f"""
import sys, types
import gradspec as gs
for name in {NAMESPACES}:
    assert name in dir(gs)
    module = getattr(gs, name)
    assert module is vars(gs)[name]
    assert type(module) is types.ModuleType and module is sys.modules["gradspec." + name] and set(module.__all__) <= set(dir(module))
import importlib
assert importlib.reload(gs.optim) is gs.optim
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@each("statement", [
    "from gradspec.nn import relu", "from gradspec.nn.functional import relu", "import gradspec.nn.functional",
    "from gradspec.linalg import *; inv", "gs.dispatch.ops.conv2d", "import pickle; pickle.loads(pickle.dumps(gs.nn.relu))",
    "np.fft.fft(gs.ones(4))", "np.linalg.inv(gs.eye(2))", "gs.ones(4).relu()", "gs.ones(4).__array_namespace__().fft.fft",
    "assert 'fft' in gs.fft.fft.__doc__", "assert gs.random.normal.__doc__", "x = gs.manual_seed(0), gs.randn(3)",
])  # fmt: skip
@pytest.mark.slow
def test_each_way_to_a_namespace(statement):
    code = f"import numpy as np, gradspec as gs, gradspec.support.dispatch as d\n{statement.replace('gs.dispatch', 'd')}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_wrong_name_of_a_namespace():
    code = "import gradspec as gs\ntry: gs.nn.rleu\nexcept AttributeError as error: print(error, error.name, error.obj is gs.nn)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "module 'gradspec.nn' has no attribute 'rleu'; did you mean 'relu'? rleu True\n", done.stderr


def test_the_package_imports_no_namespace_of_its_own():
    """Each namespace begins by waiting for the package: a package that waited for a namespace could end two threads in a deadlock."""
    code = "import sys, gradspec; print(*(name for name in gradspec._namespaces if f'gradspec.{name}' in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


@pytest.mark.parametrize("package", [
    "array_api", "autograd", "nn", "nn.utils", "optim", "scipy.sparse", "signal", "utils",
])  # fmt: skip
def test_a_namespace_imports_none_of_its_public_modules(package):
    """A thread that imports `gradspec.nn.functional` first waits for `gradspec.nn`, which then must not wait for that thread."""
    found = f"[name for name in dir(module) if f'gradspec.{package}.{{name}}' in before]"
    code = f"import sys, gradspec.{package} as module; before = set(sys.modules); print(*{found}); print(*map(type, (getattr(module, n) for n in dir(module))))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    first, second = done.stdout.splitlines()
    assert first == ("gradcheck" if package == "autograd" else "")  # a function, as in PyTorch, that its module is named after
    assert "module" in second


def public_modules(module=gradspec, seen=None):
    """Names of all modules that are found from the package by public names, with those of `autograd` that PyTorch has as well."""
    seen = {"gradspec.autograd.function", "gradspec.autograd.gradcheck", "gradspec.autograd.variable"} if seen is None else seen
    for name in dir(module):
        found = None if name.startswith("_") else getattr(module, name)
        if type(found) is type(gradspec) and found.__name__ == f"{module.__name__}.{name}" and found.__name__ not in seen:
            seen.add(found.__name__)
            public_modules(found, seen)
    return seen


def test_each_public_module_waits_for_the_package():
    """Its first import is `import gradspec`.

    It may be the first of all that a thread asks for, while another one imports the package: Python begins with it where the
    packages around it are there in part, and to import one more of the package's own modules it would wait for the package, and
    hold the lock of a module that the package needs.
    """
    modules = public_modules()
    assert {"gradspec.nn.utils", "gradspec.nn.functional", "gradspec.autograd.functional", "gradspec.scipy.signal.windows"} <= modules
    late = []
    for name in sorted(modules | {"gradspec.array_api"}):
        source = Path(importlib.util.find_spec(name).origin).read_text()
        imports = [ast.unparse(node) for node in ast.parse(source).body if isinstance(node, (ast.Import, ast.ImportFrom))]
        own = [line for line in imports if line.startswith(("import gradspec", "from gradspec", "from ."))]
        if own and not own[0].startswith("import gradspec"):
            late.append(name)
    assert late == []


TOPS = {Path(gradspec.__file__).parent, Path(autograd.__file__).parents[1]}  # two folders in a checkout, one in a wheel
PRIVATE = {"api", "codegen", "compiler", "core", "engine", "formulas", "generated", "kernels", "methods", "saved", "support", "transforms"}


@pytest.mark.slow
def test_a_part_of_another_package_is_imported_after_the_package():
    """Where a package imports the part itself, a thread that begins with the part and one that begins with the package each hold
    what the other one needs.
    """
    code = "import sys, gradspec.{0}; print(*(name[9:] for name in sys.modules if name.startswith('gradspec.{0}.')))"
    packages = {".".join(path.relative_to(top).parts[:-1]) for top in TOPS for path in top.rglob("__init__.py")} - {""}
    packages = sorted(name for name in packages if name.split(".")[0] not in PRIVATE)
    assert {"autograd", "func", "profiler", "scipy.optimize"} <= set(packages)
    own = {name: set(subprocess.run([sys.executable, "-c", code.format(name)], capture_output=True, text=True, check=True).stdout.split())
           for name in packages}  # fmt: skip
    late = set()
    for path, here, targets in edges("gradspec"):
        for line, target in targets if here.split(".")[0] not in {*PRIVATE, "gradspec"} else ():
            late |= {(path, target) for package in packages if target in own[package] and not f"{here}.".startswith(f"{package}.")
                     and not any(other == package and before <= line for before, other in targets)}  # fmt: skip
    assert sorted(late) == []


def test_no_module_asks_numpy_for_a_module_that_numpy_imports_when_asked():
    """`np.fft` recurses in one of two threads that ask for it first, so a module that uses it also says `import numpy.fft`."""
    top = Path(gradspec.__file__).parent
    bound = subprocess.run([sys.executable, "-c", "import numpy; print(*vars(numpy))"], capture_output=True, text=True, check=True)
    late = {module.name for module in pkgutil.iter_modules(np.__path__)} - set(bound.stdout.split())
    assert {"fft", "random"} <= late
    beside = [*(top.parent / "generated").rglob("*.pyx"), *(top.parent / "codegen").rglob("*.py")]  # in a wheel they are below the top
    for path in [*(path for top in TOPS for path in [*top.rglob("*.py"), *top.rglob("*.pyx")]), *beside]:
        text = path.read_text()
        for name in set(re.findall(r"(?<![\w`.\"])np\.(\w+)\b", text)) & late:
            assert f"import numpy.{name}" in text, f"{path} uses np.{name}"


FIRST = """
import importlib, sys, threading
sys.setswitchinterval({interval})
names, wrong, ready = {names}, [], threading.Barrier({count})
def use(name):
    ready.wait()
    try:
        module = importlib.import_module("gradspec" + name)
        import gradspec
        for other in {namespaces}:
            getattr(gradspec, other)
        assert set(dir(module)) >= set(module.__all__)
        assert float((gradspec.nn.relu(gradspec.ones(2)) + gradspec.fft.ifft(gradspec.ones(2)).real).sum()) == 3
    except BaseException as error:
        wrong.append((name, error))
threads = [threading.Thread(target=use, args=(name,)) for name in names]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert not wrong, wrong
"""


@pytest.mark.slow
@each("names", [
    (".linalg", ".nn"), (".nn", ""), (".autograd", ".fft"), (".autograd.forward_ad", ".optim", ".random", ".nn.functional"),
    tuple(f".{name}" for name in NAMESPACES), ("", ".array_api", ".func", ".special"),
], ids=lambda names: "gradspec" + ",".join(names))  # fmt: skip
def test_threads_that_import_different_modules_first(names):
    """Each gets the module that it asked for, whole, whoever runs the package; threads take turns as often as they can."""
    code = FIRST.format(interval=1e-6, names=names, count=len(names), namespaces=NAMESPACES)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
