"""The functions of neural networks: gradspec.nn, and PyTorch's paths `nn.functional` and `nn.utils` to what is here.

Owns the names.  The functions are operators of the spec, operators beside the buffers that they write to, and loops over
sequences.  The latter two, and the two paths, are imported when they are named.
"""

from typing import TYPE_CHECKING

from .. import _nn
from .._nn import *  # noqa: F403
from ..support.later import later
from .running import batch_norm as batch_norm
from .running import instance_norm as instance_norm
from .sampling import gumbel_softmax as gumbel_softmax

if TYPE_CHECKING:
    from . import functional, utils
    from .connectionist import ctc_loss as ctc_loss
    from .recurrent import gru as gru
    from .recurrent import lstm as lstm
    from .recurrent import pad_sequence as pad_sequence
    from .recurrent import rnn_relu as rnn_relu
    from .recurrent import rnn_tanh as rnn_tanh

__all__ = sorted([
    "ctc_loss", "functional", "gru", "lstm", "pad_sequence", "rnn_relu", "rnn_tanh", "utils", *_nn.__all__,
])  # fmt: skip

if not TYPE_CHECKING:  # for a checker nothing is found that is not written above
    __getattr__ = later(__name__, {
        "": ("functional", "utils"),
        "connectionist": ("ctc_loss",),
        "recurrent": ("gru", "lstm", "pad_sequence", "rnn_relu", "rnn_tanh"),
    })  # fmt: skip


def __dir__() -> list[str]:
    return list(__all__)
