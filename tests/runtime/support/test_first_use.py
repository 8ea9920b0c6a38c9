"""What is imported late, or first of all, by many threads at once, in fresh processes."""

import subprocess
import sys

import pytest

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


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_many_threads_ask_first(seed):
    pytest.importorskip("scipy")
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(seed)], capture_output=True, text=True, timeout=300)
    assert not done.returncode, done.stdout + done.stderr
