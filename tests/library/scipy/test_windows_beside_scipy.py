"""Every function of gs.scipy with a window, found by its signature, beside SciPy's: windows of even and odd length, their origin,
all edges, values and slopes."""

import inspect
import itertools

import numpy as np
import pytest

import gradspec as gs
from tests.asked import each
from tests.later import later

scipy_ndimage = later("scipy.ndimage", "SciPy is not installed")
scipy_signal = later("scipy.signal", "SciPy is not installed")
MODES = ("reflect", "constant", "nearest", "mirror", "wrap", "grid-constant", "grid-mirror", "grid-wrap")
FURTHER = {"rank": 1, "percentile": 40, "sigma": 0.7, "derivative": None, "derivative2": None}  # of arguments that are required
WINDOW = ("size", "weights", "window_length", "kernel_size", "mysize")


def with_windows(module):
    """Names of the functions that have a window."""
    functions = {name: getattr(module, name) for name in module.__all__ if inspect.isfunction(getattr(module, name))}
    return sorted(name for name, function in functions.items() if {*inspect.signature(function).parameters} & {*WINDOW})


def agree(name, here, there, x, **how):
    """Values, and the slope in a direction against differences of SciPy's; what one refuses the other refuses."""
    try:
        wanted = there(x, **how)
    except (ValueError, RuntimeError) as error:
        with pytest.raises((ValueError, RuntimeError)):
            here(x, **how)
        return error
    case = f"{name}{how} of {x.shape}"
    direction = np.cos(np.arange(x.size) * 1.3).reshape(x.shape)
    found, slope = gs.jvp(lambda x: here(x, **how), (gs.asarray(x),), (gs.asarray(direction),))
    np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-10, atol=1e-10, err_msg=case)
    step = 1e-5
    differences = (there(x + step * direction, **how) - there(x - step * direction, **how)) / (2 * step)
    np.testing.assert_allclose(slope.numpy(), differences, rtol=1e-6, atol=1e-7, err_msg=case)
    return None


def windows_of(parameters, ndim, lengths):
    """Windows of several lengths for an array, as the argument that takes them."""
    draw = np.random.default_rng(1)
    if "weights" in parameters:
        one_axis = "axis" in parameters
        for length in lengths:
            yield {"weights": draw.normal(size=length if one_axis or ndim == 1 else (length, max(1, 4 - length)))}
    else:
        (key,) = {*WINDOW} & {*parameters}
        for length in lengths:
            yield {key: length}
        if ndim == 2 and "axis" not in parameters:
            yield {key: (2, 3)}
            yield {key: (4, 1)}


