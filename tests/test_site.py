"""The sources of the site: formulas are well-formed, every page of docs/ has its place, links lead somewhere, examples run."""

import importlib
import json
import re
import subprocess
import sys
import warnings
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

import gradspec as gs

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs/site"))

import at_work  # noqa: E402
import elsewhere  # noqa: E402
import mathematics  # noqa: E402
import pages  # noqa: E402
import plots  # noqa: E402
import speed  # noqa: E402

from codegen import spec_cache  # noqa: E402
from codegen.package import Package  # noqa: E402
from codegen.spec.samples import evaluate_sample  # noqa: E402
from codegen.write import docstring_maths  # noqa: E402
from tests.elsewhere.listed import difference  # noqa: E402

SPEC = spec_cache.analysed(Package.at(ROOT))
FOUND = pages.Operators(SPEC)


def text(line):
    """The characters of a formula, without the elements."""
    return "".join(ElementTree.fromstring(f"<p>{mathematics.line(line)}</p>".replace("&nbsp;", " ")).itertext())


def test_every_rule_is_typeset():
    count = 0
    for op in FOUND.public():
        for line in [*docstring_maths.backward(op), *docstring_maths.forward(op)]:
            assert text(line)
            count += "<math" in mathematics.line(line)
    assert count > 1000


@pytest.mark.parametrize(
    "line, typeset",
    [("dy/dx = 1 / cosh(x)", "∂y∂x=1cosh\u2061(x)"), ("grad_x = (a + b) * c ** 2", "g¯x=(a+b)⋅c2"), ("y_t = a - (b - c)", "y\u0307=a−(b−c)"),
     ("grad_x = a if n > 1 else b", "g¯x={aif\xa0n>1botherwise"), ("not differentiable", "not differentiable"), ("where s = -(a * b)", "where s=−a⋅b"),
     ("y_t = dy/dx * x_t", "y\u0307=∂y∂x⋅x\u0307"), ("dy/dx = (-x) ** 2", "∂y∂x=(−x)2"), ("composite: a @ (b + c)", "composite: a@(b+c)")],
)  # fmt: skip
def test_a_formula_keeps_its_meaning(line, typeset):
    assert text(line) == typeset


def test_brackets_are_where_the_tree_needs_them():
    """Two formulas with different trees are typeset differently."""
    seen = {}
    for formula in (
        "a - (b - c)",
        "a - b - c",
        "(a + b) * c",
        "a + b * c",
        "-(a + b)",
        "-a + b",
        "(a / b) ** 2",
        "a / b ** 2",
        "(a if b else c) + d",
        "a if b else c + d",
    ):
        shown = mathematics.line(f"y = {formula}")
        assert shown not in seen, (formula, seen[shown])
        seen[shown] = formula


def is_there(name):
    """Whether the installed version has a name; NumPy 2.5 dropped some of NumPy 2.0's."""
    module, _, last = name.rpartition(".")
    return hasattr(importlib.import_module(module), last)


def names_of(library):
    """Operator, full name elsewhere, for one library."""
    return [(op, f"{library}.{rest}") for op in FOUND.public() for name in dict.fromkeys(name for _, names in FOUND.elsewhere(op) for name in names)
            for start, _, rest in [re.sub(r"^np\b", "numpy", name).partition(".")] if start == library]  # fmt: skip


def like(argument, given, library):
    """An argument of an example as the other library takes it."""
    if library == "torch" and argument.type.base in ("Array", "Index", "Mask") and given is not None:
        return [torch_tensor(one) for one in given] if argument.type.is_list else torch_tensor(given)
    return (
        [np.asarray(one) for one in given]
        if argument.type.is_list and isinstance(given, list)
        else np.asarray(given)
        if isinstance(given, list)
        else given
    )


def torch_tensor(given):
    torch = pytest.importorskip("torch", reason="compares with PyTorch's results, and torch is not installed")
    return torch.tensor(np.asarray(given))


def values(result):
    """The arrays of a result, which may be a tuple of them."""
    if isinstance(result, (tuple, list)):
        return [array for one in result for array in values(one)]
    return [np.asarray(result.detach().resolve_conj() if hasattr(result, "resolve_conj") else result)]


def agree(ours, theirs):
    """Whether the finite values of two results are equal: where they are not finite, the libraries differ at times."""
    if [y.shape for y in ours] != [z.shape for z in theirs] or any(z.dtype.kind == "O" for z in theirs):
        return False
    finite = [(y, z, np.isfinite(y) & np.isfinite(z)) for y, z in zip(ours, theirs)]
    return any(ok.any() or not ok.size for _, _, ok in finite) and all(
        np.allclose(y[ok], z[ok], 1e-4, 1e-6) for y, z, ok in finite
    )


