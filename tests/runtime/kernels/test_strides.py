"""Views by strides and by another dtype, and lists of parts: what they give, where they are refused, and writes to them."""

import re

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import forward_ad, grad, gradcheck, gradgradcheck
from gradspec.kernels.loops.strides import _repeats, as_strided_backward, own_layout
from tests.asked import each

RANDOM = np.random.default_rng(7)


def same(tensor, expected):
    np.testing.assert_allclose(tensor.detach().numpy(), expected, rtol=1e-12, atol=1e-12)


def leaf(*shape, dtype=float):
    values = RANDOM.uniform(0.5, 1.5, shape)
    return gs.tensor(values + 1j * RANDOM.uniform(0.5, 1.5, shape) if dtype is complex else values, requires_grad=True)


# as_strided: every layout that an array in one block of memory can have.

BLOCK = np.arange(1.0, 25.0)
LAYOUTS = {
    "C order": lambda block: block.reshape(4, 6),
    "Fortran order": lambda block: block.reshape(6, 4).T,
    "turned round": lambda block: block.reshape(4, 6)[::-1, ::-1],
    "one axis turned round": lambda block: block.reshape(4, 6)[:, ::-1],
    "behind the beginning": lambda block: block[7:].reshape(17, 1)[3:12],
    "with gaps": lambda block: block.reshape(4, 6)[1:, ::2],
    "three axes": lambda block: block.reshape(2, 3, 4).transpose(2, 0, 1),
    "three axes with gaps": lambda block: block.reshape(2, 3, 4)[:, 1:, ::-2].swapaxes(0, 2),
}  # fmt: skip


def windows(x, count=40):
    """Shapes, strides and offsets of elements of `x`, overlapping ones too."""
    own = {int(place) for place in places_of(x).reshape(-1)}
    rng, found = np.random.default_rng(3), []
    while len(found) < count:
        ndim = int(rng.integers(0, 4))
        shape = tuple(rng.integers(1, 4, ndim).tolist())
        strides = tuple(rng.integers(-7, 8, ndim).tolist())
        offset = None if rng.random() < 0.3 else int(rng.integers(0, 24))
        start = int(places_of(x).flat[0]) if offset is None else offset
        reached = start + sum((np.arange(n) * s).reshape((-1,) + (1,) * (ndim - 1 - i))
                              for i, (n, s) in enumerate(zip(shape, strides)))  # fmt: skip
        if set(np.asarray(reached).reshape(-1).tolist()) <= own:
            found.append((shape, strides, offset, np.broadcast_to(reached, shape)))
    return found


def places_of(x):
    """BLOCK holds the numbers of its places, counted from 1."""
    return x.astype(int) - 1


@pytest.mark.parametrize("layout", LAYOUTS)
def test_as_strided_of_every_layout(layout):
    numbers = LAYOUTS[layout](BLOCK)
    for shape, strides, offset, reached in windows(numbers):
        block = RANDOM.uniform(0.5, 1.5, BLOCK.size)
        array = LAYOUTS[layout](block)
        x = gs.asarray(array, requires_grad=True)
        y = x.as_strided(shape, strides, offset)
        np.testing.assert_array_equal(y.detach().numpy(), block[reached])
        assert np.shares_memory(y.detach().numpy(), block) and y._base is x
        # A repeated element is not to be written to: the other places that show it would have gradients of their own.
        assert y.detach().numpy().flags.writeable == (len(set(reached.reshape(-1).tolist())) == reached.size)
        weights = RANDOM.uniform(0.5, 1.5, shape)
        expected = np.zeros(BLOCK.size)
        np.add.at(expected, reached, weights)
        (found,) = grad((y * y * gs.asarray(weights)).sum(), x)
        same(found, LAYOUTS[layout](expected) * 2 * array)
        tangent = RANDOM.uniform(0.5, 1.5, BLOCK.size)
        with forward_ad.dual_level():  # a tangent lies in memory in its own way
            dual = forward_ad.make_dual(x.detach(), gs.asarray(np.ascontiguousarray(LAYOUTS[layout](tangent))))
            pushed = forward_ad.unpack_dual(dual.as_strided(shape, strides, offset)).tangent
        same(pushed, tangent[reached])


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_is_no_element_is_refused(layout):
    array = LAYOUTS[layout](BLOCK.copy())
    own = set(places_of(LAYOUTS[layout](BLOCK)).reshape(-1).tolist())
    x = gs.asarray(array)
    for place in range(-3, 30):
        if place in own:
            assert x.as_strided((1,), (1,), place).item() == place + 1
        else:
            with pytest.raises(ValueError, match="^as_strided: .*leave the array"):
                x.as_strided((1,), (1,), place)


