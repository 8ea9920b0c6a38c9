"""Lost history: warn before a number or an ndarray without the tensor's history is returned.

Finds the user's line to name: the innermost one outside of installed packages.  Knows the libraries that only show or store their
arguments.
"""

import functools
import linecache
import os
import sys
import warnings

from ..support.counterparts import advice


@functools.cache
def installed():
    """Paths of installed packages: code that the user did not write."""
    import sysconfig  # not imported with gradspec

    places = os.path.dirname(os.path.dirname(__file__)), *(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib"))
    return (*(os.path.join(place, "") for place in places), "<frozen ")


# These libraries take values for a picture or a file: nothing is computed from them, so no gradient is missing.
SHOWING = frozenset(("matplotlib", "seaborn", "plotly", "bokeh", "h5py", "zarr"))


def users_frame():
    """The innermost frame with user code, or else the outermost frame, as in a thread of a library."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(installed()):
        frame = frame.f_back
    return frame


def line_of(frame):
    """The text of the line; empty if the source is unavailable, or is not the user's."""
    if frame.f_code.co_filename.startswith(installed()):
        return ""
    return linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()


def warn_of_number(function, reason):
    """Warn, once for each line of the user's, that a number loses the tensor's gradient; the warning shows the line."""
    library = who_asks()
    if library in SHOWING:
        return warn_of_picture(library, reason)
    warn_at_users_line(
        f"{function}() of a tensor that {reason} is a plain number, which no gradient passes. Write x.item() if that is meant; "
        "if not, keep tensors: NumPy's functions or gradspec's in the place of math's, a tensor in the place of an ndarray on "
        f"the left of an assignment{advice()}."
    )


def let_out(reason):
    """Handle a request for an ndarray other than `numpy()`: an error, or a warning if the library only shows or stores it."""
    library = who_asks()
    if library in SHOWING:
        return warn_of_picture(library, reason)
    line = line_of(users_frame())
    advised = advice()
    further = "" if advised else (
        "; x.item() and x.tolist() are plain numbers; a list of tensors becomes one by gradspec.stack(list), which computes on"
    )
    raise RuntimeError(
        f"Can't call numpy() on Tensor that {reason}: an ndarray was asked for{f' by `{line}`' if line else ''}, and it would "
        f"lose the history{advised}. x.detach() has the values alone, to show or store them{further}."
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
    """The top package of the innermost frame outside of gradspec and NumPy."""
    frame = sys._getframe(1)
    while frame is not None:
        package = (frame.f_globals.get("__name__") or "").partition(".")[0]
        if package not in ("gradspec", "numpy"):
            return package
        frame = frame.f_back
    return ""
