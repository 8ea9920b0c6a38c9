"""Every kind of array: strided, read-only, in Fortran order, broadcast, the same one twice; views and what they share."""

from __future__ import annotations

import re
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import forward_ad, grad
from gradspec.saved.view import replay
from gradspec.support.dispatch import ops

from .calls import REAL, array, flat, in_place_only
from .questions import of_entries, of_samples
from .spec import the_spec


def strided(a):
    """The same values with gaps between them."""
    wide = np.empty(tuple(2 * n for n in a.shape), a.dtype)
    where = tuple(slice(None, None, 2) for _ in a.shape)
    wide[where] = a
    return wide[where]


def reversed_memory(a):
    """The same values with negative strides."""
    where = tuple(slice(None, None, -1) for _ in a.shape)
    return np.ascontiguousarray(a[where])[where] if a.ndim else a.copy()


def read_only(a):
    a = a.copy()
    a.flags.writeable = False
    return a


def unaligned(a):
    memory = np.empty(a.nbytes + 1, np.uint8)[1:]
    result = memory.view(a.dtype).reshape(a.shape)
    result[...] = a
    return result


LAYOUTS = {
    "strided": strided, "reversed": reversed_memory, "read-only": read_only, "Fortran": lambda a: np.array(a, order="F"),
    "unaligned": unaligned, "big-endian": lambda a: a.astype(a.dtype.newbyteorder(">")),
}  # fmt: skip


@cache
def weights_of(shape):
    return np.asarray(np.random.default_rng(5).uniform(0.5, 1.5, shape))


def values_and_gradients(case, leaves):
    outputs = case(*leaves)
    live = [y for y in outputs if y.requires_grad]
    weights = [weights_of(y.shape).astype(y.dtype) for y in live]
    return outputs, list(grad(live, leaves, list(map(gs.asarray, weights)), materialize_grads=True)) if live else []


def close(found, expected, layout):
    assert found.shape == expected.shape
    np.testing.assert_allclose(array(found), array(expected), rtol=1e-12, atol=1e-12, err_msg=layout)


def looks_at_memory(case):
    """Whether the result depends on the layout; tests/runtime/kernels/test_strides.py has its values for other layouts."""
    return the_spec().ops[case.op.name].vmap == "refused"


def refused_for_its_layout(case, error):
    return "memory" in the_spec().ops[case.op.name].breaks and re.search("has no view of shape|do not lie beside each other", str(error))


def of_the_inputs(case):
    if not case.op.inputs or in_place_only(case.op) or looks_at_memory(case) or not case.is_first or not case.places:
        return
    expected, wanted = values_and_gradients(case, case.leaves())
    for layout, laid in LAYOUTS.items():
        arrays = [laid(a) for a in case.arrays]
        kept = [a.copy() for a in arrays]
        try:
            outputs, gradients = values_and_gradients(case, [gs.asarray(a, requires_grad=True) for a in arrays])
        except ValueError as error:
            if refused_for_its_layout(case, error):
                continue
            raise
        for one, other in zip(outputs + gradients, expected + wanted, strict=True):
            close(one, other, layout)
        for a, before in zip(arrays, kept):
            np.testing.assert_array_equal(a, before)  # neither forward nor backward writes to an input


def laid_out(value, laid):
    """An array in another layout, arrays in a tuple or a list likewise; anything else as it is."""
    if isinstance(value, (tuple, list)):
        return type(value)(laid_out(item, laid) for item in value)
    return laid(value) if isinstance(value, np.ndarray) else value


def of_indices_masks_and_whole_numbers(case):
    if looks_at_memory(case) or not case.is_first:
        return
    floating = dict(case.places)
    if not any(isinstance(value, (np.ndarray, tuple, list)) for name, value in case.arguments().items() if name not in floating):
        return
    expected = flat(case.apply(case.arguments()))
    for layout, laid in LAYOUTS.items():
        arguments = case.arguments()
        changed = {name: laid_out(value, laid) for name, value in arguments.items() if name not in floating}
        try:
            found = flat(case.apply(arguments | changed))
        except ValueError as error:
            if refused_for_its_layout(case, error):
                continue
            raise
        for one, other in zip(found, expected, strict=True):
            assert one.dtype.newbyteorder("=") == other.dtype.newbyteorder("=")
            close(one, other, layout)


def tangents_along(case, directions):
    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(x, gs.asarray(t)) for x, t in zip(case.leaves(requires_grad=False), directions)]
        return [forward_ad.unpack_dual(y).tangent for y in case(*duals)]


