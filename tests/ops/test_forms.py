"""Every way to call an operator gives what its function gives: aliases, methods, operators, in place, `out=`, in no mode."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import forward_ad, grad
from gradspec.support.dispatch import ops

from .calls import BY_NAME, DOUBLE, NAMESPACES, array, flat, in_place_only, samples_of
from .questions import of_entries, of_samples


def same(found, expected):
    """Equal to the bit, NaN included, with equal dtypes and shapes."""
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        assert one.dtype == other.dtype and one.shape == other.shape
        np.testing.assert_array_equal(array(one), array(other))


def call(case, function, arguments):
    positional = [arguments[name] for name, _, _, keyword_only in case.op.arguments if not keyword_only]
    keywords = {name: arguments[name] for name, _, _, keyword_only in case.op.arguments if keyword_only}
    return flat(function(*positional, **keywords))


def function_and_its_aliases(op):
    if "function" in op.variants:
        for name in (op.name, *op.aliases):
            assert getattr(NAMESPACES[op.namespace], name) is not None


def methods_and_their_aliases(op):
    for name in (op.name, *op.aliases):
        if "method" in op.variants:
            assert callable(getattr(gs.Tensor, name)) or isinstance(getattr(gs.Tensor, name), property) or (
                inspect.isdatadescriptor(getattr(gs.Tensor, name))
            )  # fmt: skip
        if "inplace" in op.variants and "method" in op.variants:
            assert callable(getattr(gs.Tensor, name + "_"))


def operators(op):
    assert op.operator is None or callable(getattr(gs.Tensor, op.operator))


def arguments_are_those_of_the_signature(op):
    if not op.node and op.form == "nondifferentiable" and not op.inputs and "requires_grad" in str(op.signature):
        return
    with pytest.raises(TypeError, match=op.name):
        getattr(ops, op.name)(no_such_argument=1)


@of_entries(question=[
    function_and_its_aliases, methods_and_their_aliases, operators, arguments_are_those_of_the_signature])  # fmt: skip
def test_bindings(op, question):
    question(op)


def positional_arguments(case):
    same(call(case, getattr(ops, case.op.name), case.arguments()), case.all_outputs(*case.arrays))


def method(case):
    if "method" not in case.op.variants:
        return
    arguments = case.arguments()
    names = [name for name, _, _, _ in case.op.arguments]
    first = next(name for name, type_, _, _ in case.op.arguments if type_ in ("Array", "Index"))
    if not isinstance(arguments[first], np.ndarray):
        return  # a number has no methods
    bound = getattr(gs.asarray(arguments[first]), case.op.name)
    if not callable(bound):  # a property: x.real, x.mT
        assert names == [first]
        return same(flat(bound), case.all_outputs(*case.arrays))
    rest = {name: value for name, value in arguments.items() if name != first}
    required = [(type_, default) for name, type_, default, _ in case.op.arguments if name != first]
    if required == [("int[]", None)]:  # x.reshape(2, 3): the integers can stand alone
        (value,) = rest.values()
        same(flat(bound(*value) if isinstance(value, tuple) else bound(value)), case.all_outputs(*case.arrays))
        same(flat(bound(value)), case.all_outputs(*case.arrays))
    else:
        same(flat(bound(**rest)), case.all_outputs(*case.arrays))


def operator(case):
    if case.op.operator is None:
        return
    arguments = case.arguments()
    if any(default is not None and arguments[name] != eval(default) for name, _, default, _ in case.op.arguments):
        return  # an operator has no options
    given = [arguments[name] for name, _, default, _ in case.op.arguments if default is None]
    values = [gs.asarray(v) if isinstance(v, np.ndarray) else v for v in given]
    if case.op.operator == "__setitem__":  # a statement: what it returns is dropped
        values[0][values[1]] = values[2]
        return same(values[:1], case.all_outputs(*case.arrays))
    if not isinstance(values[0], gs.Tensor):
        if not isinstance(values[1], gs.Tensor):
            return  # Python computes with two numbers
        reflected = case.op.operator.replace("__", "__r", 1)
        if not hasattr(gs.Tensor, reflected):
            return  # comparisons: Python swaps them
        return same(flat(getattr(values[1], reflected)(values[0])), case.all_outputs(*case.arrays))
    same(flat(getattr(values[0], case.op.operator)(*values[1:])), case.all_outputs(*case.arrays))


def values_do_not_depend_on_what_is_recorded(case):
    """Graphs and tangents are attached to the same values."""
    if not case.op.inputs:
        return
    plain = case.all_outputs(*case.leaves(requires_grad=False))
    same(case.all_outputs(*case.leaves()), plain)
    with gs.no_grad():
        leaves = case.leaves()
        outputs = case.all_outputs(*leaves)
        same(outputs, plain)
        # What gives back its operand gives back that very tensor, and a view requires grad as its base does.
        assert not any(y.requires_grad for y in outputs if y._base is None and not any(y is x for x in leaves))
        assert all(y.grad_fn is None for y in outputs)
    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(x, gs.ones_like(x)) for x in case.leaves(requires_grad=False)]
        same(case.all_outputs(*duals), plain)


def a_list_item_by_item(case):
    """NumPy's spelling: `einsum(subscripts, a, b)`."""
    if "[] *" not in case.op.signature:
        return
    *first, items = [case.arguments()[name] for name, _, _, keyword_only in case.op.arguments if not keyword_only]
    keywords = {name: case.arguments()[name] for name, _, _, keyword_only in case.op.arguments if keyword_only}
    same(flat(getattr(ops, case.op.name)(*first, *items, **keywords)), case.all_outputs(*case.arrays))


