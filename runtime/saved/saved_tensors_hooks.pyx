"""Saved-tensor hooks: the blocks that apply hooks to every saved tensor, or that refuse such hooks.

Holds one stack of hooks for each thread.
"""

from ..core.grad_mode cimport SAVED_HOOKS, ThreadObjects, thread_objects, thread_state


class saved_tensors_hooks:
    """Pack every tensor saved inside the block, and unpack it when backward needs it.

    Parameters
    ----------
    pack_hook : callable
        Gets a tensor, returns anything.
    unpack_hook : callable
        Takes the result of `pack_hook`, returns a tensor with the same values.
    """

    def __init__(self, pack_hook, unpack_hook):
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self):
        cdef ThreadObjects objects = thread_objects()
        if objects.hooks_disabled:
            raise RuntimeError(objects.hooks_disabled[-1])
        objects.saved_hooks.append((self.pack_hook, self.unpack_hook))
        thread_state().flags |= SAVED_HOOKS

    def __exit__(self, *exc_info):
        cdef list hooks = thread_objects().saved_hooks
        if hooks:
            hooks.pop()
        if not hooks:
            thread_state().flags &= ~<unsigned int> SAVED_HOOKS


class disable_saved_tensors_hooks:
    """Refuse `saved_tensors_hooks` inside the block.

    Parameters
    ----------
    error_message : str
        Message of the RuntimeError.
    """

    def __init__(self, error_message):
        self.error_message = error_message

    def __enter__(self):
        cdef ThreadObjects objects = thread_objects()
        if objects.saved_hooks:
            raise RuntimeError(self.error_message)
        objects.hooks_disabled.append(self.error_message)

    def __exit__(self, *exc_info):
        thread_objects().hooks_disabled.pop()
