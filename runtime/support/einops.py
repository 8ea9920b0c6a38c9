"""einops on tensors: `einops.rearrange(x, "b c h w -> b (c h) w")`.

Owns the backend, a subclass of einops' own, for which einops looks, and the finder that makes it when einops is imported: either
import may come first, and a program without einops has no backend.  Imports nothing of the package.
"""

import sys

BACKENDS = "einops._backends"  # the module that has the base class, whose subclasses einops searches


class AfterEinops:
    """A finder that finds einops' module as the others do, and has it run `make_backend` once it is there."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != BACKENDS:
            return None
        others = (finder.find_spec(name, path, target) for finder in sys.meta_path if finder is not AfterEinops)
        spec = next(filter(None, others), None)
        if spec is not None and hasattr(spec.loader, "exec_module"):
            run = spec.loader.exec_module

            def exec_module(module):
                run(module)
                make_backend(module)

            spec.loader.exec_module = exec_module
        return spec


def offer_backend():
    """Make the backend where einops has been imported, else when it is."""
    if BACKENDS in sys.modules:
        make_backend(sys.modules[BACKENDS])
    elif AfterEinops not in sys.meta_path:
        sys.meta_path.insert(0, AfterEinops)


def make_backend(module):
    """Define the backend: NumPy's, whose functions take tensors."""
    base = getattr(module, "NumpyBackend", None)
    if base is None or hasattr(module, "GradspecBackend"):
        return

    class GradspecBackend(base):
        framework_name = "gradspec"

        def is_appropriate_type(self, tensor):
            return isinstance(tensor, sys.modules["gradspec"].Tensor)

        def from_numpy(self, x):
            return sys.modules["gradspec"].asarray(x)

        def to_numpy(self, x):
            return x.detach().numpy()

        def arange(self, start, stop):
            return self.from_numpy(self.np.arange(start, stop))

    module.GradspecBackend = GradspecBackend  # a class holds no more than weak references to what inherits from it
