"""A range that the user names.

Owns its form as a context and as a decorator; the event is the stream's.
"""

from __future__ import annotations

import contextlib

from ..core.events import span


class record_function(span, contextlib.ContextDecorator):
    """Put what runs inside under a name, in a profile and for every listener.

    Parameters
    ----------
    name : str
    args : str, optional
        What else is to be known of it.

    Examples
    --------
    >>> with gs.profiler.profile() as prof:
    ...     with gs.profiler.record_function("twice"):
    ...         y = gs.exp(gs.exp(gs.ones(3)))
    >>> [event.name for event in prof.events()]
    ['twice', 'ones', 'exp', 'exp']
    """

    def _recreate_cm(self) -> record_function:
        """A call of a decorated function is a range of its own, on whichever thread it runs."""
        return type(self)(self.name, self.args)
