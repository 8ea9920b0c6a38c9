"""The warning before a plain number or an ndarray is made of a tensor whose history it cannot hold.

Owns the words, which line of the user they name, the innermost one outside of installed packages, and which libraries only show
or store what they are given.  Knows no tensors.
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


# What these ask for leaves for a picture or a file: it is not computed with, so that no gradient is missed.
SHOWING = frozenset(("matplotlib", "seaborn", "plotly", "bokeh", "h5py", "zarr"))


def users_frame():
    """The innermost frame that runs code of the user's; the outermost where there is none, as in a thread of a library's."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(installed()):
        frame = frame.f_back
    return frame


def line_of(frame):
    """The line as it is written; empty where the source is not at hand, or is not the user's."""
    if frame.f_code.co_filename.startswith(installed()):
        return ""
    return linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()


def warn_of_number(function, reason):
    """Say, once for each line of the user's, which the warning shows, that a number loses what a tensor has."""
    library = who_asks()
    if library in SHOWING:
        return warn_of_picture(library, reason)
    warn_at_users_line(
        f"{function}() of a tensor that {reason} is a plain number, which no gradient passes. Write x.item() if that is meant; "
        "if not, keep tensors: NumPy's functions or gradspec's in the place of math's, a tensor in the place of an ndarray on "
        "the left of an assignment."
    )


def let_out(reason):
    """Something asks for an ndarray that is not `numpy()`: an error, or a warning where it only shows or stores what it gets."""
    library = who_asks()
    if library in SHOWING:
        return warn_of_picture(library, reason)
    line = line_of(users_frame())
    raise RuntimeError(
        f"Can't call numpy() on Tensor that {reason}: an ndarray was asked for{f' by `{line}`' if line else ''}, and it would "
        "lose the history. x.detach() has the values alone, for what only shows or stores them; x.item() and x.tolist() are "
        "plain numbers; a list of tensors becomes one by gradspec.stack(list), which computes on."
    )


def warn_of_picture(library, reason):
    warn_at_users_line(
        f"{library} gets the values of a tensor that {reason}, without the history; x.detach() says that this is meant."
    )


def warn_at_users_line(message):
    frame = users_frame()
    warnings.warn_explicit(
        message, UserWarning, frame.f_code.co_filename, frame.f_lineno, frame.f_globals.get("__name__") or "<unknown>",
        frame.f_globals.setdefault("__warningregistry__", {}),
    )  # fmt: skip


def who_asks():
    """The top package of the innermost frame that is neither ours nor NumPy's."""
    frame = sys._getframe(1)
    while frame is not None:
        package = (frame.f_globals.get("__name__") or "").partition(".")[0]
        if package not in ("gradspec", "numpy"):
            return package
        frame = frame.f_back
    return ""
