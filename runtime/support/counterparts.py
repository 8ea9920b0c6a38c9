"""Counterparts: name gradspec's function for the function of another library that was called with a tensor.

Finds the public function whose call an error belongs to, in the frames or, for a function in C, in the text of the caller's line.
Searches this library's own namespaces for the same name.  Runs only when an error message is built.
"""

import ast
import linecache
import sys
from itertools import islice, takewhile
from types import FunctionType

LIBRARIES = frozenset(("numpy", "scipy", "pandas"))
# Methods that a program calls without naming them.
UNNAMED = frozenset(("__init__", "__new__", "__call__", "__getitem__"))


def advice(frames=None, place=None, missing=True):
    """Name the counterpart of the function that was called with a tensor.

    Parameters
    ----------
    frames : iterable of frame, optional
        The frames of the error, innermost first; by default the caller's.
    place : str, optional
        The function to name if the frames show no other.
    missing : bool
        Whether to say so if there is no counterpart.

    Returns
    -------
    str
        The end of a sentence; empty if no function of another library was called, or if gradspec itself called it.
    """
    place = asked(calling(sys._getframe(1)) if frames is None else frames) or place
    return f"; {of_place(place)}" if place and (missing or counterpart(place)) else ""


def calling(frame):
    """A frame and its callers."""
    while frame is not None:
        yield frame
        frame = frame.f_back


def frames_of(error):
    """The frames that an error passed through, innermost first."""
    found, trace = [], error.__traceback__
    while trace is not None:
        found.append(trace.tb_frame)
        trace = trace.tb_next
    return found[::-1]


def library_of(frame):
    return (frame.f_globals.get("__name__") or "").partition(".")[0]


def asked(frames):
    """The place, such as "scipy.linalg.expm", of the public function that the innermost code outside of libraries called."""
    frames = list(frames)
    own = len(list(takewhile(lambda frame: library_of(frame) == "gradspec", frames)))
    run = list(takewhile(lambda frame: library_of(frame) in LIBRARIES, islice(frames, own, None)))
    caller = next(islice(frames, own + len(run), None), None)
    if caller is not None and library_of(caller) == "gradspec":
        return None
    for frame in reversed(run):
        place = of_frame(frame)
        if place:
            return place
    return None if run or caller is None else called_at(caller)


def packages(name):
    """The public packages that a module belongs to, the longest first: scipy.linalg and scipy for scipy.linalg._basic."""
    parts = list(takewhile(lambda part: not part.startswith("_"), name.split(".")))
    return [".".join(parts[:count]) for count in range(len(parts), 0, -1)]


def of_frame(frame):
    """The place of the public function that a frame runs, or that a decorator's frame is about to call."""
    here, local = frame.f_globals["__name__"], frame.f_locals
    name, owner = frame.f_code.co_name, local.get("self", local.get("cls"))
    if owner is None:
        found = public(here, name, callable)
        return found or next(filter(None, map(of_function, local.values())), None)
    kind = owner if isinstance(owner, type) else type(owner)
    if not hasattr(kind, name):
        return None
    inner = getattr(owner, "__dict__", {}).get("dist", owner)  # of a frozen distribution; an owner may be half built
    called = getattr(inner, "__dict__", {}).get("name")
    place = public(here, called, lambda value: type(value) is type(inner)) or public_object(here, owner)
    place = place or public(here, kind.__name__, lambda value: value is kind)
    return place and (place if name in UNNAMED else f"{place}.{name}")


def of_function(value):
    """The place of a function that a decorator holds."""
    if not isinstance(value, FunctionType) or value.__module__.partition(".")[0] not in LIBRARIES:
        return None
    return public(value.__module__, value.__name__, callable)


def public(here, name, fits):
    """The place of a fitting object with this name in the public packages of a module: the outermost that has the same object."""
    if not isinstance(name, str) or name.startswith("_"):
        return None
    found = None, None
    for package in packages(here):
        value = vars(sys.modules.get(package, sys)).get(name)
        if value is not None and fits(value) and (found[1] is None or found[1] is value):
            found = package, value
    return found[0] and f"{found[0]}.{name}"


def public_object(here, owner):
    """The place of an object such as numpy.r_ in the public packages of a module."""
    for package in packages(here):
        for name, value in vars(sys.modules.get(package, sys)).items():
            if value is owner and not name.startswith("_"):
                return f"{package}.{name}"
    return None


def called_at(frame):
    """The place of the function in C that a frame calls: it is in the text of the call, and the frame has its value."""
    places = list(frame.f_code.co_positions())
    line, last, start, end = places[frame.f_lasti // 2] if frame.f_lasti >= 0 else (None,) * 4
    lines = [linecache.getline(frame.f_code.co_filename, number) for number in range(line, last + 1)] if line and last else []
    if not lines or end is None:
        return None
    lines[-1] = lines[-1].encode()[:end].decode()
    lines[0] = lines[0].encode()[start:].decode()
    try:
        called = ast.parse(f"({''.join(lines)})", mode="eval").body
    except SyntaxError:
        return None
    names, called = [], getattr(called, "func", None)
    while isinstance(called, ast.Attribute):
        names, called = [called.attr, *names], called.value
    if not isinstance(called, ast.Name):
        return None
    value = frame.f_locals.get(called.id, frame.f_globals.get(called.id))
    if names and isinstance(value, type(sys)) and value.__name__.partition(".")[0] in LIBRARIES:
        return ".".join([value.__name__, *names])
    here = getattr(value, "__module__", None)
    known = not names and isinstance(here, str) and here.partition(".")[0] in LIBRARIES
    return public(here, getattr(value, "__name__", None), lambda other: other is value) if known else None


def counterpart(place):
    """The place here, such as "gs.scipy.linalg.expm", of an object of another library, or None.

    Parameters
    ----------
    place : str
        The object's place, such as "scipy.linalg.expm" or "numpy.full".
    """
    library, _, rest = place.partition(".")
    theirs = at(sys.modules.get(library), rest)
    for path in (place, rest) if library == "scipy" else (rest,) if library == "numpy" else ():
        ours = at(sys.modules["gradspec"], path)
        if ours is not None and ours is not theirs and callable(ours) >= callable(theirs):  # not gs.float64
            return f"gs.{path}"
    return None


def at(value, path):
    """The object at a dotted public path, or None."""
    for part in path.split("."):
        if part not in dir(value):
            return None
        value = getattr(value, part)
    return value


def of_place(place):
    """Say what to write in the place of a call of another library's function."""
    library, _, rest = place.partition(".")
    short = f"np.{rest}" if library == "numpy" else place
    if library == "pandas":
        return f"{short} keeps arrays: write to_numpy() of the pandas object and compute with that, or x.detach().numpy() for x"
    found = counterpart(place)
    if found:
        return f"write {found} in the place of {short}"
    from .foreign_names import NAMES, row

    answer = library == "numpy" and row(NAMES, rest, exact=True)
    if answer:
        return f"{answer}, in the place of {short}"
    return (f"{short} has no counterpart here: write a gs.autograd.Function whose forward calls it, for a derivative; without "
            "one it takes x.detach().numpy()")  # fmt: skip
