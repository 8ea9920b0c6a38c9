"""Write at_work.md: a call, its backward pass and the passes of the compiler, from programs that run when the page is written."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import jinja2

import gradspec as gs

CALL = """\
x = gs.tensor([[-1.0, 0.5], [0.25, 2.0], [1.5, -0.5]])
w = gs.tensor([[0.5, -1.0], [1.0, 0.25]], requires_grad=True)
y = (gs.tanh(x @ w) ** 2).mean()
"""
STEP = """\
def step(x, w):
    scale = gs.exp(gs.asarray(0.5))
    scores = gs.nn.softmax(x @ w, -1)
    unused = gs.sin(scores)
    again = gs.nn.softmax(x @ w, -1)
    return gs.sum(scale * scores * (again + 1), axis=0).reshape((4,))
"""
REPLAYED = """
x, w = gs.asarray(np.linspace(-1, 1, 6).reshape(3, 2)), gs.asarray(np.linspace(0, 1, 8).reshape(2, 4))
compiled = gs.compile(step)
compiled(x, w), compiled(x, w)
"""
HEAD = (
    '<defs><marker id="end" markerWidth="9" markerHeight="8" refX="8" refY="4" orient="auto">'
    '<path d="M0,0 L8,4 L0,8" fill="#777"/></marker></defs>'
)
WIDTH, HEIGHT, GAP = 250, 34, 26  # of a box, and between two boxes


class Heard(gs.autograd.Listener):
    """The beginnings and ends of operators, passes and nodes, in order, each with its depth."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, str, str, str]] = []
        self.depth = 0

    def begin(self, event: object) -> None:
        self.rows.append((self.depth, event.kind, event.name, ", ".join(map(array, event.inputs or ()))))
        self.depth += 1

    def end(self, event: object) -> None:
        self.depth -= 1


def array(value: object) -> str:
    """An array as dtype and shape."""
    return f"{value.dtype}{list(value.shape)}" if hasattr(value, "shape") else "none" if value is None else str(value)


def run() -> tuple[dict[str, object], list[tuple[int, str, str, str]]]:
    """The names of the call, and its events, the backward pass among them."""
    names: dict[str, object] = {"gs": gs}
    with Heard() as heard:
        exec(CALL, names)
        names["y"].backward(retain_graph=True)
    return names, heard.rows


def nodes(root: object) -> list[tuple[object, list[str]]]:
    """The nodes of a chain from its end, each with the values that it saves."""
    found = []
    while root is not None:
        kept = [(name.removeprefix("_saved_"), getattr(root, name)) for name in dir(root) if name.startswith("_saved_")]
        found.append((root, [f"{name}: {array(value)}" for name, value in kept if hasattr(value, "shape")]))
        root = next((node for node, _ in root.next_functions if node is not None), None)
    return found


def picture(operators: list[str], chain: list[tuple[object, list[str]]]) -> str:
    """Operators downward, their nodes upward, and arrows for the values that a node keeps."""
    boxes, arrows = [], []
    count = len(operators)
    for i, operator in enumerate(operators):
        node, kept = chain[count - 1 - i]
        top, middle = 10 + i * (HEIGHT + GAP), 10 + i * (HEIGHT + GAP) + HEIGHT / 2
        boxes += [box(10, top, operator), box(430, top, node.name())]
        words = ", ".join(part.partition(":")[0] for part in kept)
        arrows.append(arrow(10 + WIDTH, middle, 430, middle, f"keeps {words}" if words else "keeps no array"))
        if i + 1 < count:
            arrows += [arrow(135, top + HEIGHT, 135, top + HEIGHT + GAP), arrow(555, top + HEIGHT + GAP, 555, top + HEIGHT)]
    top = 10 + count * (HEIGHT + GAP)
    boxes.append(box(430, top, f"{chain[-1][0].name()}: w.grad"))
    arrows.append(arrow(555, top - GAP, 555, top))
    size = f'width="690" height="{top + HEIGHT + 10}"'
    drawn = "".join([*arrows, *boxes])
    font = 'font-family="monospace" font-size="13" fill="#777"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>{HEAD}{drawn}</svg>\n'


def box(x: float, y: float, text: str) -> str:
    shape = f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="5" fill="none" stroke="#2a6f97"/>'
    return f'{shape}<text x="{x + WIDTH / 2}" y="{y + 22}" text-anchor="middle">{text}</text>'


def arrow(x1: float, y1: float, x2: float, y2: float, text: str = "") -> str:
    line = f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="#777" marker-end="url(#end)"/>'
    return line + (f'<text x="{(x1 + x2) / 2}" y="{y1 - 6}" text-anchor="middle" font-size="11">{text}</text>' if text else "")


def passes() -> list[tuple[str, str, str]]:
    """Name -> what a pass does, and the program after it; the passes that change the program, in order."""
    code = f"import numpy as np\nimport gradspec as gs\n{STEP}{REPLAYED}"
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "GRADSPEC_PASSES": "show"}, capture_output=True, text=True, check=True
    )
    parts = re.split(r"^after (\w+):\n", done.stderr, flags=re.MULTILINE)[1:]
    return [(name, about(name), textwrap.dedent(text).rstrip()) for name, text in zip(parts[::2], parts[1::2])]


def about(name: str) -> str:
    """The first sentence of the docstring of a pass."""
    if name == "record":
        return "The operators that the first call ran, with the shapes and dtypes of their arrays."
    if name == "fuse_rows":
        return (
            "Instructions become steps, which write to planned places in memory, numbered in brackets. If arrays are large, "
            "sums of rows run together with the loops around them, some rows at a time."
        )
    if name == "fuse_loops":
        return "If arrays are large, elementwise steps that follow each other run as one loop, block by block."
    from gradspec.compiler.passes import pipeline

    function = getattr(pipeline, name)
    return " ".join((function.__doc__ or importlib.import_module(function.__module__).__doc__).strip().split("\n\n")[0].split())


def write(folder: Path, environment: jinja2.Environment) -> None:
    """The page and its picture."""
    names, events = run()
    chain = nodes(names["y"].grad_fn)
    calls = [f"{name} ({given})" for depth, kind, name, given in events if kind == "operator" and depth == 0]
    (folder / "at_work.svg").write_text(picture([call.partition(" (")[0] for call in calls], chain))
    text = environment.get_template("at_work.md.j2").render(
        call=CALL,
        calls=calls,
        trace=gs.trace(lambda x, w: (gs.tanh(x @ w) ** 2).mean(), names["x"], names["w"]),
        chain=[
            (node.name(), kept, [following.name() for following, _ in node.next_functions if following]) for node, kept in chain
        ],
        events=[event for event in events if event[1] in ("pass", "node")],
        gradient=repr(names["w"].grad),
        step=STEP,
        passes=passes(),
    )
    (folder / "at_work.md").write_text(text)
