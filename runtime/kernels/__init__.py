"""Kernels: forwards that NumPy has no single expression for; arrays in, arrays out, nothing known of autograd.

Compiled ones are there at once; those in Python are imported when the first operator needs them.
"""

from ..support.extension import offer
from ..support.later import later

offer(__name__)

from .loops.axes import broadcast_to, expand_dims
from .indexing.basic_index import copy_, getitem, getitem_backward, index_put, index_put_, index_put_backward
from .elementwise.choice import clip, divide_or_zero, scaled_pow, where
from .rows.class_losses_loops import kept_mean, kept_mean_backward
from .matrices.elimination import cholesky, det, inv, slogdet, solve
from .elementwise.error_function import erf, erfc
from .reductions.extremes import max_along, min_along
from .elementwise.logistic import logaddexp, sigmoid, sigmoid_slope, tanh_slope
from .rows.moments import centred, euclidean_norm, std, var
from .joining.joining_loops import concat_backward, concatenate, stack, unstack
from .elementwise.powers import power
from .matrices.matmul import matmul
from .indexing.rows_loops import take
from .reductions.scans_loops import cumprod, cumsum, linear_recurrence, prod, shift
from .rows.softmax import (
    cross_entropies,
    cross_entropies_backward,
    log_softmax,
    log_softmax_backward,
    logsumexp,
    logsumexp_backward,
    softmax,
    softmax_backward,
    softmax_or_zero,
)
from .rows.normalisers_loops import standardize, standardize_affine, standardize_affine_backward, standardize_backward
from .reductions.sums import mean_along, sum_along, sum_to, unreduce
from .matrices.triangles import hermitian_part, lower_half, tril, triu
from .matrices.triangular_systems import solve_triangular

__getattr__ = later(__name__, {
    "rows.class_losses": ("class_or_zero", "is_class"),
    "matrices.contraction": (
        "block_diag", "block_diag_backward", "diag_embed", "diagonal", "diagonal_backward", "einsum_pair",
        "einsum_single", "einsum_single_backward", "linear",
    ),
    "images.convolution": ("convolve", "convolve_input", "convolve_weight", "fold", "unfold"),
    "elementwise.elementwise": (
        "complex_log1p", "complex_of", "dropout", "entr", "fill_", "fill_diagonal_", "logaddexp2", "polar", "round_to",
        "rrelu", "sinc", "xlogy", "zero_",
    ),
    "matrices.factors": ("eig", "lu_order", "lu_parts", "matrix_exp", "permutation_matrix", "pivot_rows"),
    "special_functions.gamma_beta": ("beta", "betaln", "digamma_gap", "kl_terms", "rel_entr"),
    "images.grids": ("even_grid", "grid_pixels", "grid_pixels_slope", "grid_taps"),
    "special_functions.incomplete": ("beta_derivative", "betainc_derivative", "gammainc_derivative", "stdtr_derivative"),
    "indexing.indexing": (
        "gather", "index_add", "index_add_", "kept", "last_written", "masked_fill_", "scatter", "scatter_",
        "scatter_add", "scatter_add_", "take_along_axis", "take_along_axis_backward", "take_backward",
    ),
    "joining.joining": (
        "broadcast_arrays", "broadcast_arrays_backward", "cycle", "join", "join_backward", "meshgrid", "meshgrid_backward",
        "pad", "pad_backward", "repeat_backward", "split_copies",
    ),
    "matrices.decompositions": (
        "checkerboard", "cofactor", "cofactor_jvp", "eigh", "minors", "minors_backward", "pinv", "pivots", "qr",
        "reciprocal_gaps", "svd",
    ),
    "rows.losses": ("binary_cross_entropy", "one_hot", "pick", "unpick"),
    "images.pooling": ("adaptive_max_pool", "max_pool", "resample", "resample_backward", "take_planes", "take_planes_backward"),
    "random": (
        "bernoulli", "binomial", "draw_indices", "geometric", "integers", "normal_", "poisson", "rand", "rand_like",
        "randn", "randn_like", "randperm", "standard", "uniform_",
    ),
    "reductions.reductions": ("power_norm",),
    "reductions.scans": ("cummax", "cummin", "logcumsumexp"),
    "indexing.scattering": (
        "insert_order", "mode_place", "places_along", "run_begins", "scatter_extreme", "spread_index", "takes_part",
        "unravel_index",
    ),
    "elementwise.slopes": ("asin_slope", "asinh_slope", "atan_slope", "atanh_slope", "softsign", "tanhshrink"),
    "reductions.sorting": (
        "argsort", "bincount", "bins", "first_places", "histc", "segment", "topk", "unique_counts", "unique_inverse",
    ),
    "special_functions.scipy_backed": (
        "bessel", "digamma", "erfcx", "erfinv", "gelu", "ive", "lgamma", "logit", "polygamma", "special",
    ),
    "loops.strides": ("as_strided", "as_strided_backward", "own_layout", "view", "view_as_complex", "view_as_real"),
    "transforms": ("fitted", "fourier", "frequencies", "interior", "irfourier", "rfourier"),
})  # fmt: skip
