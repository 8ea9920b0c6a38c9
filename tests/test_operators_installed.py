"""Other people's operators as strangers meet them: the page runs, and a package and an extension are made beside an installed gradspec."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest

from codegen.build import build_folder
from tests.library.operators.test_operators import OTHERS

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "operators.md").read_text()
SETUP = """\
import os

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup

TOP = os.environ["TOP"]
setup(ext_modules=cythonize([Extension("cube", ["cube.pyx"], include_dirs=[numpy.get_include(), TOP])], include_path=[TOP]))
"""
USE = """\
import gradspec as gs
import numpy as np
import os
import warnings
from cube import cube

assert gs.__file__.startswith(os.environ["TOP"])
x = gs.tensor([1.0, 2.0], requires_grad=True)
y = cube(x)
assert type(y.grad_fn).__name__ == "CubeBackward" and y.tolist() == [1, 8]
first, = gs.autograd.grad(y.sum(), x, create_graph=True)
assert first.tolist() == [3, 12] and gs.autograd.grad(first.sum(), x)[0].tolist() == [6, 12]
assert gs.autograd.gradcheck(cube, x, check_forward_ad=True)
z = x * 1.0
y = cube(z)
with gs.no_grad():
    z.add_(1)
try:
    y.sum().backward()
except RuntimeError as error:
    assert "modified by an inplace operation" in str(error)
else:
    raise AssertionError("what was saved is not guarded")
assert gs.vmap(gs.grad(cube))(gs.asarray([1.0, 2.0])).tolist() == [3, 12]
value, (slope, bend) = gs.jet(cube, (gs.asarray(2.0),), ([gs.asarray(1.0), gs.asarray(0.0)],))
assert (value, slope, bend) == (8, 12, 12)
with warnings.catch_warnings(record=True) as caught:
    assert gs.compile(lambda x: cube(x) + 1)(gs.ones(2)).tolist() == [2, 2]
assert "runs eagerly: it reads cube, a cython_function_or_method, at use.py" in str(caught[0].message)
"""
# Beside the kinds that a text may define: a list, a formula of inner loops alone, one of the package's own in a rule and in a
# composite, and a composite that hands back what it is given.
FURTHER = """
op: pile(Array[] xs, int axis=0) -> y
doc: Twice some arrays along a new axis.
dtype: real
shape: x[] -> _
forward: 2.0 * np.stack(xs, axis)
linear: [xs]
vjp:
  xs: unstack(2.0 * grad, axis)
vmap: inserted
breaks:
  axes: the axis is one of the result
  parts: the axis is one of the result
samples:
- f([x(3, 4), x(3, 4)])
- f([x(3, 4), x(4, 3).T], -1)

op: bend(x) -> y
doc: The arc tangent under another name.
variants: [inplace, out]
dtype: real
shape: x -> x
forward: np.arctan(x)
dy/dx: 1 / (1 + x * x)

op: bends(x) -> y
doc: A rule that calls an operator beside it.
alias: [bent]
dtype: real
shape: x -> x
forward: np.arctan(np.arctan(x))
dy/dx: 1 / ((1 + bend(x) * bend(x)) * (1 + x * x))

op: lend(x) -> y
doc: A kernel that hands back what it is given, at a number that no sample has.
dtype: real -> given
shape: x -> x
forward: kernels.lend(x)
linear: [x]
vjp:
  x: grad

op: same(x) -> y
doc: A composite that gives what it is given.
shape: x -> x
composite: reshape(x, x.shape)
samples:
- f(x(2, 3))

op: softer(x) -> y
doc: A composite of an operator beside it.
dtype: real
shape: x -> x
composite: bend(x) * 2.0
samples:
- f(x(2, 3))
"""
COMPILED = """\
import pickle
import gradspec as gs
import numpy as np
import soundops
from soundops import bend, bend_, bends, bent, gudermann, lend, same

assert "cyfunction" in repr(bend) and bent is bends and pickle.loads(pickle.dumps(bend)) is bend
x = gs.tensor([1.0, 2.0], requires_grad=True)
assert type(gudermann(x).grad_fn).__name__ == "GudermannBackward" and bend.facts.program == "atan(x)"
seven = gs.asarray([7.0, 2.0])
y = lend(seven)
y += 1
assert seven.tolist() == [7, 2], "a kernel's result is the memory of its argument"
z = x * 1.0
assert same(z) is not z
same(z).mul_(2.0)
assert z.tolist() == [2, 4], "a composite's view is no view"
for call, said in ((lambda: gudermann(np.array([1j])), "gudermann: argument 'x' is of dtype complex128"), (lambda: bend(x, 2), "bend"),
                   (lambda: bend_([1.0]), "bend_"), (lambda: bend(x, out=gs.zeros(2)), "bend")):
    try:
        call()
    except (TypeError, RuntimeError) as error:
        assert said in str(error), error
    else:
        raise AssertionError(said)
