"""gs.scipy.ndimage: SciPy's values, derivatives against differences, in both modes and twice."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import gradcheck, gradgradcheck
from tests.asked import each
from tests.later import later

scipy_ndimage = later("scipy.ndimage", "SciPy is not installed")
ndimage = gs.scipy.ndimage

RANDOM = np.random.default_rng(0)
X, V, CUBE = RANDOM.normal(size=(4, 5)), RANDOM.normal(size=7), RANDOM.normal(size=(3, 2, 4))
W, K = np.array([0.2, -0.5, 1.0]), RANDOM.normal(size=(3, 2))
PLACES = RANDOM.uniform(0.05, 2.9, size=(2, 6)) + 0.02
BEYOND = np.concatenate([PLACES, [[-0.7, 5.3, -3.1], [1.2, -2.3, 7.4]]], axis=1)
TURN = np.array([[0.9, 0.2], [-0.3, 1.1]])
MODES = ("reflect", "constant", "nearest", "mirror", "wrap")
INTERPOLATED = ("constant", "nearest", "mirror", "reflect", "grid-wrap", "grid-constant")

LABELS = np.array([[1, 1, 2, 0, 2], [1, 1, 2, 0, 0], [0, 0, 2, 2, 1], [3, 1, 1, 2, 0]])


def np_or_tensor(parts):
    """What SciPy gives as numbers in a row, ours as tensors."""
    return gs.stack([gs.asarray(part) for part in parts]) if isinstance(parts, (list, tuple)) and isinstance(parts[0], gs.Tensor) else parts if isinstance(parts, gs.Tensor) else np.asarray(parts)


def real_and_imag(y):
    return gs.stack([y.real, y.imag]) if isinstance(y, gs.Tensor) else np.stack([y.real, y.imag])


CALLS = {
    **{f"correlate1d {mode}": (lambda s, x, w, mode=mode: s.correlate1d(x, w, mode=mode, cval=0.3), X, W) for mode in MODES},
    "correlate1d origin": (lambda s, x, w: s.correlate1d(x, w, 0, origin=-1), X, W),
    "correlate1d even": (lambda s, x, w: s.correlate1d(x, w), V, W[:2]),
    "correlate1d wide": (lambda s, x, w: s.correlate1d(x, w, 0, mode="mirror"), X[:3], V),
    "convolve1d": (lambda s, x, w: s.convolve1d(x, w), X, W),
    "convolve1d even": (lambda s, x, w: s.convolve1d(x, w, mode="wrap"), V, RANDOM.normal(size=4)),
    **{f"correlate {mode}": (lambda s, x, w, mode=mode: s.correlate(x, w, mode=mode, cval=-0.4), X, K) for mode in MODES},
    "correlate origin": (lambda s, x, w: s.correlate(x, w, origin=(1, 0)), X, K),
    "convolve": (lambda s, x, w: s.convolve(x, w), X, K),
    "convolve origin": (lambda s, x, w: s.convolve(x, w, origin=(-1, 0), mode="mirror"), X, K),
    "gaussian_filter1d": (lambda s, x, w: s.gaussian_filter1d(x, w), V, np.array(0.8)),
    "gaussian_filter1d order": (lambda s, x, w: s.gaussian_filter1d(x, w, order=1), X, np.array(0.7)),
    "gaussian_filter1d third": (lambda s, x, w: s.gaussian_filter1d(x, w, 0, 3, truncate=3.0), X, np.array(0.9)),
    "gaussian_filter": (lambda s, x, w: s.gaussian_filter(x, w), X, np.array(0.6)),
    "gaussian_filter several": (lambda s, x, w: s.gaussian_filter(x, w, order=(0, 1), mode=("wrap", "mirror")), X, np.array([0.6, 0.9])),
    "gaussian_filter radius": (lambda s, x: s.gaussian_filter(x, 0.6, radius=1, axes=(0, 2)), CUBE),
    "uniform_filter1d": (lambda s, x: s.uniform_filter1d(x, 2), X),
    "uniform_filter": (lambda s, x: s.uniform_filter(x, 3), X),
    "uniform_filter several": (lambda s, x: s.uniform_filter(x, (2, 3), mode="constant", cval=0.2, origin=(0, -1)), X),
    "sobel": (lambda s, x: s.sobel(x), X),
    "sobel cube": (lambda s, x: s.sobel(x, 0, mode="nearest"), CUBE),
    "prewitt": (lambda s, x: s.prewitt(x, 0), X),
    "laplace": (lambda s, x: s.laplace(x), X),
    "laplace constant": (lambda s, x: s.laplace(x, mode="constant", cval=1.0), CUBE),
    "gaussian_laplace": (lambda s, x, w: s.gaussian_laplace(x, w), X, np.array(0.7)),
    "gaussian_gradient_magnitude": (lambda s, x, w: s.gaussian_gradient_magnitude(x, w), X, np.array(0.7)),
    "maximum_filter": (lambda s, x: s.maximum_filter(x, 3), X),
    "maximum_filter footprint": (lambda s, x: s.maximum_filter(x, footprint=[[1, 0], [1, 1]], mode="mirror"), X),
    "maximum_filter1d": (lambda s, x: s.maximum_filter1d(x, 3, 0), X),
    "minimum_filter": (lambda s, x: s.minimum_filter(x, (2, 3), origin=(0, 1)), X),
    "minimum_filter1d": (lambda s, x: s.minimum_filter1d(x, 2), X),
    "median_filter": (lambda s, x: s.median_filter(x, 3), X),
    "median_filter even": (lambda s, x: s.median_filter(x, 2, mode="wrap"), X),
    "rank_filter": (lambda s, x: s.rank_filter(x, -2, 3), X),
    "percentile_filter": (lambda s, x: s.percentile_filter(x, 30, 3), X),
    "spline_filter1d": (lambda s, x: s.spline_filter1d(x), X),
    "spline_filter1d fifth": (lambda s, x: s.spline_filter1d(x, 5, 0), RANDOM.normal(size=(8, 2))),
    "spline_filter1d reflect": (lambda s, x: s.spline_filter1d(x, 2, mode="reflect"), X),
    "spline_filter1d wrap": (lambda s, x: s.spline_filter1d(x, 3, mode="grid-wrap"), X),
    "spline_filter": (lambda s, x: s.spline_filter(x), X),
    **{f"map_coordinates {order} {mode}": (lambda s, x, c, how=(order, mode): s.map_coordinates(x, c, order=how[0], mode=how[1], cval=0.4), X, BEYOND)
       for order in (1, 3) for mode in INTERPOLATED},
    **{f"map_coordinates {order} {mode}": (lambda s, x, c, how=(order, mode): s.map_coordinates(x, c, order=how[0], mode=how[1], cval=0.4), X, BEYOND)
       for order, mode in ((2, "mirror"), (2, "constant"), (4, "grid-wrap"), (4, "nearest"), (5, "reflect"), (5, "mirror"))},
    "zoom quartic": (lambda s, x: s.zoom(x, 1.7, order=4, mode="nearest"), X),
    "map_coordinates 0": (lambda s, x: s.map_coordinates(x, PLACES, order=0), X),
    "map_coordinates prefiltered": (lambda s, x, c: s.map_coordinates(x, c, prefilter=False), X, PLACES),
    "map_coordinates vector": (lambda s, x, c: s.map_coordinates(x, c, mode="mirror"), V, RANDOM.uniform(-2, 9, size=(1, 2, 3))),
    "map_coordinates cube": (lambda s, x, c: s.map_coordinates(x, c, order=1, mode="nearest"), CUBE, RANDOM.uniform(0.1, 0.9, size=(3, 4))),
    "affine_transform": (lambda s, x, m, o: s.affine_transform(x, m, o), X, TURN, np.array([0.31, 0.12])),
    "affine_transform diagonal": (lambda s, x, m: s.affine_transform(x, m, 0.21, (3, 4), order=1, mode="mirror"), X, np.array([0.83, 1.17])),
    "affine_transform homogeneous": (lambda s, x, m: s.affine_transform(x, m, mode="nearest"), X, np.c_[TURN, [0.11, 0.23]]),
    "shift": (lambda s, x, d: s.shift(x, d), X, np.array([0.37, -0.61])),
    "shift linear": (lambda s, x, d: s.shift(x, d, order=1, mode="nearest"), X, np.array(0.43)),
    "zoom": (lambda s, x: s.zoom(x, 1.7), X),
    "zoom several": (lambda s, x: s.zoom(x, (0.6, 2.0), order=1, mode="nearest"), X),
    "rotate": (lambda s, x, a: s.rotate(x, float(a) if s is scipy_ndimage else a), X, np.array(23.0)),
    "rotate whole": (lambda s, x, a: s.rotate(x, float(a) if s is scipy_ndimage else a, reshape=False, order=1, mode="mirror"), X, np.array(-35.0)),
    "rotate axes": (lambda s, x, a: s.rotate(x, float(a) if s is scipy_ndimage else a, axes=(0, 2), mode="nearest"), CUBE, np.array(17.0)),
    **{name: (lambda s, x, name=name: getattr(s, name)(x), X) for name in ("sum_labels", "mean", "variance", "standard_deviation", "maximum", "minimum")},
    **{f"{name} labels": (lambda s, x, name=name: np_or_tensor(getattr(s, name)(x, LABELS, [2, 1])), X)
       for name in ("sum_labels", "mean", "variance", "standard_deviation", "maximum", "minimum")},
    "mean above 0": (lambda s, x: s.mean(x, LABELS), X),
    "center_of_mass": (lambda s, x: np_or_tensor(s.center_of_mass(x + 3.0)), X),
    "center_of_mass labels": (lambda s, x: np_or_tensor([part for centre in s.center_of_mass(x + 3.0, LABELS, [2, 1]) for part in centre]), X),
    "extrema": (lambda s, x: np_or_tensor(s.extrema(x)[:2]), X),
    "fourier_gaussian": (lambda s, x, w: s.fourier_gaussian(x, w), X, np.array([0.8, 1.2])),
    "fourier_gaussian halved": (lambda s, x, w: s.fourier_gaussian(x, w, n=8), X, np.array(0.7)),
    "fourier_uniform": (lambda s, x, w: s.fourier_uniform(x, w), X, np.array([1.8, 2.3])),
    "fourier_ellipsoid": (lambda s, x: s.fourier_ellipsoid(x, (1.8, 2.3)), X),
    "fourier_ellipsoid cube": (lambda s, x: s.fourier_ellipsoid(x, 1.3), CUBE),
    "fourier_shift": (lambda s, x, w: real_and_imag(s.fourier_shift(x, w)), X, np.array([0.3, -1.1])),
}  # fmt: skip


@each("name", CALLS)
def test_calls(name):
    call, *args = CALLS[name]
    plain = [float(x) if np.ndim(x) == 0 else x for x in args]
    np.testing.assert_allclose(call(ndimage, *map(gs.asarray, args)).numpy(), call(scipy_ndimage, *plain), rtol=1e-9, atol=1e-11)
    tensors = [gs.tensor(x, requires_grad=True) for x in args]
    assert gradcheck(lambda *x: call(ndimage, *x), tensors, check_forward_ad=True, fast_mode=True)
    assert gradgradcheck(lambda *x: call(ndimage, *x), tensors, fast_mode=True)


@each("name", CALLS)
def test_results_have_the_precision_of_images(name):
    call, *args = CALLS[name]
    found = call(ndimage, *map(gs.asarray, [x.astype("f") for x in args]))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found.numpy(), call(ndimage, *map(gs.asarray, args)).numpy(), rtol=2e-3, atol=2e-3)


def test_equal_elements_share_a_gradient():
    x = gs.tensor([1.0, 1.0, 0.0], requires_grad=True)
    ndimage.maximum_filter(x, 2, mode="nearest")[1].backward()
    assert x.grad.tolist() == [0.5, 0.5, 0]


def test_what_is_refused():
    with pytest.raises(RuntimeError, match="order must be from 0 to 5"):
        ndimage.map_coordinates(X, PLACES, order=6)
    with pytest.raises(RuntimeError, match="rank must lie within the 3 elements"):
        ndimage.rank_filter(V, 3, 3)
    with pytest.raises(RuntimeError, match="order must be from 2 to 5"):
        ndimage.spline_filter(X, 1)
    with pytest.raises(ValueError, match="mode must be one of"):
        ndimage.map_coordinates(X, PLACES, mode="around")
    with pytest.raises(ValueError, match="output must be None"):
        ndimage.correlate1d(X, W, output=X)
    with pytest.raises(ValueError, match="mode must be one of"):
        ndimage.correlate1d(X, W, mode="odd")
    with pytest.raises(ValueError, match="origin must lie"):
        ndimage.correlate1d(X, W, origin=2)


@each("name", [name for name in CALLS if not name.startswith(("rotate", "extrema"))])
def test_rows_of_a_vmap_have_images_and_places_of_their_own(name):
    call, *args = CALLS[name]
    dims = tuple(None if x.ndim == 0 or "gaussian" in name and i else 0 for i, x in enumerate(args))  # a window has one size
    rows = [gs.asarray(x if dim is None else np.stack([x, x * 1.02, x * 0.97])) for x, dim in zip(args, dims)]
    wanted = gs.stack([call(ndimage, *[x if dim is None else x[i] for x, dim in zip(rows, dims)]) for i in range(3)])
    np.testing.assert_allclose(gs.vmap(lambda *x: call(ndimage, *x), dims)(*rows).numpy(), wanted.numpy(), rtol=1e-9, atol=1e-11)


def test_batches():
    """Images as a loop has them."""
    x = gs.asarray(RANDOM.normal(size=(2, 4, 5)))
    slope = gs.grad(lambda x: (ndimage.map_coordinates(x, PLACES) ** 2).sum() + (ndimage.gaussian_filter(x, 0.7) ** 2).sum())
    np.testing.assert_allclose(gs.vmap(slope)(x).numpy(), gs.stack([slope(x[0]), slope(x[1])]).numpy(), atol=1e-12)


def test_labels_are_constants():
    with pytest.raises(RuntimeError, match="ndimage.mean: labels and index"):
        ndimage.mean(X, gs.tensor(LABELS.astype(float), requires_grad=True))
    assert ndimage.sum_labels(X, LABELS, 9).item() == 0 and np.isnan(ndimage.mean(X, LABELS, 9).item())
    assert [place for place in ndimage.extrema(X, LABELS, [1])[2:]] == [place for place in scipy_ndimage.extrema(X, LABELS, [1])[2:]]
