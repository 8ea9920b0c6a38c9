"""The functions of gradspec.nn under PyTorch's path: `import gradspec.nn.functional as F`.

Owns nothing: it re-exports `gradspec.nn`.
"""

from .._nn import *  # noqa: F403
from .._nn import __all__ as _operators
from .connectionist import ctc_loss as ctc_loss
from .recurrent import gru as gru
from .recurrent import lstm as lstm
from .recurrent import pad_sequence as pad_sequence
from .recurrent import rnn_relu as rnn_relu
from .recurrent import rnn_tanh as rnn_tanh
from .running import batch_norm as batch_norm
from .running import instance_norm as instance_norm
from .sampling import gumbel_softmax as gumbel_softmax

__all__ = sorted(["ctc_loss", "gru", "lstm", "pad_sequence", "rnn_relu", "rnn_tanh", *_operators])


def __dir__() -> list[str]:
    return list(__all__)