def verdict(op, name, library):
    """Whether an example has the same value elsewhere; None if no example can be called there."""
    module, _, last = name.rpartition(".")
    function, here = getattr(importlib.import_module(module), last), pages.value(op)
    positional, found = [a for a in op.signature.arguments if not a.keyword_only], None
    for stated in op.examples:
        args, keywords = evaluate_sample(stated.call.source)
        given = [like(argument, one, library) for argument, one in zip(positional, args)]
        try:
            ours = values(here(*args, **keywords))
        except TypeError:  # an operator that takes arrays alone
            ours = values(here(*map(np.asarray, args), **keywords))
        for call in (given, *([[*given[0], *given[1:]]] if given and isinstance(given[0], list) else [])):
            try:
                found = agree(ours, values(function(*call, **keywords))) or bool(found)
            except (TypeError, ValueError, RuntimeError, NotImplementedError, AttributeError, IndexError):
                continue
        if found:
            return True
    return found


@pytest.mark.slow
@pytest.mark.parametrize("library, least", [("torch", 420), ("jax", 380), ("numpy", 300), ("scipy", 90)])
def test_a_name_elsewhere_means_the_same(library, least):
    """Each name is there, and an example of the entry has the same value; a page says what differs."""
    pytest.importorskip(library)
    if library == "jax":
        import jax

        jax.config.update("jax_enable_x64", True)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        asked = [(op, name) for op, name in names_of(library) if op.namespace != "random"]
        missing = [name for _, name in asked if not is_there(name)]
        found = {name: verdict(op, name, library) for op, name in asked if name not in missing}
    operators = {name: op for op, name in names_of(library)}
    wrong = [
        name
        for name, same in found.items()
        if same is False and not (difference(name, operators[name].name) or operators[name].unlike)
    ]
    assert wrong == []
    assert missing == [] or library == "numpy" and np.lib.NumpyVersion(np.__version__) >= "2.5.0" and len(missing) < 3
    assert sum(map(bool, found.values())) > least
    print(library, len(found), sorted(name for name, same in found.items() if same is None))


def test_every_name_of_another_library_has_an_answer():
    names = elsewhere.names()
    assert len(names) > 5000 and [str(name) for name in names if name.value is None and not name.answer] == []
    found = {str(name): name for name in names}
    assert (
        found["torch.clamp"].value is gs.clip
        and found["jax.lax.scan"].value is gs.scan
        and found["numpy.arctan2"].value is gs.atan2
    )
    assert found["jax.lax.clamp"].value is not gs.clip and found["numpy.select"].value is None, "other parameters"


def test_the_pages_of_names_lead_to_operators_and_to_the_reference(tmp_path):
    pages.names_elsewhere(tmp_path, SPEC)
    text = (tmp_path / "names/torch.md").read_text()
    assert "| `torch.clamp` | [`gs.clip`](../operators/clip.md) |" in text
    assert "| `torch.func.vmap` | {py:obj}`gs.func.vmap <gradspec.func.vmap>` |" in text
    assert "| `torch.cuda` | " in text and len(re.findall("^\\| `", text, re.MULTILINE)) > 1700


@pytest.mark.slow
def test_the_search_finds_an_operator_by_its_names_elsewhere(tmp_path):
    """A site of four pages, with the entries of its index of words."""
    pytest.importorskip("myst_parser")
    pytest.importorskip("pydata_sphinx_theme")
    pytest.importorskip("sphinx_gallery")
    source, built = tmp_path / "pages", tmp_path / "html"
    source.mkdir()
    template = pages.templates().get_template("operator.md.j2")
    for name in ("clip", "atan2"):
        (source / f"{name}.md").write_text(template.render(FOUND.context(SPEC.ops[name])))
    (source / "func.rst").write_text(
        "func\n====\n\n.. currentmodule:: gradspec.func\n\n.. index:: jax.lax.scan\n\n.. autofunction:: scan\n"
    )
    cookbook = ROOT / "docs/cookbook.md"
    (source / "cookbook.md").write_text(pages.linked(cookbook.read_text(), cookbook, source))
    (source / "index.md").write_text("# index\n\n```{toctree}\nclip\natan2\nfunc\ncookbook\n```\n")
    subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-E", "-D", "plot_gallery=0", "-c", ROOT / "docs/site", "-b", "html", source, built],
        check=True,
    )
    index = json.loads((built / "searchindex.js").read_text().removeprefix("Search.setIndex(").removesuffix(")"))
    places = {name: {index["docnames"][page] for page, *_ in entries} for name, entries in index["indexentries"].items()}
    assert places["torch.clamp"] == {"clip"} and places["np.arctan2"] == {"atan2"} and places["jax.lax.scan"] == {"func"}
    assert all(places[question] == {"cookbook"} for question in ("hessian", "freeze parameters", "grad is none", "gpu", "save a model"))


def test_formulas_of_latex_are_mathml():
    pytest.importorskip("sphinx")
    import formulas
    from docutils import nodes

    for kind, formula, typeset in [(nodes.math, r"\dot q = x^2", "q˙=x2"), (nodes.math_block, r"\frac{a}{b} < c", "ab<c")]:
        page = type("Page", (), {"body": []})()
        with pytest.raises(nodes.SkipNode):
            (formulas.inline if kind is nodes.math else formulas.displayed)(page, kind("", formula))
        tree = ElementTree.fromstring("".join(page.body))
        assert "".join("".join(tree.itertext()).split()) == typeset
        assert (tree.tag == "div") == (kind is nodes.math_block)


