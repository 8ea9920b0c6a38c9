"""Nests of dicts, lists and tuples: taken apart and put together, and the caller's own left as they were."""

import collections
import operator

import gradspec as gs
from gradspec.support.pytree import alike, flatten, places, rebuild

Pair = collections.namedtuple("Pair", ["first", "second"])


def leaf():
    return gs.tensor([1.0], requires_grad=True)


def test_there_and_back():
    a, b, c = leaf(), leaf(), leaf()
    counted = collections.defaultdict(list, x=a, y=[b])
    for nest in (a, [a, b], (a, (b,)), {"x": a, "y": {"z": [b, c]}}, Pair(a, [b]), collections.OrderedDict(y=a, x=b), counted, [], {}, ()):
        leaves, form = flatten(nest)
        found = rebuild(form, leaves)
        assert type(found) is type(nest) and all(map(operator.is_, flatten(found)[0], leaves))
        if not isinstance(nest, gs.Tensor):
            assert len(found) == len(nest)
    assert rebuild(flatten(counted)[1], [a, b]).default_factory is list


def test_what_the_caller_gave_is_left_as_it_was():
    a, b = leaf(), leaf()
    for nest in ({"x": a}, collections.OrderedDict(x=a), collections.defaultdict(list, x=a)):
        _, form = flatten(nest)
        assert rebuild(form, [b])["x"] is b and nest["x"] is a


def test_forms_and_places():
    leaves, form = flatten({"w": [leaf(), leaf()], "b": (leaf(),)})
    assert places(form) == ["['w'][0]", "['w'][1]", "['b'][0]"] and len(leaves) == 3
    assert places(flatten(leaf())[1]) == [""]
    assert alike(form, flatten({"w": [leaf(), leaf()], "b": (leaf(),)})[1])
    for other in ({"w": [leaf(), leaf()]}, {"w": [leaf()], "b": (leaf(),)}, {"w": [leaf(), leaf()], "c": (leaf(),)}, [leaf()], leaf()):
        assert not alike(form, flatten(other)[1])
