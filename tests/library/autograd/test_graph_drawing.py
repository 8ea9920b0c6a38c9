"""Pictures of the graph: what they show, and that they change nothing."""

import os
import re
import shutil
import sys

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import checkpoint
from gradspec.autograd.graph import make_dot, saved_tensors_hooks


def parsed(picture):
    """Labels by node, and edges, of the DOT text."""
    labels = dict(re.findall(r'^  (\w+) \[label="((?:[^"\\]|\\.)*)"', picture.source, re.MULTILINE))
    edges = re.findall(r"^  (\w+) -> (\w+)", picture.source, re.MULTILINE)
    return {name: label.split("\\n") for name, label in labels.items()}, set(edges)


def test_a_small_graph_to_the_letter():
    x, w = gs.ones((3,), requires_grad=True), gs.ones((2, 3), requires_grad=True)
    y = (gs.exp(x) * w).sum()
    labels, edges = parsed(make_dot(y, {"x": x, "weights": w, "loss": y}))
    assert labels["out0"] == ["loss", "float64[]"]
    by_first_line = {label[0]: (name, label) for name, label in labels.items()}
    assert by_first_line["SumBackward"][1] == ["SumBackward", "float64[]"]
    product, label = by_first_line["MultiplyBackward"]
    assert label[:2] == ["MultiplyBackward", "float64[2, 3]"]
    assert sorted(label[2:]) == ["saves a: float64[3]", "saves b = weights"]
    exponential, label = by_first_line["ExpBackward"]
    assert label == ["ExpBackward", "float64[3]", "saves y"]
    leaf, label = by_first_line["x"]
    assert label == ["x", "float64[3]"]
    weights, label = by_first_line["weights"]
    assert label == ["weights", "float64[2, 3]"]
    total = by_first_line["SumBackward"][0]
    assert edges == {(total, "out0"), (product, total), (exponential, product), (weights, product), (leaf, exponential)}


def test_every_node_is_there_once():
    x = gs.ones((2,), requires_grad=True)
    a, b = x.unstack()
    h = a * b
    picture = make_dot([h + a, h * h])
    labels, edges = parsed(picture)
    names = [label[0] for label in labels.values()]
    assert names.count("leaf") == 1 and names.count("UnstackBackward") == 1
    assert '[label="1"]' in picture.source  # which output of unstack
    assert {"out0", "out1"} <= set(labels)


def test_what_was_written_over_is_still_shown():
    h = gs.ones((3,), requires_grad=True) * 2
    y = gs.sin(h)
    h.mul_(2)
    z = gs.sin(h)
    h.mul_(2)
    for result in (y, z):
        (label,) = [label for label in parsed(make_dot(result))[0].values() if label[0] == "SinBackward"]
        assert any(line.startswith("saves x") for line in label)


def test_saved_values_can_be_left_out():
    x = gs.ones((3,), requires_grad=True)
    assert "saves" in str(make_dot(gs.exp(x))) and "saves" not in str(make_dot(gs.exp(x), show_saved=False))


def test_names_are_escaped():
    x = gs.ones((3,), requires_grad=True)
    assert r'label="a \"b\" \\c\n' in make_dot(gs.exp(x), {'a "b" \\c': x}).source


def test_a_leaf_and_what_needs_no_gradient():
    assert parsed(make_dot(gs.ones((3,))))[1] == set()
    assert parsed(make_dot(gs.ones((3,), requires_grad=True)))[0] == {"out0": ["float64[3]"]}


def test_nothing_is_unpacked_or_computed_again():
    calls = []

    def function(x):
        calls.append(None)
        return gs.exp(gs.sin(x))

    x = gs.ones((3,), requires_grad=True)
    with saved_tensors_hooks(lambda t: t, lambda t: pytest.fail("unpacked")):
        y = gs.exp(gs.sin(x))
    make_dot(y)
    z = checkpoint.checkpoint(function, x, use_reentrant=False)
    make_dot(z)
    assert len(calls) == 1
    z.sum().backward()
    make_dot(z)  # freed by now
    np.testing.assert_allclose(x.grad.numpy(), np.exp(np.sin(1)) * np.cos(1))


def test_a_deep_graph_needs_no_recursion():
    y = gs.ones((1,), requires_grad=True)
    for _ in range(5000):
        y = y * 1.0
    assert make_dot(y, show_saved=False).source.count("MultiplyBackward") == 5000


def test_svg(monkeypatch):
    picture = make_dot(gs.exp(gs.ones((3,), requires_grad=True)))
    if shutil.which("dot"):
        assert picture.svg().rstrip().endswith("</svg>") and picture._repr_svg_() == picture.svg()
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert picture._repr_svg_() is None
    with pytest.raises(RuntimeError, match="a picture needs graphviz's program `dot`"):
        picture.svg()


@pytest.mark.skipif(os.name != "posix", reason="a program by a line that names its interpreter")
def test_svg_is_what_the_program_makes_of_the_source(monkeypatch, tmp_path):
    program = tmp_path / "dot"
    program.write_text(f"#!{sys.executable}\nimport sys\nprint(sys.argv[1:], sys.stdin.read())\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    picture = make_dot(gs.ones((3,), requires_grad=True) * 2)
    assert picture.svg() == picture._repr_svg_() == f"['-Tsvg'] {picture.source}\n"
