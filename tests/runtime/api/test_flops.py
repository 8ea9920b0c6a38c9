"""Estimates of operations from shapes, by counting the terms of the sums."""

import pytest

import gradspec as gs
from gradspec.api import flops
from gradspec.generated.op_info import OPS


def counted(program):
    with gs.profiler.profile(with_flops=True) as profiled:
        program()
    return {event.name: event.flops for event in profiled.events() if event.flops}


@pytest.mark.parametrize("shapes, expected", [
    (((4, 3), (3, 5)), 2 * 4 * 3 * 5), (((7, 4, 3), (3, 5)), 7 * 2 * 4 * 3 * 5), (((3,), (3,)), 2 * 3), (((4, 3), (3,)), 2 * 4 * 3),
])  # fmt: skip
def test_products(shapes, expected):
    a, b = map(gs.ones, shapes)
    assert counted(lambda: a @ b) == {"matmul": expected}


def test_a_linear_layer_adds_its_bias():
    x, weight = gs.ones((7, 4)), gs.ones((5, 4))
    assert sum(counted(lambda: gs.nn.linear(x, weight)).values()) == 7 * 5 * 2 * 4
    assert sum(counted(lambda: gs.nn.linear(x, weight, gs.ones(5))).values()) == 7 * 5 * (2 * 4 + 1)


def test_convolutions_have_a_term_for_each_element_of_the_kernel_at_each_place():
    x, weight = gs.ones((2, 4, 9, 9)), gs.ones((6, 2, 3, 3))
    places = 2 * 6 * 4 * 4
    terms, y = places * 2 * (2 * 3 * 3), gs.ones((2, 6, 4, 4))
    calls = [lambda: gs.nn.conv2d(x, weight, stride=2, groups=2), lambda: gs.nn.conv_transpose2d(y, weight, stride=2, groups=2)]
    for wanted in (False, True):
        weight.requires_grad_(wanted)
        assert [sum(counted(call).values()) for call in calls] == [terms, terms]


def test_elementwise_operators_have_one_for_each_element():
    x = gs.ones((5, 4))
    assert counted(lambda: gs.exp(x) * gs.ones(4)) == {"exp": 20, "multiply": 20}
    assert counted(lambda: x.exp_()) == {"exp_": 20} and counted(lambda: gs.exp(x, out=gs.empty((5, 4)))) == {"exp.out": 20}


def test_a_node_has_as_many_as_its_call_for_each_gradient():
    a, b = gs.ones((4, 3), requires_grad=True), gs.ones((3, 5))
    assert counted(lambda: (a @ b).sum().backward())["MatmulBackward"] == 2 * 4 * 3 * 5
    b.requires_grad_()
    assert counted(lambda: (a @ b).sum().backward())["MatmulBackward"] == 2 * 2 * 4 * 3 * 5


def test_of_others_nothing_is_known():
    assert flops.of_call("sort", ((3,),), (3,)) == 0 and flops.of_call("exp", ((3,),), None) == 0


def test_the_products_are_entries_of_the_spec():
    assert set(flops.PRODUCTS) <= {entry.name for entry in OPS}
