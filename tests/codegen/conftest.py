"""Small specs for the tests of codegen, which need nothing built."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from codegen.errors import SpecErrors  # noqa: E402
from codegen.package import Package  # noqa: E402
from codegen.rules.analyze import analyze  # noqa: E402
from codegen.spec.model import Spec  # noqa: E402
from codegen.spec.reader import read_text  # noqa: E402
from codegen.spec_cache import analysed  # noqa: E402
from codegen.verify.check import check  # noqa: E402

# An entry under test follows this header: its first line is line 12 of the file.
HEADER = """\
presets:
  one:
  - f(x(3, 4))
  - f(x(0, 3))
  two:
    ["f(x(3, 4), x(4))", "f(x(3, 1), x(2, 1, 4))"]
---
family: tested
about: Entries under test.
defaults: {dtype: float, shape: _}
ops:
"""

PRELUDE = """\
---
family: prelude
about: What the entries under test call.
defaults: {dtype: float, shape: x -> x, samples: one}
ops:
- op: conj(x) -> y
  doc: Complex conjugate.
  forward: np.conj(x)
  linear: [x]
  vjp:
    x: conj(grad)

- op: cos(x) -> y
  doc: Cosine.
  forward: np.cos(x)
  dy/dx: -sin(x)

- op: mT(x) -> y
  doc: Transpose of the last two axes.
  view: x
  shape: (..., m, n) -> (..., n, m)
  forward: np.swapaxes(x, -1, -2)
  linear: [x]
  vjp:
    x: mT(grad)

- op: matmul(a, b) -> y
  doc: Matrix product.
  shape: (..., m, k), (..., k, n) -> (..., m, n)
  forward: np.matmul(a, b)
  multilinear: [a, b]
  vjp:
    a: matmul(grad, conj(mT(b)))
    b: matmul(conj(mT(a)), grad)
  samples:
  - f(x(3, 4), x(2, 4, 5))

- op: sin(x) -> y
  doc: Sine.
  forward: np.sin(x)
  dy/dx: cos(x)

- op: sum(x, int[]? axis=None, bool keepdims=False) -> y
  doc: Sum along `axis`.
  shape: x -> reduce(x)
  forward: np.sum(x, axis=axis, keepdims=keepdims)
  linear: [x]
  vjp:
    x: unsum(grad, x.shape, axis, keepdims)
  samples:
  - f(x(3, 4), 1)
  - f(x(3, 4), (0, -1), True)

- op: unsum(x, int[] shape, int[]? axis=None, bool keepdims=False) -> y
  doc: The adjoint of sum.
  shape: x -> shape
  forward: np.copy(np.broadcast_to(x if keepdims or axis is None else np.expand_dims(x, axis), shape))
  linear: [x]
  vjp:
    x: sum(grad, axis, keepdims)
  samples:
  - f(x(3), (3, 4), 1)
  - f(x(3, 1), (3, 4), 1, True)

- op: zero_(x) -> y
  doc: Writes zeros.
  forward: np.zeros_like(x)
  linear: [x]
  vjp:
    x: zeros_like(grad)

- op: zeros_like(x) -> y
  doc: Zeros.
  forward: np.zeros_like(x)
  nondifferentiable: true
"""


class SmallSpec:
    """Reads, analyses and checks entries; `root` is where the helpers and kernels would be."""

    def __init__(self, root: Path):
        self.root = root

    def read(self, entry: str) -> Spec:
        return read_text((HEADER + entry if entry else HEADER.partition("---")[0]) + PRELUDE)

    def analyze(self, entry: str) -> Spec:
        return analyze(self.read(entry), self.root)

    def check(self, entry: str) -> list[str]:
        return check(self.analyze(entry), self.root, integers=False)

    def refusal(self, step: str, entry: str) -> str:
        """The whole text that `step` refuses an entry with."""
        with pytest.raises(SpecErrors) as caught:
            getattr(self, step)(entry)
        return str(caught.value)

    def write(self, path: str, text: str) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)


@pytest.fixture
def small(tmp_path: Path) -> SmallSpec:
    return SmallSpec(tmp_path)


@pytest.fixture(scope="session")
def spec_of_the_checkout() -> tuple[Package, Spec]:
    """gradspec itself, as it was kept of the last command if it is still that."""
    package = Package(ROOT)
    return package, analysed(package)