def of_cotangents_and_tangents(case):
    if not case.op.inputs or in_place_only(case.op) or case.op.form == "nondifferentiable":
        return
    random = np.random.default_rng(7)
    directions = [np.asarray(random.uniform(0.5, 1.5, a.shape)).astype(a.dtype) for a in case.arrays]
    expected = tangents_along(case, directions)
    for layout, laid in LAYOUTS.items():
        for one, other in zip(tangents_along(case, [laid(a) for a in directions]), expected, strict=True):
            assert (one is None) == (other is None)
            if one is not None:
                close(one, other, layout)
    live = [y for y in case(*case.leaves()) if y.requires_grad]
    random = np.random.default_rng(5)
    weights = [np.asarray(random.uniform(0.5, 1.5, y.shape)).astype(y.dtype) for y in live]
    expected = []
    for layout, laid in {"as they are": lambda a: a, **LAYOUTS}.items() if live else ():
        leaves = case.leaves()
        kept = [laid(w) for w in weights]
        found = grad([y for y in case(*leaves) if y.requires_grad], leaves, [gs.asarray(w) for w in kept], materialize_grads=True)
        expected = expected or found
        for one, other in zip(found, expected, strict=True):
            close(one, other, layout)
        for a, before in zip(kept, weights):
            np.testing.assert_array_equal(a, before)


@of_samples(layout=[of_the_inputs, of_indices_masks_and_whole_numbers, of_cotangents_and_tangents])
def test_layouts_do_not_matter(case, layout):
    layout(case)


def test_what_reads_memory_in_its_order_is_found():
    class Case:
        op = SimpleNamespace(name="multiply", inputs=("x",))
        is_first, places, arrays = True, [("x", None)], [np.arange(6.0).reshape(2, 3)]
        leaves = staticmethod(lambda: [gs.asarray(a.copy(), requires_grad=True) for a in Case.arrays])

        def __call__(self, x):
            return [x * self.factor(array(x))]

    case = Case()
    case.factor = lambda a: a
    of_the_inputs(case)
    case.factor = lambda a: a.ravel("K").reshape(a.shape)
    with pytest.raises(AssertionError, match="Fortran"):
        of_the_inputs(case)


@of_samples(lambda op: op.inputs and sum(t == "Array" for _, t, *_ in op.arguments) > 1, REAL)
def test_the_same_tensor_in_every_place(case):
    """f(x, x): the gradient is the sum of those of two tensors with equal values."""
    places = case.places
    if len(places) < 2 or any(a.shape != case.arrays[0].shape for a in case.arrays) or case.op.domain:
        return  # the places take different shapes, or one domain does not fit them both
    x = case.leaves()[0]
    apart = [gs.tensor(array(x), requires_grad=True) for _ in places]
    try:
        expected, wanted = values_and_gradients(case, apart)
    except np.linalg.LinAlgError:
        return
    outputs = case(*[x] * len(places))
    live = [y for y in outputs if y.requires_grad]
    weights = [gs.asarray(np.random.default_rng(5).uniform(0.5, 1.5, y.shape).astype(y.dtype)) for y in live]
    (found,) = grad(live, x, weights)
    for one, other in zip(outputs, expected, strict=True):
        np.testing.assert_array_equal(array(one), array(other))
    np.testing.assert_allclose(array(found), sum(map(array, wanted)), rtol=1e-12, atol=1e-12)


def last(found):
    """The result, or the last of several."""
    return found[-1] if isinstance(found, tuple) else found


SHAPES = [((3, 4), (4,)), ((3, 1), (1, 4)), ((), (2, 3)), ((2, 1, 3), (4, 1)), ((0, 3), (3,)), ((1,), (0,))]


@of_entries(lambda op: op.inputs and op.family == "pointwise_binary" and "Array?" not in str(op.arguments), shapes=SHAPES)
def test_broadcasting_sums_the_gradient(op, shapes):
    """As if the operands had been broadcast before, and their gradients summed after."""
    count = sum(t == "Array" for _, t, *_ in op.arguments)
    shapes = [shapes[i % 2] for i in range(count)]
    full = np.broadcast_shapes(*shapes)
    random = np.random.default_rng(1)
    masks = [np.ones(full, bool)] if op.arguments[0][1] == "Mask" else []
    arrays = [random.uniform(0.55, 0.95, s) + 0.7 * i for i, s in enumerate(shapes)]
    small = [gs.tensor(a, requires_grad=True) for a in arrays]
    large = [gs.tensor(np.broadcast_to(a, full), requires_grad=True) for a in arrays]
    y, z = last(getattr(ops, op.name)(*masks, *small)), last(getattr(ops, op.name)(*masks, *large))
    assert y.shape == full
    np.testing.assert_array_equal(array(y), array(z))
    if not y.requires_grad:
        return
    weight = gs.tensor(random.uniform(0.5, 1.5, full).astype(y.dtype))
    found = grad(y, small, weight, materialize_grads=True)
    wanted = grad(z, large, weight, materialize_grads=True)
    for g, h, shape in zip(found, wanted, shapes):
        extra = len(full) - len(shape)
        axes = tuple(range(extra)) + tuple(extra + i for i, n in enumerate(shape) if n == 1)
        assert g.shape == shape
        np.testing.assert_allclose(array(g), array(h).sum(axes, keepdims=True).reshape(shape), rtol=1e-12, atol=1e-12)


