"""Settings of a block for all checkpoints and backward passes in it, which override the checkpoints' arguments."""

import threading
import weakref
from typing import Any, Self


class _Setting:
    value = None  # of the innermost block; None leaves the choice to the call

    def __init__(self, enable: bool | None) -> None:
        self.enable = enable

    def __enter__(self) -> None:
        kind = type(self)
        self._previous, kind.value = kind.value, self.enable

    def __exit__(self, *exc_info: object) -> None:
        type(self).value = self._previous

    @classmethod
    def or_else(cls, argument: bool) -> bool:
        return argument if cls.value is None else cls.value


class set_checkpoint_early_stop(_Setting):
    """Whether checkpoints whose forward runs inside the block stop their second run as soon as it has what is needed.

    Parameters
    ----------
    enable : bool
    """


class set_checkpoint_debug_enabled(_Setting):
    """Whether errors of checkpoints whose forward runs inside the block list the saved values, regardless of their `debug`.

    Parameters
    ----------
    enable : bool or None
        None keeps the choice of `debug`.
    """


class GraphExecGroup:
    """A context manager: the backward passes inside share one recomputation of each checkpointed region.

    The passes have to use different parts of the graph, even with `retain_graph=True`: a saved value can be taken once. The group
    applies to one thread, and not to checkpoints with `use_reentrant=True`.

    Raises
    ------
    RuntimeError
        If another group is active.

    Examples
    --------
    >>> x = gs.ones((3,), requires_grad=True)
    >>> y, z = gs.utils.checkpoint.checkpoint(lambda x: (gs.sin(x), gs.exp(gs.sin(x))), x, use_reentrant=False)
    >>> with gs.utils.checkpoint.GraphExecGroup():
    ...     (from_y,) = gs.autograd.grad(y.sum(), x, retain_graph=True)
    ...     (from_z,) = gs.autograd.grad(z.sum(), x)
    """

    _thread = threading.local()

    def __init__(self) -> None:
        self._runs: Any = weakref.WeakKeyDictionary()  # region -> its second run

    @classmethod
    def _current(cls) -> Self | None:
        return getattr(cls._thread, "group", None)

    @classmethod
    def _advice(cls) -> str:
        """Advice for a value that an earlier pass has taken."""
        if cls._current() is None:
            return "If you are calling ctx.saved_tensors in backward, make sure to do so only once."
        return ("Performing two backward calls that overlap, which need the same saved value, is not allowed inside of a "
                "GraphExecGroup: leave it in between.")  # fmt: skip

    def _run_of(self, region: Any) -> Any:
        if region not in self._runs:
            self._runs[region] = region.second_run()
        return self._runs[region]

    def __enter__(self) -> Self:
        if self._current() is not None:
            raise RuntimeError("GraphExecGroup contexts cannot be nested: leave the one that is open first")
        self._thread.group = self
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._thread.group = None
        self._runs.clear()
