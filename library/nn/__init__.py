"""Neural networks: gradspec.nn, with PyTorch's paths `nn.functional`, `nn.init`, `nn.modules` and `nn.utils`.

Modules call functions.  The functions are operators of the spec, operators with buffers that they write to, and loops over
sequences.
"""

from typing import TYPE_CHECKING

import gradspec  # noqa: F401 (waits for it)

from .._nn import *  # noqa: F403
from .._nn import __all__ as _operators
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
from ..support.lazy_import import later

# `modules` defines the classes; it is imported when one of them is first requested, so that calling functions does not wait for
# it.
_parameters = "Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter"

_names = [
    "PackedSequence", "ctc_loss", "embedding_bag", "fractional_max_pool2d", "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d", "fractional_max_pool3d_with_indices", "functional", "gru", "init", "linear_cross_entropy", "lstm",
    "modules",
    "multi_head_attention_forward", "pack_padded_sequence", "pad", "pad_packed_sequence", "pad_sequence", "parameter", "rnn_relu",
    "rnn_tanh", "triplet_margin_with_distance_loss", "utils", *_operators, *_parameters,
]  # fmt: skip

if TYPE_CHECKING:
    from . import functional as functional, init as init, modules as modules, parameter as parameter, utils as utils
    from .modules import *  # noqa: F403
    from .parameter import Buffer as Buffer
    from .parameter import Parameter as Parameter
    from .parameter import UninitializedBuffer as UninitializedBuffer
    from .parameter import UninitializedParameter as UninitializedParameter
else:
    __getattr__ = later(__name__, {
        "": ("functional", "init", "modules", "parameter", "utils"), "parameter": _parameters,
    }, rest="modules", names=_names)  # fmt: skip


def __dir__() -> list[str]:
    from . import modules

    return sorted([*_names, *modules.__all__])
