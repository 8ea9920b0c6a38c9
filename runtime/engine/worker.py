"""Workers: threads that run a call on a stack of their own.

Holds a small pool of threads.  Transfers a call, its result and its error between threads, and handles Ctrl-C while the caller
waits.  Independent of gradients.
"""

import contextvars
import os
import threading

IDLE_LIMIT = 8  # workers kept for later calls
_PATIENCE = 0.1  # seconds between two checks for exceptions sent to the waiting thread

_idle = []
_starting = set()  # ids of threads that are starting a worker: until it runs, Python knows it by their id
if hasattr(os, "register_at_fork"):  # the threads do not survive in a child
    os.register_at_fork(after_in_child=_idle.clear)
    os.register_at_fork(after_in_child=_starting.clear)


class _Worker:
    """One thread, which runs one call at a time.

    A call that is not None has a living thread, whose exceptions end in `_work`.  Asynchronous exceptions are raised only at
    the beginning and the end of functions and where loops jump back: two statements without a call are not separated.
    """

    def __init__(self):
        self._begin, self._end = threading.Lock(), threading.Lock()
        self._begin.acquire()
        self._end.acquire()
        self._call = self._result = self._error = None
        self._ended = False
        self._thread = threading.Thread(target=self._work, name="gradspec-worker", daemon=True)
        starter = threading.get_ident()
        try:
            _starting.add(starter)
            self._thread.start()
        finally:
            _starting.discard(starter)
        self._end.acquire()  # wait until the thread is inside of `try`

    def _work(self):
        try:
            self._end.release()
            while True:
                self._begin.acquire()
                if self._call is None:
                    return
                try:
                    self._result = self._call()
                except BaseException as error:
                    self._error = error
                self._call = None
                self._end.release()
        except BaseException as late:  # sent when no call ran; this thread ends, and the caller sees that
            self._call, self._error, self._ended = None, self._error or late, True

    def run(self, call):
        """The result of `call()`; an interrupted worker is not used again."""
        self._call = call
        begun, interruption, unsent = False, None, False
        while True:
            try:
                if not begun:
                    begun = True
                    self._begin.release()
                if unsent:
                    unsent = not self._interrupt(type(interruption))
                if self._end.acquire(timeout=_PATIENCE) or not self._thread.is_alive():
                    break
            except BaseException as error:
                interruption, unsent = error, True
                if self._call is None:  # it arrived after the end of the call, and perhaps during `acquire`
                    break
        error, result, self._error, self._result, self._call = self._error, self._result, None, None, None
        if interruption is None and not self._ended and len(_idle) < IDLE_LIMIT:
            _idle.append(self)
        else:
            self._begin.release()  # without a call: the thread ends
        try:
            if error is not None or interruption is not None:
                raise error or interruption
            return result
        finally:
            error = interruption = None  # avoid a cycle through the traceback

    def _interrupt(self, kind):
        """Raise an exception in the thread, if possible now: the caller must not continue while the call still runs."""
        import ctypes

        ident, kind = self._thread.ident, ctypes.py_object(kind)
        number, send = ctypes.c_ulong(ident), ctypes.pythonapi.PyThreadState_SetAsyncExc
        if ident in _starting:
            return False
        if self._call is not None:  # else the id may belong to a new thread
            send(number, kind)
        return True


def run_on_own_stack(call):
    """Run `call()` on the stack of a worker thread, in the caller's context, and wait for it.

    Parameters
    ----------
    call : callable

    Returns
    -------
    object
        The result of the call; its exceptions are raised here.
    """
    context = contextvars.copy_context()
    try:
        worker = _idle.pop()
    except IndexError:
        worker = _Worker()
    return worker.run(lambda: context.run(call))
