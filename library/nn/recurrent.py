"""Run recurrent networks over whole sequences, in several layers and both directions, and pad sequences to one length.

Runs the loops over time, layers and directions.  Each step consists of operators, so derivatives of all orders exist.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .. import _nn
from ..core.conversion import asarray
from ..generated import ops
from ..generated.tensor import Tensor

if TYPE_CHECKING:  # for checkers alone: it is slow to import
    import numpy.typing as npt

__all__ = ["gru", "lstm", "pad_sequence", "rnn_relu", "rnn_tanh"]
__dir__ = __all__.copy

# (input times its weights, states, weights of the states, their bias) -> new states
Step = Callable[[Tensor, list[Tensor], Tensor, "Tensor | None"], list[Tensor]]


def rnn_tanh(
    x: Tensor | npt.ArrayLike,
    hx: Tensor | npt.ArrayLike,
    params: Sequence[Tensor | npt.ArrayLike],
    has_biases: bool = True,
    num_layers: int = 1,
    dropout: float = 0.0,
    train: bool = False,
    bidirectional: bool = False,
    batch_first: bool = False,
    *,
    generator: Any = None,
) -> tuple[Tensor, Tensor]:
    """A simple recurrent network with tanh over a sequence.

    Parameters
    ----------
    x : array_like
        (time, batch, components), or (batch, time, components) if `batch_first`, or (time, components).
    hx : array_like
        The initial states, (layers * directions, batch, states), without the batch axis if `x` lacks it.
    params : sequence of array_like
        For each layer, and in it for each direction: the weights of the input, the weights of the state, and if `has_biases`
        the biases of both.
    has_biases : bool
    num_layers : int
    dropout : float
        Probability of dropping an element between two layers, if `train`.
    train : bool
    bidirectional : bool
        Whether a second network of each layer reads the sequence from its end.
    batch_first : bool
    generator : numpy.random.Generator or int, optional
        Source of the random numbers of the dropout, or a seed.

    Returns
    -------
    tuple of Tensor
        The states of the last layer at each time, and the final states of all layers.

    Examples
    --------
    >>> y, h = gs.nn.rnn_tanh([[1.0], [0.0]], [[0.0]], [[[1.0]], [[2.0]]], has_biases=False)
    >>> y.tolist(), h.tolist()
    ([[0.7615941559557649], [0.9092516739969425]], [[0.9092516739969425]])
    """
    found = network("rnn_tanh", simple_step(ops.tanh), 1, x, [hx], params, has_biases, num_layers, dropout, train, bidirectional,
                     batch_first, generator)  # fmt: skip
    return found[0], found[1]


def rnn_relu(
    x: Tensor | npt.ArrayLike,
    hx: Tensor | npt.ArrayLike,
    params: Sequence[Tensor | npt.ArrayLike],
    has_biases: bool = True,
    num_layers: int = 1,
    dropout: float = 0.0,
    train: bool = False,
    bidirectional: bool = False,
    batch_first: bool = False,
    *,
    generator: Any = None,
) -> tuple[Tensor, Tensor]:
    """A simple recurrent network with relu over a sequence.

    Parameters
    ----------
    x, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first, generator
        As for `rnn_tanh`.

    Returns
    -------
    tuple of Tensor
        The states of the last layer at each time, and the final states of all layers.

    Examples
    --------
    >>> y, h = gs.nn.rnn_relu([[1.0], [0.0]], [[0.0]], [[[1.0]], [[2.0]]], has_biases=False)
    >>> y.tolist(), h.tolist()
    ([[1.0], [2.0]], [[2.0]])
    """
    found = network("rnn_relu", simple_step(_nn.relu), 1, x, [hx], params, has_biases, num_layers, dropout, train, bidirectional,
                     batch_first, generator)  # fmt: skip
    return found[0], found[1]


def gru(
    x: Tensor | npt.ArrayLike,
    hx: Tensor | npt.ArrayLike,
    params: Sequence[Tensor | npt.ArrayLike],
    has_biases: bool = True,
    num_layers: int = 1,
    dropout: float = 0.0,
    train: bool = False,
    bidirectional: bool = False,
    batch_first: bool = False,
    *,
    generator: Any = None,
) -> tuple[Tensor, Tensor]:
    """Gated recurrent units over a sequence.

    The rows of the weights are in the order of gru_cell: reset gate, update gate, new state.

    Parameters
    ----------
    x, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first, generator
        As for `rnn_tanh`.

    Returns
    -------
    tuple of Tensor
        The states of the last layer at each time, and the final states of all layers.

    Examples
    --------
    >>> y, h = gs.nn.gru([[1.0]], [[2.0]], [[[0.0], [0.0], [0.0]], [[0.0], [0.0], [0.0]]], has_biases=False)
    >>> y.tolist(), h.tolist()
    ([[1.0]], [[1.0]])
    """
    found = network("gru", gru_step, 3, x, [hx], params, has_biases, num_layers, dropout, train, bidirectional, batch_first,
                     generator)  # fmt: skip
    return found[0], found[1]


def lstm(
    x: Tensor | npt.ArrayLike,
    hx: Sequence[Tensor | npt.ArrayLike],
    params: Sequence[Tensor | npt.ArrayLike],
    has_biases: bool = True,
    num_layers: int = 1,
    dropout: float = 0.0,
    train: bool = False,
    bidirectional: bool = False,
    batch_first: bool = False,
    *,
    generator: Any = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Long short-term memory over a sequence.

    The rows of the weights are in the order of lstm_cell: input gate, forget gate, cell, output gate.

    Parameters
    ----------
    x : array_like
        As for `rnn_tanh`.
    hx : pair of array_like
        The initial states and the initial cells, each of the shape that `rnn_tanh` takes.
    params, has_biases, num_layers, dropout, train, bidirectional, batch_first, generator
        As for `rnn_tanh`.

    Returns
    -------
    tuple of Tensor
        The states of the last layer at each time, and the final states and cells of all layers.

    Examples
    --------
    >>> weights = [[[0.0], [0.0], [0.0], [0.0]], [[0.0], [0.0], [0.0], [0.0]]]
    >>> y, h, c = gs.nn.lstm([[1.0]], ([[2.0]], [[4.0]]), weights, has_biases=False)
    >>> y.tolist(), h.tolist(), c.tolist()
    ([[0.48201379003790845]], [[0.48201379003790845]], [[2.0]])
    """
    states = list(hx)
    if len(states) != 2:
        raise ValueError(f"lstm: hx must hold the states and the cells, got {len(states)} arrays")
    found = network("lstm", lstm_step, 4, x, states, params, has_biases, num_layers, dropout, train, bidirectional, batch_first,
                     generator)  # fmt: skip
    return found[0], found[1], found[2]


