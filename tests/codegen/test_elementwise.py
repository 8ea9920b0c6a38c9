"""Which entries are elementwise, and which of these have a value by NumPy's functions or a `reference:`."""

import pytest

from codegen.spec.elementwise import called_by, has_value, is_elementwise

ENTRIES = """\
- op: along(x, int axis=0) -> y
  doc: Depends on its argument elsewhere.
  shape: x -> x
  composite: sin(x)
  samples: one

- op: both(x) -> a, b
  doc: Two results.
  shape: x -> x, x
  forward: np.modf(x)
  da/dx: cos(x)
  db/dx: sin(x)
  samples: one

- op: by_kernel(x) -> y
  doc: A partial of a kernel of ours.
  shape: x -> x
  forward: kernels.fast(x)
  dy/dx: cos(x)
  samples: one

- op: by_let(x) -> y
  doc: Calls another entry in a let.
  shape: x -> x
  composite: half * 2
  let:
    half: by_kernel(x)
  samples: one

- op: by_two(a, b) -> y
  doc: A composite of partials.
  shape: a, b -> broadcast(a, b)
  composite: sin(a) * cos(b)
  samples: two

- op: masked(Mask m, x) -> y
  doc: A partial of an argument beside a mask.
  shape: m, x -> broadcast(m, x)
  forward: np.where(m, np.sin(x), 0)
  dy/dx: cos(x)
  samples:
  - f(mask(3, 4), x(4))

- op: stated(x) -> y
  doc: A partial of a kernel of ours, with a value.
  shape: x -> x
  forward: kernels.fast(x)
  reference: sin(x)
  dy/dx: cos(x)
  samples: one

- op: summed(x) -> y
  doc: A composite of what is not elementwise.
  shape: x -> x
  composite: x - sum(x)
  samples: one
"""


@pytest.mark.parametrize("name, elementwise, value", [
    ("along", False, True),
    ("both", False, True),
    ("by_kernel", True, False),
    ("by_let", True, False),
    ("by_two", True, True),
    ("conj", False, True),  # linear
    ("cos", True, True),
    ("masked", False, True),
    ("matmul", False, True),
    ("stated", True, True),
    ("sum", False, True),
    ("summed", False, True),
])  # fmt: skip
def test_elementwise_entries_and_their_values(small, name, elementwise, value):
    small.write("runtime/kernels/some.py", "def fast(x):\n    return x\n")
    ops = small.analyze(ENTRIES).ops
    assert is_elementwise(ops[name], ops) is elementwise
    assert has_value(ops[name], ops) is value


def test_what_an_entry_calls(small):
    small.write("runtime/kernels/some.py", "def fast(x):\n    return x\n")
    ops = small.analyze(ENTRIES).ops
    assert called_by(ops["by_let"]) == ["by_kernel"]
    assert called_by(ops["by_two"]) == ["sin", "cos"]
    assert called_by(ops["sin"]) == []
