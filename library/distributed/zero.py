"""ZeroRedundancyOptimizer: each rank keeps the state of its share of the parameters, and updates this share for all ranks.

Decides which rank updates which parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

import gradspec as gs

from ..optim import Optimizer
from .buckets import broadcast
from .data_parallel import world
from .join import Join, Said


class ZeroRedundancyOptimizer(Optimizer):
    """An optimiser whose state is divided among the ranks: each rank has a share of the memory and of the work of a step.

    Each rank updates its own parameters, and sends them to the others.  The gradients must be equal on all ranks, like the
    gradients of `DistributedDataParallel`.

    Parameters
    ----------
    params : iterable of Tensor, or of dict
        As for any optimiser, the same on each rank.
    optimizer_class : type
        One of `gradspec.optim`.
    comm : mpi4py.MPI.Comm, optional
        `MPI.COMM_WORLD` by default.
    **defaults
        Options of `optimizer_class`.

    Examples
    --------
    >>> optimizer = ZeroRedundancyOptimizer(model.parameters(), gs.optim.Adam, lr=0.01)          # doctest: +SKIP
    """

    def __init__(
        self, params: Iterable[Any], optimizer_class: type[Optimizer], comm: Any = None, **defaults: Any
    ) -> None:
        self.comm = world(comm)
        self._join: Join | None = None
        self._whole: dict[str, Any] | None = None
        self._class, self._options = optimizer_class, defaults
        self.optim: Optimizer | None = None  # of this rank's share
        if optimizer_class._step is not Optimizer._step:
            raise TypeError(f"ZeroRedundancyOptimizer: a step of {optimizer_class.__name__} needs all parameters at once, so it "
                            "cannot be divided; use it on each rank")  # fmt: skip
        params = list(params)
        super().__init__(params, optimizer_class(params, **defaults).defaults)
        self._divide()

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Optimise more parameters; the state of the others is kept.

        Parameters
        ----------
        param_group : dict
            As for any optimiser, the same on each rank.
        """
        super().add_param_group(param_group)
        if self.optim is not None:
            group = self.param_groups[-1]
            self._owners.append(self._shares(group["params"]))
            self.optim.add_param_group({**self._bare(group), "params": self._own(len(self.param_groups) - 1)})

    def _shares(self, params: list[gs.Tensor]) -> list[int]:
        """The rank of each parameter: the largest first, each to the rank with the smallest share."""
        owners = [0] * len(params)
        for number in sorted(range(len(params)), key=lambda number: -params[number].size):
            owners[number] = rank = self._loads.index(min(self._loads))
            self._loads[rank] += params[number].size
        return owners

    def _own(self, number: int, rank: int | None = None) -> list[gs.Tensor]:
        rank = self.comm.Get_rank() if rank is None else rank
        return [param for param, owner in zip(self.param_groups[number]["params"], self._owners[number]) if owner == rank]

    def _bare(self, group: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in group.items() if name not in ("params", "param_names")}

    def _divide(self) -> None:
        self._loads = [0] * self.comm.Get_size()
        self._owners = [self._shares(group["params"]) for group in self.param_groups]
        groups = [{**self._bare(group), "params": self._own(number)} for number, group in enumerate(self.param_groups)]
        self.optim = self._class(groups, **self._options)

    def _step(self, closure: Callable[[], gs.Tensor] | None) -> gs.Tensor | None:
        assert self.optim is not None
        for own, group in zip(self.optim.param_groups, self.param_groups):
            own.update(self._bare(group))
        loss = self.optim.step(closure)
        for rank in range(self.comm.Get_size()):
            theirs = [param for number in range(len(self.param_groups)) for param in self._own(number, rank)]
            if theirs:
                broadcast(self.comm, theirs, rank)
        return loss

    # State.

    def consolidate_state_dict(self, to: int = 0) -> None:
        """Gather the state of all ranks on rank `to`, which may then call `state_dict`; all ranks have to call this.

        Parameters
        ----------
        to : int
        """
        assert self.optim is not None
        parts = self.comm.gather(self.optim.state_dict()["state"], root=to)
        self._whole = None
        if parts is None:
            return
        places = self._places()
        self._whole = {places[rank][number]: state for rank, part in enumerate(parts) for number, state in part.items()}

    def _places(self) -> list[list[int]]:
        """For each rank, the indices of its own parameters among all parameters, in its order."""
        owners = list(chain.from_iterable(self._owners))
        return [[number for number, owner in enumerate(owners) if owner == rank] for rank in range(self.comm.Get_size())]

    def state_dict(self) -> dict[str, Any]:
        """The state of all parameters, in the form that the optimiser of a single process returns.

        Returns
        -------
        dict

        Raises
        ------
        RuntimeError
            If it has not been gathered on this rank: see `consolidate_state_dict`.
        """
        if self._whole is None:
            raise RuntimeError("Optimizer state has not been consolidated on this rank. Please call `consolidate_state_dict("
                               f"to={self.comm.Get_rank()})` on all ranks beforehand if you meant to "
                               "save the global state.")  # fmt: skip
        return {"state": dict(sorted(self._whole.items())), "param_groups": super().state_dict()["param_groups"]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue from the state of an optimiser of any number of ranks; each keeps its share.

        Parameters
        ----------
        state_dict : dict
            The same on each rank.
        """
        assert self.optim is not None
        super().load_state_dict({**state_dict, "state": {}})
        place = {number: i for i, number in enumerate(self._places()[self.comm.Get_rank()])}
        own = self.optim.state_dict()["param_groups"]
        groups = [{**self._bare(group), "params": mine["params"]} for group, mine in zip(self.param_groups, own)]
        share = {place[number]: state for number, state in state_dict["state"].items() if number in place}
        self.optim.load_state_dict({"state": share, "param_groups": groups})

    # Ranks with less data.

    def _shadow(self, said: Said) -> None:
        if any(said):
            self.step()

    def _settle(self, root: int) -> None:
        pass
