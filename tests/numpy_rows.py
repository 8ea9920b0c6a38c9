"""Kinds of calls that NumPy code makes, as text: what differs in them is a function, a parameter or a place.

In a row `x` and `y` are matrices of 3 by 4, `s` is square, `h` Hermitian positive definite, `v` and `w` are vectors of 4, `c` is a
number, `z` is complex; each is a tensor in its turn and an ndarray in the reference.  `a` and `m` are an ndarray of 3 by 4 and a
mask, always.  A row is an expression, or statements and an expression after the last `;`.
"""

ROWS = {
    "operators": """
        x + a | a + x | a - x * 2 | x / a | a / x | a @ x.T | s @ s | abs(x) | -x ** 2 | np.float64(2) * x | a > x
        x // 0.3 | x % 0.3 | divmod(x, 0.3) | np.float32(3) - x
    """,
    "conversion": """
        np.asarray(x) | np.array(x) | np.array([c, c * 2]) | np.asarray([v, v * 2]) | np.asanyarray(x) | np.ascontiguousarray(x)
        np.copy(x) | np.astype(x, np.float32) | x.astype(np.float64) | np.float64(c) | np.stack([v, w]) | np.array([[c, 1.0], [0.0, c]])
        np.shape(x) | np.ndim(x) | np.size(x) | np.ones_like(x) | np.zeros_like(x) * x | np.full_like(x, 2.0) + x | np.empty_like(x).shape
        np.asarray(x, dtype=float) | np.result_type(x, y) | np.iscomplexobj(x)
    """,
    "ufuncs": """
        np.sin(x) | np.exp(x) | np.log(x) | np.sqrt(x) | np.tanh(x) | np.arctan2(x, y) | np.power(x, y) | np.hypot(x, a) | np.logaddexp(x, y)
        np.maximum(x, a) | np.minimum(x, 0.7) | np.abs(x) | np.sign(x) | np.isfinite(x) | np.floor(x) | np.square(x) | np.reciprocal(x)
        np.multiply(a, x) | np.add(x, y, out=np.zeros_like(x)) | np.log(x, where=m, out=np.ones_like(x)) | np.add.reduce(x) | np.add.reduce(x, axis=1)
        np.multiply.reduce(x, axis=1) | np.maximum.reduce(x, axis=0) | np.add.accumulate(x, axis=1) | np.multiply.accumulate(v)
        np.maximum.accumulate(x, axis=1) | np.multiply.outer(v, w) | np.add.outer(v, w) | np.add.reduceat(v, [0, 2])
        q = x * 1; np.add.at(q, ([0, 0, 1], [1, 1, 2]), 2.0 * c); q | np.modf(x) | np.divmod(x, 0.3)
    """,
    "reductions": """
        np.sum(x) | np.sum(x, axis=0) | np.sum(x, axis=(0, 1), keepdims=True) | np.sum(x, dtype=np.float64) | np.sum(x, initial=2.0)
        np.sum(x, where=m) | np.sum(x, 1, None, None, True) | np.prod(x) | np.prod(x, axis=1, where=m) | np.mean(x) | np.mean(x, axis=1) | np.mean(x, where=m)
        np.std(x) | np.std(x, ddof=1) | np.std(x, axis=0, ddof=1) | np.var(x) | np.var(x, axis=1, ddof=1, keepdims=True) | np.var(x, axis=1, where=m)
        np.max(x) | np.max(x, axis=1) | np.max(x, axis=0, initial=0.5) | np.min(x, axis=0) | np.amax(x) | np.ptp(x) | np.median(x) | np.quantile(x, 0.3)
        np.percentile(x, 40, axis=0) | np.average(x, axis=0, weights=[1.0, 2.0, 3.0]) | np.cov(x) | np.corrcoef(x) | np.nansum(x, axis=0) | np.nanmean(x)
        np.cumsum(x, axis=1) | np.cumprod(x, axis=0)
    """,
    "shapes": """
        np.reshape(x, (4, 3)) | np.reshape(x, (4, 3), order="F") | np.ravel(x) | np.ravel(x, "F") | np.transpose(x) | np.transpose(x, (1, 0)) | np.swapaxes(x, 0, 1)
        np.moveaxis(x, 0, 1) | np.expand_dims(x, 0) | np.squeeze(x[None]) | np.broadcast_to(v, (3, 4)) | np.broadcast_arrays(x, v) | np.concatenate([x, y])
        np.concatenate((x, a), axis=1) | np.concatenate([x, y], axis=None) | np.stack([x, y], axis=1) | np.vstack([x, v]) | np.hstack([v, w]) | np.column_stack([v, w])
        np.dstack([x, y]) | np.atleast_2d(v) | np.atleast_1d(c, v)[0] | np.atleast_3d(c, v)[1] | np.append(v, c) | np.split(x, 2, axis=1) | np.array_split(v, 3) | np.tile(v, 2) | np.repeat(v, 2)
        np.flip(x) | np.roll(x, 1, axis=1) | np.rot90(x) | np.pad(v, 1) | np.pad(x, ((1, 0), (0, 2)), constant_values=1.0)
    """,
    "selection": """
        np.where(x > 0.8, x, y) | np.where(m, x, 0.0) | np.where(x > 0.8) | np.sort(x, axis=1) | np.argsort(x, axis=1) | np.argmax(x, axis=1) | np.take(x, [0, 2], axis=1)
        np.take(v, [5, 1], mode="wrap") | np.take_along_axis(x, np.argsort(a, axis=1), axis=1) | np.select([m, ~m], [x, y]) | np.compress([True, False, True], x, axis=0)
        np.select([x > 1.2, x > 0.8], [x * y, w], c) | np.insert(x, 1, w, axis=0) | np.insert(v, [0, 2], v[:2]) | np.delete(x, 1, axis=1) | np.block([[x, x[:, :1]], [v, c]])
        np.clip(x, 0.6, 1.1) | np.clip(x, a_min=0.6, a_max=None) | np.partition(v, 2) | np.unique(v) | np.nonzero(x) | np.searchsorted(np.sort(a[0]), v) | np.sort(x, kind="stable")
    """,
    "linear algebra": """
        np.dot(v, w) | np.dot(s, s) | np.matmul(s, s) | np.inner(x, y) | np.outer(v, w) | np.vdot(v, w) | np.tensordot(x, y, axes=2) | np.einsum("ij,ij->i", x, y)
        np.einsum("ij,kj", x, y) | np.einsum("ij,jk->ik", x, y.T, optimize=True) | np.cross(v[:3], w[:3]) | np.kron(v, w) | np.trace(s) | np.diagonal(s, 1) | np.diag(v) | np.tril(s) | np.triu(s, 1)
        np.linalg.inv(s) | np.linalg.det(s) | np.linalg.slogdet(s) | np.linalg.solve(s, s[0]) | np.linalg.cholesky(h + h.T) | np.linalg.eigvalsh(h + h.T) | np.linalg.norm(v)
        np.linalg.norm(x) | np.linalg.norm(x, axis=1) | np.linalg.svd(x, compute_uv=False) | np.linalg.qr(s, mode='complete')[1] | np.linalg.qr(x.T, mode='complete') | np.linalg.pinv(x) | np.linalg.matrix_power(s, 3)
        np.linalg.lstsq(x.T, w, rcond=None)[0] | np.linalg.lstsq(x.T, w, rcond=None)[1] | np.linalg.lstsq(x.T, y.T)[3] | np.linalg.multi_dot([s, s, s])
        np.linalg.norm(s, 2) | np.linalg.norm(s, "nuc") | np.linalg.norm(x, 1, axis=(1, 0), keepdims=True) | np.linalg.norm(x, np.inf, 0) | np.linalg.matrix_norm(s)
    """,
    "writes": """
        q = x * 1; q[0] = 0.0; q | q = x * 1; q[1:] += 1; q | q = x * 1; q[m] = y[m]; q | q = x * 1; q *= 2; q | q = a * 1; q += x; q
        q = np.zeros(4); q[0] = c; q * c | q = np.zeros((3, 4)); np.copyto(q, x); q | q = x * 1; np.copyto(q, a, where=m); q | q = x * 1; np.fill_diagonal(q, 0.0); q
        q = x * 1; np.put_along_axis(q, np.array([[0], [1], [2]]), 0.0, axis=1); q
    """,
    "others": """
        np.fft.fft(v) | np.fft.ifft(z) | np.fft.rfft(v) | np.fft.fftshift(v) | np.interp(v, [0.0, 1.0, 2.0], [0.0, 2.0, 3.0]) | np.gradient(v) | np.diff(v) | np.diff(v, append=1.0)
        np.trapezoid(v) | np.trapezoid(v, dx=0.5) | np.convolve(v, w) | np.polyval([1.0, 2.0, 3.0], v) | np.meshgrid(v, w) | np.meshgrid(x, w)[0] | np.linspace(0, 1, 5) * c | np.histogram(v, 3)
        np.histogram(v, 2, weights=w)[0] | np.histogram(v, [0.0, 1.0, 2.0])[0] | np.gradient(x) | np.gradient(x, 0.5, v, axis=(0, 1)) | np.gradient(x, axis=1, edge_order=2)
        np.piecewise(v, [v < 0.8], [np.sin, np.exp]) | np.piecewise(x, [x < 0.7, x > 1.1], [lambda q: q * q, 1.0, lambda q: -q])
        np.cumulative_sum(v, include_initial=True) | np.cumulative_sum(x, axis=-1, include_initial=True) | np.cumulative_prod(x, axis=0) | np.unstack(x, axis=1)
        np.lib.stride_tricks.sliding_window_view(v, 3).mean(-1) | np.lib.stride_tricks.sliding_window_view(x, (2, 3)) | np.lib.stride_tricks.sliding_window_view(x, 2, axis=-2)
        np.apply_along_axis(np.sum, 0, x) | np.piecewise(v, [v < 0.8, v >= 0.8], [0.0, 1.0]) | np.nan_to_num(x) | np.real(z) | np.allclose(x, y)
    """,
}


def calls():
    """(group, text) of each."""
    return [(group, text.strip()) for group, rows in ROWS.items() for line in rows.strip().splitlines() for text in line.split(" | ")]
