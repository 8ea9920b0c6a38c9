"""Names of other libraries: each is here, or its error says what to write.

The lists in `tests/elsewhere` are the public names of PyTorch, JAX, HIPS autograd, NumPy and SciPy; `names.py` beside them makes them.
"""

import contextlib
import importlib
import pickle
import random
import re
import subprocess
import sys

import numpy as np
import pytest

import gradspec as gs
from gradspec.support import counterparts, error_hints, foreign_names
from tests.asked import each
from tests.day import DAY
from tests.elsewhere.listed import LISTS, home, modules


def namespace(path):
    return importlib.import_module(f"gradspec.{path}".rstrip("."))


@each(("module", "names"), list(modules()), ids=lambda value: value if isinstance(value, str) else "")
def test_each_name_of_another_library_is_here_or_is_answered(module, names):
    place = namespace(home(module))
    if module.startswith("scipy."):  # the list is that of one version
        names = [name for name in names if hasattr(importlib.import_module(module), name)]
    without = [name for name in names if not hasattr(place, name) and "; write " not in error_hints.of_name(place, name)
               and "; no" not in error_hints.of_name(place, name)]  # fmt: skip
    assert without == [], " ".join(without)


def test_the_lists_are_those_of_five_libraries():
    assert [path.stem for path in LISTS] == ["autograd", "jax", "numpy", "scipy", "torch"]
    assert sum(len(names) for _, names in modules()) > 4000


# What people say beside: modules by the names under which they are imported, and libraries that stand near.
# Names that the lists leave out, those of PyTorch's profilers among them.
SPOKEN = {"aten", "anp", "jnp", "np", "optax", "ma", "image", "example_libraries", "stax", "ravel_pytree", "root", "solve_ivp", "fixed_point", "fixed_points", "grad_mode", "pack_padded_sequence",
          "emit_nvtx", "emit_itt", "ExecutionTraceObserver", "DeviceType"}  # fmt: skip
ROWS = [(answer, name) for answer, names in foreign_names.NAMES.items() for name in names.split()]


def is_there(name):
    """Whether a name of the table is a name here, also of a module or a class of `gradspec.compat`."""
    path, _, last = name.rpartition(".")
    if not path:
        return error_hints.place_of(name) or hasattr(gs, name)
    try:
        return hasattr(namespace(path), last)
    except ImportError:
        return False


def test_each_row_is_needed():
    listed = {name for _, names in modules() for name in names} | {module.rpartition(".")[2] for module, _ in modules()}
    rows = [name for _, name in ROWS if "*" not in name and "." not in name]
    assert [name for _, name in ROWS if "*" not in name and is_there(name)] == [], "are there by now"
    assert [name for names in foreign_names.ATTRIBUTES.values() for name in names.split() if hasattr(gs.Tensor, name)] == []
    assert [name for name in rows if name not in listed | SPOKEN] == [], "nobody has these"
    assert len(rows) == len(set(rows))


@each("answer", [*foreign_names.NAMES, *foreign_names.ATTRIBUTES])
def test_an_answer_names_what_is_there(answer):
    x = gs.asarray([[1.0]])
    for root, path in re.findall(r"\b(gs|np|x|y)\.((?:\w+\.)*\w+)", answer):
        found = {"gs": gs, "np": np, "x": x, "y": (x.clone(), x.requires_grad_(), x * 1)[2]}[root]
        for part in path.split("."):
            found = found(0) if getattr(found, "__name__", "") == "default_rng" else found
            found = getattr(found, part)


TAKEN = {
    "apply_along_axis": lambda x: np.apply_along_axis(gs.sum, 0, x), "fabs": np.fabs, "rint": np.rint,
    "piecewise": lambda x: np.piecewise(x, [x.detach() > 0], [lambda v: v * v, 0.0]),
}  # fmt: skip


@pytest.mark.parametrize("name", TAKEN)
def test_numpys_functions_of_tensors_are_told_from_those_of_arrays(name):
    assert error_hints.of_name(gs, name) == f"; write np.{name}, which takes tensors as well"
    assert TAKEN[name](gs.tensor([0.5, 1.5], requires_grad=True)).requires_grad
    assert error_hints.of_name(gs.special, "hankel1") == "; write gs.scipy.special.hankel1"
    assert error_hints.of_name(gs, "packbits").endswith("which takes x.detach().numpy(): it has no derivative here")


