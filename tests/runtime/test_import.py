"""An import keeps off what is not its work, and leaves everything as it was."""

import gc
import subprocess
import sys

import pytest

import gradspec

IN_THE_MIDDLE = """
import sys, threading
found = []
def ask():
    while "gradspec.kernels" not in sys.modules: pass
    early = "gradspec.generated.ops" not in sys.modules
    import gradspec
    found.append((early, hasattr(gradspec, "Tensor"), len(dir(gradspec))))
threads = [threading.Thread(target=ask) for _ in range(2)]
sys.setswitchinterval(1e-5)
for thread in threads: thread.start()
import pytest

import gradspec
for thread in threads: thread.join()
assert found == [(True, True, len(dir(gradspec)))] * 2, found
"""


def test_a_thread_that_imports_in_the_middle_of_an_import_waits_for_its_end():
    done = subprocess.run([sys.executable, "-c", IN_THE_MIDDLE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_an_import_leaves_the_collector_and_the_flag_as_they_were():
    assert gradspec.__spec__._initializing is False
    code = "import gc; gc.{0}(); import gradspec; print(gc.isenabled())"
    for action, enabled in (("enable", "True"), ("disable", "False")):
        done = subprocess.run([sys.executable, "-c", code.format(action)], capture_output=True, text=True)
        assert done.stdout.strip() == enabled, done.stderr
    assert gc.isenabled()


def test_kernels_in_python_are_imported_when_an_operator_needs_them():
    code = """
import sys, gradspec as gs
assert "gradspec.kernels.images.pooling" not in sys.modules
gs.nn.max_pool2d(gs.ones((1, 1, 4, 4)), 2)
assert "gradspec.kernels.images.pooling" in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


POSTPONED = ("fft", "func", "linalg", "nn", "optim", "random", "scipy", "signal", "special")


def test_namespaces_run_when_they_are_first_used():
    code = f"""
import sys, types
import gradspec as gs, gradspec.nn as nn
from gradspec import optim
for name in {POSTPONED}:
    module = getattr(gs, name)
    assert module is sys.modules["gradspec." + name] and isinstance(module, types.ModuleType)
    assert type(module) is not types.ModuleType and "__all__" not in vars(module), name
assert "relu" in dir(gs.nn) and type(gs.nn) is types.ModuleType and gs.nn is nn is sys.modules["gradspec.nn"]
optim.SGD, gs.fft.fft, gs.linalg.inv, gs.special.expit, gs.random.normal, gs.func.grad, gs.scipy.objective, gs.signal.windows
for name in {POSTPONED}:
    module = getattr(gs, name)
    assert type(module) is types.ModuleType and module.__spec__.name == module.__name__ and module.__file__, name
    assert set(module.__all__) <= set(dir(module)), name
import importlib
assert importlib.reload(gs.optim) is optim
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("statement", [
    "from gradspec.nn import relu", "from gradspec.nn.functional import relu", "import gradspec.nn.functional",
    "from gradspec.linalg import *; inv", "gs.dispatch.ops.conv2d", "import pickle; pickle.loads(pickle.dumps(gs.nn.relu))",
    "np.fft.fft(gs.ones(4))", "np.linalg.inv(gs.eye(2))", "gs.ones(4).relu()", "gs.ones(4).__array_namespace__().fft.fft",
    "assert 'fft' in gs.fft.fft.__doc__", "assert gs.random.normal.__doc__", "x = gs.manual_seed(0), gs.randn(3)",
])  # fmt: skip
def test_each_way_to_a_namespace_that_did_not_run_yet(statement):
    code = f"import numpy as np, gradspec as gs, gradspec.support.dispatch as d\n{statement.replace('gs.dispatch', 'd')}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_wrong_name_of_a_namespace_that_did_not_run_yet():
    code = "import gradspec as gs\ntry: gs.nn.rleu\nexcept AttributeError as error: print(error, error.name, error.obj is gs.nn)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "module 'gradspec.nn' has no attribute 'rleu' rleu True\n", done.stderr


def test_threads_that_use_a_namespace_first_at_the_same_time():
    code = """
import sys, threading
import gradspec as gs
sys.setswitchinterval(1e-6)
wrong, ready = [], threading.Barrier(8)
def use(number):
    ready.wait()
    try:
        for names in ("nn.relu", "fft.fft", "optim.SGD", "linalg.inv", "func.grad", "special.expit")[:: 1 - 2 * (number % 2)]:
            module, name = names.split(".")
            getattr(getattr(gs, module), name)
    except Exception as error:
        wrong.append(error)
threads = [threading.Thread(target=use, args=(number,)) for number in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert not wrong, wrong
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
