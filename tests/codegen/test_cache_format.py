"""What is kept of a document between runs comes back as it was, at the lines where it then stands."""

import ast
import dataclasses
import math
import pickle

import pytest

from codegen.spec.cache_format import packed, unpacked
from codegen.spec.model import Formula, Location, Text

ENTRY = """\
- op: f(x, int n=1) -> y
  doc: F.
  shape: x -> x
  forward: np.multiply(x, n)
  linear: [x]
  vjp:
    x: grad
      * n
  samples:
  - f(x(3))
  - f(x(3), n=2)
"""


def plain(value):
    """A value as what can be compared, places included."""
    if isinstance(value, ast.AST):
        return ast.dump(value, include_attributes=True)
    if dataclasses.is_dataclass(value):
        return type(value).__name__, *((part.name, plain(getattr(value, part.name))) for part in dataclasses.fields(value))
    if isinstance(value, dict):
        return [(key, plain(item)) for key, item in value.items()]
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    return "nan" if isinstance(value, float) and math.isnan(value) else value


@pytest.fixture
def families(small):
    return {down: small.analyze("\n" * down + ENTRY).families[0] for down in (0, 5)}


def test_a_family_comes_back_as_it_was(families):
    family = families[0]
    assert plain(unpacked(packed(family, "derivatives.yaml", 8), 8)) == plain(family)


def test_places_move_with_the_first_line(families):
    """Those above it, of samples that every entry has, stay."""
    moved = unpacked(packed(families[0], "derivatives.yaml", 12), 17)
    assert plain(moved.ops) == plain(families[5].ops)
    assert moved.location == families[5].location


def test_places_in_other_files_stay(families):
    moved = unpacked(packed(families[0], "other.yaml", 1), 100)
    assert plain(moved) == plain(families[0])


def test_a_tree_stays_packed_until_it_is_read(families):
    formula = unpacked(packed(families[0].ops[0].forward, "derivatives.yaml"), 3)
    assert "tree" not in vars(formula) and formula.calls == frozenset() and formula.names == {"x", "n"}
    assert ast.unparse(formula.tree) == "np.multiply(x, n)" and "packed" not in vars(formula)
    again = unpacked(packed(dataclasses.replace(formula, source="other"), "derivatives.yaml"), 3)
    assert ast.unparse(again.tree) == "np.multiply(x, n)"
    with pytest.raises(AttributeError, match="a formula has no branches"):
        formula.branches  # noqa: B018


def test_a_place_without_a_tree(families):
    assert unpacked(packed(Location("derivatives.yaml", 7, 3), "derivatives.yaml", 5), 50) == Location("derivatives.yaml", 52, 3)
    assert unpacked(packed(Location("derivatives.yaml", 4, 3), "derivatives.yaml", 5), 50) == Location("derivatives.yaml", 4, 3)


def test_a_text_moves_with_all_its_characters():
    text = Text("ab", "derivatives.yaml", ((7, 3), (8, 1), (8, 2)))
    assert unpacked(packed(text, "derivatives.yaml", 5), 50) == Text("ab", "derivatives.yaml", ((52, 3), (53, 1), (53, 2)))
    assert unpacked(packed(text, "derivatives.yaml", 8), 50) == unpacked(packed(text, "other.yaml"), 50) == text


def test_what_is_no_part_of_a_spec_is_not_made():
    with pytest.raises(pickle.UnpicklingError, match="system is no part of a spec"):
        unpacked(pickle.dumps(__import__("os").system))


def test_calls_are_those_of_the_tree():
    tree = ast.parse("f(g(x), np.h(y), k=m(1))", mode="eval").body
    assert Formula("", tree, Location("", 1, 1)).calls == {"f", "g", "m"}


def test_what_the_package_packed_by_one_name_it_reads_by_the_other():
    """`python -m codegen` and `python -m gradspec.codegen` keep the same file."""
    installed = pytest.importorskip("gradspec.codegen.spec.cache_format")
    from gradspec.codegen.spec import model

    for place in (Location("a.yaml", 3, 4), model.Location("a.yaml", 3, 4)):
        data = (packed if isinstance(place, Location) else installed.packed)(place, "a.yaml", 2)
        ours, theirs = unpacked(data, 7), installed.unpacked(data, 7)
        assert (type(ours), type(theirs)) == (Location, model.Location) and ours.line == theirs.line == 8
