"""Answers of operands that operators refuse: a class whose objects are no tensors says what an operator gives of them.

Owns the protocol: an operator that raises TypeError asks the first operand, or item of a list of them, whose class has
`__gradspec_function__(self, function, args, keywords)`; NotImplemented leaves the error as it was.  Nothing is asked, and nothing
paid, before an operator has refused.  Knows no such class.
"""

from cpython.object cimport PyObject

cdef extern from "gradspec/core/overrides.h":
    PyObject* gradspec_asked
    bint gradspec_let_answer(object function) noexcept


def ask(function, tuple args, dict keywords):
    """What the operands answer to a call.

    Parameters
    ----------
    function : callable
        An operator.
    args : tuple
    keywords : dict

    Returns
    -------
    object
        NotImplemented where none of them answers.
    """
    for value in (*args, *keywords.values()):
        for one in value if type(value) is list or type(value) is tuple else (value,):
            answer = getattr(type(one), "__gradspec_function__", None)
            if answer is not None:
                return answer(one, function, args, keywords)
    return NotImplemented


def let_operands_answer(functions):
    """Have operators ask their operands when they refuse them.

    Parameters
    ----------
    functions : iterable of callable
        Compiled functions of Cython's; others stay as they are.

    Returns
    -------
    int
        How many of them ask.
    """
    global gradspec_asked
    gradspec_asked = <PyObject*> ask    # which this module keeps
    return sum([gradspec_let_answer(function) for function in functions])