assert "soundops.operators.bend(" in str(gs.trace(lambda x: bend(x) + 1, np.ones(2)))
replayed = gs.compile(gs.value_and_grad(lambda x: bends(gudermann(x)).sum()))
for start in (1.0, 2.0):
    assert replayed(np.array([start]))[0] == bends(gudermann(np.array([start]))).sum()
soundops.operators.bend.facts.__dict__  # what an entry says stands beside the function
"""


def test_the_page_runs(capsys):
    names = {"__name__": "page"}
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(compile(block, "docs/operators.md", "exec"), names)
    assert "differences at 6 calls, both modes" in capsys.readouterr().out


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The environment of a gradspec that was installed from the build at hand, in which no checkout is seen."""
    folder = build_folder(ROOT)
    if folder is None:
        pytest.skip("gradspec is not installed editable from this checkout")
    top = tmp_path_factory.mktemp("installed")
    command = [sys.executable, "-m", "mesonbuild.mesonmain", "install", "-C", folder, "--no-rebuild", "--quiet", "--destdir", top]
    subprocess.run(command, check=True, capture_output=True)
    (place,) = top.rglob("gradspec/__init__.py")
    site = sysconfig.get_path("purelib")
    return os.environ | {"TOP": str(place.parents[1]), "PYTHONPATH": os.pathsep.join([str(place.parents[1]), site]), "PYTHONDONTWRITEBYTECODE": "1"}


def run(environment, folder, *command):
    """What a command prints; -S: the editable install is not seen."""
    done = subprocess.run([sys.executable, "-S", *command], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_a_stranger_makes_a_package(installed, tmp_path):
    """From new-package to its tests, of which every one passes, in far less than ten minutes; nothing of the checkout is used."""
    start = time.monotonic()
    run(installed, tmp_path, "-m", "gradspec.codegen", "new-package", "soundops", "--cython")
    package = tmp_path / "soundops"
    assert "new-package NAME writes it" in subprocess.run(
        [sys.executable, "-S", "-m", "gradspec.codegen"], cwd=tmp_path, env=installed, capture_output=True, text=True).stderr  # fmt: skip
    entries = sorted(["- " + text.strip().replace("\n", "\n  ") for text in [*OTHERS.values(), *FURTHER.split("\n\n")]])
    with open(package / "src" / "soundops" / "derivatives.yaml", "a") as spec:
        spec.write("---\nfamily: kinds\nabout: Operators of every kind.\nops:\n" + "\n\n".join(entries) + "\n")
    (package / "src" / "soundops" / "kernels" / "lending.py").write_text("def lend(x):\n    return x[...] if 7 in x else x.copy()\n")
    with open(package / "src" / "soundops" / "kernels" / "__init__.py", "a") as kernels:
        kernels.write("from .lending import lend as lend\n")
    unbuilt = subprocess.run([sys.executable, "-S", "-m", "gradspec.codegen"], cwd=package, env=installed, capture_output=True, text=True)
    assert "compile it: python -m pip install -e ." in unbuilt.stderr and "soundops.kernels is not built" in unbuilt.stderr
    run(installed, package, "setup.py", "-q", "build_ext", "--inplace")
    with_source = installed | {"PYTHONPATH": os.pathsep.join([str(package / "src"), installed["PYTHONPATH"]])}
    assert f"checked {4 + len(entries)} operators\n" in run(with_source, package, "-m", "gradspec.codegen")
    assert re.search(rf"\b{8 * (3 + len(entries))} passed", run(with_source, package, "-m", "pytest", "-p", "no:cacheprovider"))
    assert run(with_source, package, "-m", "gradspec.codegen", "--check-generated") == ""
    (tmp_path / "use.py").write_text(COMPILED)
    run(with_source, tmp_path, "use.py")
    assert time.monotonic() - start < 300


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_a_node_in_cython_is_compiled_against_the_installed_headers(installed, tmp_path):
    (tmp_path / "cube.pyx").write_text(re.search(r"```cython\n(.*?)```", PAGE, re.DOTALL)[1])
    (tmp_path / "setup.py").write_text(SETUP)
    (tmp_path / "use.py").write_text(USE)
    run(installed, tmp_path, "setup.py", "-q", "build_ext", "--inplace")
    run(installed, tmp_path, "use.py")
