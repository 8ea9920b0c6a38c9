"""Nests of arrays: values and structures as JAX's."""

import collections
import dataclasses

import numpy as np
import pytest

import gradspec as gs
from gradspec.tree_util import (
    ravel_pytree,
    tree_all,
    tree_flatten,
    tree_leaves,
    tree_map,
    tree_reduce,
    tree_structure,
    tree_unflatten,
)  # fmt: skip

NEST = {"w": [np.arange(4.0).reshape(2, 2), None], "b": (np.float32(2.0), {"c": 3})}


def test_map():
    y = tree_map(lambda p, g: p - 2 * g, NEST, {"b": (1, {"c": 1}), "w": (np.ones((2, 2)), None)})
    np.testing.assert_array_equal(y["w"][0], NEST["w"][0] - 2)
    assert y["w"][1] is None and y["b"] == (0, {"c": 1}) and list(y) == ["w", "b"]
    assert tree_map(lambda a, b: (a, b), [1, 2], [{"x": 3}, (4,)]) == [(1, {"x": 3}), (2, (4,))]


def test_leaves_and_structure():
    leaves, structure = tree_flatten(NEST)
    assert len(leaves) == structure.num_leaves == 3 and leaves[0] is NEST["w"][0]
    assert tree_unflatten(structure, "abc") == {"w": ["a", None], "b": ("b", {"c": "c"})}
    assert structure == tree_structure(tree_map(lambda x: x, NEST)) and structure != tree_structure([1])
    assert repr(structure) == "PyTreeDef({'w': [*, None], 'b': (*, {'c': *})})"
    assert tree_leaves(5) == [5] and tree_leaves(None) == [] and tree_reduce(lambda a, b: a + b, [1, (2, 3)], 4) == 10
    assert tree_all([1, (True,)]) and not tree_all({"a": 0})
    with pytest.raises(ValueError, match="has 3 leaves, got 1"):
        tree_unflatten(structure, [1])


@pytest.mark.parametrize(("other", "says"), [
    ({"w": 1}, r"at tree the first pytree has a dictionary of \['w', 'b'\], but a later one a dictionary of \['w'\]"),
    ({"w": [1], "b": 1}, r"at tree\['w'\] the first pytree has a list of 2, but a later one a list of 1"),
    ({"w": [1, 2], "b": 1}, r"at tree\['w'\]\[1\] the first pytree has NoneType, but a later one int"),
])  # fmt: skip
def test_nests_that_differ(other, says):
    with pytest.raises(ValueError, match=says):
        tree_map(lambda a, b: a, NEST, other)


def test_ravel():
    vector, unravel = ravel_pytree(NEST)
    assert vector.tolist() == [0, 1, 2, 3, 2, 3]
    back = unravel(vector)
    assert [leaf.dtype for leaf in tree_leaves(back)] == [np.float64, np.float32, np.int64]
    x = gs.asarray([1.0, 2.0, 3.0])
    _, unravel = ravel_pytree({"a": x, "b": 1.0})
    found = gs.grad(lambda v: (unravel(v)["a"] * x).sum() * unravel(v)["b"])(gs.asarray([1.0, 1.0, 1.0, 2.0]))
    assert found.tolist() == [2, 4, 6, 6]
    assert ravel_pytree(())[0].shape == (0,)


def test_paths_are_jaxs():
    jax = pytest.importorskip("jax", reason="compares with JAX's results, and JAX is not installed")
    Pair = collections.namedtuple("Pair", "x y")
    tree = {"a": [1, (2, None)], "b": Pair(3, {"c": 4, 5: 6} if False else {"c": 4}), "d": {2: 7}}
    theirs, _ = jax.tree_util.tree_flatten_with_path(tree)
    ours, structure = gs.tree_util.tree_flatten_with_path(tree)
    assert [leaf for _, leaf in ours] == [leaf for _, leaf in theirs] and structure == tree_structure(tree)
    for options in ({}, {"simple": True, "separator": "/"}):
        assert [gs.tree_util.keystr(path, **options) for path, _ in ours] == [jax.tree_util.keystr(path, **options) for path, _ in theirs]
    assert gs.tree_util.tree_leaves_with_path(tree) == ours and gs.tree_util.keystr(ours[0][0]) == "['a'][0]"
    named = gs.tree_util.tree_map_with_path(lambda path, x, y: (len(path), x - y), tree, tree)
    assert named["a"] == [(2, 0), ((3, 0), None)] and named["b"].y == {"c": (3, 0)}

    @dataclasses.dataclass
    class Layer:
        weight: float
        name: str = "l"

    ((path, leaf),) = gs.tree_util.tree_leaves_with_path([Layer(2.0)])
    assert gs.tree_util.keystr(path) == "[0].weight" and leaf == 2.0 and path[1] == gs.tree_util.GetAttrKey("weight")
    assert gs.tree.map_with_path is gs.tree_util.tree_map_with_path and gs.tree.leaves({"a": 1}) == [1]
