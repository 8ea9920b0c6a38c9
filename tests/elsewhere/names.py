"""The public names of the libraries that programs come from: `python tests/elsewhere/names.py LIBRARY > tests/elsewhere/LIBRARY.txt`.

Run where the library is installed; the lists are committed.  A line is a module and its names.  Left out is what a module has only
imported, from Python or from another part of the library, and what the library documents as its own: primitives of JAX (`sin_p`),
rules of HIPS autograd (`grad_svd`), classes of PyTorch's compiler.
"""

import importlib
import re
import sys
import types
import warnings

MODULES = {
    "torch": "torch torch.nn torch.nn.functional torch.nn.init torch.nn.utils torch.autograd torch.autograd.functional "
             "torch.autograd.forward_ad torch.autograd.graph torch.func torch.linalg torch.fft torch.special torch.optim "
             "torch.optim.lr_scheduler torch.utils torch.utils.checkpoint torch.utils.data torch.signal torch.signal.windows "
             "torch.random torch.distributions",
    "jax": "jax jax.numpy jax.numpy.linalg jax.numpy.fft jax.nn jax.nn.initializers jax.lax jax.random jax.scipy jax.scipy.special "
           "jax.scipy.stats jax.scipy.linalg jax.scipy.optimize jax.scipy.signal jax.scipy.integrate jax.tree_util jax.tree",
    "autograd": "autograd autograd.numpy autograd.numpy.linalg autograd.numpy.fft autograd.numpy.random autograd.scipy "
                "autograd.scipy.special autograd.scipy.stats autograd.scipy.integrate autograd.scipy.linalg autograd.scipy.signal "
                "autograd.misc autograd.misc.optimizers autograd.extend autograd.test_util",
    "numpy": "numpy numpy.linalg numpy.fft numpy.random",
    "scipy": "scipy.fft scipy.integrate scipy.interpolate scipy.linalg scipy.ndimage scipy.optimize scipy.signal scipy.signal.windows "
             "scipy.sparse scipy.sparse.linalg scipy.special scipy.stats",
}  # fmt: skip
OWN = re.compile(r"[a-z0-9_]+_p$|grad_\w+$|(?:norm|numpy)_[vj]jps?$|[A-Z]+_[A-Z_]+$|AVG|SUM|EPS|RTOL|TOL|\w*Type$|Script\w*$|Sym\w+$|sym_|\w+_notes$|\w*common_args$|BroadcastingList\d|\w+_common$")
PYTHONS = {*sys.stdlib_module_names, "typing_extensions"}


def wrapped(name):
    """The names that HIPS autograd's module of that name wraps; None of another library's."""
    found = re.fullmatch(r"autograd\.((?:numpy|scipy)\.?\w*)", name)
    return found and set(dir(importlib.import_module(found[1])))


def public(name):
    module = importlib.import_module(name)
    exported, inner = set(getattr(module, "__all__", ())), wrapped(name)
    for key in dir(module):
        value = getattr(module, key, None)
        home = getattr(value, "__module__", None) or ""
        if key.startswith("_") or OWN.fullmatch(key) and not (name == "torch.nn" or key in ("FloatType",)):
            continue
        if isinstance(value, types.ModuleType):
            if value.__name__ == f"{name}.{key}":
                yield key
        elif inner is not None:
            if key in inner and (key not in vars(importlib.import_module("builtins")) or name == "autograd.numpy"):
                yield key
        elif home == "torch._C" and isinstance(value, type) and not value.__doc__:
            continue
        elif key in exported or isinstance(home, str) and home.partition(".")[0] not in PYTHONS - {"builtins"}:
            if home != "builtins" or not isinstance(value, type) or key in exported:
                yield key


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for module in MODULES[sys.argv[1]].split():
        print(f"{module}: {' '.join(sorted(public(module)))}")
