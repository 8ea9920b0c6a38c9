"""Every refusal of a kernel is met by a call: a bound that is never met may be wrong, or wrong by one.

Owns the calls; each is one step beyond what its kernel takes.
"""

from __future__ import annotations

import re
import traceback
from pathlib import Path

import numpy as np
from numpy import arange, ones, zeros

from gradspec import kernels
from gradspec.kernels import keys, random, transforms
from gradspec.kernels.convolution import convolution, grids, pooling
from gradspec.kernels.elementwise import random_factors
from gradspec.kernels.fusion_engine.program import Program
from gradspec.kernels.indexing import axis_positions, fill, gathering, scattering
from gradspec.kernels.joining import copies, joining
from gradspec.kernels.loops import strides, threads
from gradspec.kernels.matrices import coo, diagonals, eig_svd, einsum, matrix_exp, matrix_functions
from gradspec.kernels.reductions import scans, sorting
from gradspec.kernels.row_wise import class_losses, distances, losses, normalisers, softmax
from gradspec.kernels.special_functions import gamma_beta, ratios, scipy_backed, zeta

FOLDER = Path(__file__).parents[3] / "runtime/kernels"
ELSEWHERE = {  # what an error says -> where it is met
    "needs SciPy": "test_foreign_names.py", "MemoryError": "where no memory is left", "_Unplanned": "inside of a plan: test_program.py",
    "raise explain(": "NumPy's errors: tests/runtime/support/test_errors.py", "Overwritten": "inside of a replay: tests/ops/test_over.py",
    "NotImplementedError": "of a method that every class has", "build again": "of a library that is half built",
}  # fmt: skip
DICE = np.random.default_rng(0)
KEY = zeros(2, np.uint64)
X, IMAGE, ONE, NONE = ones((2, 3)), ones((1, 2, 5)), (1,), (0,)


def viewed(x, shape, steps, offset=None):
    return strides.as_strided(x, strides.own_layout(x), shape, steps, offset)


