"""The table "PyTorch's class, ours, how it is asked": each class of `torch.nn` with arguments to make it of and inputs to call it with.

Owns the rows.  A row is a class, the arguments of its constructor, and its inputs: a tuple is the shape of normal numbers, `I(n, shape)`
whole numbers below n, `P(shape)` probabilities, `S(shape)` signs, an array itself.  A class without a row is in `LEFT`, with the reason.
"""

from __future__ import annotations

from typing import Any

import numpy as np

rng = np.random.default_rng(7)


def I(high: int, *shape: int) -> np.ndarray:  # noqa: E743
    return rng.integers(0, high, shape)


def P(*shape: int) -> np.ndarray:
    return rng.uniform(0.05, 0.95, shape)


def S(*shape: int) -> np.ndarray:
    return rng.choice([-1.0, 1.0], shape)


def mask(*shape: int) -> np.ndarray:
    found = rng.random(shape) < 0.3
    found[..., 0] = False
    return found


CAUSAL = np.triu(np.ones((5, 5), bool), 1)
ROWS: list[tuple[str, str, tuple[Any, ...]]] = [
    # class, arguments, inputs
    ("Identity", "1, a=2", ((2, 3),)),
    ("Linear", "3, 4", ((2, 3),)), ("Linear", "3, 4, bias=False", ((2, 5, 3),)), ("Linear", "3, 4", ((3,),)),
    ("Bilinear", "3, 4, 5", ((2, 3), (2, 4))), ("Bilinear", "3, 4, 5, bias=False", ((2, 3), (2, 4))),
    ("Conv1d", "2, 4, 3", ((3, 2, 8),)), ("Conv1d", "2, 4, 3, stride=2, padding=1, dilation=2, groups=2, bias=False", ((3, 2, 9),)),
    ("Conv1d", "2, 4, 4, padding='same', padding_mode='reflect'", ((3, 2, 9),)), ("Conv1d", "2, 4, 3, padding='valid'", ((2, 9),)),
    ("Conv2d", "2, 4, 3", ((3, 2, 6, 7),)), ("Conv2d", "2, 4, (3, 2), (2, 1), (1, 0), (1, 2), 2", ((3, 2, 6, 7),)),
    ("Conv2d", "2, 4, 3, padding=1, padding_mode='circular'", ((3, 2, 6, 7),)),
    ("Conv2d", "2, 4, 3, padding=(1, 2), padding_mode='replicate'", ((3, 2, 6, 7),)),
    ("Conv2d", "2, 4, (2, 3), padding='same'", ((3, 2, 6, 7),)), ("Conv2d", "2, 4, 3", ((2, 6, 7),)),
    ("Conv3d", "2, 4, 3", ((1, 2, 5, 6, 4),)), ("Conv3d", "2, 4, 2, stride=2, padding=1, bias=False", ((1, 2, 5, 6, 4),)),
    ("ConvTranspose1d", "4, 2, 3", ((3, 4, 5),)), ("ConvTranspose1d", "4, 2, 3, 2, 1, 1, 2, False, 2", ((3, 4, 5),)),
    ("ConvTranspose2d", "4, 2, 3, stride=2, output_padding=1", ((3, 4, 3, 5),)), ("ConvTranspose2d", "4, 2, 3", ((4, 3, 5),)),
    ("ConvTranspose3d", "4, 2, 2, stride=2, groups=2", ((1, 4, 3, 2, 2),)),
    ("MaxPool1d", "2", ((3, 2, 9),)), ("MaxPool1d", "3, 2, 1, ceil_mode=True", ((3, 2, 8),)),
    ("MaxPool2d", "2", ((3, 2, 6, 7),)), ("MaxPool2d", "(3, 2), stride=(2, 1), padding=1", ((3, 2, 6, 7),)),
    ("MaxPool2d", "2, return_indices=True", ((3, 2, 6, 6),)),
    ("MaxPool3d", "2", ((1, 2, 4, 6, 5),)),
    ("AvgPool1d", "2", ((3, 2, 9),)), ("AvgPool1d", "3, 2, 1, count_include_pad=False", ((3, 2, 9),)),
    ("AvgPool2d", "(2, 3), padding=1, divisor_override=5", ((3, 2, 6, 7),)), ("AvgPool3d", "2, 1", ((1, 2, 4, 6, 5),)),
    ("LPPool1d", "2, 3", ((3, 2, 9),)), ("LPPool2d", "4, 2, stride=1", ((3, 2, 6, 7),)), ("LPPool3d", "2, 2", ((1, 2, 4, 4, 4),)),
    ("MaxUnpool1d", "2, 2", ((1, 2, 3), np.array([[[0, 3, 5], [1, 2, 4]]]))),
    ("MaxUnpool2d", "2", ((1, 1, 2, 2), np.array([[[[0, 3], [9, 14]]]]))),
    ("MaxUnpool3d", "2", ((1, 1, 1, 2, 1), np.array([[[[[3], [6]]]]]))),
    ("AdaptiveAvgPool1d", "3", ((3, 2, 7),)), ("AdaptiveAvgPool2d", "(3, None)", ((3, 2, 6, 7),)),
    ("AdaptiveAvgPool2d", "1", ((3, 2, 6, 7),)), ("AdaptiveAvgPool3d", "(1, 2, 3)", ((1, 2, 4, 6, 5),)),
    ("AdaptiveMaxPool1d", "3", ((3, 2, 7),)), ("AdaptiveMaxPool2d", "(3, 2)", ((3, 2, 6, 7),)),
    ("AdaptiveMaxPool2d", "2, return_indices=True", ((3, 2, 6, 6),)), ("AdaptiveMaxPool3d", "2", ((1, 2, 4, 6, 5),)),
    ("BatchNorm1d", "3", ((4, 3),)), ("BatchNorm1d", "3, eps=1e-3, momentum=0.3", ((4, 3, 5),)), ("BatchNorm1d", "3, affine=False", ((4, 3),)),
    ("BatchNorm2d", "3", ((4, 3, 2, 5),)), ("BatchNorm2d", "3, momentum=None", ((4, 3, 2, 5),)),
    ("BatchNorm2d", "3, track_running_stats=False", ((4, 3, 2, 5),)), ("BatchNorm3d", "3", ((2, 3, 2, 3, 2),)),
    ("InstanceNorm1d", "3", ((4, 3, 5),)), ("InstanceNorm1d", "3, affine=True, track_running_stats=True", ((4, 3, 5),)),
    ("InstanceNorm2d", "3, affine=True", ((4, 3, 2, 5),)), ("InstanceNorm2d", "3", ((3, 2, 5),)), ("InstanceNorm3d", "3", ((2, 3, 2, 3, 2),)),
    ("LayerNorm", "4", ((2, 3, 4),)), ("LayerNorm", "(3, 4), eps=1e-3, bias=False", ((2, 3, 4),)),
    ("LayerNorm", "4, elementwise_affine=False", ((2, 3, 4),)), ("GroupNorm", "2, 4", ((3, 4, 5),)), ("GroupNorm", "4, 4, affine=False", ((3, 4),)),
    ("RMSNorm", "4", ((2, 3, 4),)), ("RMSNorm", "(3, 4), eps=1e-2, elementwise_affine=False", ((2, 3, 4),)),
    ("LocalResponseNorm", "3", ((2, 5, 3, 3),)),
    *((name, "", ((3, 4),)) for name in (
        "CELU", "ELU", "GELU", "GLU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU", "LogSigmoid", "Mish", "RReLU",
        "ReLU", "ReLU6", "SELU", "SiLU", "Sigmoid", "Softplus", "Softshrink", "Softsign", "Tanh", "Tanhshrink", "PReLU")),
    *((name, "inplace=True", ((3, 4),)) for name in (
        "CELU", "ELU", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU", "Mish", "ReLU", "ReLU6", "SELU", "SiLU")),
    ("ELU", "0.5", ((3, 4),)), ("GELU", "approximate='tanh'", ((3, 4),)), ("GLU", "0", ((4, 3),)), ("Hardshrink", "0.2", ((3, 4),)),
    ("LeakyReLU", "0.3", ((3, 4),)), ("PReLU", "4, init=0.1", ((3, 4),)), ("Softplus", "2, 1", ((3, 4),)),
    ("Threshold", "0.1, 20", ((3, 4),)), ("Threshold", "0.1, 20, inplace=True", ((3, 4),)),
    ("Softmax", "dim=0", ((3, 4),)), ("Softmin", "1", ((3, 4),)), ("LogSoftmax", "-1", ((3, 4),)), ("Softmax2d", "", ((2, 3, 2, 2),)),
    *((name, "0.3", ((4, 3, 5),)) for name in ("Dropout", "Dropout1d", "AlphaDropout", "FeatureAlphaDropout")),
    ("Dropout2d", "0.3, inplace=True", ((4, 3, 5, 2),)), ("Dropout3d", "", ((4, 3, 5, 2, 1),)),
    ("Flatten", "", ((2, 3, 4),)), ("Flatten", "0, 1", ((2, 3, 4),)), ("Unflatten", "1, (2, 3)", ((2, 6),)),
    ("PixelShuffle", "2", ((1, 8, 2, 3),)), ("PixelUnshuffle", "2", ((1, 2, 4, 6),)), ("ChannelShuffle", "2", ((1, 4, 2, 2),)),
    ("Fold", "(4, 5), (2, 2)", ((1, 8, 12),)), ("Unfold", "(2, 3), padding=1", ((1, 2, 4, 5),)),
    ("CosineSimilarity", "", ((3, 4), (3, 4))), ("CosineSimilarity", "dim=0, eps=1e-3", ((3, 4), (3, 4))),
    ("PairwiseDistance", "", ((3, 4), (3, 4))), ("PairwiseDistance", "1.0, keepdim=True", ((3, 4), (3, 4))),
    ("Upsample", "scale_factor=2", ((1, 2, 3, 4),)), ("Upsample", "(5, 6), mode='bilinear', align_corners=True", ((1, 2, 3, 4),)),
    ("Upsample", "scale_factor=(2, 3), mode='bilinear'", ((1, 2, 3, 4),)), ("Upsample", "7, mode='linear'", ((1, 2, 3),)),
    ("UpsamplingNearest2d", "scale_factor=2", ((1, 2, 3, 4),)), ("UpsamplingBilinear2d", "(5, 6)", ((1, 2, 3, 4),)),
    *((f"{kind}Pad{n}d", "2" if kind != "Constant" else "2, 3.5", ((1, 2, 4, 5, 4)[: n + 2],))
      for kind in ("Circular", "Constant", "Reflection", "Replication", "Zero") for n in (1, 2, 3)),
    ("ZeroPad2d", "(1, 2, 0, -1)", ((1, 2, 4, 5),)), ("ReflectionPad1d", "(1, 2)", ((2, 4),)),
    ("Embedding", "5, 3", (I(5, 2, 4),)), ("Embedding", "5, 3, padding_idx=1, scale_grad_by_freq=True", (I(5, 2, 4),)),
    ("Embedding", "5, 3, max_norm=1.0", (I(5, 2, 4),)),
    ("EmbeddingBag", "5, 3, max_norm=0.5, mode='sum'", (I(5, 2, 4),)),
    ("EmbeddingBag", "5, 3", (I(5, 2, 4),)), ("EmbeddingBag", "5, 3, mode='sum', padding_idx=1", (I(5, 6), np.array([0, 2]))),
    ("EmbeddingBag", "5, 3, mode='max', include_last_offset=True", (I(5, 6), np.array([0, 2, 6]))),
    ("RNN", "3, 4", ((5, 2, 3),)), ("RNN", "3, 4, 2, 'relu', bidirectional=True, bias=False", ((5, 2, 3), (4, 2, 4))),
    ("LSTM", "3, 4", ((5, 2, 3),)), ("LSTM", "3, 4, 2, batch_first=True, bidirectional=True", ((2, 5, 3), ((4, 2, 4), (4, 2, 4)))),
    ("LSTM", "3, 4, proj_size=2, num_layers=2", ((5, 2, 3),)), ("LSTM", "3, 4", ((5, 3),)),
    ("GRU", "3, 4", ((5, 2, 3),)), ("GRU", "3, 4, 2, False, True, 0.0, True", ((2, 5, 3),)),
    ("RNNCell", "3, 4", ((2, 3),)), ("RNNCell", "3, 4, False, 'relu'", ((2, 3), (2, 4))), ("LSTMCell", "3, 4", ((2, 3),)),
    ("LSTMCell", "3, 4, bias=False", ((2, 3), ((2, 4), (2, 4)))), ("GRUCell", "3, 4", ((2, 3), (2, 4))), ("GRUCell", "3, 4", ((3,),)),
    ("MultiheadAttention", "4, 2", ((5, 3, 4), (5, 3, 4), (5, 3, 4))),
    ("MultiheadAttention", "4, 2, batch_first=True, kdim=3, vdim=5, bias=False", ((2, 5, 4), (2, 6, 3), (2, 6, 5), mask(2, 6))),
    ("MultiheadAttention", "4, 2, add_bias_kv=True, add_zero_attn=True", ((5, 4), (5, 4), (5, 4))),
    ("TransformerEncoderLayer", "4, 2, 8, 0.0", ((5, 3, 4), CAUSAL)),
    ("TransformerEncoderLayer", "4, 2, 8, 0.0, 'gelu', batch_first=True, norm_first=True, bias=False", ((3, 5, 4), None, mask(3, 5))),
    ("TransformerDecoderLayer", "4, 2, 8, 0.0", ((5, 3, 4), (6, 3, 4), CAUSAL)),
    ("TransformerDecoderLayer", "4, 2, 8, 0.0, norm_first=True, batch_first=True", ((3, 5, 4), (3, 6, 4))),
    ("TransformerEncoder", "nn.TransformerEncoderLayer(4, 2, 8, 0.0), 2, nn.LayerNorm(4), enable_nested_tensor=False", ((5, 3, 4),)),
    ("TransformerDecoder", "nn.TransformerDecoderLayer(4, 2, 8, 0.0), 2", ((5, 3, 4), (6, 3, 4))),
    ("Transformer", "4, 2, 1, 2, 8, 0.0", ((5, 3, 4), (6, 3, 4))),
    *((name, arguments, ((3, 4), (3, 4))) for name in ("L1Loss", "MSELoss", "SmoothL1Loss", "HuberLoss")
      for arguments in ("", "reduction='sum'", "reduction='none'")),
    ("SmoothL1Loss", "beta=0.5", ((3, 4), (3, 4))), ("HuberLoss", "'sum', 0.3", ((3, 4), (3, 4))), ("MSELoss", "None, False", ((3, 4), (3, 4))),
    ("SoftMarginLoss", "", ((3, 4), S(3, 4))), ("MultiLabelMarginLoss", "", ((2, 4), np.array([[3, 0, -1, 1], [1, -1, 0, 2]]))),
    ("KLDivLoss", "reduction='batchmean'", ((3, 4), P(3, 4))), ("KLDivLoss", "None, None, 'sum', True", ((3, 4), (3, 4))),
    ("BCELoss", "", (P(3, 4), P(3, 4))), ("BCELoss", "nn.tensor([1.0, 2.0, 3.0, 4.0])", (P(3, 4), P(3, 4))),
    ("BCEWithLogitsLoss", "", ((3, 4), P(3, 4))),
    ("BCEWithLogitsLoss", "reduction='sum', pos_weight=nn.tensor([1.0, 2.0, 3.0, 4.0])", ((3, 4), P(3, 4))),
    ("MultiLabelSoftMarginLoss", "", ((3, 4), P(3, 4).round())), ("NLLLoss", "", ((3, 4), I(4, 3))),
    ("NLLLoss", "nn.tensor([1.0, 2.0, 3.0, 4.0]), ignore_index=1", ((3, 4), I(4, 3))), ("NLLLoss2d", "", ((3, 4, 2, 2), I(4, 3, 2, 2))),
    ("CrossEntropyLoss", "", ((3, 4), I(4, 3))), ("CrossEntropyLoss", "label_smoothing=0.1, reduction='sum'", ((3, 4, 5), I(4, 3, 5))),
    ("CrossEntropyLoss", "nn.tensor([1.0, 2.0, 3.0, 4.0]), ignore_index=1", ((3, 4), I(4, 3))), ("CrossEntropyLoss", "", ((3, 4), P(3, 4))),
    ("MultiMarginLoss", "", ((3, 4), I(4, 3))), ("MultiMarginLoss", "2, 0.5, nn.tensor([1.0, 2.0, 3.0, 4.0])", ((3, 4), I(4, 3))),
    ("CosineEmbeddingLoss", "0.1", ((3, 4), (3, 4), S(3))), ("MarginRankingLoss", "0.1", ((3,), (3,), S(3))),
    ("HingeEmbeddingLoss", "", ((3, 4), S(3, 4))), ("TripletMarginLoss", "0.5, swap=True", ((3, 4), (3, 4), (3, 4))),
    ("TripletMarginWithDistanceLoss", "margin=0.5", ((3, 4), (3, 4), (3, 4))),
    ("PoissonNLLLoss", "", ((3, 4), I(4, 3, 4) * 1.0)), ("PoissonNLLLoss", "False, full=True, reduction='sum'", (P(3, 4), I(4, 3, 4) * 1.0)),
    ("GaussianNLLLoss", "full=True", ((3, 4), (3, 4), P(3, 4))),
    ("AdaptiveLogSoftmaxWithLoss", "8, 10, [3, 6], 2.0, True", ((7, 8), np.array([0, 9, 3, 5, 2, 6, 3]))),
    ("AdaptiveLogSoftmaxWithLoss", "8, 5, (2,)", ((8,), np.array(4))), ("AdaptiveLogSoftmaxWithLoss", "8, 5, [2]", ((2, 8), np.array([1, 0]))),
    ("LinearCrossEntropyLoss", "5, 7", ((3, 5), I(7, 3))), ("LinearCrossEntropyLoss", "5, 7, bias=True, ignore_index=1", ((5,), np.array(4))),
    ("LinearCrossEntropyLoss", "5, 7, out_features=(2, 3), bias=True, label_smoothing=0.1, reduction='sum'", ((3, 5), I(7, 3, 2, 3))),
    ("LinearCrossEntropyLoss", "5, 4, weight=nn.tensor([1.0, 2.0, 3.0, 4.0]), reduction='none'", ((3, 5), P(3, 4))),
    ("CTCLoss", "", ((6, 2, 4), I(3, 2, 3) + 1, np.array([6, 5]), np.array([3, 2]))),
]  # fmt: skip

# Classes of torch.nn that no row asks, and where they are asked or why they are not here.
LEFT = {
    "Module Sequential ModuleList ModuleDict ParameterList ParameterDict Parameter Buffer RNNBase RNNCellBase": "test_modules",
    "Lazy* UninitializedParameter UninitializedBuffer": "test_lazy",
    "FractionalMaxPool2d FractionalMaxPool3d": "test_fractional",
    "Container": "was ModuleList's name once",
    "DataParallel": "one device",
    "SyncBatchNorm": "test_data_parallel: that of gs.distributed is of all ranks, that of nn of one process",
    "CrossMapLRN2d": "test_layers_of_nn: PyTorch's gradients are not the derivatives of its values",
    "LinearCrossEntropyOptions": "test_linear_loss",
}
