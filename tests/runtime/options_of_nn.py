"""The table "argument, what to try for it": options of torch.nn's classes and functions, from which calls are drawn.

Owns the values by name of argument, the base calls of functions, and which differences are meant, with their reasons.
"""

from __future__ import annotations

import math
from typing import Any

from .layers_of_nn import I, P, S

FLAGS = (
    "bias", "ceil_mode", "count_include_pad", "return_indices", "affine", "track_running_stats", "elementwise_affine", "inplace",
    "full", "log_input", "log_target", "swap", "zero_infinity", "batch_first", "bidirectional", "add_bias_kv", "add_zero_attn",
    "norm_first", "keepdim", "scale_grad_by_freq", "include_last_offset", "head_bias", "antialias",
)
VALUES: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(FLAGS, (True, False)),
    "align_corners": (None, True, False), "recompute_scale_factor": (None, True, False),
    "kernel_size": (1, 2, 3, 4, (2,), (1, 3), (2, 1, 3)), "stride": (1, 2, 3, (1, 2)), "dilation": (1, 2, 3, (2, 1)),
    "padding": (0, 1, 2, (1, 0), "same", "valid", -1), "output_padding": (0, 1, 2, 3, (1, 0)), "groups": (1, 2, 4, 3),
    "padding_mode": ("zeros", "reflect", "replicate", "circular", "border", "reflection", "other"),
    "divisor_override": (None, 1, 5, 0), "norm_type": (1.0, 2.0, 3.0, 0.5, -1.0, math.inf, -math.inf), "output_size": (1, 2, 3, (2, 3), (None, 2)),
    "eps": (1e-5, 0.1, 0.0), "momentum": (None, 0.1, 0.0, 1.0), "num_groups": (1, 2, 4, 3), "normalized_shape": (4, (4,), (3, 4), (3,)),
    "alpha": (0.5, 2.0, -1.0), "negative_slope": (0.0, 0.3, -0.5), "lambd": (0.0, 0.3, -0.5), "beta": (0.5, 1.0, 2.0, 0.0, -1.0),
    "threshold": (0.1, 1.0, -0.5, 20.0), "value": (0.0, 3.0), "min_val": (-1.0, 0.2), "max_val": (1.0, 0.1), "approximate": ("none", "tanh", "other"),
    "dim": (0, 1, -1, 5), "init": (0.25, 0.0), "reduction": ("none", "mean", "sum", "other"), "ignore_index": (-100, 0, 1),
    "label_smoothing": (0.0, 0.1, 1.0, 1.5), "margin": (0.0, 0.5, 1.5, -0.5), "p": (1.0, 2.0, 3.0, 0.5, math.inf, 0.0), "delta": (0.5, 1.0, 2.0, 0.0, -1.0),
    "blank": (0, 1, 3, 7), "nonlinearity": ("tanh", "relu", "other"), "num_layers": (1, 2), "proj_size": (0, 2, 9), "activation": ("relu", "gelu", "other"),
    "mode": ("nearest", "nearest-exact", "area", "linear", "bilinear", "trilinear", "bicubic", "mean", "sum", "max", "other"),
    "scale_factor": (None, 2, 1.5, 0.6, (2.0, 2.0), (1.5, 2)), "size": (None, 5, 3, (5, 2), (3,)), "padding_idx": (None, 0, -1, 99),
    "max_norm": (None, 0.5), "upscale_factor": (1, 2, 3), "downscale_factor": (1, 2, 3), "start_dim": (0, 1, -1, 5), "end_dim": (-1, 1, 0), "k": (1.0, 2.0),
    "num_heads": (1, 2, 4, 3), "max_norm_type": (2.0,), "dim0": (0, 1), "num_classes": (-1, 5, 9, 2), "n_power": (1, 2),
}  # fmt: skip

