"""Operands: what users pass, as what operators take."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import forward_ad, grad


class TestClaimedDtypes:
    """tests/ops/test_dtypes.py refuses what no entry claims; here is what is said, and what passes."""

    def test_the_refusal_names_a_way_out(self):
        with pytest.raises(TypeError) as caught:
            gs.maximum(gs.tensor([1j]), 0.0)
        assert str(caught.value) == (
            "maximum: argument 'a' is of dtype complex128, but maximum takes real numbers; "
            "abs(), or .real and .imag, make real arrays of it")
        with pytest.raises(TypeError, match=r"bitwise_or: argument 'b' is of type float, .* astype\(int\)"):
            gs.bitwise_or(gs.tensor([1]), 1.5)
        with pytest.raises(TypeError, match=r"^maximum: argument 'b' is of dtype complex128"):
            gs.maximum(1.0, np.complex128(1))  # a NumPy scalar

    def test_an_in_place_operator_names_itself(self):
        with pytest.raises(TypeError, match=r"^add_: argument 'b' must be a tensor"):
            gs.tensor([1.0]).add_("text")

    @pytest.mark.parametrize("value", [1, True, np.array([3]), np.array([True]), np.uint8(3), gs.tensor([3])])
    def test_integers_and_booleans_pass_for_integers(self, value):
        x = gs.tensor([6])
        assert (x & value).tolist() == (np.array([6]) & np.asarray(value).ravel()).tolist()

    @pytest.mark.parametrize("value", [2, True, 1.5, np.float16(1.5), np.array([2]), [0.5], gs.tensor([2.0])])
    def test_integers_and_booleans_are_real(self, value):
        assert gs.maximum(gs.tensor([1.0]), value).tolist() == [max(1.0, float(np.asarray(value).ravel()[0]))]


class TestInts:
    """`int[2]`: one int stands for two, also in a tuple, and another count is refused."""

    X = gs.arange(16.0).reshape(1, 1, 4, 4)

    @pytest.mark.parametrize("size", [2, (2,), [2], (2, 2), np.int64(2), np.array([2])])
    def test_one_int_or_the_right_count(self, size):
        assert gs.nn.max_pool2d(self.X, size).tolist() == [[[[5.0, 7.0], [13.0, 15.0]]]]
        assert gs.nn.unfold(self.X, size).shape == (1, 4, 9)

    @pytest.mark.parametrize("size", [(), (2, 2, 2)])
    def test_another_count(self, size):
        for function in (gs.nn.max_pool2d, gs.nn.unfold):
            with pytest.raises(ValueError, match=rf"argument 'kernel_size' must be an int or 2 ints, got {len(size)}"):
                function(self.X, size)

    @pytest.mark.parametrize("axes", [1, (), (0,), (0, 1, 2)])
    def test_one_axis_is_no_plane(self, axes):
        with pytest.raises(ValueError, match=r"^rot90: len\(axes\) must be 2"):
            gs.rot90(self.X, 1, axes)

    def test_what_is_no_int(self):
        with pytest.raises(TypeError, match="^unfold: argument 'kernel_size' must be an int or 2 ints, got 'ab'"):
            gs.nn.unfold(self.X, "ab")
        with pytest.raises(TypeError, match="^sum: argument 'axis' must be an int or a sequence of ints, got 0.5"):
            self.X.sum(axis=0.5)


class TestSubclasses:
    """A subclass whose operators mean something else is refused, one that only stores differently is taken."""

    @pytest.mark.parametrize("value", [np.ma.masked_array([1.0, 2.0], [True, False]), np.ones((2, 2)).view(np.matrix)])
    def test_refused(self, value):
        with pytest.raises(TypeError, match=f"^multiply: argument 'b' is a {type(value).__name__}, whose operators"):
            gs.multiply(1.0, value)

    def test_taken(self, tmp_path):
        stored = np.memmap(tmp_path / "numbers", float, "w+", shape=3)
        stored[:] = 2
        assert (gs.ones(3) * stored).tolist() == [2, 2, 2]


class TestLists:
    """A list of tensors with a history is an operand: it is stacked, recorded, where NumPy would make an array of it."""

    @pytest.mark.parametrize("function", [gs.mean, gs.std, gs.linalg.norm, lambda x: gs.append(x, [1.0])[1]])
    @pytest.mark.parametrize("sequence", [list, tuple])
    def test_is_what_stack_makes_of_it(self, function, sequence):
        x = gs.tensor(2.0, requires_grad=True)
        found, wanted = function(sequence([x, x * x])), function(gs.stack([x, x * x]))
        assert found.item() == wanted.item()
        assert grad(found, x)[0].item() == grad(wanted, x)[0].item() != 0

    def test_nests_numbers_and_arrays(self):
        x = gs.tensor(2.0, requires_grad=True)
        y = gs.tensor([[1.0, 2.0], [3.0, 4.0]]) @ [[x, 1], (np.float32(0), x * x)]
        assert y.tolist() == [[2, 9], [6, 19]]
        assert grad(y.sum(), x)[0].item() == 4 + 6 * 4

    def test_tangents(self):
        with forward_ad.dual_level():
            x = forward_ad.make_dual(gs.tensor(3.0), gs.tensor(1.0))
            assert forward_ad.unpack_dual(gs.prod([x, 2.0, x])).tangent.item() == 12

    def test_written_by_an_assignment(self):
        x = gs.tensor(2.0, requires_grad=True)
        y = gs.zeros(3)
        y[1:] = [x, x * x]
        assert grad(y.sum(), x)[0].item() == 5

    def test_no_history_is_lost_unrecorded(self):
        x = gs.tensor(2.0, requires_grad=True)
        with gs.no_grad():
            assert not gs.mean([x, 4.0]).requires_grad

    @pytest.mark.parametrize(("rest", "error", "match"), [
        ([1.0, 2.0], ValueError, "^mean: all input arrays must have the same shape"),
        ("text", TypeError, "^mean: .*str"),
    ])  # fmt: skip
    def test_what_makes_no_array_is_refused_by_name(self, rest, error, match):
        with pytest.raises(error, match=match):
            gs.mean([gs.tensor(1.0, requires_grad=True), rest])

    def test_one_that_holds_itself_ends(self):
        endless = [gs.tensor(1.0, requires_grad=True)]
        endless.append(endless)
        with pytest.raises(ValueError, match="^mean: a sequence is nested too deeply"):
            gs.mean(endless)
        with pytest.raises(ValueError, match="a sequence is nested too deeply"):
            gs.asarray(endless)


class Labelled:
    """A container of arrays with names for its axes, as other libraries have them: NumPy's functions ask it."""

    def __init__(self, data):
        self.data = data

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.data, dtype)

    def __array_ufunc__(self, function, method, *inputs, **keywords):
        return Labelled(getattr(function, method)(*[x.data if isinstance(x, Labelled) else x for x in inputs], **keywords))


