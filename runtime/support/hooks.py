"""Handles of registered hooks, which remove a hook from its dictionary."""

import itertools

_ids = itertools.count()


class RemovableHandle:
    """Removes a hook; as a context manager, on exit.

    Parameters
    ----------
    hooks : dict
        The dictionary of the hooks, in execution order.
    hook : callable
        Added to `hooks` under the handle's `id`.
    """

    def __init__(self, hooks, hook):
        if not callable(hook):
            raise TypeError(f"register_hook: expected a callable, got {type(hook).__name__}")
        self.id = next(_ids)
        self._hooks = hooks
        hooks[self.id] = hook

    def remove(self):
        """Remove the hook; a second call has no effect."""
        self._hooks.pop(self.id, None)

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        self.remove()
