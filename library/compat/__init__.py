"""Modules of JAX and HIPS autograd by their own names: `from gradspec.lax import scan`, `import gradspec.numpy as np`.

Holds one table: module -> its names, and where gradspec has each.  No module has a file: the importer of `support.error_hints`
asks `spec`.  A name that is not in the table is an error that says what to write.
"""

from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import gradspec  # noqa: F401 (waits for it)

from ..support.lazy_import import later, missing

__all__ = ["MODULES", "spec"]
_ADAPTERS = "hips", "jax_at", "jax_config", "jax_initializers", "jax_ode", "jax_ops", "lax", "numpy_names", "torch_testing"
__getattr__ = later(__name__, {"": _ADAPTERS})

# JAX's names that gradspec has with the same parameters, under another name, and with adapters.
_SAME = (
    "abs acos acosh add asin asinh associative_scan atan atan2 atanh bitwise_and bitwise_not bitwise_or bitwise_xor "
    "broadcast_shapes cbrt ceil concatenate cond conj cos cosh custom_linear_solve custom_root digamma div dot eq erf erfc exp "
    "exp2 expand_dims expm1 floor fori_loop full full_like ge gt imag le lgamma log log1p lt map mul ne neg polygamma pow real "
    "reciprocal rsqrt scan sign sin sinh sqrt square squeeze stop_gradient sub switch tan tanh transpose while_loop"
)
_RENAMED = (
    "max=maximum min=minimum bessel_i0e=special.i0e bessel_i1e=special.i1e betainc=special.betainc igamma=special.gammainc "
    "igammac=special.gammaincc zeta=special.zeta erf_inv=erfinv is_finite=isfinite logistic=sigmoid rem=fmod rev=flip "
    "batch_matmul=matmul convert_element_type=astype integer_pow=pow index_in_dim=compat.lax.dynamic_index_in_dim "
    "reduce_max=amax reduce_min=amin reduce_prod=prod reduce_sum=sum select=where"
)
_ADAPTED = (
    "select_n top_k broadcasted_iota clamp cumlogsumexp cummax cummin cumprod cumsum dynamic_index_in_dim dynamic_slice "
    "dynamic_slice_in_dim dynamic_update_slice dynamic_update_slice_in_dim iota reduce_and reduce_or reshape slice slice_in_dim "
    "sort"
)
_OPTIMIZERS = "sgd=compat.hips.sgd rmsprop=compat.hips.rmsprop adam=compat.hips.adam"
_DERIVATIVES = (
    "checkpoint deriv elementwise_grad grad grad_and_aux grad_named hessian hessian_tensor_product hessian_vector_product "
    "holomorphic_grad jacobian make_ggnvp make_hvp make_jvp multigrad_dict tensor_jacobian_product value_and_grad "
    "vector_jacobian_product"
)
_FLATTEN = "flatten=tree_util.ravel_pytree flatten_func=compat.hips.flatten_func"
_TREE = "all flatten flatten_with_path leaves leaves_with_path map map_with_path reduce structure unflatten"
_INITIALIZERS = (
    "constant delta_orthogonal glorot_normal glorot_uniform he_normal he_uniform kaiming_normal kaiming_uniform lecun_normal "
    "lecun_uniform normal ones orthogonal truncated_normal uniform variance_scaling xavier_normal xavier_uniform zeros"
)


def _each(place: str, names: str) -> str:
    """The words of names that begin with `place` in gradspec."""
    return " ".join(f"{name}={place}{name}" for name in names.split())



