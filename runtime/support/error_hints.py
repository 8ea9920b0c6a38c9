"""Hints: suggest a replacement for a name or a keyword that is misspelt or belongs to a different library.

Holds the suggestions for keywords that no parameter here means.  Searches for a name in `foreign_names`, in the other namespaces,
among tensors' methods, in NumPy and SciPy, and among similar names.  The search, and its imports, run only when an error message
is built.
"""

import functools
import re
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any, ParamSpec, TypeVar

from .counterparts import advice, frames_of
from .dispatch import ops
from .keywords import UNLIKE, meant, renamed

P = ParamSpec("P")
R = TypeVar("R")

# Suggestions for other libraries' keywords without a counterpart; a key of an inner dict is the parameter that decides.
KEYWORDS: dict[str, str | dict[str, str]] = {
    **dict.fromkeys(("input", "self", "tensors"), "the array, or the arrays, as the first argument"),
    "pivot": "nothing: rows are always exchanged",
    "alpha": "alpha * b for the second argument b",
    "device": "nothing: every tensor is in memory",
    "layout": "nothing: every tensor is strided",
    "pin_memory": "nothing: every tensor is in memory",
    "non_blocking": "nothing: every tensor is in memory",
    "memory_format": "nothing: a layout is NumPy's to choose",
    "size_average": "reduction='mean' for True, 'sum' for False",
    "reduce": {"source": "scatter_add or scatter_reduce", "": "reduction='mean' for True, 'none' for False"},
    "inplace": "the name with a final underscore, relu_(x)",
    "dtype": "astype(dtype) of what it gives",
    "rounding_mode": "div(a, b, rounding_mode=...)",
    "right": "side='right' for True, 'left' for False",
    "out_int32": "astype(int32) of what it gives",
    "out_dtype": "astype(dtype) of the factors",
    "output_size": "nothing: the size follows from the numbers of copies",
    "compute_mode": "nothing: distances are always computed from differences",
    "return_complex": "nothing: numbers are complex",
    "spacing": "the distances behind the array: gradient(x, 0.5)",
    "equation": "the equation as the first argument, and the arrays behind it",
    "axis0": "axis1= and axis2=",
    **dict.fromkeys(("dim", "keepdim"), "the array with these axes last, by moveaxis"),
    "atol": "the tolerance relative to the largest singular value",
    "left": "the transposed right-hand side, b.mT, and mT of what it gives",
    "unitriangular": "unit_diagonal=",
    **dict.fromkeys(("unpack_data", "unpack_pivots"), "nothing, and take those of the results that are wanted"),
    **dict.fromkeys(("dims_self", "dims_other"), "axes=(those of the first, those of the second)"),
    "lambd": "scale=1 / lambd",
    **dict.fromkeys(("dim0", "dim1"), "swapaxes(x, dim0, dim1)"),
    **dict.fromkeys(("backend", "mode", "options"), "nothing: there is one way"),
    # JAX's
    **dict.fromkeys(("static_argnums", "static_argnames", "donate_argnums", "donate_argnames"),
                    "gs.jit(f, ...), which takes it: numbers and text among the arguments are static anyway"),
    **dict.fromkeys(("axis_name", "spmd_axis_name"), "the sum of what the mapped function returns, in the place of psum"),
    "holomorphic": "gs.jvp(f, z, 1.0)[1] for the f'(z) of a holomorphic f",
    "allow_int": "x.astype(float) for the argument",
    "precision": "nothing: an operator computes in the dtype of its operands",
    "preferred_element_type": "astype(dtype) of the factors",
}  # fmt: skip

# The namespaces of the package, in the order of the search for a name that is missing elsewhere.
NAMESPACES = (
    "nn", "linalg", "special", "fft", "random", "func", "autograd", "optim", "utils", "utils.data", "signal.windows",
    "autograd.functional", "autograd.forward_ad", "autograd.graph", "autograd.checkpoint", "optim.lr_scheduler",
    "optim.swa_utils", "nn.init", "nn.utils", "profiler", "autograd.profiler", "extend", "test_util", "tree_util", "sparse",
    "nested", "distributed",
)  # fmt: skip


