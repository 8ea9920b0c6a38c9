"""Hints: what to write instead of a name or a keyword that is misspelt or belongs to another library.

Owns the words of PyTorch and NumPy that mean something else here, and the search for the nearest name.  Imports the tools of the
search when an error is worded.
"""

import re

from .dispatch import ops

# PyTorch's keyword: what to write.
KEYWORDS = {
    "dim": "axis=",
    "dims": "axis=",
    "keepdim": "keepdims=",
    "input": "the array as the first argument",
    "other": "the array as the second argument",
    "unbiased": "correction=1 for True, correction=0 for False",
    "dim0": "axis1=",
    "dim1": "axis2=",
    "start_dim": "start_axis=",
    "size": "shape=",
    "device": "nothing: every tensor is in memory",
    "layout": "nothing: every tensor is strided",
    "pin_memory": "nothing: every tensor is in memory",
    "non_blocking": "nothing: every tensor is in memory",
    "memory_format": "nothing: a layout is NumPy's to choose",
    "inplace": "the name with a final underscore, relu_(x)",
}

# An attribute that PyTorch's tensors or NumPy's arrays have: what to write for `x.name`.
ATTRIBUTES = {
    "cuda": "nothing: every tensor is in memory",
    "is_cuda": "False: every tensor is in memory",
    "H": "x.mH",
    "nelement": "x.numel()",
    "type": "x.dtype, or x.astype(dtype)",
    "type_as": "x.astype(other.dtype)",
    "fill": "x.fill_(value)",
    "sort_": "x = x.sort()",
    "data_ptr": "x.numpy().ctypes.data",
    "storage": "x.numpy()",
    "ctypes": "x.numpy().ctypes",
    "flags": "x.numpy().flags",
    "flat": "x.ravel()",
    "base": "x._base",
    "tobytes": "x.numpy().tobytes()",
    "byteswap": "x.numpy().byteswap()",
    "sparse_mask": "nothing: every tensor is strided",
    "to_sparse": "nothing: every tensor is strided",
    "share_memory_": "nothing: threads share tensors as they are",
    "zero_grad": "x.grad = None",
}


def of_call(error, function=None):
    """What Cython says of a call, with what to write.

    Parameters
    ----------
    error : str or TypeError
    function : callable, optional
        What was called; by default the operator that the error names.

    Returns
    -------
    str
    """
    message = str(error)
    if function is None:
        called = re.match(r"(\w+)\(\)", message)
        function = called and vars(ops).get(called[1].rstrip("_"))
    code = getattr(function, "__code__", None)
    if code is None:
        return message
    known = [name for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if not name.endswith("_")]
    keyword = re.search(r"unexpected keyword argument '(\w+)'", message)
    if keyword is None:
        return f"{message}; its arguments are {', '.join(known)}" if known else message
    wanted = KEYWORDS.get(keyword[1])
    if wanted is not None and (not wanted.endswith("=") or wanted[:-1] in known):
        return f"{message}; write {wanted}"
    from difflib import get_close_matches

    near = get_close_matches(keyword[1], known, 1)
    if near:
        return f"{message}; did you mean '{near[0]}'?"
    return f"{message}; its arguments are {', '.join(known)}" if known else message


class MissingAttribute(AttributeError):
    """An attribute that a tensor does not have.  Programs ask for many in vain: the message is made when somebody reads it."""

    def __init__(self, owner, name):
        super().__init__(owner, name)

    def __str__(self):
        owner, name = self.args
        message = f"'{owner.__name__}' object has no attribute {name!r}"
        if name in ATTRIBUTES:
            return f"{message}; write {ATTRIBUTES[name]}"
        from difflib import get_close_matches

        near = get_close_matches(name, [known for known in dir(owner) if not known.startswith("_")], 1)
        return f"{message}; did you mean {near[0]!r}?" if near else message

    def __reduce__(self):
        return AttributeError, (str(self),)


MissingAttribute.__name__ = MissingAttribute.__qualname__ = "AttributeError"
MissingAttribute.__module__ = "builtins"
