"""The modes of a thread: no_grad, enable_grad, set_grad_enabled, inference_mode, and switches of rarer settings.

Holds the thread-local state and the context managers that switch its flags.
"""

from cpython.ref cimport PyObject

import functools
import inspect
import warnings
from _thread import get_ident

from ..support.capi cimport PyThreadState_GetDict

cdef extern from "gradspec/core/grad_mode.h":
    unsigned long long gradspec_thread_bytes[16]


cdef bint inference_used = False
cdef ModeChanged mode_changed = NULL


cdef ThreadState* thread_state() noexcept nogil:
    return <ThreadState*> &gradspec_thread_bytes[0]


cdef class ThreadObjects:
    """Objects that the modes of one thread need beside their flags.

    They belong to Python's dictionary of the thread and end with it; the struct only points to them.
    """

    def __dealloc__(self):
        if self.state == thread_state():  # an interpreter that ends clears the dictionaries of other threads too
            self.state.objects = NULL
            self.state.dual_level = 0
            self.state.flags &= ~<unsigned int> (
                DUAL | BATCHED | SAVED_HOOKS | LISTENING | BY_OPERATOR | MAPPED)


cdef ThreadObjects thread_objects():
    """This thread's objects, created on first use."""
    cdef ThreadState* state = thread_state()
    cdef ThreadObjects objects
    if state.objects == NULL:
        objects = ThreadObjects.__new__(ThreadObjects)
        objects.state = state
        objects.dual_levels, objects.saved_hooks, objects.hooks_disabled, objects.listeners = [], [], [], ()
        (<dict> PyThreadState_GetDict())["gradspec"] = objects
        state.objects = <PyObject*> objects
    return <ThreadObjects> state.objects


def is_grad_enabled():
    """Whether operations are recorded in this thread."""
    return not thread_state().flags & GRAD_DISABLED


def next_sequence_nr():
    """The number of the next node that this thread creates."""
    return thread_state().sequence_nr


def is_inference_mode_enabled():
    """Whether this thread is inside `inference_mode`."""
    return bool(thread_state().flags & INFERENCE)


cdef unsigned int _replace(object mode, unsigned int mask, unsigned int bits) except? 0:
    """Set the flags under `mask` to `bits` for a mode that is entered or left; returns their previous values."""
    cdef ThreadState* state = thread_state()
    cdef unsigned int previous = state.flags & mask
    state.flags = (state.flags & ~mask) | bits
    if state.flags & INFERENCE:  # inside, no mode switches recording on again
        state.flags |= GRAD_DISABLED
    if state.flags & LISTENING:
        mode_changed(type(mode).__name__, state.flags)
    return previous


class _Mode:
    """A context manager and decorator that sets some flags of the thread and restores them.

    One object may be entered several times, and by several threads: the flags to restore are kept for each entry.
    """

    _mask = GRAD_DISABLED
    _bits = 0

    def __enter__(self):
        self.__dict__.setdefault("_previous", {}).setdefault(get_ident(), []).append(_replace(self, self._mask, self._bits))

    def __exit__(self, *exc_info):
        before = self._previous[get_ident()]
        _replace(self, self._mask, before.pop())
        if not before:
            del self._previous[get_ident()]

    def __call__(self, function):
        if inspect.isclass(function):
            warnings.warn(
                "Decorating classes is deprecated: the mode applies to __init__ only. Decorate the methods instead.",
                FutureWarning, stacklevel=2,
            )
            function.__init__ = self(function.__init__)
            return function
        if inspect.isgeneratorfunction(function):
            return self._wrap_generator(function)
        if inspect.iscoroutinefunction(function):
            return self._wrap_coroutine(function)

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            with self._clone():
                return function(*args, **kwargs)
        return wrapper

    def _clone(self):
        return type(self)()

    def _wrap_generator(self, function):
        """Apply the mode while the generator runs, and the caller's modes while it is suspended."""
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            generator = function(*args, **kwargs)
            return (yield from _resume(generator, self._clone))
        return wrapper

    def _wrap_coroutine(self, function):
        @functools.wraps(function)
        async def wrapper(*args, **kwargs):
            return await _Awaitable(function(*args, **kwargs), self._clone)
        return wrapper


class _Awaitable:
    def __init__(self, coroutine, mode):
        self.coroutine, self.mode = coroutine, mode

    def __await__(self):
        return _resume(self.coroutine, self.mode)


def _resume(generator, mode):
    """Drive `generator`, entering `mode()` for each step only."""
    try:
        with mode():
            value = generator.send(None)
        while True:
            try:
                sent = yield value
            except GeneratorExit:
                with mode():
                    generator.close()
                raise
            except BaseException as error:
                with mode():
                    value = generator.throw(error)
            else:
                with mode():
                    value = generator.send(sent)
    except StopIteration as stop:
        return stop.value


