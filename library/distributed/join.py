"""Join: ranks with less data take part in the communication of the other ranks.

Runs the rounds: in each round, every rank reports whether it has data.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, Self

Said = list["bool | None"]  # for each rank: whether this round ends in a sum of gradients; None for a rank without data


class Joinable(Protocol):
    """Objects that communicate with other ranks in each round."""

    comm: Any
    _join: Join | None

    def _shadow(self, said: Said) -> None: ...  # action of a rank without data in a round
    def _settle(self, root: int) -> None: ...  # final action of all ranks; `root` had data in the last round


class Join:
    """A context that lets ranks run out of data at different times; it ends for all ranks with the last one.

    Parameters
    ----------
    joinables : sequence of DistributedDataParallel and ZeroRedundancyOptimizer
        In the order of their use in a round, a model first.
    enable : bool
        False has no effect: all ranks have equally many batches.
    throw_on_early_termination : bool
        Raise on all ranks when the first runs out of data.

    Examples
    --------
    >>> with Join([model, optimizer]):                      # doctest: +SKIP
    ...     for batch in batches_of_this_rank:
    ...         optimizer.zero_grad()
    ...         loss_of(model(batch)).backward()
    ...         optimizer.step()
    """

    def __init__(self, joinables: Sequence[Joinable], enable: bool = True, throw_on_early_termination: bool = False) -> None:
        if not joinables:
            raise ValueError("Join: there is nothing that talks to other ranks; give it the model")
        self.joinables, self.enable, self.throws = list(joinables), enable, throw_on_early_termination
        self.comm = self.joinables[0].comm
        self.last = 0

    def round(self, mine: bool | None) -> Said:
        """Exchange with all ranks whether they have data."""
        said = list(self.comm.allgather(mine))
        there = [rank for rank, sums in enumerate(said) if sums is not None]
        if there:
            self.last = there[-1]
            if self.throws and len(there) < len(said):
                without = [rank for rank, sums in enumerate(said) if sums is None]
                raise RuntimeError(f"Join: rank {', '.join(map(str, without))} exhausted all inputs, and others have more")
        return said

    def __enter__(self) -> Self:
        if self.enable:
            for joinable in self.joinables:
                if joinable._join is not None:
                    raise RuntimeError("Join: a context of the same model or optimiser is open already")
            for joinable in self.joinables:
                joinable._join = self
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if not self.enable:
            return
        try:
            if kind is None:
                while (said := self.round(None)).count(None) < len(said):
                    for joinable in self.joinables:
                        joinable._shadow(said)
                for joinable in self.joinables:
                    joinable._settle(self.last)
        finally:
            for joinable in self.joinables:
                joinable._join = None