#: Module -> its names; `name=place` where gradspec has it under another name.  `*` means a namespace, then NumPy's; `=` means NumPy's alone.
MODULES = {
    "lax": f"{_SAME} {_RENAMED} {_each('compat.lax.', _ADAPTED)}",
    "numpy": "*", "numpy.linalg": "* linalg", "numpy.fft": "* fft", "numpy.random": "= random",
    "ops": _each("compat.jax_ops.", "segment_max segment_min segment_prod segment_sum"),
    "flatten_util": "ravel_pytree=tree_util.ravel_pytree",
    "experimental": "", "experimental.ode": "odeint=compat.jax_ode.odeint",
    "nn.initializers": _each("compat.jax_initializers.", _INITIALIZERS), "tree": _each("tree_util.tree_", _TREE),
    "config": "update=compat.jax_config.update",
    "builtins": " ".join(f"{name}=builtins:{name}" for name in ("dict", "isinstance", "list", "tuple", "type")),
    "tracer": "getval=compat.hips.getval isbox=is_tensor",
    "differential_operators": _DERIVATIVES,
    "testing": "assert_close=compat.torch_testing.assert_close",
    "misc": "", "misc.flatten": _FLATTEN, "util": _FLATTEN,
    "misc.fixed_points": "fixed_point", "misc.optimizers": _OPTIMIZERS,
}  # fmt: skip
#: Classes of the main namespace under another library's name.
CLASSES = {"Array": "Tensor"}
# Names that mean something else in gradspec than in NumPy.
NUMPYS = {"select", "put", "load", "save"}
# Names that have a further form in NumPy.
_FORMS = {"where": "compat.numpy_names.where"}


def spec(name: str) -> ModuleSpec | None:
    """How to import a module of the table; None for another name."""
    path = name.removeprefix("gradspec.")
    if path not in MODULES:
        return None
    return ModuleSpec(name, _Loader(), is_package=any(other.startswith(f"{path}.") for other in MODULES))


class _Callable(ModuleType):
    """A module with a function of its own name: HIPS autograd's `misc` has the function, and a module of that name as well."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return getattr(self, self.__name__.rpartition(".")[2])(*args, **kwargs)


class _Loader:
    """Makes a module of a row of the table."""

    @staticmethod
    def create_module(spec: ModuleSpec) -> ModuleType | None:
        """A module that can be called if it has a function of its name; else Python's own module object."""
        names = [word.partition("=")[0] for word in MODULES[spec.name.removeprefix("gradspec.")].split()]
        return _Callable(spec.name) if spec.name.rpartition(".")[2] in names else None

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        path = module.__name__.removeprefix("gradspec.")
        words = MODULES[path].split()
        if words[:1] in (["*"], ["="]):
            names = _of_numpy("".join(words[1:]), own=words[0] == "*")
        else:
            names = {name: place or name for name, _, place in (word.partition("=") for word in words)}

        def __getattr__(name: str) -> Any:
            if f"{path}.{name}" in MODULES:
                return import_module(f"{module.__name__}.{name}")
            if name not in names:
                raise missing(module.__name__, name)
            value = found(names[name])
            setattr(module, name, value)
            return value

        module.__doc__ = f"Names of another library's `{path}`, and gradspec's functions."
        module.__all__ = sorted(name for name in names if not name.startswith("_"))
        module.__dir__ = module.__all__.copy
        module.__getattr__ = __getattr__


def _of_numpy(namespace: str, own: bool) -> dict[str, str]:
    """The names of NumPy's namespace: gradspec's functions if `own`, and for all else, such as constants and dtypes, NumPy's."""
    prefix = f"{namespace}." if namespace else ""
    names = {name: f"numpy:{prefix}{name}" for name in dir(found(f"numpy:{namespace}")) if not name.startswith("_")}
    if own:
        values = vars(found(namespace)).items()
        functions = [name for name, value in values if callable(value) and not isinstance(value, type) and name[0] != "_"]
        names |= {name: prefix + name for name in functions if name not in NUMPYS}
        names |= _FORMS if not namespace else {}
    return names


def found(place: str) -> Any:
    """The object at a place such as `special.i0e` of gradspec, or `numpy:linalg.norm` of another package."""
    package, _, rest = place.rpartition(":")
    value = import_module(package or "gradspec")
    for name in filter(None, rest.split(".")):
        value = getattr(value, name)
    return value