class no_grad(_Mode):
    """Record nothing: results do not require grad.

    A context manager and a decorator, with or without parentheses.

    Parameters
    ----------
    function : callable, optional
        The function to decorate, where the decorator has no parentheses.
    """

    _bits = GRAD_DISABLED

    def __new__(cls, function=None):
        self = super().__new__(cls)
        return self if function is None else self(function)

    def __init__(self, function=None):
        pass


class enable_grad(no_grad):
    """Record again inside `no_grad`; a context manager and a decorator.

    Parameters
    ----------
    function : callable, optional
        As for `no_grad`.
    """

    _bits = 0


class _Switch(_Mode):
    """A mode that the call sets immediately; as a context manager it is restored on exit, as a decorator after each call.

    A class has `_choices`: the bits of each mode.
    """

    def __init__(self, mode):
        if mode not in self._choices:
            *others, last = map(repr, self._choices)
            error = TypeError if True in self._choices else ValueError
            raise error(f"{type(self).__name__}: mode must be {', '.join(others)} or {last}, got {mode!r}")
        self.mode, self._bits = mode, self._choices[mode]
        self._before = _replace(self, self._mask, self._bits)
        self._thread = get_ident()

    def __enter__(self):
        if self._before is not None and get_ident() == self._thread:  # already set by the call
            self.__dict__.setdefault("_previous", {}).setdefault(get_ident(), []).append(self._before)
            self._before = None
            _replace(self, self._mask, self._bits)
        else:
            super().__enter__()

    def __call__(self, function):
        if self._before is not None:
            _replace(self, self._mask, self._before)
        return super().__call__(function)

    def _clone(self):
        return type(self)(self.mode)


class set_grad_enabled(_Switch):
    """Switch recording on or off, immediately; as a context manager it is restored on exit.

    Parameters
    ----------
    mode : bool
    """

    _choices = {False: GRAD_DISABLED, True: 0}


class set_mutation_on_saved_tensors(_Switch):
    """Choose between keeping and refusing a saved value that a recorded in-place write changes.

    A function whose setting lasts until the next call in this thread; also a context manager and a decorator.

    Parameters
    ----------
    mode : {"copy", "error"}
        "copy", the default, keeps the old value for the node, so that its gradient is correct; "error" refuses in backward,
        as PyTorch does.  A write that is not recorded (under `no_grad`, through `data`) is refused in both modes.
    """

    _mask, _choices = REFUSE_MUTATION, {"copy": 0, "error": REFUSE_MUTATION}


class _force_original_view_tracking(_Switch):
    """Choose whether a view follows its base by replaying its operators (True), or by strides if they express it.

    Parameters
    ----------
    mode : bool
    """

    _mask, _choices = REPLAY_VIEWS, {False: 0, True: REPLAY_VIEWS}


class set_multithreading_enabled(_Switch):
    """Allow backward passes to use several threads, or forbid it.

    The engine currently runs every pass in one thread, in a deterministic order.  The setting says whether code may rely on
    that order, as `_current_graph_task_execution_order` does.

    Parameters
    ----------
    mode : bool
    """

    _mask, _choices = ONE_THREAD, {False: ONE_THREAD, True: 0}


def is_multithreading_enabled():
    """Whether backward passes of this thread may use several threads."""
    return not thread_state().flags & ONE_THREAD


class _set_fwd_grad_enabled(_Switch):
    """Switch the propagation of tangents on or off.

    Parameters
    ----------
    mode : bool
    """

    _mask, _choices = FORWARD_DISABLED, {False: FORWARD_DISABLED, True: 0}


def _is_fwd_grad_enabled():
    """Whether tangents propagate in this thread."""
    return not thread_state().flags & FORWARD_DISABLED


def is_view_replay_enabled():
    """Whether views follow their base by replaying their operators."""
    return bool(thread_state().flags & REPLAY_VIEWS)


class inference_mode(_Mode):
    """Like `no_grad`, and results are inference tensors: they have no version and cannot be saved for a later backward pass.

    Parameters
    ----------
    mode : bool or callable
        False keeps the surrounding grad mode; a function is decorated.
    """

    _mask = GRAD_DISABLED | INFERENCE

    def __new__(cls, mode=True):
        self = super().__new__(cls)
        if callable(mode):
            self.__init__(True)
            return self(mode)
        return self

    def __init__(self, mode=True):
        global inference_used
        inference_used = True
        self.mode = bool(mode)
        self._bits = GRAD_DISABLED | INFERENCE if mode else 0
        if not mode:
            self._mask = INFERENCE

    def _clone(self):
        return inference_mode(self.mode)
