"""Ranges that the user names.

Defines the range as a context manager and as a decorator; the event belongs to the event stream.
"""

from __future__ import annotations

import contextlib

from ..core.events import span


class record_function(span, contextlib.ContextDecorator):
    """Group the operations inside under a name, in a profile and for every listener.

    Parameters
    ----------
    name : str
    args : str, optional
        Further information about the range.

    Examples
    --------
    >>> with gs.profiler.profile() as prof:
    ...     with gs.profiler.record_function("twice"):
    ...         y = gs.exp(gs.exp(gs.ones(3)))
    >>> [event.name for event in prof.events()]
    ['twice', 'ones', 'exp', 'exp']
    """

    def _recreate_cm(self) -> record_function:
        """A new range for each call of a decorated function, in the calling thread."""
        return type(self)(self.name, self.args)