def integer_results_never_require_grad(case):
    for y in case.all_outputs(*case.leaves()) if case.op.inputs else ():
        assert y.dtype.kind in "fc" or not y.requires_grad


WAYS = [positional_arguments, method, operator, values_do_not_depend_on_what_is_recorded, a_list_item_by_item]


# `empty` and `empty_like` hold whatever the memory held.
@of_samples(lambda op: not op.name.startswith("empty"), way=[*WAYS, integer_results_never_require_grad])
def test_calls(case, way):
    if not in_place_only(case.op) or way not in WAYS:
        way(case)


def target(case, arguments):
    """The array that is written to, or None where the result does not fit into it."""
    first = case.op.arguments[0][0]
    if not isinstance(arguments[first], np.ndarray):
        return None
    expected = case.all_outputs(*case.arrays)[0]
    fits = expected.shape == arguments[first].shape
    return arguments[first] if fits and np.can_cast(expected.dtype, arguments[first].dtype, "same_kind") else None


def writes_what_the_function_gives(case):
    arguments = case.arguments()
    array_ = target(case, arguments)
    x = gs.asarray(arguments[case.op.arguments[0][0]])
    rest = {name: arguments[name] for name, *_ in case.op.arguments[1:]}
    function = getattr(ops, case.op.name + "_", None) or getattr(x, case.op.name + "_", None)
    if function is None:
        function = getattr(NAMESPACES[case.op.namespace], case.op.name + "_")
    method = getattr(x, case.op.name + "_", None)
    run = (lambda: method(**rest)) if method is not None else (lambda: function(x, **rest))
    if array_ is None:
        if isinstance(arguments[case.op.arguments[0][0]], np.ndarray):
            before = array(x).copy()
            with pytest.raises((RuntimeError, ValueError, TypeError), match=case.op.name):
                run()
            np.testing.assert_array_equal(array(x), before)
            assert x._version == 0
        return
    memory = x.numpy()
    assert run() is x
    assert x.numpy() is memory and x._version == 1
    expected = case.all_outputs(*case.arrays)[0]
    # Not to the bit: NumPy rounds differently in its loops for contiguous and for strided memory.
    np.testing.assert_allclose(memory, array(expected).astype(memory.dtype), rtol=4e-16)


