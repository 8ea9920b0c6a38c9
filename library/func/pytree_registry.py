"""Register classes as pytrees, for use as arguments and results of all functions that accept pytrees.

Defines the registration functions, also under JAX's names.  `support.pytree` flattens pytrees; dataclasses and named tuples are
pytrees without registration.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from ..core.tensor import TensorBase
from ..support.errors import CallTypeError, CallValueError
from ..support.pytree import KINDS, LEAVES, Attribute, made_dataclass

Class = TypeVar("Class", bound=type)


def register_nest(
    nodetype: Class, flatten: Callable[..., Any] | None = None, unflatten: Callable[..., Any] | None = None
) -> Class:
    """Register a class as a pytree, for `grad`, `vmap`, `jvp`, `compile`, `tree_util` and all other functions of pytrees.

    Parameters
    ----------
    nodetype : type
        Subclasses must be registered separately.
    flatten : callable, optional
        Takes a value, and returns a pair: its parts (arrays, numbers, pytrees), and its static data.  The static data are
        compared by equality, and must be hashable for compiled functions.  By default the method `tree_flatten` of the class.
    unflatten : callable, optional
        Takes static data and parts, and returns a value.  By default the class method `tree_unflatten`.

    Returns
    -------
    type
        The class, so that `register_nest` is a decorator, too.

    Raises
    ------
    ValueError
        The class is registered already.
    TypeError
        `nodetype` is not a class, or has a meaning already: tuples, lists, dictionaries, tensors.

    Notes
    -----
    Dataclasses and named tuples need no registration.  The parts of a dataclass are its fields, except None, strings, bools,
    functions, and fields marked by `field(metadata={"static": True})`.

    Examples
    --------
    >>> import gradspec as gs
    >>> class Line:
    ...     def __init__(self, slope, offset):
    ...         self.slope, self.offset = slope, offset
    >>> gs.func.register_nest(Line, lambda line: ((line.slope, line.offset), None), lambda _, parts: Line(*parts))
    <class '...Line'>
    >>> gradient = gs.grad(lambda line, x: line.slope * x + line.offset)(Line(2.0, 1.0), 3.0)
    >>> gradient.slope.item(), gradient.offset.item()
    (3.0, 1.0)
    """
    if flatten is None and unflatten is None:
        flatten, unflatten = getattr(nodetype, "tree_flatten", None), getattr(nodetype, "tree_unflatten", None)
    if flatten is None or unflatten is None:
        raise CallTypeError(f"register_nest: {nodetype!r}: give flatten and unflatten, or let the class have the methods tree_flatten "
                            "and tree_unflatten; a dataclass is a pytree already")  # fmt: skip
    taken, made = flatten, unflatten

    def apart(nest: Any) -> tuple:
        found = taken(nest)
        if not isinstance(found, (tuple, list)) or len(found) != 2:
            raise CallTypeError(f"register_nest: flatten of {nodetype.__name__} must return a pair: the parts, and everything else")
        return None, list(found[0]), found[1]

    return _registered(nodetype, apart, lambda rest, keys, items: made(rest, tuple(items)))


def register_dataclass(
    nodetype: Class, data_fields: Sequence[str] | None = None, meta_fields: Sequence[str] | None = None
) -> Class:
    """Register a class by the attributes that are its parts.

    Parameters
    ----------
    nodetype : type
        A dataclass, or any class whose values consist of the given attributes.
    data_fields : sequence of str, optional
        The attributes that are parts: arrays, numbers, pytrees.
    meta_fields : sequence of str, optional
        The static attributes, which are compared by equality.  Without both arguments, a dataclass is returned unchanged.

    Returns
    -------
    type
        The class.

    Raises
    ------
    ValueError
        The class is registered already, or a field of the dataclass is in neither list.

    Examples
    --------
    >>> import gradspec as gs
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Layer:
    ...     weight: float
    ...     count: int
    >>> layer = gs.tree_util.register_dataclass(Layer, ["weight"], ["count"])(2.0, 3)
    >>> gs.grad(lambda layer: layer.weight**layer.count)(layer)
    Layer(weight=tensor(12.), count=3)
    """
    fields: Iterable[str] = getattr(nodetype, "__dataclass_fields__", ())
    if data_fields is None and meta_fields is None:
        if not fields:
            raise CallTypeError(f"register_dataclass: {nodetype!r} is not a dataclass: give data_fields and meta_fields")
        return nodetype
    keys, static = [Attribute(name) for name in data_fields or ()], tuple(meta_fields or ())
    left = set(fields) - {*keys, *static}
    if left:
        raise CallValueError(f"register_dataclass: {', '.join(sorted(left))} of {nodetype.__name__} are neither in data_fields nor "
                             "in meta_fields")  # fmt: skip

    def apart(nest: Any) -> tuple:
        return keys, [getattr(nest, key) for key in keys], (nodetype, *[(name, getattr(nest, name)) for name in static])

    return _registered(nodetype, apart, made_dataclass)


def register_static(nodetype: Class) -> Class:
    """Register a class as pytrees without leaves: its values are static, compared by equality, and must be hashable.

    Parameters
    ----------
    nodetype : type

    Returns
    -------
    type
        The class.

    Raises
    ------
    ValueError
        The class is registered already.
    TypeError
        `nodetype` is not a class, or has a meaning already.
    """
    return _registered(nodetype, lambda nest: (None, [], nest), lambda rest, keys, items: rest)


def _registered(cls: Any, apart: Callable[..., tuple], make: Callable[..., Any]) -> Any:
    if not isinstance(cls, type):
        raise CallTypeError(f"register_nest: a class is needed, got {cls!r}")
    if cls in (tuple, list, dict, type(None)) or issubclass(cls, TensorBase):
        raise CallTypeError(f"register_nest: {cls.__name__} has a meaning of its own")
    if cls in KINDS:
        raise CallValueError(f"register_nest: {cls.__name__} is registered already")
    KINDS[cls] = apart, make
    LEAVES.discard(cls)
    return cls