@each("name", with_windows(gs.scipy.ndimage))
def test_filters_of_images(name):
    here, there = getattr(gs.scipy.ndimage, name), getattr(scipy_ndimage, name)
    parameters = inspect.signature(here).parameters
    required = {key: FURTHER[key] for key in parameters if key in FURTHER and parameters[key].default is inspect.Parameter.empty}
    draw, asked, refused = np.random.default_rng(0), 0, 0
    for shape in ((6,), (4, 5)):
        x = draw.normal(size=shape)
        for how in windows_of(parameters, len(shape), range(1, 7)):
            given = next(iter(how.values()))
            least = min(np.shape(given)) if isinstance(given, np.ndarray) else np.min(given)
            for mode, origin in itertools.product(MODES, {0, -int(least // 2), int(least - 1) // 2}):
                more = {"mode": mode, "origin": origin, "cval": 0.3} | required
                more = {key: value for key, value in more.items() if key in parameters}
                refused += agree(name, here, there, x, **how, **more) is not None
                asked += 1
    assert asked > 100 and refused < asked / 4


@pytest.mark.parametrize("mode", ["interp", "mirror", "constant", "nearest", "wrap"])
def test_savgol_filter(mode):
    x = np.random.default_rng(2).normal(size=(2, 11))
    for length, order, deriv in itertools.product(range(1, 9), range(4), range(2)):
        if order < length:
            how = {"window_length": length, "polyorder": order, "deriv": deriv, "mode": mode, "cval": 0.4, "delta": 0.5}
            agree("savgol_filter", gs.scipy.signal.savgol_filter, scipy_signal.savgol_filter, x, **how)


def test_filters_of_signals_with_a_window_are_asked():
    assert set(with_windows(gs.scipy.signal)) == {"savgol_filter", "medfilt", "wiener"}


@pytest.mark.filterwarnings("ignore:kernel_size exceeds:UserWarning")
@each("name", ["medfilt", "wiener"])
def test_filters_of_windows_that_shrink_at_no_edge(name):
    here, there = getattr(gs.scipy.signal, name), getattr(scipy_signal, name)
    for shape in ((9,), (4, 5)):
        x = np.random.default_rng(3).normal(size=shape)
        first = 1 if name == "medfilt" else 2  # SciPy's wiener divides the variance of one element by itself, 0 / 0
        for length in (*range(first, 7), *([(2, 3), (3, 1)] if len(shape) == 2 else [])):
            agree(name, here, there, x, **{"kernel_size" if name == "medfilt" else "mysize": length})


@each("name", ["convolve", "correlate", "fftconvolve", "oaconvolve", "convolve2d", "correlate2d"])
def test_modes_of_convolutions(name):
    here, there = getattr(gs.scipy.signal, name), getattr(scipy_signal, name)
    draw, planes = np.random.default_rng(4), name.endswith("2d")
    for n, k, mode in itertools.product(range(1, 7), range(1, 7), ("full", "same", "valid")):
        shape, kernel = ((n, 7 - n), (k, 7 - k)) if planes else ((n,), (k,))
        x, w = draw.normal(size=shape), draw.normal(size=kernel)
        for boundary in ("fill", "wrap", "symm") if planes else (None,):
            how = {"mode": mode} | ({"boundary": boundary, "fillvalue": 0.3} if boundary else {})
            agree(name, lambda x, **how: here(x, w, **how), lambda x, **how: there(x, w, **how), x, **how)


@each("mode", MODES)
def test_images_between_samples(mode):
    draw = np.random.default_rng(5)
    for shape, order in itertools.product(((1,), (2,), (7,), (4, 5)), range(6)):
        x = draw.normal(size=shape)
        places = draw.uniform(-1.7, 2.6, size=(len(shape), 40)) * np.array(shape)[:, None]
        how = {"order": order, "mode": mode, "cval": 0.4}
        for name in ("spline_filter", "spline_filter1d") if order > 1 else ():
            agree(name, getattr(gs.scipy.ndimage, name), getattr(scipy_ndimage, name), x, order=order, mode=mode)
        agree(f"map_coordinates {shape}", lambda x, **how: gs.scipy.ndimage.map_coordinates(x, places, prefilter=False, **how),
              lambda x, **how: scipy_ndimage.map_coordinates(x, places, prefilter=False, **how), x, **how)  # fmt: skip
        agree(f"map_coordinates {shape}", lambda x, **how: gs.scipy.ndimage.map_coordinates(x, places, **how),
              lambda x, **how: scipy_ndimage.map_coordinates(x, places, **how), x, **how)  # fmt: skip
        step, values = 1e-6, gs.scipy.ndimage.map_coordinates(x, places, **how)
        assert np.isfinite(values.numpy()).all()
        if order > 1 and 1 not in shape:
            slopes = gs.jvp(
                lambda places: gs.scipy.ndimage.map_coordinates(x, places, **how), (gs.asarray(places),), (gs.ones_like(places),)
            )[1]
            above, below = (gs.scipy.ndimage.map_coordinates(x, places + sign * step, **how).numpy() for sign in (1, -1))
            near = abs(above - below) < 1  # places at which the mode lets the image jump are left out
            np.testing.assert_allclose(slopes.numpy()[near], ((above - below) / (2 * step))[near], rtol=1e-5, atol=1e-5)


@pytest.mark.filterwarnings("ignore:It is recommended to use mode:UserWarning")
@each("mode", MODES)
@pytest.mark.parametrize("grid_mode", [False, True])
def test_zoom(mode, grid_mode):
    draw = np.random.default_rng(6)
    for shape, factor, order in itertools.product(((7,), (4, 5)), (0.5, 1.4, 2, 3.3), (0, 1, 3)):
        how = {"zoom": factor, "order": order, "mode": mode, "grid_mode": grid_mode, "cval": 0.2}
        agree("zoom", gs.scipy.ndimage.zoom, scipy_ndimage.zoom, draw.normal(size=shape), **how)


def test_cval_beyond_a_grid_has_a_slope():
    def summed(cval):
        return gs.scipy.ndimage.map_coordinates(
            gs.asarray([1.0, 3.0, -2.0]), [[-0.6, 1.2, 2.4, 9.0]], mode="grid-constant", cval=cval
        ).sum()

    at = gs.tensor(0.3, requires_grad=True)
    (slope,) = gs.autograd.grad(summed(at), at)
    np.testing.assert_allclose(slope.item(), (summed(1.3) - summed(0.3)).item(), rtol=1e-10)  # it is linear
