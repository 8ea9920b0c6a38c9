"""Workers: threads that lend a caller a stack of their own.

Owns a small pool of them, how a call and its error travel, and what becomes of Ctrl-C while a caller waits.  Knows
nothing of gradients.
"""

import contextvars
import os
import threading

IDLE_LIMIT = 8  # workers that are kept for the next call
_PATIENCE = 0.1  # seconds between two looks at what was sent to this thread while it waits

_idle = []
if hasattr(os, "register_at_fork"):  # the threads do not live on in a child
    os.register_at_fork(after_in_child=_idle.clear)


class _Worker:
    """One thread, which runs one call at a time."""

    def __init__(self):
        self._begin, self._end = threading.Lock(), threading.Lock()
        self._begin.acquire()
        self._end.acquire()
        self._call = self._result = self._error = None
        self._thread = threading.Thread(target=self._work, name="gradspec-worker", daemon=True)
        self._thread.start()

    def _work(self):
        interrupted = False
        while not interrupted:
            self._begin.acquire()
            if self._call is None:
                return
            try:
                try:
                    self._result = self._call()
                except BaseException as error:
                    self._error = error
            except BaseException as late:  # sent when the call was over
                self._error, interrupted = self._error or late, True
            finally:
                self._call = None
                self._end.release()

    def run(self, call):
        """The result of `call()`; an interrupted worker is not used again."""
        self._call, interruption = call, None
        self._begin.release()
        while True:
            try:
                while not self._end.acquire(timeout=_PATIENCE):  # the jump back is inside of `try`: an exception may arrive at it
                    pass
                break
            except BaseException as error:
                interruption = error
                if self._call is None:  # it arrived when the call was over, and perhaps `acquire` with it
                    break
                _send(self._thread.ident, type(error))
        error, result, self._error, self._result = self._error, self._result, None, None
        if interruption is None and len(_idle) < IDLE_LIMIT:
            _idle.append(self)
        else:
            self._begin.release()  # without a call: the thread ends
        try:
            if error is not None or interruption is not None:
                raise error or interruption
            return result
        finally:
            error = interruption = None  # no circle through the traceback


def _send(thread, kind):
    """Raise an exception in the thread that works: the caller must not go on while the call still runs."""
    import ctypes

    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(kind))


def run_on_own_stack(call):
    """Call `call()` on the stack of another thread, in this one's context, and wait for it.

    Parameters
    ----------
    call : callable

    Returns
    -------
    object
        What it returns; what it raises is raised here.
    """
    context = contextvars.copy_context()
    try:
        worker = _idle.pop()
    except IndexError:
        worker = _Worker()
    return worker.run(lambda: context.run(call))