def gradient_is_that_of_the_function(case):
    arguments = case.arguments()
    first = case.op.arguments[0][0]
    if not case.op.inputs or target(case, arguments) is None or not case.places or case.places[0] != (first, None):
        return  # refused, as above
    plain, written = case.leaves(), case.leaves()
    expected = case(*plain)
    at = case.with_arrays(written)
    at[first] = copy = ops.copy(written[0])
    rest = {name: at[name] for name, *_ in case.op.arguments[1:]}
    getattr(copy, case.op.name + "_")(**rest) if hasattr(
        copy, case.op.name + "_") else getattr(NAMESPACES[case.op.namespace], case.op.name + "_")(copy, **rest)  # fmt: skip
    np.testing.assert_allclose(array(copy), array(expected[0]), rtol=4e-16)
    if not expected[0].requires_grad:
        return
    weight = np.random.default_rng(3).uniform(0.5, 1.5, copy.shape)
    found = grad(copy, written, gs.tensor(weight.astype(copy.dtype)), materialize_grads=True)
    wanted = grad(expected[0], plain, gs.tensor(weight.astype(expected[0].dtype)), materialize_grads=True)
    for one, other in zip(found, wanted):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(array(one), array(other), rtol=1e-14)


@of_samples(lambda op: "inplace" in op.variants and not op.view, question=[writes_what_the_function_gives, gradient_is_that_of_the_function])
def test_in_place(case, question):
    question(case)


@of_entries(lambda op: "inplace" in op.variants and op.inputs)
def test_in_place_refuses_a_leaf_and_changes_nothing(op):
    case = next(case for case in samples_of(op) if case.places)
    x, rest = case.leaves()[0], None
    arguments = case.with_arrays([x])
    rest = {name: arguments[name] for name, *_ in op.arguments[1:]}
    before = array(x).copy()
    function = getattr(x, op.name + "_", None)
    function = function or (lambda **r: getattr(NAMESPACES[op.namespace], op.name + "_")(x, **r))
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        function(**rest)
    np.testing.assert_array_equal(array(x), before)
    assert x._version == 0


class TestInPlaceViews:
    """In-place view operators (`swapaxes_`): the tensor becomes the view, and who looks at it keeps looking at what it was."""

    @staticmethod
    def apply(case, x):
        arguments = case.arguments()
        return getattr(x, case.op.name + "_")(*[arguments[name] for name, *_ in case.op.arguments[1:]])

    @of_samples(lambda op: "inplace" in op.variants and op.view)
    def test_becomes_the_view(self, case):
        arguments = case.arguments()
        x = gs.asarray(arguments[case.op.arguments[0][0]].copy())
        memory = x.numpy()
        assert self.apply(case, x) is x and x._version == 1 and not x._is_view()
        same([x], case.all_outputs(*case.arrays))
        assert np.shares_memory(memory, x.numpy()) or x.size == 0

    @of_samples(lambda op: "inplace" in op.variants and op.view and op.inputs)
    def test_the_gradient_and_those_of_views_taken_before(self, case):
        leaf = case.leaves()[0]
        x = leaf * 1
        before = x[...]
        self.apply(case, x)
        if not x.detach().numpy().flags.writeable:
            return  # elements repeat
        x.multiply_(3.0)
        weights = np.cos(np.arange(x.size)).reshape(x.shape)
        expected = leaf.detach().numpy()
        (whole,) = grad((x * weights).sum(), leaf, gs.ones((), dtype=x.dtype), retain_graph=True)
        (part,) = grad(before.sum(), leaf, gs.ones((), dtype=x.dtype))
        numbers = gs.tensor(np.arange(leaf.size, dtype=leaf.dtype).reshape(leaf.shape))
        (kept,) = flat(case.apply(case.arguments() | {case.op.arguments[0][0]: numbers}))  # not every element may be
        np.testing.assert_allclose(part.numpy(), np.where(np.isin(numbers.numpy(), kept.numpy()), 3.0, 1.0))
        plain = gs.tensor(expected, requires_grad=True)
        (y,) = flat(case.apply(case.arguments() | {case.op.arguments[0][0]: plain}))
        (right,) = grad((y * 3.0 * weights).sum(), plain, gs.ones((), dtype=x.dtype))
        same([whole], [right])