def test_arguments_that_do_not_fit():
    x = gs.zeros((3, 4))
    with pytest.raises(ValueError, match="2 lengths in shape, but 1 strides"):
        x.as_strided((2, 2), (1,))
    with pytest.raises(ValueError, match="a length is negative"):
        x.as_strided((-1,), (1,))
    with pytest.raises(ValueError, match="leave the array"):
        gs.zeros((0,)).as_strided((1,), (1,))
    with pytest.raises(ValueError, match="leave the array"):
        x.as_strided((2**40, 2**40), (2**30, 1))
    with pytest.raises(ValueError, match="is not one block|several elements in one place"):
        gs.broadcast_to(gs.ones((3,)), (2, 3)).as_strided((2,), (1,))
    assert x.as_strided((0, 3), (1, 1)).shape == (0, 3)


def test_as_strided_in_place():
    x = leaf(12)
    y = x * 2
    before = y[3:]
    assert y.as_strided_((3, 4), (1, 3)) is y
    same(y, (2 * x.detach().numpy()).reshape(4, 3).T)
    y.mul_(3)
    (found,) = grad(y.sum() + before.sum(), x)
    same(found, np.where(np.arange(12) < 3, 6, 12))


# Writes: through each view, of each layout of the base, both modes and twice, against differences.

REAL_BASES = {
    "C order": lambda z: z * 1,
    "Fortran order": lambda z: z.permute_dims((2, 1, 0)).reshape(-1).reshape(2, 3, 2).permute_dims((2, 1, 0)),
    "a copy in Fortran order": lambda z: (1 * z).permute_dims((2, 1, 0)).copy().permute_dims((2, 1, 0)).copy(),
    "axes of its own order": lambda z: z.permute_dims((1, 0, 2)).reshape(-1).reshape(3, 2, 2).permute_dims((1, 0, 2)).copy(),
    "a view": lambda z: gs.concat([z, z], 1)[:, 1:4],
}  # fmt: skip


