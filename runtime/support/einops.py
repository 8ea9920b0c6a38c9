"""einops on tensors: `einops.rearrange(x, "b c h w -> b (c h) w")`.

Defines the backend, a subclass of einops' own class, and a finder that creates the backend when einops is imported.  Either
library may be imported first, and a program without einops has no backend.  Imports nothing of the package.
"""

import sys

BACKENDS = "einops._backends"  # the module with the base class; einops searches its subclasses


class AfterEinops:
    """A finder that finds einops' module by the other finders, and runs `make_backend` after its import."""

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
    """Create the backend: now if einops has been imported, else when it is."""
    if BACKENDS in sys.modules:
        make_backend(sys.modules[BACKENDS])
    elif AfterEinops not in sys.meta_path:
        sys.meta_path.insert(0, AfterEinops)


def make_backend(module):
    """Define the backend: NumPy's backend, as NumPy's functions take tensors."""
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

    module.GradspecBackend = GradspecBackend  # a class only holds weak references to its subclasses