# Functions of torch.nn.functional without a class: arguments and arrays.
FUNCTIONS: list[tuple[str, str, tuple[Any, ...]]] = [
    ("interpolate", "size=5", ((2, 3, 4),)), ("interpolate", "scale_factor=2.0, mode='bilinear'", ((2, 3, 4, 3),)),
    ("interpolate", "size=(3, 5, 2), mode='trilinear'", ((1, 2, 4, 3, 3),)), ("interpolate", "scale_factor=1.5", ((1, 2, 4, 5),)),
    ("grid_sample", "", ((1, 2, 4, 5), P(1, 3, 2, 2) * 2.4 - 1.2)), ("normalize", "", ((3, 4),)), ("normalize", "p=3.0, dim=0", ((3, 4, 2),)),
    ("cosine_similarity", "", ((3, 4), (3, 4))), ("pairwise_distance", "", ((3, 4), (3, 4))), ("pdist", "", ((5, 3),)),
    ("one_hot", "", (I(4, 3, 2),)), ("lp_pool1d", "norm_type=2.0, kernel_size=2", (P(3, 2, 9),)),
    ("lp_pool2d", "norm_type=3.0, kernel_size=2", (P(3, 2, 6, 7),)), ("lp_pool3d", "norm_type=2.0, kernel_size=2", (P(1, 2, 4, 4, 4),)),
    ("softmin", "dim=1", ((3, 4),)), ("hardtanh", "", ((3, 4),)), ("celu", "", ((3, 4),)), ("elu", "", ((3, 4),)), ("leaky_relu", "", ((3, 4),)),
    ("softplus", "", ((3, 4),)), ("softshrink", "", ((3, 4),)), ("hardshrink", "", ((3, 4),)), ("threshold", "threshold=0.1, value=2.0", ((3, 4),)),
    ("glu", "", ((4, 6),)), ("gelu", "", ((3, 4),)), ("max_pool1d", "kernel_size=2", ((3, 2, 9),)), ("max_pool2d", "kernel_size=2", ((3, 2, 6, 7),)),
    ("avg_pool1d", "kernel_size=2", ((3, 2, 9),)), ("avg_pool2d", "kernel_size=2", ((3, 2, 6, 7),)),
    ("conv1d", "", ((2, 4, 9), (4, 4, 3))), ("conv2d", "", ((2, 4, 6, 5), (4, 2, 3, 2))),
    ("conv_transpose1d", "", ((2, 4, 5), (4, 2, 3))), ("conv_transpose2d", "", ((2, 4, 3, 5), (4, 2, 3, 2))),
    ("huber_loss", "", ((3, 4), (3, 4))), ("smooth_l1_loss", "", ((3, 4), (3, 4))), ("kl_div", "", ((3, 4), P(3, 4))),
    ("cross_entropy", "", ((3, 4), I(4, 3))), ("nll_loss", "", ((3, 4), I(4, 3))), ("margin_ranking_loss", "", ((3,), (3,), S(3))),
    ("local_response_norm", "size=3", ((2, 5, 3, 3),)), ("group_norm", "num_groups=2", ((3, 4, 5),)), ("pixel_shuffle", "upscale_factor=2", ((1, 8, 2, 3),)),
]  # fmt: skip

# Differences that are meant: patterns of names, in which options they hold, why. `refused` is what refuses: "here", "there" or "".
MEANT: list[tuple[str, str, str]] = [
    ("BatchNorm* InstanceNorm*", "refused == 'there' and options.get('eps') == 0", "defined where a channel is not constant"),
    ("GroupNorm", "not refused and options.get('eps') == 0", "of a constant channel neither has a derivative: NaN here, inf there"),
    ("CELU ELU LeakyReLU celu elu leaky_relu", "refused == 'there' and options.get('inplace')",
     "the argument is kept where the result does not tell it"),
    ("LPPool* lp_pool*", "not refused and options.get('ceil_mode')", "a window that is cut off has the norm of what it holds"),
    ("LPPool* lp_pool*", "refused == 'there' and isinstance(options['kernel_size'], tuple)", "PyTorch multiplies by the tuple"),
    ("MaxUnpool*", "refused == 'here' and options['padding'] == -1", "no pooling has negative padding"),
    ("EmbeddingBag", "not refused and options.get('scale_grad_by_freq')", "PyTorch scales a word that occurs once"),
    ("MaxUnpool*", "refused == 'there' and options['kernel_size'] == (2,)", "one number in a tuple stands for all axes"),
    ("UpsamplingBilinear2d", "refused == 'there' and options['size'] == (3,)", "one number in a tuple stands for all axes"),
    ("PairwiseDistance pairwise_distance", "not refused and options.get('p') == 0", "PyTorch's counts of numbers have no graph; here it is 0"),
    ("Triplet*", "refused == 'there' and options.get('margin') == 0", "a margin of 0 has a loss"),
    ("MultiMarginLoss", "refused == 'here' and isinstance(options.get('p'), float)", "an exponent of 1 or 2 is an int"),
    ("CTCLoss", "refused == 'here' and options.get('blank')", "the blank is no class of a target"),
    ("Upsample interpolate", "refused == 'there' and options.get('align_corners') is False", "False says what such a mode does"),
    ("hardtanh Hardtanh", "refused == 'there'", "bounds that cross give the upper one, as numpy.clip"),
]  # fmt: skip