def test_a_container_of_a_tensor_is_asked_by_numpys_functions():
    x = gs.tensor([0.5, 1.0], requires_grad=True)
    np.sin(Labelled(x)).data.sum().backward()
    np.testing.assert_allclose(x.grad, np.cos([0.5, 1.0]))
    with pytest.raises(TypeError, match=r"^sin: argument 'x' is a Labelled .*; np\.sin asks it what to do"):
        gs.sin(Labelled(x))
    np.testing.assert_allclose(gs.sin(Labelled(np.ones(2))), np.sin(1.0))


def test_a_truth_value_is_no_axis():
    for value in (True, np.True_, np.array(True), gs.tensor(True), (gs.tensor(True),)):
        with pytest.raises(TypeError, match="argument 'axis' must be an int or a sequence of ints, got"):
            gs.sum(gs.ones((2, 2)), axis=value)


def test_what_is_no_dtype_is_refused():
    for value, wanted in (("nothing", "a dtype, got"), (None, "a dtype of numbers, got"), (object, "a dtype of numbers, got")):
        with pytest.raises(TypeError, match=f"astype: argument 'dtype' must be {wanted}"):
            gs.astype(gs.ones(2), value)


def test_an_index_holds_tensors_at_any_depth():
    x = np.arange(6.0).reshape(2, 3)
    for index, plain in (((0, gs.tensor([0, 2])), (0, [0, 2])), ((1, slice(1, None)), (1, slice(1, None))), ([1, 0], [1, 0]),
                         ((..., [gs.tensor(0), 2]), (..., [0, 2])), (([0, 1], [2, 1]), ([0, 1], [2, 1]))):  # fmt: skip
        np.testing.assert_array_equal(gs.asarray(x)[index].numpy(), x[plain])


def test_asarray_in_another_dtype_keeps_the_history():
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    y = gs.asarray(x * 2, dtype="float32")
    assert y.dtype == np.float32
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
