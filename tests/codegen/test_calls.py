"""What the formulas of an entry call, and all that is reached from there."""

from codegen.rules.calls import expressions_of, helpers_of, kernels_of, ops_of, reached, without

ENTRY = """\
- op: f(x) -> y
  doc: F.
  forward: kernels.fast(np.negative(x))
  let:
    n: count_of(x.shape)
  vjp:
    x: sum(grad) * n
  jvp: conj(x_t)
  samples: one

- op: g(x) -> y
  doc: G.
  composite: sin(f(x))
  samples: one
"""


def spec(small):
    small.write("runtime/kernels/some.py", "def fast(x):\n    return x\n")
    small.write("runtime/formulas.py", "def count_of(shape):\n    return 1\n")
    return small.analyze(ENTRY)


def test_calls_of_an_entry(small):
    ops = spec(small).ops
    assert ops_of(ops["f"]) == {"sum", "conj"}
    assert ops_of(ops["g"]) == {"sin", "f"}
    assert ops_of(ops["sum"]) == {"unsum"}  # by its vjp
    assert helpers_of(ops["f"]) == {"count_of"} and kernels_of(ops["f"]) == {"fast"}
    assert kernels_of(ops["g"]) == helpers_of(ops["g"]) == set()


def test_rules_that_are_derived_count(small):
    sin = spec(small).ops["sin"]
    assert len(list(expressions_of(sin))) == len({"forward", "dy/dx", "vjp", "jvp"})
    assert ops_of(sin) == {"cos", "conj"}


def test_reached():
    called = {"a": ["b", "c"], "b": ["a"], "c": [], "d": ["a"]}
    assert reached("a", called.__getitem__) == {"a", "b", "c"}
    assert reached("d", called.__getitem__) == {"a", "b", "c", "d"}


def test_without_an_entry_goes_what_calls_it(small):
    before = spec(small)
    after = without(before, {"f"})
    assert before.ops.keys() - after.ops.keys() == {"f", "g"}
    assert before.ops.keys() - without(before, {"conj"}).ops.keys() >= {"conj", "f", "g", "sin", "matmul"}
    assert [family.name for family in after.families] == [family.name for family in before.families]
