"""Cofactors and minors, for the derivatives of determinants."""

import numpy as np

from .solve_det_cholesky import det, inv

__all__ = ["checkerboard", "cofactor", "cofactor_jvp", "minors", "minors_backward"]

_SURE = 100  # limit, for each row, of the condition (in Frobenius norms) below which the digits lost by an inverse do not matter


def checkerboard(x):
    """``x[..., i, j] * (-1) ** (i + j)``.

    Parameters
    ----------
    x : ndarray

    Returns
    -------
    ndarray
    """
    rows, columns = (1 - 2 * (np.arange(n) % 2) for n in x.shape[-2:])
    return x * np.outer(rows, columns).astype(x.dtype)


def cofactor(x):
    """Signed minors of square matrices; computed from singular values if a matrix is nearly singular.

    Parameters
    ----------
    x : (..., n, n) ndarray

    Returns
    -------
    (..., n, n) ndarray
    """
    x = np.asarray(x)
    if x.shape[-1] == 2:  # each minor is an element
        return checkerboard(x[..., ::-1, ::-1].astype(np.result_type(x, np.float32)))
    try:
        with np.errstate(all="ignore"):
            inverse, volume = inv(x), det(x)
            y = np.asarray(volume)[..., None, None] * np.swapaxes(inverse, -2, -1)
            sure = (_squares(x) * _squares(inverse) < (_SURE * x.shape[-1]) ** 2) & np.isfinite(y).all((-2, -1))
            sure &= np.abs(volume) > np.finfo(y.dtype).tiny
    except np.linalg.LinAlgError:
        return _cofactor_of_any(x)
    if not sure.all():
        y[~sure] = _cofactor_of_any(x[~sure])
    return y


def cofactor_jvp(x, t):
    """Derivative of cofactor at `x` along `t`.

    Parameters
    ----------
    x, t : (..., n, n) ndarray

    Returns
    -------
    (..., n, n) ndarray

    Notes
    -----
    cofactor(u @ s @ vh) = cofactor(u) @ cofactor(s) @ cofactor(vh).  So the derivative at a diagonal matrix is sufficient; there
    every entry is a product of all singular values but two.
    """
    u, s, vh = np.linalg.svd(x)
    t = np.swapaxes(u, -2, -1).conj() @ t @ np.swapaxes(vh, -2, -1).conj()
    n = s.shape[-1]
    diagonal = np.arange(n)
    others = np.repeat(s[..., None, :], n, -2)
    others[..., diagonal, diagonal] = 1
    others = _products_of_others(others)
    others[..., diagonal, diagonal] = 0
    y = -others * np.swapaxes(t, -2, -1)
    y[..., diagonal, diagonal] = (others @ t[..., diagonal, diagonal][..., None])[..., 0]
    return _cofactor_of_rotation(u) @ y @ _cofactor_of_rotation(vh)


def minors(x):
    """All submatrices that lack one row and one column.

    Parameters
    ----------
    x : (..., n, n) ndarray

    Returns
    -------
    (..., n, n, n - 1, n - 1) ndarray
    """
    kept = _all_but_one(x.shape[-1])
    return x[..., kept[:, None, :, None], kept[None, :, None, :]]


def minors_backward(x):
    """The adjoint of minors: the sum of all submatrices, each added at its elements.

    Parameters
    ----------
    x : (..., n, n, n - 1, n - 1) ndarray

    Returns
    -------
    (..., n, n) ndarray
    """
    n = x.shape[-3]
    kept = _all_but_one(n)
    # One axis after the other: distribute the columns and sum over j, then the rows over i.
    wide = np.zeros(x.shape[:-1] + (n,), x.dtype)
    wide[..., np.arange(n)[:, None, None], np.arange(n - 1 if n else 0)[:, None], kept[:, None, :]] = x
    wide = wide.sum(-3)
    tall = np.zeros(wide.shape[:-2] + (n, n), x.dtype)
    tall[..., np.arange(n)[:, None], kept, :] = wide
    return tall.sum(-3)


def _all_but_one(n):
    """Row i contains 0 to n - 1 without i."""
    places = np.arange(max(n - 1, 0))
    return places + (places >= np.arange(n)[:, None])


def _cofactor_of_any(x):
    """Signed minors from singular values, without a division."""
    u, s, vh = np.linalg.svd(x)
    return _cofactor_of_rotation(u) * _products_of_others(s)[..., None, :] @ _cofactor_of_rotation(vh)


def _cofactor_of_rotation(u):
    """The cofactors of a unitary matrix."""
    return np.linalg.det(u)[..., None, None] * u.conj()


def _products_of_others(s):
    """For each element of the last axis the product of all others."""
    one = np.ones_like(s[..., :1])
    before = np.cumprod(np.concatenate([one, s[..., :-1]], -1), -1)
    after = np.cumprod(np.concatenate([one, s[..., :0:-1]], -1), -1)[..., ::-1]
    return before * after


def _squares(x):
    """The sum of the squared moduli of each matrix."""
    x = x.reshape(*x.shape[:-2], x.shape[-2] * x.shape[-1])
    return np.vecdot(x, x).real
