"""Recurrent layers: RNN, LSTM and GRU over whole sequences, padded or packed, and their cells.

Defines the names of the weights of layers and directions; `nn.recurrent` runs the loops.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, cast

import gradspec as gs

from .. import functional as F
from .. import init, recurrent
from ..packing import PackedSequence, pack_padded_sequence, pad_packed_sequence
from ..parameter import Parameter, parameter
from .module import Module

STEPS: dict[str, tuple[str, Callable[..., Any], int]] = {  # mode -> its name in messages, its step, and its number of gates
    "LSTM": ("lstm", recurrent.lstm_step, 4),
    "GRU": ("gru", recurrent.gru_step, 3),
    "RNN_TANH": ("rnn_tanh", recurrent.simple_step(F.tanh), 1),
    "RNN_RELU": ("rnn_relu", recurrent.simple_step(F.relu), 1),
}


class RNNBase(Module):
    """Base of the recurrent layers.

    Parameters
    ----------
    mode : {'LSTM', 'GRU', 'RNN_TANH', 'RNN_RELU'}
    input_size, hidden_size : int
    num_layers : int
    bias : bool
    batch_first : bool
        Whether sequences are (batch, time, components) instead of (time, batch, components).
    dropout : float
        Probability of dropping an element between two layers in training.
    bidirectional : bool
        Whether a second network of each layer reads the sequence from its end.
    proj_size : int
        Length of the projected states of an LSTM; 0 for no projection.
    device : str, optional
    dtype : dtype, optional

    Attributes
    ----------
    weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0, weight_hr_l0 : Parameter
        Parameters of the first layer.  The names for the second layer end in `_l1`, for the second direction in `_l0_reverse`.
    """

    def __init__(
        self, mode: str, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True, batch_first: bool = False,
        dropout: float = 0.0, bidirectional: bool = False, proj_size: int = 0, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if isinstance(dropout, bool) or not isinstance(dropout, (int, float)) or not 0 <= dropout <= 1:
            raise ValueError("dropout should be a number in range [0, 1] representing the probability of an element being zeroed")
        if mode not in STEPS:
            raise ValueError("Unrecognized RNN mode: " + mode)
        if hidden_size <= 0 or num_layers <= 0:
            raise ValueError(f"{'hidden_size' if hidden_size <= 0 else 'num_layers'} must be greater than zero")
        if not 0 <= proj_size < hidden_size:
            raise ValueError("proj_size should be a positive integer, smaller than hidden_size, or zero to disable projections")
        if proj_size and mode != "LSTM":
            raise ValueError("proj_size is only supported for LSTM")
        self.mode, self.input_size, self.hidden_size, self.num_layers = mode, input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout, self.bidirectional = bias, batch_first, float(dropout), bidirectional
        self.proj_size = proj_size
        self._names: list[list[str]] = []
        rows, state = STEPS[mode][2] * hidden_size, proj_size or hidden_size
        for layer in range(num_layers):
            for direction in range(1 + bidirectional):
                columns = input_size if layer == 0 else state * (1 + bidirectional)
                shapes: list[tuple[str, tuple[int, ...]]] = [("weight_ih", (rows, columns)), ("weight_hh", (rows, state))]
                shapes += [("bias_ih", (rows,)), ("bias_hh", (rows,))] if bias else []
                shapes += [("weight_hr", (proj_size, hidden_size))] if proj_size else []
                end = f"_l{layer}{'_reverse' * direction}"
                self._names.append([name + end for name, _ in shapes])
                for name, shape in shapes:
                    setattr(self, name + end, parameter(shape, device, dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reinitialise the parameters, uniform between -1 / sqrt(hidden_size) and 1 / sqrt(hidden_size)."""
        bound = 1 / math.sqrt(self.hidden_size)
        for value in self.parameters():
            init.uniform_(value, -bound, bound)

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._names]

    def flatten_parameters(self) -> None:
        """Without effect: the parameters need no common memory."""

    def forward(self, x: gs.Tensor | PackedSequence, hx: Any = None) -> tuple[Any, Any]:
        packed = x if isinstance(x, PackedSequence) else None
        sizes, batch_first = None, self.batch_first
        if packed is not None:
            data, lengths = pad_packed_sequence(PackedSequence(packed.data, packed.batch_sizes))
            sizes, batch_first = packed.batch_sizes.tolist(), False
        else:
            data = cast(gs.Tensor, x)
        if data.ndim not in (2, 3):
            raise ValueError(f"{type(self).__name__}: Expected input to be 2D or 3D, got {data.ndim}D instead")
        if data.shape[-1] != self.input_size:
            raise RuntimeError(f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {data.shape[-1]}")
        states = self._states(data, hx, batch_first, packed)
        name, step, gates = STEPS[self.mode]
        weights = [weight for weights in self.all_weights for weight in weights]
        y, *after = recurrent.network(name, step, gates, data, states, weights, self.bias, self.num_layers, self.dropout,
                                      self.training, self.bidirectional, batch_first, None, sizes,
                                      self.proj_size > 0)  # fmt: skip
        if packed is None:
            return y, tuple(after) if self.mode == "LSTM" else after[0]
        if packed.unsorted_indices is not None:
            after = [state[:, packed.unsorted_indices] for state in after]
        found = pack_padded_sequence(y, lengths).data
        result = PackedSequence(found, packed.batch_sizes, packed.sorted_indices, packed.unsorted_indices)
        return result, tuple(after) if self.mode == "LSTM" else after[0]

    def _states(self, data: gs.Tensor, hx: Any, batch_first: bool, packed: PackedSequence | None) -> list[gs.Tensor]:
        """The initial states; zeros by default."""
        layers = self.num_layers * (1 + self.bidirectional)
        batch = () if data.ndim == 2 else (data.shape[0 if batch_first else 1],)
        if hx is None:
            lengths = [self.proj_size or self.hidden_size, self.hidden_size][: 1 + (self.mode == "LSTM")]
            return [gs.zeros((layers, *batch, length), dtype=data.dtype) for length in lengths]
        states = list(hx) if self.mode == "LSTM" else [hx]
        if packed is not None and packed.sorted_indices is not None:
            states = [state[:, packed.sorted_indices] for state in states]
        return states

    def extra_repr(self) -> str:
        shown = f"{self.input_size}, {self.hidden_size}"
        for name, usual in (("proj_size", 0), ("num_layers", 1), ("bias", True), ("batch_first", False), ("dropout", 0.0),
                            ("bidirectional", False)):  # fmt: skip
            if getattr(self, name) != usual:
                shown += f", {name}={getattr(self, name)}"
        return shown


class RNN(RNNBase):
    """A simple recurrent network over sequences.

    Parameters
    ----------
    input_size, hidden_size, num_layers : int
    nonlinearity : {'tanh', 'relu'}
    bias, batch_first, dropout, bidirectional, device, dtype
        As for `RNNBase`.
    """

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, nonlinearity: str = "tanh", bias: bool = True,
        batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(f"RNN_{nonlinearity.upper()}", input_size, hidden_size, num_layers, bias, batch_first, dropout,
                         bidirectional, 0, device, dtype)  # fmt: skip
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """Long short-term memory over sequences; returns the results, and the final states and cells.

    Parameters
    ----------
    input_size, hidden_size, num_layers : int
    bias, batch_first, dropout, bidirectional, proj_size, device, dtype
        As for `RNNBase`.
    """

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True, batch_first: bool = False,
        dropout: float = 0.0, bidirectional: bool = False, proj_size: int = 0, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__("LSTM", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, proj_size,
                         device,
                         dtype)  # fmt: skip


class GRU(RNNBase):
    """Gated recurrent units over sequences.

    Parameters
    ----------
    input_size, hidden_size, num_layers : int
    bias, batch_first, dropout, bidirectional, device, dtype
        As for `RNNBase`.
    """

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True, batch_first: bool = False,
        dropout: float = 0.0, bidirectional: bool = False, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__("GRU", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, 0, device, dtype)


class RNNCellBase(Module):
    """Base of the cells: the weights of one step.

    Parameters
    ----------
    input_size, hidden_size : int
    bias : bool
    num_chunks : int
        Number of gates.
    device : str, optional
    dtype : dtype, optional
    """

    weight_ih: Parameter
    weight_hh: Parameter
    bias_ih: Parameter | None
    bias_hh: Parameter | None

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        self.weight_ih = parameter((num_chunks * hidden_size, input_size), device, dtype)
        self.weight_hh = parameter((num_chunks * hidden_size, hidden_size), device, dtype)
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, parameter(num_chunks * hidden_size, device, dtype) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reinitialise the parameters, uniform between -1 / sqrt(hidden_size) and 1 / sqrt(hidden_size)."""
        bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for value in self.parameters():
            init.uniform_(value, -bound, bound)

    def _step(self, cell: Callable[..., Any], x: gs.Tensor, states: Any) -> Any:
        if x.ndim not in (1, 2):
            raise ValueError(f"{type(self).__name__}: Expected input to be 1D or 2D, got {x.ndim}D instead")
        if states is None:
            zeros = gs.zeros((*x.shape[:-1], self.hidden_size), dtype=x.dtype)
            states = (zeros, zeros) if isinstance(self, LSTMCell) else zeros
        return cell(x, states, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)

    def extra_repr(self) -> str:
        shown = f"{self.input_size}, {self.hidden_size}" + (f", bias={self.bias}" if not self.bias else "")
        nonlinearity = getattr(self, "nonlinearity", "tanh")
        return shown if nonlinearity == "tanh" else f"{shown}, nonlinearity={nonlinearity}"


class RNNCell(RNNCellBase):
    """One step of a simple recurrent network.

    Parameters
    ----------
    input_size, hidden_size : int
    bias : bool
    nonlinearity : {'tanh', 'relu'}
    device : str, optional
    dtype : dtype, optional
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity: {nonlinearity}")
        self.nonlinearity = nonlinearity

    def forward(self, x: gs.Tensor, hx: gs.Tensor | None = None) -> gs.Tensor:
        return self._step(F.rnn_tanh_cell if self.nonlinearity == "tanh" else F.rnn_relu_cell, x, hx)


class LSTMCell(RNNCellBase):
    """One step of long short-term memory; takes and returns a pair of states and cells.

    Parameters
    ----------
    input_size, hidden_size : int
    bias : bool
    device : str, optional
    dtype : dtype, optional
    """

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, x: gs.Tensor, hx: tuple[gs.Tensor, gs.Tensor] | None = None) -> tuple[gs.Tensor, gs.Tensor]:
        return self._step(F.lstm_cell, x, hx)


class GRUCell(RNNCellBase):
    """One step of gated recurrent units.

    Parameters
    ----------
    input_size, hidden_size : int
    bias : bool
    device : str, optional
    dtype : dtype, optional
    """

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, x: gs.Tensor, hx: gs.Tensor | None = None) -> gs.Tensor:
        return self._step(F.gru_cell, x, hx)
