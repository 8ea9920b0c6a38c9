"""Handles of registered hooks.

Owns the removal of a hook from the dictionary that holds it.  Does not know what hooks are called with.
"""

import itertools

_ids = itertools.count()


class RemovableHandle:
    """Removes a hook again; also a context manager that removes it on exit.

    Parameters
    ----------
    hooks : dict
        The dictionary that holds the hooks, in the order in which they run.
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
        """Forget the hook; removing it twice is fine."""
        self._hooks.pop(self.id, None)

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        self.remove()