def of_call(error, function=None):
    """Cython's message about a call, completed by a suggestion.

    Parameters
    ----------
    error : str or TypeError
    function : callable, optional
        The called function; by default the operator that the error names.

    Returns
    -------
    str
    """
    message = str(error)
    if function is None:
        called = re.match(r"(\w+)\(\)", message)
        missing = re.search(r"needs keyword-only argument (\w+)", message)
        if called and missing and UNLIKE.get(called[1], ("",))[0] == missing[1]:  # libraries disagree about its default
            return f"{called[1]}(): {UNLIKE[called[1]][1]}"
        function = called and vars(ops).get(called[1].rstrip("_"))
    code = getattr(function, "__code__", None)
    if code is None:
        keyword = re.search(r"unexpected keyword argument '(\w+)'", message)
        return f"{message}{of_keyword(keyword[1])}" if keyword else message
    known = parameters_of(function)
    keyword = re.search(r"unexpected keyword argument '(\w+)'", message)
    if keyword is None:
        if function.__name__ == "where" and "(1 given)" in message:
            return f"{message}; write nonzero(mask) for the places where it is true"
        return f"{message}; its arguments are {', '.join(known)}" if known else message
    further = f"{function.__name__}_with_{keyword[1].removeprefix('return_')}"
    if hasattr(ops, further):  # the keyword requests the result of a separate operator
        return f"{message}; write {further}"
    answer = of_keyword(keyword[1], known)
    if answer:
        return f"{message}{answer}"
    from difflib import get_close_matches

    near = get_close_matches(keyword[1], known, 1)
    if near:
        return f"{message}; did you mean '{near[0]}'?"
    return f"{message}; its arguments are {', '.join(known)}" if known else message


def parameters_of(function):
    """The names of a function's parameters for its callers."""
    code = function.__code__
    return [name for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if not name.endswith("_")]


