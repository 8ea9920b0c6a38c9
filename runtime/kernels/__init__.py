"""Kernels: forwards that NumPy has no single expression for; arrays in, arrays out, nothing known of autograd."""

from ..extension import offer

offer(
    __name__,
    [
        "basic_index",
        "choice",
        "error_function",
        "exponentials",
        "forward",
        "logistic",
        "memory",
        "plan",
        "program",
        "product",
        "rows",
        "selection",
        "softmax",
        "standardization",
        "summation",
        "threads",
        "triangular",
        "ufunc",
        "windows",
    ],
)

from .basic_index import copy_, getitem, getitem_backward, index_put, index_put_, index_put_backward
from .choice import divide_or_zero, where
from .classes import class_or_zero, is_class, kept_mean, kept_mean_backward
from .contraction import (
    block_diag,
    block_diag_backward,
    diag_embed,
    diagonal,
    diagonal_backward,
    einsum_pair,
    einsum_single,
    einsum_single_backward,
    linear,
)
from .convolution import convolve, convolve_input, convolve_weight, fold, unfold
from .elementwise import (
    complex_log1p,
    complex_of,
    dropout,
    entr,
    fill_,
    fill_diagonal_,
    polar,
    round_to,
    rrelu,
    scaled_pow,
    sinc,
    xlogy,
    zero_,
)
from .error_function import erf, erfc
from .factors import eig, lu_order, lu_parts, matrix_exp, permutation_matrix, pivot_rows
from .folds import max_along, min_along
from .fourier import fitted, fourier, frequencies, interior, irfourier, rfourier
from .indexing import (
    gather,
    index_add,
    index_add_,
    kept,
    last_written,
    masked_fill_,
    scatter,
    scatter_,
    scatter_add,
    scatter_add_,
    take_along_axis,
    take_along_axis_backward,
    take_backward,
)
from .joining import (
    broadcast_arrays,
    broadcast_arrays_backward,
    concat_backward,
    cycle,
    join,
    join_backward,
    meshgrid,
    meshgrid_backward,
    pad,
    pad_backward,
    repeat_backward,
    split_copies,
    unstack,
)
from .linalg import checkerboard, cofactor, cofactor_jvp, eigh, minors, minors_backward, pinv, pivots, qr, reciprocal_gaps, svd
from .logistic import logaddexp, sigmoid, sigmoid_slope, tanh_slope
from .losses import binary_cross_entropy, one_hot, pick, unpick
from .normalisers import softmax_or_zero
from .pooling import adaptive_max_pool, max_pool, resample, resample_backward, take_planes, take_planes_backward
from .product import matmul
from .random import (
    bernoulli,
    binomial,
    draw_indices,
    geometric,
    integers,
    normal_,
    poisson,
    rand,
    rand_like,
    randn,
    randn_like,
    randperm,
    standard,
    uniform_,
)
from .reductions import centred, euclidean_norm, power_norm, std, var
from .scans import cummax, cummin, cumprod, cumsum, linear_recurrence, shift
from .scattering import (
    insert_order,
    mode_place,
    places_along,
    run_begins,
    scatter_extreme,
    spread_index,
    takes_part,
    unravel_index,
)
from .slopes import asin_slope, asinh_slope, atan_slope, atanh_slope, softsign, tanhshrink
from .softmax import (
    cross_entropies,
    cross_entropies_backward,
    log_softmax,
    log_softmax_backward,
    logsumexp,
    logsumexp_backward,
    softmax,
    softmax_backward,
)
from .sorting import argsort, bincount, bins, first_places, histc, segment, topk, unique_counts, unique_inverse
from .special import (
    beta_integral,
    digamma,
    erfcx,
    erfinv,
    gamma_integral,
    gelu,
    lgamma,
    logit,
    polygamma,
    special,
)
from .standardization import (
    standardize,
    standardize_affine,
    standardize_affine_backward,
    standardize_backward,
)
from .strides import as_strided, as_strided_backward, own_layout, view, view_as_complex, view_as_real
from .summation import mean_along, sum_along, sum_to, unreduce
from .triangular import solve_triangular