@pytest.mark.slow
def test_links_lead_somewhere_and_examples_run(tmp_path):
    pages.guides(tmp_path)
    pages.operators(tmp_path, SPEC)
    pages.reference(tmp_path)
    pages.names_elsewhere(tmp_path, SPEC)
    at_work.write(tmp_path, pages.templates())
    pages.sections(tmp_path)
    written = list(tmp_path.rglob("*.md"))
    assert len(written) > 650
    for path in written:
        for target in re.findall(r"\]\(([^)\s#]+)(?:#[^)]*)?\)", path.read_text()):
            assert "://" in target or target.endswith(".svg") or (path.parent / target).exists(), (path.name, target)
    internals = (tmp_path / "internals.md").read_text()
    assert "(decisions/0001-no-compiler-at-run-time.md): Elementwise formulas are slow" in internals and "](internals.md#decisions)" in (
        tmp_path / "architecture.md").read_text()  # fmt: skip
    grammar = (tmp_path / "grammar.md").read_text()
    keys = {key for path in written for key in re.findall(r'grammar.html#key-([^"]+)"', path.read_text())}
    assert {"op", "doc", "forward", "dy/dx", "vjp"} <= keys and {key for key in keys if f'id="key-{key}"' not in grammar} == set()
    shown = [path.read_text() for path in written if "```pycon" in path.read_text()]
    assert len(shown) > 300
    for op in FOUND.public():
        stated = pages.examples.example(FOUND.views(op))
        assert list(map(numbers, FOUND.session(op) or stated)) == list(map(numbers, stated)), op.name


def numbers(line):
    """The numbers of a line: an example does not state the signs of zeros."""
    return [float(number) for number in re.findall(r"(?<!\w)[-+]?\d[\d.]*(?:e[-+]\d+)?", line)] or line


def test_a_page_shows_what_python_takes():
    text = pages.templates().get_template("operator.md.j2").render(FOUND.context(SPEC.ops["argpartition"]))
    assert "gs.argpartition(x, kth, axis=-1, kind=None, order=None)\n" in text and "| `kth` | int | Sorted position. |" in text
    assert "Not differentiable." in text and "In reverse mode" not in text
    assert "| reverse, forward, reverse over reverse, " in text
    text = pages.templates().get_template("operator.md.j2").render(FOUND.context(SPEC.ops["polysub"]))
    assert "Computed by other operators" in text and "\n`_lengthened(" in text


def test_the_page_of_traces_is_written(tmp_path):
    at_work.write(tmp_path, pages.templates())
    text = (tmp_path / "at_work.md").read_text()
    for operator, node in [("gs.matmul(x, w)", "MatmulBackward"), ("gs.tanh(", "TanhBackward"), ("gs.mean(", "MeanBackward")]:
        assert operator in text and f"| `{node}` |" in text and f"    node {node}" in text
    headings = re.findall("^### (\\w+)", text, re.MULTILINE)
    assert headings == ["record", "fold_constants", "eliminate_dead_code", "share_subexpressions", "fuse_rows"]
    after = dict(zip(headings, text.split("\n### ")[1:]))
    assert "exp(" in after["record"] and "exp(" not in after["fold_constants"]
    assert "sin(" in after["fold_constants"] and "sin(" not in after["eliminate_dead_code"]
    assert [after[name].count("softmax(") for name in ("record", "share_subexpressions")] == [2, 1]
    drawn = list(ElementTree.parse(tmp_path / "at_work.svg").getroot().itertext())
    assert {"tanh", "TanhBackward", "keeps x", "AccumulateGrad: w.grad"} <= set(drawn)


def test_the_front_page_agrees_with_the_readme():
    front, readme = pages.front(), (ROOT / "README.md").read_text()
    program, = re.findall(r"```python\n.*?```", front, re.DOTALL)
    assert program in readme and "PyTorch's autograd for NumPy arrays" in front
    row = next(line for line in front.splitlines() if line.startswith("| one recorded multiply"))
    assert row in readme and "](docs/" not in front and "[speed.md]" not in readme


def test_the_picture_of_speed_has_the_times_of_the_readme(tmp_path):
    rows = speed.rows(pages.speed_of_readme())
    assert len(rows) >= 9 and all({"PyTorch", "gradspec", "HIPS autograd"} <= set(times) for times in rows.values())
    table = (ROOT / "docs" / "speed.md").read_text()
    assert all(f"| {title} |" in table for title in rows)
    speed.draw(pages.speed_of_readme(), tmp_path / "speed.svg")
    assert set(speed.MARKS) & set(rows["one recorded multiply, 8 float32"]) <= set(ElementTree.parse(tmp_path / "speed.svg").getroot().itertext())


def test_hard_points_are_those_of_the_entry(tmp_path):
    op = SPEC.ops["absolute"]
    assert plots.hard_points(op) == [0.0] and plots.name(op) == "absolute.svg" and plots.name(SPEC.ops["flip"]) == ""
    plots.one(op, tmp_path / "absolute.svg")
    assert "derivative" in (tmp_path / "absolute.svg").read_text()
