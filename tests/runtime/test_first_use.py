"""What is imported late, or first of all, by many threads at once, in fresh processes."""

import subprocess
import sys

import pytest

from tests.test_layers import edges

from .test_import import public_modules

# Each thread asks for all of them in an order of its own: namespaces with what `dir` says of them, and functions that import more.
PROGRAM = """
import random, sys, threading, traceback
sys.setswitchinterval(1e-6)
import gradspec as gs

def late(module, prefix=""):
    for name in dir(module):
        if not name.startswith("_"):
            path = prefix + name
            if (found := sys.modules.get(f"gradspec.{path}")) is None and name not in vars(module):
                yield path
            elif found is not None and found is getattr(module, name, None) and len(path.split(".")) < 3 and path not in seen:
                seen.add(path)
                yield from late(found, path + ".")

def profile():
    with gs.profiler.profile() as found:
        (gs.ones(3, requires_grad=True) * 2).sum().backward()
    found.key_averages(), found.events()

def reach(path):
    found = gs
    for part in path.split("."):
        found = getattr(found, part)
    for name in dir(found) if type(found) is type(gs) else ():
        getattr(found, name)

seen = set()
paths = [*late(gs), "scipy.stats", "scipy.linalg", "scipy.optimize", "scipy.signal", "scipy.interpolate", "scipy.integrate",
         "nn.utils.parametrize", "optim.lr_scheduler", "optim.swa_utils", "utils.checkpoint", "autograd.graph"]
assert len(paths) > 60, paths
x = gs.ones(2)
tasks = [*(lambda path=path: reach(path) for path in paths), profile, lambda: gs.sparse_jacobian(gs.sin)(x),
         lambda: gs.compile(gs.sin)(x), lambda: gs.trace(gs.sin, x), lambda: gs.nn.Linear(2, 2)(x), lambda: gs.vmap(gs.sin)(x),
         lambda: gs.autograd.gradcheck(gs.sin, (gs.ones(2, requires_grad=True),)), lambda: gs.hessian(lambda x: (x * x).sum())(x),
         lambda: gs.optim.Adam([gs.ones(2, requires_grad=True)]), lambda: gs.func.jet(gs.sin, (0.0,), ((1.0,),)),
         lambda: gs.scipy.stats.norm.logpdf(0.3), lambda: gs.float_power(2.0, 3.0), lambda: gs.nested.nested_tensor([[1.0], [2.0, 3.0]])]
start, failed = threading.Barrier(12), []

def work(number):
    own = tasks[:]
    random.Random(int(sys.argv[1]) * 100 + number).shuffle(own)
    start.wait()
    for task in own:
        try:
            task()
        except BaseException:
            failed.append(traceback.format_exc())
            return

threads = [threading.Thread(target=work, args=(number,)) for number in range(12)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("\\n".join(failed))
sys.exit(bool(failed))
"""


@pytest.mark.parametrize("seed", range(4))
def test_many_threads_ask_first(seed):
    pytest.importorskip("scipy")
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(seed)], capture_output=True, text=True, timeout=300)
    assert not done.returncode, done.stdout + done.stderr


# While one thread imports the package each other thread begins with a module of its own, and goes on to those of the others.
FIRST = """
import importlib, sys, threading, traceback
sys.setswitchinterval(1e-6)
modules, failed = sys.argv[1:], []

def work(number):
    while "gradspec" not in sys.modules:
        pass
    for name in modules[number:] + modules[:number]:
        try:
            importlib.import_module(name)
        except BaseException:
            failed.append(f"{name} first: {traceback.format_exc()}")
            return

threads = [threading.Thread(target=work, args=(number,)) for number in range(len(modules))]
for thread in threads:
    thread.start()
import gradspec
for thread in threads:
    thread.join()
print("\\n".join(failed))
sys.exit(bool(failed))
"""


@pytest.mark.parametrize("part", range(5))
def test_many_threads_begin_with_a_module_each(part):
    """But with none that its own package imports: CPython holds the lock of such a module while it imports the package, and an
    import of the package in another thread waits for it, whatever the package does."""
    pytest.importorskip("scipy")
    by_package = {f"gradspec.{target}" for path, here, targets in edges("gradspec") for _, target in targets
                  if path.endswith("/__init__.py") and target.startswith(f"{here}.")}  # fmt: skip
    modules = sorted(set(public_modules()) - by_package)[part::5]
    assert len(modules) > 8
    done = subprocess.run([sys.executable, "-c", FIRST, *modules], capture_output=True, text=True, timeout=300)
    assert not done.returncode, done.stdout + done.stderr