def edits(a, b):
    """The number of letters to insert, delete or replace."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]


def drawn(seed, count):
    """Dotted places under gs of names of other libraries, their submodules among them, that gradspec lacks."""
    rng, found = random.Random(seed), []
    listed = [(f"{home(module)}.{name}".lstrip("."), name) for module, names in modules() for name in names]
    for library, under in ((np, ""), (pytest.importorskip("scipy"), "scipy.")):
        listed += [(f"{under}{name}", name) for name in dir(library) if not name.startswith("_")]
    while len(found) < count:
        place, name = rng.choice(listed)
        path = place.rpartition(".")[0]
        if not hasattr(namespace(path), name):
            found.append((path, name))
    return found


@pytest.mark.parametrize("seed", [0, int(DAY)])
def test_a_hint_leads_to_what_is_there_and_is_alike(seed):
    wrong = []
    for path, name in drawn(seed, 150):
        answer = error_hints.of_name(namespace(path), name)
        places = re.findall(r"\bgs\.((?:\w+\.)*\w+)", answer)
        wrong += [f"{path}.{name}{answer}" for place in places if counterparts.at(gs, place) is None]
        wrong += [f"{path}.{name}{answer}"] * answer.endswith(f"write gs.{path}")
        meant = re.search(r"did you mean '(\w+)'", answer)
        if meant and sorted(name) != sorted(meant[1]) and edits(name, meant[1]) > max(1, len(name) // 4):
            wrong.append(f"{path}.{name}{answer}")
        takes = "x.detach().numpy()" in answer and counterparts.at(np, f"{path}.{name}".lstrip("."))
        if takes and not isinstance(takes, type(re)) and "array" not in (takes.__doc__ or ""):
            wrong.append(f"{path}.{name}{answer}")
    assert wrong == []


# Hints that are code of the caller's own variables: written as they stand, they have the other library's numbers.
IMAGE, HEADS = np.arange(12.0).reshape(1, 1, 3, 4) ** 2, np.sin(np.arange(24.0)).reshape(1, 3, 2, 4)
WRITTEN = {
    **{f"torch.{name}_window": {"n": 7} for name in ("hann", "hamming", "blackman", "bartlett", "kaiser")},
    "torch.range": {"start": 1, "stop": 7, "step": 2}, "torch.nn.functional.upsample_bilinear": {"x": IMAGE, "size": (5, 6)},
    "jax.nn.dot_product_attention": {"q": HEADS, "k": np.cos(HEADS), "v": HEADS**2},
    "jax.lax.bitcast_convert_type": {"x": np.array([1.0, -2.5]), "dtype": "int64"}, "jax.lax.rem": {"x": np.array([-5.0, 5.0]), "y": 3.0},
    "jax.lax.round": {"x": np.array([-1.5, 0.5, 0.4, 2.5])}, "jax.lax.split": {"x": IMAGE[0, 0], "sizes": [1, 2]},
    "jax.lax.approx_min_k": {"x": np.array([3.0, 1.0, 2.0]), "k": 2}, "torch.linalg.diagonal": {"x": HEADS[0]},
    "numpy.linalg.trace": {"x": HEADS[0]},
}  # fmt: skip


@each("name", WRITTEN)
@pytest.mark.filterwarnings("ignore")  # PyTorch's of what is deprecated
def test_a_hint_as_it_is_written_has_the_numbers_of_the_other_library(name):
    library, given = pytest.importorskip(name.partition(".")[0]), WRITTEN[name]
    path, _, last = name.partition(".")[2].rpartition(".")
    code = error_hints.of_name(namespace(path), last).removeprefix("; write ")
    tensors = {key: gs.tensor(value) if isinstance(value, np.ndarray) else value for key, value in given.items()}
    found = eval(code if "(" in code else f"{code}(*given)", {"gs": gs, "np": np, "given": tensors.values(), **tensors})  # noqa: S307 (a row of the table)
    if library.__name__ == "torch":
        theirs = [library.tensor(value) if isinstance(value, np.ndarray) else value for value in given.values()]
        expected = counterparts.at(library, f"{path}.{last}".lstrip("."))(*theirs)
    else:
        with library.enable_x64(True) if library.__name__ == "jax" else contextlib.nullcontext():
            expected = counterparts.at(library, f"{path}.{last}")(*(np.asarray(v) if isinstance(v, np.ndarray) else v for v in given.values()))
    pairs = zip(found, expected, strict=True) if isinstance(found, tuple | list) else [(found, expected)]
    for one, other in pairs:
        np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-5, atol=1e-6)


def test_the_hint_of_svd_says_which_factor_is_the_conjugate():
    torch, x = pytest.importorskip("torch"), np.arange(6.0).reshape(3, 2) ** 2
    assert error_hints.of_name(gs, "svd") == "; write U, S, Vh = gs.linalg.svd(x, full_matrices=False); PyTorch's V is Vh.mH"
    U, S, Vh = gs.linalg.svd(gs.tensor(x), full_matrices=False)
    _, s, v = torch.svd(torch.tensor(x))
    np.testing.assert_allclose(S.numpy(), s)
    np.testing.assert_allclose(abs(Vh.mH.numpy()), abs(v))
    np.testing.assert_allclose((U * S @ Vh).numpy(), x, atol=1e-12)


# Names whose hints led astray: the answer, or "" for silence.
ASTRAY = {
    "gs.scipy.constants": "write scipy.constants", "gs.torch": "write import gradspec as gs", "gs.onnx": "",
    "gs.tri": "write gs.asarray(np.tri(...)): it takes no tensors", "gs.indices": "write gs.asarray(np.indices(...))",
    "gs.fromfunction": "write np.fromfunction: it has no derivative here", "gs.image": "write gs.nn.interpolate",
    "gs.distributed.broadcast": "write gs.distributed.value_and_grad", "gs.compiler": "write gs.compile(f)",
    "gs.utils.data.DataChunk": "no counterpart in gs.utils.data", "gs.isrealobj": "write np.isrealobj, which takes tensors",
    "gs.tree.transpose": "write gs.tree_util.tree_map(", "gs.tree.broadcast": "write gs.tree_util.tree_map(",
    "gs.profiler.trace": "write gs.profiler.profile", "gs.jit.script": "",
}  # fmt: skip


@each(("place", "expected"), ASTRAY.items())
def test_hints_that_led_astray(place, expected):
    with pytest.raises(AttributeError) as caught:
        eval(place, {"gs": gs})
    message = str(caught.value)
    assert expected in message if expected else ";" not in message


def test_modules_of_other_libraries_that_are_here():
    assert gs.flatten_util.ravel_pytree is gs.tree_util.ravel_pytree
    assert gs.experimental.ode.odeint is gs.compat.jax_ode.odeint and gs.misc.flatten.flatten is gs.tree_util.ravel_pytree


CASES = [
    ("gs.pmap", "AttributeError: module 'gradspec' has no attribute 'pmap'; write gs.vmap(f)"),
    ("gs.Linear", "module 'gradspec' has no attribute 'Linear'; write gs.nn.Linear"),
    ("gs.nn.kaiming_uniform_", "write gs.nn.init.kaiming_uniform_"),
    ("gs.nn.DataParallel", "write gs.distributed.DistributedDataParallel"),
    ("gs.expm", "write gs.linalg.expm"),
    ("gs.linalg.sin", "write gs.sin"),
    ("gs.exp_", "write x.exp_()"),
    ("gs.random.key_impl", "write gs.random.key(seed), a tensor of two words"),
    ("gs.glorot_normal", "gs.nn.initializers.he_normal()(key, shape)"),
    ("gs.DataLoader", "write gs.utils.data.DataLoader"),
    ("gs.random.zipf", "write gs.asarray(numpy.random.default_rng(seed).zipf(...)): its parameters get no gradient"),
    ("gs.sqrtt", "AttributeError: module 'gradspec' has no attribute 'sqrtt'; did you mean 'sqrt'?"),
    ("gs.no_such_thing_anywhere", "AttributeError: module 'gradspec' has no attribute 'no_such_thing_anywhere'"),
    ("gs.linalg.svdd", "did you mean 'svd'?"),
    ("from gradspec import pmap", "ImportError: cannot import name 'pmap' from 'gradspec'; write gs.vmap(f)"),
    ("from gradspec.nn import DataParallel", "ImportError: cannot import name 'DataParallel' from 'gradspec.nn'; write gs.distributed.Dist"),
    ("from gradspec.linalg import invv", "ImportError: cannot import name 'invv' from 'gradspec.linalg'; did you mean 'inv'?"),
    ("from gradspec.lax import dot_general", "ImportError: cannot import name 'dot_general' from 'gradspec.lax'; write gs.einsum"),
    ("import gradspec.experimental.pallas", "ModuleNotFoundError: No module named 'gradspec.experimental.pallas'"),
    ("from gradspec.stats import norm", "ModuleNotFoundError: No module named 'gradspec.stats'; write gs.scipy.stats.norm.logpdf(x, m, s)"),
]


@each(("line", "expected"), CASES)
def test_the_error_says_what_to_write(line, expected):
    with pytest.raises((AttributeError, ImportError)) as caught:
        exec(line, {"gs": gs})
    message = f"{type(caught.value).__name__}: {caught.value}"
    assert expected in message
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and type(again).__name__ == type(caught.value).__name__


def test_a_program_that_asks_gets_its_answer_and_pays_for_no_words():
    code = """
import sys
import gradspec as gs
assert not hasattr(gs, "pmap") and getattr(gs.nn, "DataParallel", None) is None and not hasattr(gs.linalg, "__wrapped__")
try:
    from gradspec import pmap
except ImportError:
    pmap = None
try:
    import gradspec.lax
except ModuleNotFoundError as error:
    assert error.name == "gradspec.lax"
assert "gradspec.support.foreign_names" in sys.modules  # by the ImportError alone
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
