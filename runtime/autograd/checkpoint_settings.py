"""What a block says of all checkpoints in it, over their own arguments.

Owns the two settings and no checkpoint.
"""


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
    """Whether errors of checkpoints whose forward runs inside the block list what was saved, whatever `debug` they are given.

    Parameters
    ----------
    enable : bool or None
        None leaves it to `debug`.
    """
