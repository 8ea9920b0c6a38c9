"""The tables of `docs/from_*.md`: each row runs in the other library and here.

`tests/guides.toml` has a section for each page and in it, by the text of the first cell, what runs of a row.  `inputs` are arrays in
both libraries.  An expression may follow statements, separated by `;`.

- `same`: an expression for both, where the other library's names are gradspec's, or a pair, theirs and ours.  Values, shapes, dtypes
  and gradients agree.  Gradients agree to 1e-11, to 1e-7 with finite differences of NumPy's, or to a third entry.  Float64 here
  beside float32 there passes if no input is read.
- `differs`: pairs of which a "shape", "dtype", "value" or "gradient" does not agree, the third word; or theirs "raises".
- `refused`: what raises here, with words that the error has.
- `here`: what is true here.  `unrun`: parts of the row in code that no expression has, with a reason.
"""

import ast
import contextlib
import importlib
import re
import tomllib
import warnings
from pathlib import Path

import numpy as np
import pytest

from tests.asked import each

ROOT = Path(__file__).resolve().parents[1]
LISTED = tomllib.loads((ROOT / "tests/guides.toml").read_text())
INPUTS = {name: eval(code, {"np": np}) for name, code in LISTED.pop("inputs").items()}
KINDS = ("same", "differs", "refused", "here")


def rows(page):
    """First cell -> the row, of the table of a page."""
    found = re.search(r"^\|.*\n\|[-:| ]*\n((?:\|.*\n)+)", (ROOT / f"docs/{page}.md").read_text(), re.MULTILINE)[1]
    return {row[1:-1].split(" | ")[0].strip(): row for row in found.splitlines()}


def codes(row):
    """All expressions of a listed row."""
    return [
        code
        for kind in KINDS
        for entry in row.get(kind, ())
        for code in ([entry] if isinstance(entry, str) else entry)
        if isinstance(code, str)
    ]


def names(code):
    """The words of a part in code, without words of one letter and the names of libraries."""
    return {word for word in re.findall(r"[A-Za-z_]\w+", re.sub(r"\"[^\"]*\"", "", code))} - {
        "gs",
        "torch",
        "jax",
        "np",
        "autograd",
        "gradspec",
    }


def unrun(row, listed):
    """The parts of a row in code that have a word that no expression has."""
    known = set().union(*map(names, codes(listed)))
    return [part for part in re.findall(r"`([^`]+)`", re.sub(r"\]\([^)]*\)|\[[^]]*\.md\]", "", row))
            if not names(part) <= known and part not in listed.get("unrun", {})]  # fmt: skip


@pytest.mark.parametrize("page", sorted(path.stem for path in (ROOT / "docs").glob("from_*.md")))
def test_each_row_is_listed_and_runs_what_it_names(page):
    found, listed = rows(page), LISTED[page]["rows"]
    assert list(found) == list(listed), "the rows of the page and of tests/guides.toml"
    for cell, entry in listed.items():
        assert set(entry) <= {*KINDS, "unrun"} and codes(entry), cell
        assert [part for part in entry.get("unrun", {}) if f"`{part}`" not in found[cell]] == [], cell
        assert unrun(found[cell], entry) == [], f"{cell}: no expression has these"


def test_what_no_expression_has_is_found():
    row, entry = (
        "| `x.max(dim=1)`, `f(x)` | `x.amax(dim=1)` or `x.argmax(1)`, `gs.exp` ([a.md](a.md)) |",
        {"same": [["x.max(dim=1)", "x.amax(1)"]]},
    )
    assert unrun(row, entry) == ["x.argmax(1)", "gs.exp"] and unrun(row, entry | {"unrun": {"gs.exp": "why"}}) == ["x.argmax(1)"]


def run(code, scope):
    """The value of the last expression, after the statements before it."""
    *before, last = ast.parse(code).body
    assert isinstance(last, ast.Expr), f"{code}: has no value"
    exec(compile(ast.Module(before, []), code, "exec"), scope)
    return eval(compile(ast.Expression(last.value), code, "eval"), scope)


