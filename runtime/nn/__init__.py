"""Neural networks: gradspec.nn, with PyTorch's paths `nn.functional`, `nn.init`, `nn.modules` and `nn.utils` to what is here.

Owns the names.  Modules call functions; these are operators of the spec, operators beside the buffers that they write to, and
loops over sequences.
"""

from typing import TYPE_CHECKING

import gradspec  # noqa: F401 (waits for it)

from .._nn import *  # noqa: F403
from .._nn import __all__ as _operators
from .attention import multi_head_attention_forward as multi_head_attention_forward
from .bags import embedding_bag as embedding_bag
from .bags import triplet_margin_with_distance_loss as triplet_margin_with_distance_loss
from .connectionist import ctc_loss as ctc_loss
from .lookup import embedding as embedding
from .packing import PackedSequence as PackedSequence
from .packing import pack_padded_sequence as pack_padded_sequence
from .packing import pad_packed_sequence as pad_packed_sequence
from .padding import pad as pad
from .recurrent import gru as gru
from .recurrent import lstm as lstm
from .recurrent import pad_sequence as pad_sequence
from .recurrent import rnn_relu as rnn_relu
from .recurrent import rnn_tanh as rnn_tanh
from .running import batch_norm as batch_norm
from .running import instance_norm as instance_norm
from .sampling import gumbel_softmax as gumbel_softmax
from ..support.later import later

# The classes are imported when one of them is asked for: who calls functions does not wait for them.
_modules = (
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveLogSoftmaxWithLoss",
    "AdaptiveMaxPool1d", "AdaptiveMaxPool2d", "AdaptiveMaxPool3d", "AlphaDropout",
    "AvgPool1d", "AvgPool2d", "AvgPool3d", "BCELoss", "BCEWithLogitsLoss",
    "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "Bilinear", "CELU", "CTCLoss", "ChannelShuffle", "CircularPad1d",
    "CircularPad2d", "CircularPad3d", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d", "Conv1d", "Conv2d", "Conv3d",
    "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d", "CosineEmbeddingLoss", "CosineSimilarity", "CrossEntropyLoss",
    "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "ELU", "Embedding", "EmbeddingBag", "FeatureAlphaDropout", "Flatten",
    "Fold", "GELU", "GLU", "GRU", "GRUCell", "GaussianNLLLoss", "GroupNorm", "Hardshrink", "Hardsigmoid", "Hardswish",
    "Hardtanh", "HingeEmbeddingLoss", "HuberLoss", "Identity", "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d",
    "KLDivLoss", "L1Loss", "LPPool1d", "LPPool2d", "LPPool3d", "LSTM", "LSTMCell", "LayerNorm", "LeakyReLU", "Linear",
    "LocalResponseNorm", "LogSigmoid", "LogSoftmax", "MSELoss", "MarginRankingLoss", "MaxPool1d", "MaxPool2d", "MaxPool3d",
    "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d", "Mish", "Module", "ModuleDict", "ModuleList", "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss", "MultiMarginLoss", "MultiheadAttention", "NLLLoss", "NLLLoss2d", "PReLU",
    "PairwiseDistance", "ParameterDict", "ParameterList", "PixelShuffle", "PixelUnshuffle", "PoissonNLLLoss", "RMSNorm",
    "RNN", "RNNBase", "RNNCell", "RNNCellBase", "RReLU", "ReLU", "ReLU6", "ReflectionPad1d", "ReflectionPad2d",
    "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d", "ReplicationPad3d", "SELU", "Sequential", "SiLU", "Sigmoid",
    "SmoothL1Loss", "SoftMarginLoss", "Softmax", "Softmax2d", "Softmin", "Softplus", "Softshrink", "Softsign",
    "SyncBatchNorm", "Tanh", "Tanhshrink", "Threshold", "Transformer", "TransformerDecoder", "TransformerDecoderLayer",
    "TransformerEncoder", "TransformerEncoderLayer", "TripletMarginLoss", "TripletMarginWithDistanceLoss", "Unflatten",
    "Unfold", "Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d",
)  # fmt: skip

if TYPE_CHECKING:
    from . import functional as functional, init as init, modules as modules, parameter as parameter, utils as utils
    from .modules import *  # noqa: F403
    from .parameter import Buffer as Buffer
    from .parameter import Parameter as Parameter
else:
    __getattr__ = later(__name__, {
        "": ("functional", "init", "modules", "parameter", "utils"), "modules": _modules, "parameter": ("Buffer", "Parameter"),
    })  # fmt: skip

__all__ = sorted([
    "Buffer", "PackedSequence", "Parameter", "ctc_loss", "embedding_bag", "functional", "gru", "init", "lstm", "modules",
    "multi_head_attention_forward", "pack_padded_sequence", "pad", "pad_packed_sequence", "pad_sequence", "parameter", "rnn_relu",
    "rnn_tanh",
    "triplet_margin_with_distance_loss", "utils", *_modules, *_operators,
])  # fmt: skip


def __dir__() -> list[str]:
    return list(__all__)
