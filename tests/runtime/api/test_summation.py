"""gs.einsum with lists of numbers: what np.einsum gives, and the gradients of the subscripts that they stand for."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import gradcheck
from tests.asked import each

RANDOM = np.random.default_rng(0)
A, B, C = RANDOM.normal(size=(2, 3, 4)), RANDOM.normal(size=(4, 3)), RANDOM.normal(size=(2, 4, 4))
CALLS = {
    "the axes of the result": (A, [0, 1, 2], B, [2, 1], [0]), "no axes of the result": (A, [5, 1, 2], B, [2, 30]),
    "an ellipsis": (A, [..., 1], B, [1, 2], [..., 2]), "a diagonal": (C, (0, 1, 1), (1, 0)), "one operand": (A, [2, 1, 0]),
    "letters": ("ijk,kl->il", A, B), "numbers of NumPy's": (B, np.array([0, 1]).tolist(), B, [np.int64(0), 2], [1, 2]),
}  # fmt: skip


@each("name", CALLS)
def test_as_numpy(name):
    call = CALLS[name]
    np.testing.assert_allclose(gs.einsum(*call).numpy(), np.einsum(*call), rtol=1e-13)
    places = [i for i, value in enumerate(call) if isinstance(value, np.ndarray)]

    def function(*arrays):
        given = list(call)
        for place, array in zip(places, arrays):
            given[place] = array
        return gs.einsum(*given)

    assert gradcheck(function, [gs.tensor(call[place], requires_grad=True) for place in places])
    rows = gs.vmap(lambda x: function(*[x * call[place] for place in places]))(gs.asarray([1.0, 2.0]))
    np.testing.assert_allclose(rows[1].numpy(), np.einsum(*call) * 2 ** len(places), rtol=1e-12)


@each("call", [(A, B), (A, [0, 99], B, [1]), (A, ["i", "j"]), (A, [0, 1, 2], "ij")])
def test_refused(call):
    with pytest.raises(TypeError, match="numbers from 0 to 51 or an ellipsis; got"):
        gs.einsum(*call)
    with pytest.raises(ValueError):
        gs.einsum(A, [0, 1])