def answering(function: Callable[P, R]) -> Callable[P, R]:
    """Wrap a function: it accepts other libraries' keywords, and a call that does not fit gets a suggestion, as for operators."""

    @functools.wraps(function)
    def answered(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:  # the function was entered
                raise
            fitting: Any = renamed(kwargs, parameters_of(function), function.__name__)
            if fitting.keys() == kwargs.keys():
                raise TypeError(of_call(error, function)) from None
        return answered(*args, **fitting)

    return answered


def of_keyword(name, known=()):
    """The suggestion for another library's keyword, as the end of a sentence; empty if unknown.

    Parameters
    ----------
    name : str
    known : sequence of str
        The function's parameters.

    Returns
    -------
    str
    """
    parameter = meant(name, known)
    if parameter:
        return f"; write {parameter}="
    if name not in KEYWORDS or name in known:
        return ""
    answer = KEYWORDS[name]
    if not isinstance(answer, str):
        answer = next(text for beside, text in answer.items() if not beside or beside in known)
    return f"; write {answer}"


class MissingAttribute(AttributeError):
    """A name that a tensor or a namespace lacks.  Many lookups fail on purpose, so the message is built when it is read."""

    def __init__(self, owner, name):
        super().__init__(owner, name, name=name, obj=owner)

    def __str__(self):
        owner, name = self.args
        if isinstance(owner, type):
            found = of_attribute(owner, name) + advice(frames_of(self))
            return f"'{owner.__name__}' object has no attribute {name!r}{found}"
        return f"module {owner.__name__!r} has no attribute {name!r}{of_name(owner, name)}"

    def __reduce__(self):
        return AttributeError, (str(self),)


MissingAttribute.__name__ = MissingAttribute.__qualname__ = "AttributeError"
MissingAttribute.__module__ = "builtins"


class MissingModule(ModuleNotFoundError):
    """A module that the package lacks; it may exist in another library.  The message is built when it is read."""

    def __str__(self):
        package, _, name = self.name.rpartition(".")
        return f"No module named {self.name!r}{of_name(sys.modules[package], name)}"

    def __reduce__(self):
        return ModuleNotFoundError, (str(self),)


MissingModule.__name__ = MissingModule.__qualname__ = "ModuleNotFoundError"
MissingModule.__module__ = "builtins"


class ModulesElsewhere:
    """A finder that is asked last: modules of `gradspec.compat`, such as `gradspec.lax`; MissingModule for all else."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        package, _, last = name.rpartition(".")
        if package.partition(".")[0] == "gradspec" and package in sys.modules and not last.startswith("_"):
            found = import_module("gradspec.compat").spec(name)
            if found is None:
                raise MissingModule(name=name)
            return found
        return None


def answer_imports():
    """Have imports of missing modules of the package raise MissingModule."""
    if ModulesElsewhere not in sys.meta_path:
        sys.meta_path.append(ModulesElsewhere)


def of_attribute(owner, name):
    """The suggestion for an attribute that the class lacks, as the end of a sentence; empty if unknown."""
    from .foreign_names import ATTRIBUTES, row

    answer = row(ATTRIBUTES, name)
    if answer is None and not name.startswith("_"):
        place = place_of(name)
        answer = place and f"write {place}(x)"
    return f"; {answer}" if answer else near(name, owner)


def of_name(module, name):
    """The suggestion for a name that the namespace lacks, as the end of a sentence; empty if unknown."""
    if name.startswith("_"):
        return ""
    from .foreign_names import NAMES, row

    _, _, namespace = module.__name__.partition(".")
    answer = (
        row(NAMES, f"{namespace}.{name}", exact=True)
        or of_scipy(namespace, name)
        or row(NAMES, name, exact=True)
        or method_of(name)
        or found_at(place_of(name))
        or row(NAMES, name)
        or of_arrays(namespace.removeprefix("lax"), name)
    )
    if answer == f"write gs.{namespace}":  # which is where the name was looked for
        answer = f"no counterpart in gs.{namespace}"
    return f"; {answer}" if answer else near(name, module)


def place_of(name):
    """The place of a name in the library, such as `gs.linalg.inv`; None for an unknown name."""
    gs = sys.modules["gradspec"]
    if name in dir(gs):
        return f"gs.{name}"
    for namespace in NAMESPACES:
        try:
            module = import_module(f"gradspec.{namespace}")
        except ImportError:
            continue
        if name in dir(module):
            return f"gs.{namespace}.{name}"
    return None


def found_at(place):
    return place and f"write {place}"


def method_of(name):
    """Suggest a tensor's method that writes in place, or whose name is not also a function's."""
    tensor = sys.modules["gradspec"].Tensor
    if not hasattr(tensor, name) or not name.endswith("_") and place_of(name):
        return None
    return f"write x.{name}{'()' if callable(getattr(tensor, name)) else ''}"


def of_scipy(namespace, name):
    """SciPy's object or package with that name, for a namespace in gs.scipy: in another namespace here, or SciPy's own."""
    if namespace.partition(".")[0] != "scipy":
        return None
    try:
        value = getattr(import_module(namespace), name, None)
    except ImportError:
        return None
    if value is None:
        return None
    beside = namespace.removeprefix("scipy.")
    if beside in NAMESPACES and name in dir(import_module(f"gradspec.{beside}")):
        return f"write gs.{beside}.{name}"
    return use_of(f"{namespace}.{name}", value)


def use_of(written, value):
    """Suggest another library's object, by the arguments that its documentation names."""
    if isinstance(value, ModuleType) and written.startswith("scipy."):
        return f"write {written}, with x.detach().numpy() for tensors: it has no derivatives here"
    said = getattr(value, "__doc__", None) or ""
    _, _, text = said.partition("Parameters\n")
    types, results = (
        [kind for name, kind in re.findall(r"^ *\**(\w[^:\n]*) : (.*)$", part, re.MULTILINE) if name != "like"]
        for part in text.partition("Returns\n")[::2]
    )
    if isinstance(value, type | ModuleType) or not callable(value):
        return f"write {written}"
    if any("array" in kind for kind in types or [said]):
        return f"write {written}, which takes x.detach().numpy(): it has no derivative here"
    if any("callable" in kind for kind in types):
        return f"write {written}: it has no derivative here"
    if any("array" in kind for kind in results):
        return f"write gs.asarray({written}(...)): it takes no tensors"
    return f"write {written}"


def of_arrays(namespace, name):
    """NumPy's or SciPy's object with that name, and whether it has a gradient."""
    if namespace == "random" and hasattr(import_module("numpy.random").Generator, name):
        return f"not there yet; write gs.asarray(numpy.random.default_rng(seed).{name}(...)): its parameters get no gradient"
    for library, short in (("numpy", "np"), ("scipy", "scipy")):
        place = ".".join(filter(None, (library, namespace)))
        try:
            value = getattr(import_module(place), name, None)
        except ImportError:
            continue
        if value is None or isinstance(value, ModuleType) and not value.__name__.startswith(library):
            continue
        if library == "scipy" and with_derivative(namespace, name):
            return f"write gs.{place}.{name}"
        written = f"{short}{place.removeprefix(library)}.{name}"
        return f"write {written}, which takes tensors as well" if differentiable(value) else use_of(written, value)
    return None


def with_derivative(namespace, name):
    """Whether gs.scipy has SciPy's function."""
    try:
        return bool(namespace) and name in dir(import_module(f"gradspec.scipy.{namespace}"))
    except ImportError:
        return False


def differentiable(function):
    """Whether NumPy's function takes tensors."""
    calls = import_module("gradspec.methods.numpy_calls")  # by name, like the other searched modules
    ufuncs = import_module("gradspec.methods.numpy_ufuncs")
    try:
        return function in {*calls.ROWS, *calls.WRITTEN, *calls.FORMAL, *ufuncs.universal_operators(), *ufuncs.COMPOSED}
    except TypeError:  # it is not hashable
        return False


def near(name, owner):
    from difflib import get_close_matches

    found = get_close_matches(name, [known for known in dir(owner) if not known.startswith("_")], 1, 0.75)
    return f"; did you mean {found[0]!r}?" if found else ""
