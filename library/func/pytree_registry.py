"""Classes that are nests: values of one's own as arguments and results of all that takes nests.

Owns the registration, under JAX's names as well.  How a nest is taken apart is `support.pytree`'s; dataclasses and named tuples
are nests without it.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from ..core.tensor import TensorBase
from ..support.errors import CallTypeError, CallValueError
from ..support.pytree import KINDS, LEAVES, Attribute, made_dataclass

Class = TypeVar("Class", bound=type)


def register_nest(
    cls: Class, flatten: Callable[..., Any] | None = None, unflatten: Callable[..., Any] | None = None
) -> Class:
    """Let values of a class be nests: `grad`, `vmap`, `jvp`, `compile`, `tree_util` and all else that takes nests takes them.

    Parameters
    ----------
    cls : type
        Its subclasses are not registered with it.
    flatten : callable, optional
        Takes a value, and gives a pair: its parts (arrays, numbers, nests), and what else of it there is, which is compared by
        equality, and must be hashable where a compiled function takes it.  By default the method `tree_flatten` of the class.
    unflatten : callable, optional
        Takes what else there is and other parts, and gives a value.  By default the class method `tree_unflatten`.

    Returns
    -------
    type
        The class: `register_nest` is a decorator, too.

    Raises
    ------
    ValueError
        The class is registered already.
    TypeError
        It is no class, or one that has a meaning of its own: tuples, lists, dictionaries, tensors.

    Notes
    -----
    A dataclass and a named tuple are nests at once.  Of a dataclass the fields are parts, but None, strings, bools, functions,
    and what is marked by `field(metadata={"static": True})`.

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
        flatten, unflatten = getattr(cls, "tree_flatten", None), getattr(cls, "tree_unflatten", None)
    if flatten is None or unflatten is None:
        raise CallTypeError(f"register_nest: {cls!r}: give flatten and unflatten, or let the class have the methods tree_flatten "
                            "and tree_unflatten; a dataclass is a pytree already")  # fmt: skip
    taken, made = flatten, unflatten

    def apart(nest: Any) -> tuple:
        found = taken(nest)
        if not isinstance(found, (tuple, list)) or len(found) != 2:
            raise CallTypeError(f"register_nest: flatten of {cls.__name__} must return a pair: the parts, and everything else")
        return None, list(found[0]), found[1]

    return _registered(cls, apart, lambda rest, keys, items: made(rest, tuple(items)))


def register_dataclass(
    cls: Class, data_fields: Sequence[str] | None = None, meta_fields: Sequence[str] | None = None
) -> Class:
    """Say which attributes of a class are the parts of its values as nests.

    Parameters
    ----------
    cls : type
        A dataclass, or any class whose values hold no more than these attributes.
    data_fields : sequence of str, optional
        The attributes that are parts: arrays, numbers, nests.
    meta_fields : sequence of str, optional
        Those that are not, which are compared by equality.  Without both, a dataclass is a nest as it is.

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
    fields: Iterable[str] = getattr(cls, "__dataclass_fields__", ())
    if data_fields is None and meta_fields is None:
        if not fields:
            raise CallTypeError(f"register_dataclass: {cls!r} is not a dataclass: give data_fields and meta_fields")
        return cls
    keys, static = [Attribute(name) for name in data_fields or ()], tuple(meta_fields or ())
    left = set(fields) - {*keys, *static}
    if left:
        raise CallValueError(f"register_dataclass: {', '.join(sorted(left))} of {cls.__name__} are neither in data_fields nor "
                             "in meta_fields")  # fmt: skip

    def apart(nest: Any) -> tuple:
        return keys, [getattr(nest, key) for key in keys], (cls, *[(name, getattr(nest, name)) for name in static])

    return _registered(cls, apart, made_dataclass)


def register_static(cls: Class) -> Class:
    """Let values of a class be nests without leaves, which are compared by equality and are hashable."""
    return _registered(cls, lambda nest: (None, [], nest), lambda rest, keys, items: rest)


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