def strides_of(y):
    array = y.detach().numpy()
    return tuple(step // array.itemsize for step in array.strides)


def diagonal(y):
    return y.as_strided((2, 2), (strides_of(y)[0] + strides_of(y)[1], strides_of(y)[2]))


REAL_VIEWS = {
    "as_strided": diagonal,
    "part of as_strided": lambda y: diagonal(y)[1:],
    "view": lambda y: y.view(2, 3, 1, 2),
    "view_as": lambda y: y.view_as(gs.zeros((1, 2, 3, 2))),
    "narrow": lambda y: y.narrow(1, 1, 2),
    "select": lambda y: y.select(-2, 1),
    "view_as_complex": gs.view_as_complex,
    "imaginary part of view_as_complex": lambda y: gs.view_as_complex(y).imag[1],
}  # fmt: skip
COMPLEX_VIEWS = {
    "real": lambda y: y.real,
    "imag": lambda y: y.imag,
    "real, a part": lambda y: y.real[1:, ::2],
    "imag, turned": lambda y: y.imag.swapaxes(0, 2)[1],
    "view_as_real": gs.view_as_real,
    "view_as_real, a column": lambda y: gs.view_as_real(y)[..., 1],
    "view_as_real and back": lambda y: gs.view_as_complex(gs.view_as_real(y))[1],
    "view_as_real of a part": lambda y: gs.view_as_real(y[1, ::-1]),
}  # fmt: skip


def written(base, view, kind, z, w):
    y = base(z)
    part = view(y)
    seen = view(y)  # follows the write
    value = (w.sum() * part * part).exp() if kind == "copy_" else w.sum()
    if kind == "copy_":
        part.copy_(value)
    elif kind == "mul_":
        part.mul_(value)
    else:
        part[...] = value
    return (y * y).sum() + (seen * 3).sum() * y.sum() + (y * y * y).sum()


@each("kind", ["copy_", "mul_", "setitem"])
@each("base", REAL_BASES)
@each("view", REAL_VIEWS)
def test_writes_through_views_of_real_tensors(view, base, kind):
    check_write(REAL_BASES[base], REAL_VIEWS[view], kind, float)


@each("kind", ["copy_", "mul_", "setitem"])
@each("base", REAL_BASES)
@each("view", COMPLEX_VIEWS)
def test_writes_through_views_of_complex_tensors(view, base, kind):
    check_write(REAL_BASES[base], COMPLEX_VIEWS[view], kind, complex)


def check_write(base, view, kind, dtype):
    z, w = leaf(2, 3, 2, dtype=dtype), leaf(2)

    def function(z, w):
        result = written(base, view, kind, 0.3 * z, 0.3 * w)
        return result.real + 2 * result.imag if result.dtype.kind == "c" else result

    try:
        function(z, w)
    except ValueError as error:
        assert re.search("has no view of shape|do not lie beside each other", str(error))
        assert base is not REAL_BASES["C order"]
        return  # not a view of this layout
    assert gradcheck(function, (z, w), check_forward_ad=True, atol=1e-6, rtol=1e-5, fast_mode=True)
    assert gradgradcheck(function, (z, w), atol=1e-5, rtol=1e-4, fast_mode=True)


def test_a_pass_through_a_write_may_bring_gradients_of_any_layout():
    """A gradient that is recorded is laid out as the base was: the steps of the view are gone on it."""
    x, w = leaf(3, 2), leaf(2, 3)
    y = x * 1
    y.view(6).mul_(2)
    z = gs.view_as_complex(y)
    z.mul_(1j)
    (g,) = grad((y.T * w * w).sum(), x, create_graph=True)
    values = w.detach().numpy() ** 2
    expected = np.stack([2 * values[1], -2 * values[0]], 1)
    same(g, expected)
    (again,) = grad(g.sum(), w)
    same(again, 4 * w.detach().numpy() * np.array([[-1.0], [1.0]]))


# Refusals and copies.


def test_view_is_reshape_that_refuses_to_copy():
    x = gs.tensor(np.arange(12.0)).reshape(3, 4)
    for y in (x.view(2, 6), x.view((2, 6)), x.view(shape=(-1, 6)), x.view([2, -1])):
        assert y.shape == (2, 6) and y._base is not None
    assert x.view_as(gs.zeros((6, 2))).shape == (6, 2)
    for fails in (lambda: x.T.view(12), lambda: x.T.view_as(gs.zeros(12)), lambda: x[:, :2].view(-1)):
        with pytest.raises(ValueError, match=r"^view(_as)?: .*has no view of shape \((12|6),\); reshape\(\) copies"):
            fails()
    with pytest.raises(ValueError, match="^view: "):
        x.view(5)
    assert x.T.view(4, 3, 1).shape == (4, 3, 1)
    with forward_ad.dual_level():  # a tangent may lie in memory as it likes
        dual = forward_ad.make_dual(x, gs.tensor(np.arange(12.0).reshape(4, 3)).T)
        same(forward_ad.unpack_dual(dual.view(12)).tangent, np.arange(12.0).reshape(4, 3).T.reshape(12))


def test_complex_views():
    x = gs.tensor(np.arange(12.0)).reshape(3, 2, 2)
    z = gs.view_as_complex(x)
    same(z, x.numpy()[..., 0] + 1j * x.numpy()[..., 1])
    same(gs.view_as_real(z.T[::-1]), np.stack([z.numpy().T[::-1].real, z.numpy().T[::-1].imag], -1))
    z[0, 1] = 5j
    assert x[0, 1].tolist() == [0, 5]
    gs.view_as_real(z)[1, 1, 0] = -1
    assert z[1, 1].item() == -1 + 7j and x._version == 2
    for dtype, other in ((np.float32, np.complex64), (">f8", ">c16"), (np.longdouble, np.clongdouble)):
        pairs = gs.asarray(np.ones((3, 2), dtype))
        assert gs.view_as_complex(pairs).dtype == np.dtype(other)
        assert gs.view_as_real(gs.view_as_complex(pairs)).dtype == np.dtype(dtype)
    for wrong, error, words in (
        (gs.ones((2, 3)), ValueError, "has to hold pairs"), (gs.ones(()), ValueError, "has to hold pairs"),
        (gs.ones((3, 4))[:, ::2], ValueError, "do not lie beside each other"),
        (gs.ones((2, 2), dtype=np.float16), TypeError, "pairs of float16"), (gs.ones((2, 2), dtype=int), TypeError, "pairs of int"),
    ):  # fmt: skip
        with pytest.raises(error, match=f"^view_as_complex: .*{words}"):
            gs.view_as_complex(wrong)
    with pytest.raises(TypeError, match="^view_as_real: argument 'x' is of dtype float64, but view_as_real takes complex numbers"):
        gs.view_as_real(gs.ones((2,)))


def lengths(parts):
    return [len(part) for part in parts]


def test_parts_of_a_length():
    x = gs.tensor(np.arange(10.0))
    assert lengths(x.chunk(3)) == [4, 4, 2] and lengths(x.chunk(4)) == [3, 3, 3, 1]
    assert lengths(x.chunk(6)) == [2, 2, 2, 2, 2] and lengths(x.chunk(20)) == [1] * 10  # fewer than were asked for
    assert lengths(gs.zeros((0,)).chunk(3)) == [0, 0, 0]
    assert lengths(x.split_with_sizes((3, 0, 7))) == [3, 0, 7] and lengths(x.split_with_sizes(10)) == [10]
    for sizes in ((3, 3), (12, -2), ()):
        with pytest.raises(ValueError, match="^split_with_sizes: .*do not add up to the length 10 of axis 0"):
            x.split_with_sizes(sizes)
    with pytest.raises(ValueError, match="^chunk: chunks must be positive, got 0"):
        x.chunk(0)
    same(x.narrow(0, -3, 3), [7, 8, 9])
    same(x.narrow(0, 10, 0), [])
    for start, length in ((8, 3), (-11, 1), (11, 0), (2, -1)):
        with pytest.raises(IndexError, match=f"^narrow: start {start} and length {length} are out of range for the length 10"):
            x.narrow(0, start, length)
    assert x.reshape(2, 5).select(1, -1).tolist() == [4, 9]
    with pytest.raises(IndexError, match="^select: .*out of bounds"):
        x.select(0, 10)


@pytest.mark.parametrize("parts", [
    lambda y: y.chunk(2), lambda y: y.split_with_sizes((1, 3)), lambda y: y.split(2), lambda y: y.unbind(), lambda y: y.unstack(),
])  # fmt: skip
def test_lists_of_views_refuse_writes(parts):
    part = parts(leaf(4) * 1)[0]
    with pytest.raises(RuntimeError, match="function that returns multiple views"):
        part.mul_(2)


def test_unsafe_lists_are_copies():
    x = leaf(4)
    y = x * 1
    parts = [*y.unsafe_chunk(2), *y.unsafe_split([1, 3])]
    for part in parts:
        assert not part._is_view()
        part.mul_(3)
    assert y._version == 0
    assert all(type(f(z, 2)) is list for f in (gs.unsafe_chunk, gs.unsafe_split, gs.chunk, gs.split) for z in (y, y.detach()))
    (found,) = grad(sum(part.sum() for part in parts) + y.sum(), x)
    same(found, [7, 7, 7, 7])


# Overlap: told from the steps alone where they tell, and added to slice by slice.


@each("seed", range(200))
def test_repeated_places_are_seen(seed):
    rng = np.random.default_rng(seed)
    ndim = int(rng.integers(1, 4))
    shape, steps = rng.integers(1, 6, ndim).tolist(), rng.integers(-9, 10, ndim).tolist()
    array = np.lib.stride_tricks.as_strided(np.zeros(200)[100:], shape, [8 * step for step in steps])
    reached = sum(np.arange(n).reshape((-1,) + (1,) * (ndim - 1 - i)) * step for i, (n, step) in enumerate(zip(shape, steps)))
    assert _repeats(array) == (len(np.unique(reached)) < reached.size)


@pytest.mark.parametrize(("shape", "steps", "offset"), [
    ((300, 10), (1, 1), 0), ((10, 300), (1, 1), 5), ((200, 3, 4), (2, 1, 1), 0), ((3, 4, 200), (1, 0, 2), 1), ((150, 5), (-2, 1), 300),
    ((400,), (1,), 3), ((20, 20), (3, 2), 0),
])  # fmt: skip
def test_gradients_of_overlapping_windows(shape, steps, offset):
    rng = np.random.default_rng(0)
    layout, cotangent = own_layout(np.zeros((25, 20))), rng.normal(size=shape)
    found = as_strided_backward(cotangent, layout, (25, 20), steps, offset)
    places = offset + sum(np.arange(n).reshape((-1,) + (1,) * (len(shape) - 1 - i)) * s for i, (n, s) in enumerate(zip(shape, steps)))
    expected = np.zeros(500)
    np.add.at(expected, places.reshape(-1), cotangent.reshape(-1))
    np.testing.assert_allclose(found, expected.reshape(25, 20), rtol=1e-12, atol=1e-12)
