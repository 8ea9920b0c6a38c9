"""The functions of gradspec.nn under PyTorch's path: `import gradspec.nn.functional as F`."""

import gradspec  # noqa: F401 (waits for it)

from .._nn import *  # noqa: F403
from .._nn import __all__ as _operators
from ..support.lazy_import import answer
from .attention import multi_head_attention_forward as multi_head_attention_forward
from .bags import embedding_bag as embedding_bag
from .bags import triplet_margin_with_distance_loss as triplet_margin_with_distance_loss
from .ctc import ctc_loss as ctc_loss
from .fractional import fractional_max_pool2d as fractional_max_pool2d
from .fractional import fractional_max_pool2d_with_indices as fractional_max_pool2d_with_indices
from .fractional import fractional_max_pool3d as fractional_max_pool3d
from .fractional import fractional_max_pool3d_with_indices as fractional_max_pool3d_with_indices
from .linear_loss import linear_cross_entropy as linear_cross_entropy
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
from .running_statistics import batch_norm as batch_norm
from .running_statistics import instance_norm as instance_norm
from .sampling import gumbel_softmax as gumbel_softmax

__all__ = sorted([
    "PackedSequence", "ctc_loss", "embedding_bag", "fractional_max_pool2d", "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d", "fractional_max_pool3d_with_indices", "gru", "linear_cross_entropy", "lstm",
    "multi_head_attention_forward", "pack_padded_sequence", "pad", "pad_packed_sequence", "pad_sequence", "rnn_relu",
    "rnn_tanh", "triplet_margin_with_distance_loss", *_operators,
])  # fmt: skip
answer(__name__)
