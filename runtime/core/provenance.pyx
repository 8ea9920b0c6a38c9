"""Provenance: which line of the user made a node.

Owns the origin that every recorded node has, a number for the code object and the offset of the instruction, and what is made
of it when backward fails: a note on the error.  In anomaly mode also the whole traceback, the node that was running
(its parent) and the warnings that show them.  Knows no tensors and no order of nodes.

An origin costs a node 8 bytes and no reference: the code objects are numbered, and kept by this module.  At most LIMIT
of those that nobody else keeps stay; a node whose code object is gone can still name its operator.
"""

from cpython.ref cimport PyObject
from libc.stdint cimport uint64_t, uintptr_t

import sys
import warnings

from ..support.capi cimport Py_REFCNT
from .grad_mode cimport ANOMALY, ThreadObjects, ThreadState
from ..support.named_result import named
from .node cimport Node

cdef extern from "gradspec/core/provenance.h":
    PyObject* gradspec_instruction(unsigned int*)
    int PyCode_Check(PyObject*)
    int PyCode_Addr2Line(object, int)

cdef enum:
    RECENT = 256    # code objects whose numbers are found without a dictionary
    LIMIT = 4096

cdef struct Recent:
    void* code
    uint64_t number         # in the upper half

cdef Recent[RECENT] recent
cdef dict numbers = {}      # address of a code object -> its number
cdef dict codes = {}        # number -> code object
cdef uint64_t last_number = 0
cdef Py_ssize_t limit = LIMIT

PACKAGE = __name__.partition(".")[0] + "."
GENERATED = PACKAGE + "generated."


def is_own(frame):
    """Whether a function of the library runs there."""
    return frame.f_globals.get("__name__", "").startswith(PACKAGE)


cdef uint64_t current_line() noexcept:
    """The origin of a node that is made now; 0 where no Python function runs."""
    cdef unsigned int offset = 0
    cdef PyObject* code = gradspec_instruction(&offset)
    cdef Recent* place = &recent[(<uintptr_t> code >> 6) % RECENT]
    if place.code == code and code != NULL:
        return place.number | offset
    return slow_line(code, offset)


cdef uint64_t slow_line(PyObject* code, unsigned int offset) noexcept:
    """The same for a code object that was not met of late, and for the library's own, whose caller is meant."""
    cdef uint64_t number
    cdef Recent* place
    cdef int instruction = <int> offset
    if code == NULL or not PyCode_Check(code):
        return 0
    try:
        frame = sys._getframe()
        if is_own(frame):
            while frame is not None and is_own(frame):
                frame = frame.f_back
            if frame is None:
                return 0
            return number_of(frame.f_code) << 32 | <unsigned int> (<int> frame.f_lasti)
        number = number_of(<object> code) << 32
        place = &recent[(<uintptr_t> code >> 6) % RECENT]
        place.code, place.number = <void*> code, number
        return number | <unsigned int> instruction
    except Exception:
        return 0


cdef uint64_t number_of(object code) except 0:
    """The number of a code object, which is kept from now on."""
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
    """Let go the code objects that nobody else keeps."""
    global limit
    cdef int i
    for i in range(RECENT):
        recent[i].code = NULL
    for number in list(codes):
        code = codes.pop(number)
        if Py_REFCNT(code) > 1:
            codes[number] = code
        else:
            del numbers[<uintptr_t> <void*> code]
    limit = max(LIMIT, 2 * len(codes))
    return 0


def known_lines():
    """How many code objects are kept."""
    return len(codes)


cdef tuple line_of(uint64_t origin):
    """File, number of the line, and function; None where that is unknown."""
    code = codes.get(origin >> 32)
    if code is None:
        return None
    return code.co_filename, PyCode_Addr2Line(code, <int> (origin & 0xFFFFFFFF)), code.co_qualname


def line_of_node(Node node):
    """File, number of the line and function of the call that made a node; None where that is unknown."""
    return line_of(node.origin)


cdef str place_of(Node node):
    """File, line and function that made a node, and the line itself, as a traceback shows them; None where unknown."""
    found = line_of(node.origin)
    if found is None:
        return None
    import linecache  # when something failed

    file, line, function = found
    text = linecache.getline(file, line).strip()
    return f'  File "{file}", line {line}, in {function}' + (f"\n    {text}" if text else "")


cdef str account_of(Node node):
    """What the note on an error says: the line that made the node, and its derivative as the spec has it."""
    account, place = f"The error arose in the backward of {type(node).__name__}", place_of(node)
    if place:
        account += f", which was recorded by\n{place}"
    if type(node).__module__.startswith(GENERATED):
        maths = [line.strip() for line in type(node).__doc__.splitlines() if line.strip()]
        account += "\n    ".join(["\n  whose rule is", *maths])
    return account


cdef int report_failure(ThreadState* state, Node node, object error) except -1:
    """Say on `error`, which it is left to the caller to raise, where `node` came from; nothing here takes its place."""
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


# Anomaly mode: what it keeps is in `node.metadata`, under PyTorch's names.

Calculation = named("Calculation", "name", "traceback", "parent", module=__name__)
Calculation.__doc__ = """What is shown of a node: text alone, so that what is recorded in its backward does not hold its graph.

`traceback` is None where the forward ran outside of the mode, `parent` where the node was not recorded in a backward.
"""


cdef object calculation(Node node):
    """What is shown of `node`, with its parents."""
    cdef dict notes = {} if node.hooks is None else node.hooks.metadata
    return Calculation(type(node).__name__, notes.get("traceback_"), notes.get("parent_"))


cdef int remember_forward(ThreadState* state, Node node) except -1:
    """Keep the traceback of a new node, and the node of whose backward it is a part."""
    cdef dict notes = node.ensure_hooks().metadata
    import traceback  # which few programs need

    notes["traceback_"] = traceback.format_stack(sys._getframe())
    if state.objects != NULL and (<ThreadObjects> state.objects).running is not None:
        notes["parent_"] = (<ThreadObjects> state.objects).running
    return 0


cdef int warn_of_forward(Node node) except -1:
    """Show where a failing node was recorded, then its parents, one warning each; on stderr where warnings are errors."""
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
