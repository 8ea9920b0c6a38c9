"""An import keeps off what is not its work, and leaves everything as it was."""

import gc
import subprocess
import sys

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
assert "gradspec.kernels.pooling" not in sys.modules
gs.nn.max_pool2d(gs.ones((1, 1, 4, 4)), 2)
assert "gradspec.kernels.pooling" in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