class TestOut:
    @of_samples(lambda op: "out" in op.variants)
    def test_writes_into_out(self, case):
        expected = case.all_outputs(*case.arrays)[0]
        out = gs.empty(expected.shape, dtype=expected.dtype)
        memory = out.numpy()
        result = getattr(ops, case.op.name)(**case.arguments(), out=out)
        assert result is out and out.numpy() is memory and out._version == 1
        np.testing.assert_array_equal(memory, array(expected))

    @of_entries(lambda op: "out" in op.variants)
    def test_refuses_a_wrong_shape_and_changes_nothing(self, op):
        case = samples_of(op)[0]
        expected = case.all_outputs(*case.arrays)[0]
        out = gs.zeros((7, *expected.shape, 5), dtype=expected.dtype)
        with pytest.raises((RuntimeError, ValueError), match=op.name):
            getattr(ops, op.name)(**case.arguments(), out=out)
        assert not array(out).any() and out._version == 0

    @of_entries(lambda op: "out" in op.variants and op.inputs)
    def test_refuses_what_requires_grad(self, op):
        case = samples_of(op)[0]
        expected = case.all_outputs(*case.arrays)[0]
        out = gs.zeros(expected.shape, dtype=expected.dtype)
        with pytest.raises(RuntimeError, match="out="):
            getattr(ops, op.name)(**case.with_arrays(case.leaves()), out=out)
        assert not array(out).any()
        with gs.no_grad():
            getattr(ops, op.name)(**case.with_arrays(case.leaves()), out=out)
        np.testing.assert_array_equal(array(out), array(expected))


class TestDtypes:
    SINGLE = {key: tuple({np.float64: np.float32, np.complex128: np.complex64}.get(d, d) for d in dtypes)
              for key, dtypes in DOUBLE.items()}  # fmt: skip
    # float32 differences are noise: compared with double precision instead.
    TOLERANCE = {"rtol": 2e-4, "atol": 2e-4}

    @of_samples(lambda op: op.inputs and not any(type_.startswith("DType") for _, type_, *_ in op.arguments), SINGLE)
    def test_single_precision_stays_single(self, case):
        """Values, gradients and tangents are of the input's precision, and agree with double precision."""
        leaves = case.leaves()
        if not leaves:
            return
        outputs = case(*leaves)
        doubles = [gs.asarray(a.astype(np.result_type(a, np.float64)), requires_grad=True) for a in case.arrays]
        expected = case(*doubles)
        for y, z in zip(outputs, expected, strict=True):
            assert y.dtype.itemsize == (8 if y.dtype.kind == "c" else 4), y.dtype
            np.testing.assert_allclose(array(y), array(z), **self.TOLERANCE)
        live = [(y, z) for y, z in zip(outputs, expected) if y.requires_grad]
        if not live:
            return
        found = grad([y for y, _ in live], leaves, [gs.ones_like(y.detach()) for y, _ in live], materialize_grads=True)
        wanted = grad([z for _, z in live], doubles, [gs.ones_like(z.detach()) for _, z in live], materialize_grads=True)
        for g, w, x in zip(found, wanted, leaves):
            assert g.dtype == x.dtype and g.shape == x.shape
            np.testing.assert_allclose(array(g), array(w), **self.TOLERANCE)
        with forward_ad.dual_level():
            duals = [forward_ad.make_dual(x, gs.ones_like(x)) for x in case.leaves(requires_grad=False)]
            for y in case(*duals):
                tangent = forward_ad.unpack_dual(y).tangent
                assert tangent is None or (tangent.dtype == y.dtype and tangent.shape == y.shape)

    # What takes any numbers takes integers and booleans; linear algebra and the like turn them into floats or refuse.
    @of_entries(lambda op: op.dtype == "any" and op.domain is None, dtype=[np.int64, np.uint8, np.bool_, np.float16])
    def test_other_dtypes_follow_numpy_or_are_refused_by_name(self, op, dtype):
        case = samples_of(op, {"any": (dtype,)})[0]
        try:
            outputs = flat(case.apply(case.arguments()))
        except (TypeError, ValueError) as error:
            assert any(name in str(error) for name in BY_NAME)  # a composite fails in the op that it calls
            return
        assert not any(y.requires_grad for y in outputs)


def test_names_in_other_namespaces():
    assert gs.nn.sigmoid is gs.sigmoid and gs.nn.tanh is gs.tanh