def pad_sequence(
    sequences: Sequence[Tensor | npt.ArrayLike],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Stack sequences of several lengths into one array, each padded to the longest.

    Parameters
    ----------
    sequences : sequence of array_like
        Time along axis 0; the other axes are of the same lengths.
    batch_first : bool
        Whether the new axis of the sequences comes before the time axis, or after it.
    padding_value : float
    padding_side : str
        'right' behind the end, or 'left' before the beginning.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> gs.nn.pad_sequence([[1.0, 2.0], [3.0]], batch_first=True)
    tensor([[1., 2.],
            [3., 0.]])
    """
    if padding_side not in ("right", "left"):
        raise ValueError(f"pad_sequence: padding_side must be 'right' or 'left', got {padding_side!r}")
    arrays = [asarray(sequence) for sequence in sequences]
    if not arrays or any(array.ndim < 1 for array in arrays):
        raise ValueError("pad_sequence: expected at least one sequence, each with an axis of time")
    longest = max(array.shape[0] for array in arrays)
    padded = []
    for array in arrays:
        missing = longest - array.shape[0]
        ends = (missing, 0) if padding_side == "left" else (0, missing)
        widths = (ends, *((0, 0),) * (array.ndim - 1))
        padded.append(ops.pad(array, widths, constant_values=padding_value) if missing else array)
    return ops.stack(padded, 0 if batch_first else 1)


def simple_step(activation: Callable[[Tensor], Tensor]) -> Step:
    def step(entry: Tensor, states: list[Tensor], w_hh: Tensor, b_hh: Tensor | None) -> list[Tensor]:
        return [activation(entry + _nn.linear(states[0], w_hh, b_hh))]

    return step


def gru_step(entry: Tensor, states: list[Tensor], w_hh: Tensor, b_hh: Tensor | None) -> list[Tensor]:
    (h,) = states
    ins, held = ops.split(entry, 3, -1), ops.split(_nn.linear(h, w_hh, b_hh), 3, -1)
    fresh = ops.tanh(ins[2] + _nn.sigmoid(ins[0] + held[0]) * held[2])
    return [fresh + _nn.sigmoid(ins[1] + held[1]) * (h - fresh)]


def lstm_step(entry: Tensor, states: list[Tensor], w_hh: Tensor, b_hh: Tensor | None) -> list[Tensor]:
    h, c = states
    gates, size = entry + _nn.linear(h, w_hh, b_hh), w_hh.shape[0] // 4
    at, forget, _, out = ops.split(_nn.sigmoid(gates), 4, -1)  # of all gates at once: of a part, which is strided, it takes longer
    c = forget * c + at * ops.tanh(gates[..., 2 * size : 3 * size])
    return [out * ops.tanh(c), c]


def network(
    name: str,
    step: Step,
    gates: int,
    x: Tensor | npt.ArrayLike,
    states: Sequence[Tensor | npt.ArrayLike],
    params: Sequence[Tensor | npt.ArrayLike],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
    generator: Any,
    sizes: Sequence[int] | None = None,
    projected: bool = False,
) -> list[Tensor]:
    """The outputs of the last layer at each time, and the final states.

    `sizes` are the numbers of examples that have each time step, longest example first; outputs of other examples are undefined.
    If `projected`, the last array of a layer projects the state of each step to a shorter one.
    """
    x, before, weights = asarray(x), [asarray(state) for state in states], [asarray(param) for param in params]
    directions, each = 2 if bidirectional else 1, (4 if has_biases else 2) + projected
    if x.ndim not in (2, 3):
        raise ValueError(f"{name}: x must be of shape (time, batch, components) or (time, components), got {tuple(x.shape)}")
    if num_layers < 1 or len(weights) != num_layers * directions * each:
        raise ValueError(f"{name}: {num_layers} layers of {directions} directions with {each} arrays each need "
                         f"{num_layers * directions * each} params, got {len(weights)}")  # fmt: skip
    swapped = batch_first and x.ndim == 3
    if swapped:
        x = ops.swapaxes(x, 0, 1)
    if x.shape[0] == 0:
        raise ValueError(f"{name}: a sequence has a length, got x of shape {tuple(asarray(x).shape)}")
    size = weights[1].shape[-1]
    width = weights[each - 1].shape[-1] if projected else size
    for number, state in enumerate(before):
        wanted = (num_layers * directions, *x.shape[1:-1], width if number else size)
        if tuple(state.shape) != wanted:
            raise ValueError(f"{name}: the states before must be of shape {wanted}, got {tuple(state.shape)}")
    behind: list[list[Tensor]] = [[] for _ in before]
    for layer in range(num_layers):
        sides = []
        for direction in range(directions):
            place = layer * directions + direction
            w_ih, w_hh, *rest = weights[place * each : (place + 1) * each]
            biases = rest[:2] if has_biases else []
            if w_hh.shape != (gates * width, size) or w_ih.shape[:1] != w_hh.shape[:1]:
                raise ValueError(f"{name}: weights of shapes {tuple(w_ih.shape)} and {tuple(w_hh.shape)} are not {gates} "
                                 f"times {width} rows")  # fmt: skip
            if biases and step is not gru_step:  # both are added at once: to the inputs of all steps
                biases = [biases[0] + biases[1], None]
            entries = list(ops.unstack(_nn.linear(x, w_ih, biases[0] if biases else None)))
            held = [state[place] for state in before]
            outs = []
            for time in range(len(entries))[:: -1 if direction else 1]:
                count = entries[time].shape[0] if sizes is None else sizes[time]
                ending = count < entries[time].shape[0]
                entry, going = (entries[time][:count], [state[:count] for state in held]) if ending else (entries[time], held)
                going = step(entry, going, w_hh, biases[1] if biases else None)
                if projected:
                    going[0] = _nn.linear(going[0], rest[-1])
                held = [ops.concat([new, old[count:]]) for new, old in zip(going, held)] if ending else going
                outs.append(held[0])
            for states_of, last in zip(behind, held):
                states_of.append(last)
            sides.append(ops.stack(outs[::-1] if direction else outs))
        x = sides[0] if directions == 1 else ops.concat(sides, -1)
        if dropout and train and layer < num_layers - 1:
            x = _nn.dropout(x, dropout, generator=generator)
    return [ops.swapaxes(x, 0, 1) if swapped else x, *(ops.stack(found) for found in behind)]
