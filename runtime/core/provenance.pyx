"""Provenance: find the user's line that recorded a node.

Holds the origin of every recorded node: a number for the code object, and the offset of the instruction.  If backward fails, a
note on the error names the line.  In anomaly mode also the whole traceback is kept, and the node that was running (the parent);
warnings show them.

An origin costs a node 8 bytes and no reference: this module numbers the code objects and keeps them alive.  At most LIMIT code
objects without another reference are kept; a node whose code object is gone can still name its operator.
"""

from cpython.ref cimport Py_DECREF, PyObject
from libc.stdint cimport uint64_t, uintptr_t

import sys
import warnings

from ..support.capi cimport Py_REFCNT
from .grad_mode cimport ANOMALY, ThreadObjects, ThreadState
from ..support.named_result import named
from .node cimport Node

cdef extern from "gradspec/support/cpython.h":
    PyObject* gradspec_instruction(unsigned int*)
    int PyCode_Check(PyObject*)
    ctypedef struct PyCodeObject
    int PyCode_Addr2Line(PyCodeObject*, int)
    PyObject* gradspec_frame()
    PyObject* gradspec_caller(PyObject*)
    PyObject* gradspec_code(PyObject*, int*)

cdef enum:
    RECENT = 256    # code objects whose numbers are found without a dictionary
    LIMIT = 4096

cdef struct Recent:
    void* code
    uint64_t number         # in the upper half

cdef Recent[RECENT] recent
cdef void* own[RECENT]       # code objects of the library
cdef dict numbers = {}      # address of a code object -> its number
cdef dict codes = {}        # number -> code object
cdef uint64_t last_number = 0
cdef Py_ssize_t limit = LIMIT

PACKAGE = __name__.partition(".")[0] + "."
GENERATED = PACKAGE + "generated."


def is_own(frame):
    """Whether the frame runs a function of the library."""
    return frame.f_globals.get("__name__", "").startswith(PACKAGE)


cdef uint64_t current_line() noexcept:
    """The origin of a node that is created now; 0 if no Python function runs."""
    cdef unsigned int offset = 0
    cdef PyObject* code = gradspec_instruction(&offset)
    cdef Recent* place = &recent[(<uintptr_t> code >> 6) % RECENT]
    if place.code == code and code != NULL:
        return place.number | offset
    return slow_line(code, offset)


cdef uint64_t slow_line(PyObject* code, unsigned int offset) noexcept:
    """`current_line` for a code object that is not in `recent`, and for the library's own code, which is traced to its caller."""
    cdef PyObject* frame
    cdef PyObject* caller
    cdef uint64_t origin = 0
    if code == NULL or not PyCode_Check(code):
        return 0
    frame = gradspec_frame()
    while frame != NULL:
        try:
            origin = line_of_frame(frame)
        except Exception:
            pass
        caller = NULL if origin else gradspec_caller(frame)
        Py_DECREF(<object> frame)
        frame = caller
    return origin


cdef uint64_t line_of_frame(PyObject* frame) except? 0:
    """The origin of a node that a frame creates; 0 if the frame runs a function of the library."""
    cdef int offset = 0
    cdef PyObject* code = gradspec_code(frame, &offset)
    cdef uintptr_t at = (<uintptr_t> code >> 6) % RECENT
    cdef uint64_t number
    if own[at] == <void*> code:
        return 0
    if recent[at].code != code:
        number = number_of(<object> code)  # which keeps the code object alive
        if is_own(<object> frame):
            own[at] = <void*> code
            return 0
        recent[at].code, recent[at].number = <void*> code, number << 32
    return recent[at].number | <unsigned int> offset


cdef uint64_t number_of(object code) except 0:
    """The number of a code object, which is kept alive from now on."""
    global last_number
    cdef object key = <uintptr_t> <void*> code
    found = numbers.get(key)
    if found is not None:
        return found
    if len(codes) >= limit:
        forget_unused()
    last_number += 1
    codes[last_number], numbers[key] = code, last_number
    return last_number


