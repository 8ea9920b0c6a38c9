"""Overrides: operands of foreign classes compute the results of operators that refuse them.

Defines the protocol.  An operator that raises TypeError asks the first operand, or item of a list of operands, whose class has
`__gradspec_function__(self, function, args, keywords)`.  If that returns NotImplemented, the error is raised unchanged.
The check runs only after an operator has refused, so other calls cost nothing.
"""

from cpython.object cimport PyObject

cdef extern from "gradspec/core/overrides.h":
    PyObject* gradspec_asked
    bint gradspec_let_answer(object function) noexcept


def ask(function, tuple args, dict keywords):
    """Ask the operands for the result of a call.

    Parameters
    ----------
    function : callable
        An operator.
    args : tuple
    keywords : dict

    Returns
    -------
    object
        NotImplemented if no operand answers.
    """
    for value in (*args, *keywords.values()):
        for one in value if type(value) is list or type(value) is tuple else (value,):
            answer = getattr(type(one), "__gradspec_function__", None)
            if answer is not None:
                return answer(one, function, args, keywords)
    return NotImplemented


def let_operands_answer(functions):
    """Have operators ask their operands after a TypeError.

    Parameters
    ----------
    functions : iterable of callable
        Functions compiled by Cython; others are unchanged.

    Returns
    -------
    int
        Number of operators that were changed.
    """
    global gradspec_asked
    gradspec_asked = <PyObject*> ask    # kept alive by this module
    return sum([gradspec_let_answer(function) for function in functions])
