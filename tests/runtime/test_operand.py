"""Operands: what users pass, as what operators take."""

import numpy as np
import pytest

import gradspec as gs


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
    """`int[2]`: one int stands for two, another count is refused."""

    X = gs.arange(6.0).reshape(2, 3)

    def test_one_int_or_the_right_count(self):
        np.testing.assert_array_equal(gs.rot90(self.X, 1, [0, 1]).numpy(), np.rot90(self.X.numpy(), 1, [0, 1]))
        with pytest.raises(ValueError, match="Axes must be different"):
            gs.rot90(self.X, 1, 1)  # both axes are 1

    @pytest.mark.parametrize("axes", [(), (0,), (0, 1, 2)])
    def test_another_count(self, axes):
        with pytest.raises(ValueError, match=rf"^rot90: argument 'axes' must be an int or 2 ints, got {len(axes)}"):
            gs.rot90(self.X, 1, axes)

    def test_what_is_no_int(self):
        with pytest.raises(TypeError, match="^rot90: argument 'axes' must be an int or 2 ints, got 'ab'"):
            self.X.rot90(1, "ab")
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