cdef int forget_unused() except -1:
    """Drop the code objects without another reference."""
    global limit
    cdef int i
    for i in range(RECENT):
        recent[i].code = own[i] = NULL
    for number in list(codes):
        code = codes.pop(number)
        if Py_REFCNT(code) > 1:
            codes[number] = code
        else:
            del numbers[<uintptr_t> <void*> code]
    limit = max(LIMIT, 2 * len(codes))
    return 0


def known_lines():
    """Number of code objects that are kept."""
    return len(codes)


cdef tuple line_of(uint64_t origin):
    """File, line number and function; None if unknown."""
    code = codes.get(origin >> 32)
    if code is None:
        return None
    return code.co_filename, PyCode_Addr2Line(<PyCodeObject*> code, <int> (origin & 0xFFFFFFFF)), code.co_qualname


def line_of_node(Node node):
    """File, line number and function of the call that recorded a node; None if unknown."""
    return line_of(node.origin)


cdef str place_of(Node node):
    """File, line and function that recorded a node, and the line's text, as in a traceback; None if unknown."""
    found = line_of(node.origin)
    if found is None:
        return None
    import linecache  # only after a failure

    file, line, function = found
    text = linecache.getline(file, line).strip()
    return f'  File "{file}", line {line}, in {function}' + (f"\n    {text}" if text else "")


cdef str account_of(Node node):
    """The note for an error: the line that recorded the node, and its derivative as in the spec."""
    account, place = f"The error arose in the backward of {type(node).__name__}", place_of(node)
    if place:
        account += f", which was recorded by\n{place}"
    if type(node).__module__.startswith(GENERATED):
        maths = [line.strip() for line in type(node).__doc__.splitlines() if line.strip()]
        account += "\n    ".join(["\n  whose rule is", *maths])
    return account


cdef int report_failure(ThreadState* state, Node node, object error) except -1:
    """Add the note about `node` to `error`, which the caller raises; a failure here must not replace it."""
    if node.origin != 0:
        try:
            account = account_of(node)
            if account not in getattr(error, "__notes__", ()):
                error.add_note(account)
        except Exception:
            pass
    if state.flags & ANOMALY:
        try:
            warn_of_forward(node)
        except Exception as failure:
            sys.stderr.write(f"the forward pass of {type(node).__name__} cannot be shown: {failure!r}\n")
    return 0


# Anomaly mode keeps its data in `node.metadata`, under PyTorch's names.

Calculation = named("Calculation", "name", "traceback", "parent", module=__name__)
Calculation.__doc__ = """The displayed data of a node: only text, so that nodes recorded in its backward do not keep its graph.

`traceback` is None if the forward ran outside of the mode, `parent` is None if the node was not recorded in a backward.
"""


cdef object calculation(Node node):
    """The displayed data of `node`, with its parents."""
    cdef dict notes = {} if node.hooks is None else node.hooks.metadata
    return Calculation(type(node).__name__, notes.get("traceback_"), notes.get("parent_"))


cdef int remember_forward(ThreadState* state, Node node) except -1:
    """Keep the traceback of a new node, and the node whose backward recorded it."""
    cdef dict notes = node.ensure_hooks().metadata
    import traceback  # needed by few programs only

    notes["traceback_"] = traceback.format_stack(sys._getframe())
    if state.objects != NULL and (<ThreadObjects> state.objects).running is not None:
        notes["parent_"] = (<ThreadObjects> state.objects).running
    return 0


cdef int warn_of_forward(Node node) except -1:
    """Show the recording of a failing node, then of its parents, one warning each; on stderr if warnings are errors."""
    cdef str what = "Error detected in", which = "that caused the error"
    shown = calculation(node)
    while shown is not None:
        text = f"{what} {shown.name}."
        if shown.traceback is None:
            text += (" No forward pass information available: enable anomaly detection during the forward pass, too, for its "
                     "traceback.")
        else:
            text += f" Traceback of forward call {which}:\n{''.join(shown.traceback)}"
        try:
            warnings.warn(text, stacklevel=1)
        except Warning:
            sys.stderr.write(text + "\n")
        shown, what, which = shown.parent, "Previous calculation was induced by", "that induced the previous calculation"
    return 0
