"""einops finds the backend for tensors, whichever of the two is imported first."""

import subprocess
import sys

import pytest

# What einops documents of itself: it looks for the subclasses of its base class whose framework has been imported.
BACKENDS = """
import numpy, sys
class AbstractBackend: pass
class NumpyBackend(AbstractBackend):
    framework_name = "numpy"
    def __init__(self): self.np = numpy
    def is_appropriate_type(self, tensor): return isinstance(tensor, numpy.ndarray)
    def arange(self, start, stop): return numpy.arange(start, stop)
    def add_axis(self, x, place): return self.np.expand_dims(x, place)
def get_backend(tensor):
    for kind in [*AbstractBackend.__subclasses__(), *NumpyBackend.__subclasses__()]:
        if kind.framework_name in sys.modules and kind().is_appropriate_type(tensor): return kind()
"""
USE = """
import gc
from einops._backends import get_backend
gc.collect()
x = gs.tensor([1.0, 2.0], requires_grad=True)
backend = get_backend(x)
assert backend.framework_name == "gradspec" and get_backend(x.detach().numpy()).framework_name == "numpy"
y = backend.add_axis(x * 1, 0)
assert y.shape == (1, 2) and y.requires_grad and backend.to_numpy(y).tolist() == [[1.0, 2.0]]
assert backend.arange(0, 2).tolist() == [0, 1] and isinstance(backend.from_numpy(x.detach().numpy()), gs.Tensor)
"""


@pytest.mark.parametrize("imports", ["import einops._backends, gradspec as gs", "import gradspec as gs, einops._backends",
                                     "import einops, gradspec as gs", "import gradspec as gs, importlib.util\nassert importlib.util.find_spec('einops._backends')"])  # fmt: skip
def test_the_backend_is_there_in_either_order(tmp_path, imports):
    (tmp_path / "einops").mkdir()
    (tmp_path / "einops" / "__init__.py").write_text("")
    (tmp_path / "einops" / "_backends.py").write_text(BACKENDS)
    code = f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\n{imports}\n{USE}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_program_without_einops_has_no_backend():
    code = "import sys, gradspec; assert not [name for name in sys.modules if name.startswith('einops')]"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
