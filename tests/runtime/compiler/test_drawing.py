"""Drawings of traces: boxes for what is computed, arrows for what it is computed from, a write after what it writes over."""

from xml.etree import ElementTree

import numpy as np

import gradspec as gs
from gradspec.compiler.tracing.drawing import boxes_of


def f(x):
    y = gs.sin(x)
    y.add_(1)
    return y * 2


TAKEN = gs.trace(f, np.ones(3))


def test_boxes_and_arrows():
    boxes, arrows = boxes_of(TAKEN)
    assert [text for text, _ in boxes] == ["x: float64[3]", "sin", "add_", "multiply", "return"]
    assert {(a, b) for a, b, _ in arrows} == {(0, 1), (1, 2), (2, 3), (3, 4)}


def test_dot():
    text = TAKEN.dot()
    assert text.startswith("digraph trace {") and 'n2 [label="add_", shape=box, style=dashed];' in text and "n3 -> n4" in text


def test_svg_is_xml_and_no_arrow_goes_up():
    root = ElementTree.fromstring(TAKEN.svg())
    space = "{http://www.w3.org/2000/svg}"
    assert [text.text for text in root.findall(f"{space}text")] == ["x: float64[3]", "sin", "add_", "multiply", "return"]
    assert all(float(line.get("y2")) > float(line.get("y1")) for line in root.findall(f"{space}line"))
    assert TAKEN._repr_svg_() == TAKEN.svg()
