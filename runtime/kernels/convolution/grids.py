"""Sampling grids: convert coordinates to pixel positions, find the pixels around each, and build identity grids.

Coordinates are along the last axis, the image's last axis first; lengths are in the order of the image's axes.
"""

import itertools

import numpy as np

__all__ = ["even_grid", "grid_pixels", "grid_pixels_slope", "grid_taps"]


def grid_pixels(grid, lengths, padding, aligned):
    """Coordinates from -1 to 1 as pixel positions; those outside the image are moved according to the padding.

    Parameters
    ----------
    grid : ndarray
    lengths : tuple of int
    padding : str
        'zeros' leaves them outside, close to the image; 'border' moves them to the nearest position inside, 'reflection' mirrors
        them at the image's edges; 'none' leaves them unchanged.
    aligned : bool
        Whether -1 and 1 are the centres of the outermost pixels, or their edges.

    Returns
    -------
    ndarray
    """
    return _pixels(grid, lengths, padding, aligned)[0]


def grid_pixels_slope(grid, lengths, padding, aligned):
    """The derivative of grid_pixels, element by element; 0 at an edge that clamps positions."""
    return _pixels(grid, lengths, padding, aligned)[1]


def grid_taps(pixels, lengths, taps, padding, aligned):
    """The pixels around each position, numbered in C order, and which of them are in the image; for a NaN all of them are.

    Parameters
    ----------
    pixels : ndarray
        Pixel positions, (batch, places, axes).
    lengths : tuple of int
    taps : int
        Number of pixels along each axis: the nearest pixel, the two or the four around the position.
    padding : str
        The value of pixels outside: 'zeros', or the pixel that 'border' or 'reflection' uses instead.
    aligned : bool

    Returns
    -------
    tuple of ndarray
        (batch, taps of all axes, places), the taps of the last axis varying fastest.
    """
    shape = (pixels.shape[0], taps ** len(lengths), pixels.shape[1])
    places, inside = np.zeros(shape, np.intp), np.ones(shape, bool)
    first = np.rint(pixels) if taps == 1 else np.floor(pixels) - (taps // 2 - 1)
    # Single precision represents integers exactly only up to 2**24.
    first = np.nan_to_num(first.astype(np.float64), nan=0.0, posinf=np.inf, neginf=-np.inf)
    for number, steps in enumerate(itertools.product(range(taps), repeat=len(lengths))):
        for axis, (step, length) in enumerate(zip(steps, lengths)):
            place = first[..., len(lengths) - 1 - axis] + step
            if padding != "zeros":
                place = _moved(place, length, padding, aligned)[0]
            inside[:, number] &= (place >= 0) & (place <= length - 1)
            places[:, number] = places[:, number] * length + np.clip(np.nan_to_num(place), 0, length - 1).astype(np.intp)
    return places, inside | np.isnan(pixels).any(-1)[:, None]


def even_grid(size, aligned, dtype):
    """The coordinates of the pixels of an image, each followed by a 1.

    Parameters
    ----------
    size : tuple of int
        Shape of the image: batch, channels and lengths.
    aligned : bool
    dtype : dtype

    Returns
    -------
    ndarray
        (pixels, axes + 1), beginning with the coordinate along the last axis.
    """
    lines = []
    for length in size[2:]:
        middle = np.arange(length) - (length - 1) / 2
        lines.append(middle * 2 / max(length - 1 if aligned else length, 1))
    planes = np.meshgrid(*lines, indexing="ij")
    return np.stack([*(plane.reshape(-1) for plane in planes[::-1]), np.ones(planes[0].size)], -1).astype(dtype)


def _pixels(grid, lengths, padding, aligned):
    grid = np.asarray(grid, np.result_type(grid, np.float16))
    y, slope = np.empty_like(grid), np.empty_like(grid)
    for part, length in enumerate(reversed(lengths)):
        scale = (length - 1) / 2 if aligned else length / 2
        place, turn = _moved((grid[..., part] + 1) * scale - (0 if aligned else 0.5), length, padding, aligned)
        y[..., part], slope[..., part] = place, turn * scale
    return y, slope


def _moved(place, length, padding, aligned):
    """Positions moved according to the padding, and the derivative of that map."""
    if padding == "none":
        return place, np.ones_like(place)
    if padding == "zeros":  # beyond one pixel there are only zeros, and infinities would not be valid indices
        return _between(place, -3, length + 2, False)
    if padding == "border":
        return _between(place, 0, length - 1, True)
    if padding != "reflection":
        raise ValueError(f"there is no padding {padding!r}")
    low, span = (0, length - 1) if aligned else (-0.5, length)
    if span == 0:
        return np.where(np.isfinite(place), 0, np.nan).astype(place.dtype), np.zeros_like(place)
    away = np.abs(place - low)
    rest = np.fmod(away, span)
    back = np.fmod(np.floor(away / span), 2) == 1
    turned, slope = np.where(back, span - rest, rest) + low, np.where(back != (place < low), -1, 1)
    inside, within = _between(turned, 0, length - 1, True)
    return inside.astype(place.dtype), (slope * within).astype(place.dtype)


def _between(place, low, high, closed):
    """Positions clamped to the bounds; the slope is 0 beyond them, and also on them if `closed`."""
    inside = (place > low) & (place < high) if closed else (place >= low) & (place <= high)
    return np.clip(place, low, high), (inside | np.isnan(place)).astype(place.dtype)
