"""What the analysis of an entry asked for is noted, and holds as long as the answers are the same."""

import pytest

from codegen.errors import ErrorList
from codegen.rules.analyze import Analysis
from codegen.rules.queries import Asked
from codegen.spec.library import read_library

ENTRY = """\
- op: f(x) -> y
  doc: F.
  forward: kernels.fast(x)
  linear: [x]
  vjp:
    x: unsum(conj(grad), x.shape, axis_of(x.ndim))
  samples: one
"""
KERNEL = "def fast(x):\n    return x\n"
HELPER = "def axis_of(n):\n    return n\n"


@pytest.fixture
def asked(small):
    """The answers that the analysis of an entry rests on, and whether they hold in another spec."""
    small.write("runtime/kernels/some.py", KERNEL)
    small.write("runtime/formulas.py", HELPER)
    spec = small.read(ENTRY)
    analysis = Analysis(spec, read_library(small.root))
    analysis.op(spec.ops["f"], ErrorList("", ""))
    answers = analysis.asked.answers()
    assert analysis.asked.answers() == {}  # each time what was asked since the last

    def holds(spec=spec):
        return Asked(spec.ops.values(), read_library(small.root)).same(answers)

    holds.answers = answers
    return holds


def test_what_was_asked(asked):
    assert {("op", "unsum"), ("op", "conj"), ("helper", "axis_of"), ("kernel", "fast")} <= asked.answers.keys()
    assert not {name for kind, name in asked.answers if kind == "op"} & {"sin", "matmul"}
    assert asked()


@pytest.mark.parametrize("old, new, same", [
    ("doc: The adjoint of sum.", "doc: Another text.", True),  # how it is computed or described is its own affair
    ("np.copy(np.broadcast_to(", "np.array(np.broadcast_to(", True),
    ("unsum(x, int[] shape, int[]? axis=None", "unsum(x, int[] shape, int[]? axis=0", False),
    ("shape: x -> shape", "shape: x -> _", False),
    ("- op: conj(x) -> y", "- op: conj(x) -> z", False),
    ("forward: np.sin(x)", "forward: np.cos(x)", True),
])  # fmt: skip
def test_other_entries(asked, small, monkeypatch, old, new, same):
    import conftest

    assert old in conftest.PRELUDE
    monkeypatch.setattr(conftest, "PRELUDE", conftest.PRELUDE.replace(old, new))
    assert asked(small.read(ENTRY)) is same


def test_an_entry_of_the_name_of_a_helper(asked, small):
    more = "- op: axis_of(x) -> y\n  doc: F.\n  forward: np.sin(x)\n  dy/dx: 1\n  samples: one\n"
    assert not asked(small.read(ENTRY.replace("- op: f(", f"{more}- op: f(")))


def test_kernels_and_helpers(asked, small):
    small.write("runtime/kernels/more.py", "def other(x):\n    return x\n")
    assert asked()
    small.write("runtime/kernels/some.py", "fast = pointwise('fast')\n")
    small.write("runtime/kernels/some.py", KERNEL)
    small.write("runtime/formulas.py", HELPER.replace("n):", "n, m=1):"))
    assert not asked()
    small.write("runtime/formulas.py", HELPER.replace("return n", "return n + 0"))
    assert asked()
    small.write("runtime/kernels/some.py", KERNEL.replace("fast", "quick"))
    assert not asked()