REFUSED = [
    lambda: keys.keyed(KEY, "normal", (2,), np.dtype(int)),
    lambda: keys.keyed_counts(KEY, "nowhere", 1, 0.5, (2,), np.dtype(int)),
    lambda: random.standard("normal", KEY, 1.0, None, DICE),
    lambda: random_factors.rrelu_slope(X, 0.5, 0.25, DICE),
    lambda: random_factors.bernoulli_(zeros(3), 1.001, DICE),
    lambda: random_factors.bernoulli_(zeros(3), -0.001, DICE),
    lambda: random_factors.exponential_(zeros(3), 0, DICE),
    lambda: convolution.convolve(IMAGE, ones((4, 3, 2)), None, ONE, NONE, ONE, 1),
    lambda: convolution.convolve(IMAGE, ones((4, 2, 2)), ones(3), ONE, NONE, ONE, 1),
    lambda: convolution.convolve(IMAGE[0, 0], ones((4, 2, 2)), None, ONE, NONE, ONE, 1),
    lambda: convolution.convolve(IMAGE, ones((4, 2)), None, ONE, NONE, ONE, 1),
    lambda: convolution.convolve(IMAGE, ones((4, 2, 2)), None, ONE, NONE, ONE, 3),
    lambda: convolution.convolve(IMAGE, ones((4, 2, 2)), None, ONE, NONE, ONE, 0),
    lambda: convolution.convolve(IMAGE, ones((4, 2, 6)), None, ONE, NONE, ONE, 1),
    lambda: convolution.convolve(IMAGE, ones((4, 2, 2)), None, ONE, NONE, (1, 1), 1),
    lambda: convolution.convolve(IMAGE, ones((4, 2, 2)), None, NONE, NONE, ONE, 1),
    lambda: convolution.convolve(IMAGE, ones((4, 2, 2)), None, ONE, (-1,), ONE, 1),
    lambda: convolution.convolve(IMAGE, ones((4, 2, 2)), None, (2**31 + 1,), NONE, ONE, 1),
    lambda: convolution.convolve_input(ones((1, 4, 5)), ones((4, 2, 2)), (1, 2, 5), ONE, NONE, ONE, 1),
    lambda: convolution.convolve_weight(ones((1, 4, 5)), IMAGE, (4, 2, 2), ONE, NONE, ONE, 1),
    lambda: convolution.fold(ones((4, 5)), (3, 3), (2, 2), (1, 1), (0, 0), (1, 1)),
    lambda: grids.grid_pixels(zeros((1, 1, 1, 2)), (3, 3), "mirror", False),
    lambda: pooling.adaptive_max_pool(ones(3), (1, 1)),
    lambda: pooling.take_planes_backward(ones(2), np.array([0, 1, 2]), (4,), 1),
    lambda: pooling.take_planes_backward(ones(1), np.array([0.0]), (4,), 1),
    lambda: pooling.take_planes_backward(ones(1), np.array([0]), (4, 4), 2),
    lambda: pooling.take_planes_backward(ones(1), np.array([4]), (4,), 1),
    lambda: pooling.max_pool(ones(4), (2,), (3,), ONE, NONE, NONE),
    lambda: pooling.adaptive_max_pool(ones((1, 0)), (2,)),
    lambda: pooling.resample(ones(4), 0, 2, "squared", (), 1.0),
    lambda: fill.fill_(zeros(3), ones(1)),
    lambda: fill.fill_diagonal_(zeros((3, 3)), ones(1)),
    lambda: fill.fill_diagonal_(zeros(3), 1),
    lambda: fill.fill_diagonal_(zeros((3, 3, 2)), 1),
    lambda: gathering.integers(np.array([0.5])),
    lambda: gathering.axis_index(arange(3), 2, 2),
    lambda: gathering.open_index(arange(3), 0, 2),
    lambda: axis_positions.insert_order(4, 3, 1),
    lambda: axis_positions.insert_order(-4, 3, 1),
    lambda: axis_positions.places_along(np.array([[3]]), 0, (3, 1)),
    lambda: axis_positions.places_along(np.array([[-4]]), 0, (3, 1)),
    lambda: scattering.scatter_(zeros(3), 0, arange(3), ones((1, 3))),
    lambda: joining.meshgrid_backward([ones((2, 3))], [(2,), (3,)], "yx"),
    lambda: copies.pad(X, ((1, 1), (1, 1)), "mirror", 0),
    lambda: joining.split(X, 0, 1),
    lambda: joining.split(X, 2, 1),
    lambda: strides.own_layout(np.ndarray((2,), np.float64, zeros(8), 0, (12,))),
    lambda: strides.view(ones((3, 2)).T, (6,)),
    lambda: strides.view_as_complex(ones((3, 2), np.int64)),
    lambda: strides.view_as_complex(ones((3, 2), np.float16)),
    lambda: strides.view_as_complex(ones((2, 3))),
    lambda: strides.view_as_complex(ones((2, 3)).T),
    lambda: strides.windows(ones(3), 0, 4, 1),
    lambda: strides.windows(ones(3), 0, 2, 0),
    lambda: strides.own_layout(np.ndarray((2, 2), np.float64, bytearray(64), 0, (32, 8))),
    lambda: strides.as_strided(ones(4), (1, 1, 0), (2,), (1,), None),
    lambda: viewed(ones(4), (2,), (1, 1)),
    lambda: viewed(ones(4), (-1,), (1,)),
    lambda: viewed(zeros(0), (1,), (1,)),
    lambda: viewed(ones(4), (5,), (1,)),
    lambda: viewed(ones(4), (2,), (1,), -1),
    lambda: viewed(np.broadcast_to(ones(1), (4,)), (1,), (1,)),
    lambda: strides.as_strided(ones(3), (2, 0), (4,), (1,), None),
    lambda: kernels.solve_triangular(ones((2, 2)), ones(2), True, False),
    lambda: kernels.solve_triangular(ones(2), ones((2, 2)), True, False),
    lambda: kernels.solve_triangular(ones((1, 3, 2)), ones((1, 3, 2)), True, False),
    lambda: kernels.solve_triangular(ones((2, 2)), ones((3, 2)), True, False),
    lambda: kernels.solve_triangular(ones((2, 2), np.longdouble), ones((2, 2)), True, False),
    lambda: kernels.concat_backward(ones(3), [(2,), (2,)], 0),
    lambda: kernels.sum_to(ones(3), (2,)),
    lambda: kernels.sum_to(ones(3), (1, 3)),
    lambda: Program(", ".join(f"x{i}" for i in range(17)) + " -> y", "y = x0"),
    lambda: threads.set_num_threads(0),
    lambda: threads.set_num_threads(65),
    lambda: coo.coo_sampled_matmul(ones((2, 3)), ones((2, 4)), arange(2), arange(2)),
    lambda: coo.coo_sampled_matmul(ones(3), ones((2, 3)), arange(2), arange(2)),
    lambda: coo.coo_sampled_matmul(X, X, ones(2), arange(2)),
    lambda: coo.coo_matmul(ones(3), arange(2), arange(3), ones((3, 1)), (3, 3)),
    lambda: coo.coo_sampled_matmul(X, X, np.array([2]), np.array([0])),
    lambda: coo.coo_sampled_matmul(X, X, np.array([0]), np.array([-1])),
    lambda: diagonals.diag_embed(ones(3), 0, 1, -1),
    lambda: diagonals.block_diag([ones((1, 1, 1))]),
    lambda: eig_svd.pinv(X, 1e-3, False, 1e-3),
    lambda: eig_svd.svd(X, True),
    lambda: einsum.einsum_pair("ij,jk->ik", ones(3), X),
    lambda: einsum.linear(X, ones((1, 3, 3)), None),
    lambda: matrix_exp.matrix_exp(X),
    lambda: matrix_functions.solve_bands(ones((3, 4)), ones(4), 1, 0),
    lambda: matrix_functions.solve_bands(ones((1, 4)), ones(4), -1, 0),
    lambda: matrix_functions.sqrtm(X),
    lambda: random.bernoulli(1.001, DICE),
    lambda: random.draw_places([1.0, -0.5], 1, True, DICE),
    lambda: random.draw_places([0.0, 0.0], 1, True, DICE),
    lambda: random.draw_places([1.0, 0.0], 2, False, DICE),
    lambda: random.standard("normale", 0, 1, None, DICE),
    lambda: random.rand((2,), np.int64, DICE),
    lambda: random.standard("normal", zeros(3), 1, (1,), DICE),
    lambda: scans.linear_recurrence(ones(3), ones(2), 0, False),
    lambda: sorting.searchsorted(ones((2, 3)), ones((3, 3)), "left"),
    lambda: sorting.segment(0.5, [0.0]),
    lambda: sorting.topk(ones(3), 4, 0, True),
    lambda: sorting.topk(ones(3), -1, 0, True),
    lambda: class_losses.class_pairs([0, 2]),
    lambda: class_losses.class_pairs([0, -2]),
    lambda: class_losses.class_pairs(0),
    lambda: distances.weighted_rows(ones((2, 2)), ones((5, 3))),
    lambda: distances.along_rows(ones((2, 2)), ones((4, 4)), ones((4, 3))),
    lambda: distances.along_rows(ones((2, 2)), ones((5, 3)), ones((4, 3))),
    lambda: distances.row_distances(ones((2, 3)), 3),
    lambda: losses.one_hot([0, 3], 3, np.float64),
    lambda: losses.one_hot([0, -1], 3, np.float64),
    lambda: losses.pick(X, arange(3), 1),
    lambda: losses.pick(X, zeros(2), 1),
    lambda: kernels.attention(X[0], X, X, None),
    lambda: normalisers.standardize_backward(X, X, ones((1, 3)), 1, True),
    lambda: normalisers.standardize_affine(X, 1, ones(2), None, 0, 0.1, True),
    lambda: normalisers.standardize_affine(X, 1, X[0], X, 0, 0.1, True),
    lambda: normalisers.standardize_affine_backward(X[0], X, X[0], X[:, :1], X[:, :1], 1, 0, True),
    lambda: softmax.softmax_backward(X, ones(3), -1),
    lambda: gamma_beta.offered(20, 1),
    lambda: gamma_beta.offered(-1),
    lambda: ratios._in_double(1.0, 21, "f"),
    lambda: scipy_backed.erfcx(1.0, 65),
    lambda: scipy_backed.gelu(1.0, "erf"),
    lambda: scipy_backed.polygamma(171, 1.0),
    lambda: zeta.zeta_slope(101, 2.0, 1.0),
    lambda: transforms._norm("ortho", False),
]