def shares_memory_version_and_base(case):
    name = case.op.view
    x = gs.tensor(case.arguments()[name])
    for y in flat(case.apply(case.arguments() | {name: x})):
        shared = np.shares_memory(x.numpy(), y.numpy())
        if not shared:  # a copy where strides cannot express it, or no elements at all
            assert y._base is None or y.size == 0
            continue
        assert y._base is x and y._is_view()
        x.zero_()
        assert y._version == x._version and not y.numpy().any()
        if y.numpy().flags.writeable:
            before = x._version
            y.fill_(1.5)
            assert x._version == y._version == before + 1 and (x.numpy().real == 1.5).any()


def write_through_the_view_is_noticed_by_saved_values(case):
    name = case.op.view
    x = gs.tensor(case.arguments()[name])
    views = [y for y in flat(case.apply(case.arguments() | {name: x})) if y.size and y.numpy().flags.writeable]
    views = [y for y in views if np.shares_memory(x.numpy(), y.numpy())]
    if not views:
        return  # copies, or read-only: nothing can be written through them
    w = gs.tensor(np.ones(x.shape), requires_grad=True)
    z = (w * x).sum().real
    views[0].zero_()
    with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
        z.backward()


def view_of_a_leaf_refuses_a_write(case):
    name = case.op.view
    x = gs.tensor(case.arguments()[name], requires_grad=True)
    for y in flat(case.apply(case.arguments() | {name: x})):
        if not np.shares_memory(x.detach().numpy(), y.detach().numpy()) or not y.detach().numpy().flags.writeable:
            continue
        before = array(x).copy()
        with pytest.raises(RuntimeError, match="leaf Variable that requires grad|function that returns multiple views"):
            y.zero_()
        np.testing.assert_array_equal(array(x), before)


@of_samples(lambda op: op.view and op.inputs, REAL, question=[
    shares_memory_version_and_base, write_through_the_view_is_noticed_by_saved_values, view_of_a_leaf_refuses_a_write])  # fmt: skip
def test_views(case, question):
    question(case)


@of_samples(lambda op: op.view)
def test_replayed_on_another_base_it_gives_the_same_array(case):
    """The step that a view notes is the whole of what was done to its base."""
    arguments, name = case.arguments(), case.op.view
    x = gs.tensor(arguments[name])
    fresh = np.random.default_rng(5).permutation(np.arange(x.size)).reshape(x.shape).astype(x.dtype)
    expected = flat(case.apply(arguments | {name: gs.tensor(fresh)}))
    for y, wanted in zip(flat(case.apply(arguments | {name: x})), expected, strict=True):
        if not y._is_view():  # a copy, or no elements
            continue
        found = replay(y, gs.tensor(fresh))
        assert found.shape == y.shape and found._is_view()
        np.testing.assert_array_equal(array(found), array(wanted))


@of_entries(lambda op: op.inputs and op.family in ("pointwise_unary", "activations") and len(op.arguments) == 1,
            shape=[(), (1,), (0,), (0, 3), (2, 0, 3), (1, 1)])  # fmt: skip
def test_elementwise_keeps_the_shape(op, shape):
    """Size-0 and 0-d samples are in the presets; here every elementwise op and reduction gets more of them."""
    value = 1.5 if op.domain and "x > 1" in op.domain else 0.4
    x = gs.full(shape, value).requires_grad_()
    found = getattr(ops, op.name)(x)
    for y in found if isinstance(found, tuple) else (found,):
        assert y.shape == shape
        if not y.requires_grad:
            continue
        (g,) = grad(y, x, gs.ones(shape))
        assert g.shape == shape and g.dtype == np.float64 and np.isfinite(array(g)).all()


@of_entries(
    lambda op: (
        op.variants
        and not in_place_only(op)
        and op.arguments
        and op.arguments[0][1] in ("Array", "Mask", "Index")
        and op.family != "creation"
        and all(a[0] != "generator" for a in op.arguments)
    )
)  # these return memory as it is, or draw
def test_a_number_is_an_array_of_shape_zero(op):
    """A Python number, and one of NumPy's, gives what a tensor of it gives, wherever this is taken."""
    function = getattr(ops, op.name)
    for number in (0.75, 2, True, 1 + 0.5j, np.float32(0.5), 1e6, -1e30, np.inf):
        try:
            expected, again = (list(map(array, flat(function(gs.tensor(number))))) for _ in range(2))
        except Exception:  # noqa: S112 (whatever it says: the next number)
            continue
        if not all(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc") for a, b in zip(expected, again)):
            continue  # it draws, or returns memory as it is
        found = list(map(array, flat(function(number))))
        assert [a.shape for a in found] == [a.shape for a in expected], number
        for a, b in zip(found, expected):
            np.testing.assert_allclose(a, b, rtol=1e-6, err_msg=repr(number))
