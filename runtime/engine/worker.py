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
_starting = set()  # the numbers of threads that start another: until that one runs, Python takes their number for its own
if hasattr(os, "register_at_fork"):  # the threads do not live on in a child
    os.register_at_fork(after_in_child=_idle.clear)
    os.register_at_fork(after_in_child=_starting.clear)


class _Worker:
    """One thread, which runs one call at a time.

    A call that is not None has a living thread, whose exceptions end in `_work`.  Exceptions from elsewhere arrive where a
    function begins or returns and where a loop goes back, and nowhere else: two statements without a call stay together.
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
        self._end.acquire()  # until the thread is inside of `try`

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
        except BaseException as late:  # sent when no call ran; this thread ends, which the caller sees
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
                if self._call is None:  # it arrived when the call was over, and perhaps `acquire` with it
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
            error = interruption = None  # no circle through the traceback

    def _interrupt(self, kind):
        """Raise an exception in the thread, if that may be now: the caller must not go on while the call still runs."""
        import ctypes

        ident, kind = self._thread.ident, ctypes.py_object(kind)
        number, send = ctypes.c_ulong(ident), ctypes.pythonapi.PyThreadState_SetAsyncExc
        if ident in _starting:
            return False
        if self._call is not None:  # else another thread may have the number by now
            send(number, kind)
        return True


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