def test_every_refusal_of_a_kernel_is_met():
    met, wrong = set(), []
    for number, call in enumerate(REFUSED):
        try:
            call()
        except Exception as error:
            inside = [at for frame in traceback.extract_tb(error.__traceback__) if (at := within(frame.filename, frame.lineno))]
            if inside:
                met.add(inside[-1])
            else:
                wrong.append(f"call {number}: {type(error).__name__}: {error}")
        else:
            wrong.append(f"call {number} is not refused")
    for path in sorted(path for kind in ("*.py", "*.pyx") for path in FOLDER.rglob(kind)):
        for line, text in enumerate(path.read_text().splitlines(), 1):
            refuses = re.match(r" +raise +\S", text) and not any(words in text for words in ELSEWHERE)
            if refuses and within(str(path), line) not in met:
                wrong.append(f"{path.relative_to(FOLDER)}: nothing meets {text.strip()}")
    assert not wrong, "\n".join(wrong)


def within(file, line):
    """A line of a kernel; a compiled module names its file as its build does, of which the last part is enough."""
    file = Path(file)
    installed = Path(kernels.__file__).parent
    if file.suffix == ".pyx":
        file = next(FOLDER.rglob(file.name), file)
    elif installed in file.parents:
        file = FOLDER / file.relative_to(installed)
    return (file.relative_to(FOLDER), line) if FOLDER in file.parents else None