def leaves(value):
    """The numbers, texts and arrays in a nest."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, tuple | list) else None
    return [value] if parts is None else [leaf for part in parts for leaf in leaves(part)]


def plain(leaf):
    return np.asarray(leaf.detach() if hasattr(leaf, "detach") else leaf)


class Side:
    """A library in which expressions run: gradspec, or the one that a page is about."""

    def __init__(self, name, setup):
        pytest.importorskip(name)
        self.name, self.scope = name, {"__name__": __name__}
        exec(setup, self.scope)

    def array(self, array, requires_grad=False):
        if self.name in ("torch", "gradspec"):
            return importlib.import_module(self.name).tensor(array, requires_grad=requires_grad)
        return importlib.import_module("jax.numpy").asarray(array) if self.name == "jax" else array

    def total(self, found):
        """The weighted sum of all floating numbers; 0 without such numbers."""
        found = [leaf for leaf in found if "float" in str(getattr(leaf, "dtype", ""))]
        return sum((leaf * self.array(np.cos(np.arange(np.prod(leaf.shape)) + 1).reshape(leaf.shape))).sum() for leaf in found)

    def __call__(self, code):
        """The leaves of the value as arrays; the gradient of their sum with weights in each input of float64."""
        read = {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)} & set(INPUTS)
        inputs = {name: INPUTS[name] for name in sorted(read) if INPUTS[name].dtype == np.float64}
        others = {name: self.array(INPUTS[name].copy()) for name in read - set(inputs)}

        def values(inputs):
            return leaves(run(code, self.scope | others | {name: inputs[name] for name in given}))

        given = {name: self.array(array.copy(), requires_grad=True) for name, array in inputs.items()}
        found = values(given)
        return [plain(leaf) for leaf in found], self.gradients(values, given, found) if given else {}

    def gradients(self, values, given, found):
        if self.name in ("torch", "gradspec"):
            total = self.total(found)
            if getattr(total, "requires_grad", False):
                total.backward()
            return {name: np.zeros(x.shape) if x.grad is None else np.asarray(x.grad) for name, x in given.items()}
        if isinstance(self.total(found), int):
            return {name: np.zeros(x.shape) for name, x in given.items()}
        if self.name in ("jax", "autograd"):
            return importlib.import_module(self.name).grad(lambda given: self.total(values(given)))(given)
        return {
            name: self.differences(lambda x, name=name: self.total(values(given | {name: x})), x) for name, x in given.items()
        }

    def differences(self, f, x):
        steps = 1e-6 * np.eye(x.size).reshape(-1, *x.shape)
        return np.array([(f(x + step) - f(x - step)) / 2e-6 for step in steps]).reshape(x.shape)


def apart(theirs, ours, tolerance=1e-11):
    """In what two results differ, first of all, or None."""
    (theirs, their_gradients), (ours, our_gradients) = theirs, ours
    if [x.shape for x in theirs] != [x.shape for x in ours]:
        return "shape"
    by_default = {} if our_gradients else {"float32": "float64"}
    if [
        x
        for x, y in zip(theirs, ours, strict=True)
        if x.dtype != y.dtype != np.dtype(by_default.get(x.dtype.name, x.dtype)) and x.dtype.kind != "U"
    ]:
        return "dtype"
    single = any(x.dtype in (np.float32, np.float16, np.complex64) for x in theirs)
    if not all(
        near(x, y, 1e-6 if single else 1e-12) if x.dtype.kind in "fc" else (x == y).all()
        for x, y in zip(theirs, ours, strict=True)
    ):
        return "value"
    return None if all(near(their_gradients[name], gradient, 1e-6 if single else tolerance)
                       for name, gradient in our_gradients.items() if name in their_gradients) else "gradient"  # fmt: skip


def near(x, y, tolerance):
    return np.allclose(x, y, rtol=tolerance, atol=tolerance, equal_nan=True)


@contextlib.contextmanager
def quiet(library=""):
    with (
        warnings.catch_warnings(),
        importlib.import_module("jax").enable_x64(True) if library == "jax" else contextlib.nullcontext(),
    ):
        warnings.simplefilter("ignore")
        yield


def cases(*kinds):
    """(page, entry) for each entry of these kinds."""
    return [pytest.param(page, entry, id=f"{page}: {entry}") for page, section in LISTED.items() for row in section["rows"].values()
            for kind in kinds for entry in row.get(kind, ())]  # fmt: skip


@each("page, code", cases("here"))
def test_what_is_true_here(page, code):
    with quiet():
        assert Side("gradspec", LISTED[page]["ours"])(code)[0] == [True]


@each("page, entry", cases("refused"))
def test_what_is_refused_says_what_to_write(page, entry):
    code, *words = entry
    with quiet(), pytest.raises(Exception) as error:  # noqa: PT011
        Side("gradspec", LISTED[page]["ours"])(code)
    assert words and [word for word in words if word not in str(error.value)] == [], str(error.value)


@each("page, entry", cases("same", "differs"))
def test_what_runs_in_both(page, entry):
    section = LISTED[page]
    their, our, what = (entry, entry, None) if isinstance(entry, str) else (*entry, None)[:3]
    what, tolerance = (None, what) if isinstance(what, float) else (what, 1e-7 if section["library"] == "numpy" else 1e-11)
    theirs, ours = Side(section["library"], section["theirs"]), Side("gradspec", section["ours"])
    with quiet(section["library"]):
        found = ours(our)
        if what == "raises":
            with pytest.raises(Exception):  # noqa: B017, PT011
                theirs(their)
        else:
            assert apart(theirs(their), found, tolerance) == what
