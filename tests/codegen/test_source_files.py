"""Which lines of the spec and of its files of further samples belong to which operator."""

from conftest import HEADER, PRELUDE, ROOT

from codegen.package import Package
from codegen.spec.reader import read_text
from codegen.spec.source_files import entries, further
from codegen.spec_cache import read

ENTRIES = """\
- op: tanh(x) -> y
  doc: Hyperbolic tangent.
  # not 1 - y ** 2
  forward: np.tanh(x)
  dy/dx: 1 - y*y

- op: zero(x) -> y
  doc: Zero.
  forward: x * 0
  dy/dx: 0
"""
FILES = {"samples/tested.yaml": "# Above.\nzero:\n  samples:\n  - f(x(5))\n",
         "samples/prelude.yaml": "# Above too.\n\ncos:\n  samples: []\nsin:\n  # why\n  examples:\n    f(0.0): 0\n"}  # fmt: skip


def test_every_line_of_the_spec_is_of_one_entry_or_outside():
    tanh, zero = (f"- op: {part}" for part in ENTRIES.split("- op: ")[1:])
    spec = read_text(HEADER + ENTRIES + PRELUDE)
    texts = entries(spec)
    assert (texts["tanh"], texts["zero"]) == (tanh, zero)
    assert texts[""].startswith(HEADER + "---\nfamily: prelude")
    assert sorted("".join(texts.values()).splitlines()) == sorted(spec.source.splitlines())


def test_further_samples_are_those_below_the_name():
    texts = further(read_text(HEADER + ENTRIES + PRELUDE, further=FILES))
    assert texts["zero"] == "zero:\n  samples:\n  - f(x(5))\n"
    assert texts["sin"] == "sin:\n  # why\n  examples:\n    f(0.0): 0\n"
    assert set(texts) == {"", "zero", "sin", "cos"}


def test_the_families_keep_to_three_of_each():
    spec = read(Package(ROOT))
    assert {name for name in further(spec) if name} <= spec.ops.keys()
    shown = [[line for line in text.splitlines() if line.startswith("  - f(")] for text in entries(spec).values()]
    assert max(map(len, shown[1:])) == 3
