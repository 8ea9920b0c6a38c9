"""The warning before a plain number or an ndarray is made of a tensor whose history it cannot hold.

Owns the words, and which line of the user they name: the innermost one outside of installed packages.  Knows no tensors.
"""

import functools
import linecache
import os
import sys
import warnings


@functools.cache
def installed():
    """Where what the user did not write lies."""
    import sysconfig  # no import of gradspec should wait for it

    places = os.path.dirname(os.path.dirname(__file__)), *(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib"))
    return (*(os.path.join(place, "") for place in places), "<frozen ")


def users_frame():
    """The innermost frame that runs code of the user's; the outermost where there is none."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(installed()):
        frame = frame.f_back
    return frame


def line_of(frame):
    """The line as it is written; empty where the source is not at hand."""
    return linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()


def warn_of_number(function, reason):
    """Say, once for each line of the user's, which the warning shows, that a number loses what a tensor has."""
    frame = users_frame()
    warnings.warn_explicit(
        f"{function}() of a tensor that {reason} is a plain number, which no gradient passes. Write x.item() if that is meant; "
        "if not, keep tensors: NumPy's functions or gradspec's in the place of math's, a tensor in the place of an ndarray on "
        "the left of an assignment.",
        UserWarning, frame.f_code.co_filename, frame.f_lineno, frame.f_globals.get("__name__") or "<unknown>",
        frame.f_globals.setdefault("__warningregistry__", {}),
    )  # fmt: skip


def refusal_of_array(reason):
    """The error where something asks a tensor for an ndarray that is not `numpy()`."""
    frame = users_frame()
    line = line_of(frame)
    return RuntimeError(
        f"Can't call numpy() on Tensor that {reason}: an ndarray was asked for{f' by `{line}`' if line else ''}, and it would "
        "lose the history. A list of tensors becomes one by gradspec.stack(list), which computes on; x.item() and x.tolist() are "
        "plain numbers; what only shows or stores values, a plot or a file, is given x.numpy() under gradspec.no_grad()."
    )
