"""Pytrees under the names of JAX's `tree_util`: tuples, lists, dictionaries, dataclasses and registered classes.

`support.pytree` flattens them, and `func.pytree_registry` registers classes.  None is a pytree without leaves, and a dictionary
keeps its own order.
"""

import functools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import gradspec  # noqa: F401 (waits for it)
import gradspec.func  # noqa: F401 (as well)

from .core.conversion import asarray
from .func.pytree_registry import register_dataclass, register_static
from .func.pytree_registry import register_nest as register_pytree_node
from .func.pytree_registry import register_nest as register_pytree_node_class
from .support.dispatch import ops
from .support.lazy_import import answer
from .support.pytree import Attribute, Taken, alike, flatten, paired, parts, rebuild, steps

if TYPE_CHECKING:
    from .generated.tensor import Tensor

__all__ = [
    "DictKey", "GetAttrKey", "SequenceKey", "keystr", "ravel_pytree", "register_dataclass", "register_pytree_node",
    "register_pytree_node_class", "register_static", "tree_all", "tree_flatten", "tree_flatten_with_path", "tree_leaves",
    "tree_leaves_with_path", "tree_map", "tree_map_with_path", "tree_reduce", "tree_structure", "tree_unflatten",
]  # fmt: skip
answer(__name__)


class _Structure:
    """A pytree without its leaves."""

    def __init__(self, form: Any, present: tuple) -> None:
        self.form, self.present = form, present

    num_leaves = property(lambda self: sum(self.present))

    def unflatten(self, leaves: Any) -> Any:
        leaves = list(leaves)
        if len(leaves) != self.num_leaves:
            raise ValueError(f"tree_unflatten: the tree has {self.num_leaves} leaves, got {len(leaves)}")
        rest = iter(leaves)
        return rebuild(self.form, [next(rest) if present else None for present in self.present])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Structure) and self.present == other.present and alike(self.form, other.form)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"PyTreeDef({self.unflatten(['*'] * self.num_leaves)!r})".replace("'*'", "*")


class DictKey(NamedTuple):
    """A step of a path: the item of a dictionary.

    Parameters
    ----------
    key : hashable
    """

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"


class SequenceKey(NamedTuple):
    """A step of a path: the item of a tuple or a list, or a part of a registered class.

    Parameters
    ----------
    idx : int
    """

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx}]"


class GetAttrKey(NamedTuple):
    """A step of a path: the field of a dataclass or a named tuple.

    Parameters
    ----------
    name : str
    """

    name: str

    def __str__(self) -> str:
        return f".{self.name}"


def keystr(keys: Any, *, simple: bool = False, separator: str = "") -> str:
    """A path as text, as in code: `['layers'][0].weight`.

    Parameters
    ----------
    keys : tuple
        A path of `tree_flatten_with_path`.
    simple : bool
        Whether to leave brackets, quotes and points out.
    separator : str
        Text between the steps.

    Returns
    -------
    str
    """
    return separator.join(str(key[0]) if simple else str(key) for key in keys)


def tree_leaves_with_path(tree: Any) -> list[tuple[Any, Any]]:
    """A path and the leaf at it, for each leaf of a nest.

    Parameters
    ----------
    tree : nest

    Returns
    -------
    list of tuple
        A path is a tuple of keys.
    """
    return list(_with_path(tree, ()))


def tree_flatten_with_path(tree: Any) -> tuple[list[tuple[Any, Any]], Any]:
    """Paths and leaves, as of `tree_leaves_with_path`, and the structure.

    Parameters
    ----------
    tree : nest

    Returns
    -------
    tuple
    """
    return tree_leaves_with_path(tree), tree_structure(tree)


def tree_map_with_path(f: Callable[..., Any], tree: Any, *rest: Any) -> Any:
    """`tree_map` with the path of each leaf as the first argument of `f`.

    Parameters
    ----------
    f : callable
    tree : nest
    *rest : nest
        Of the same structure; `f` takes their leaves as further arguments.

    Returns
    -------
    nest
        Of the structure of `tree`.
    """
    paths, structure = tree_flatten_with_path(tree)
    others = (_in_order(tree, other, "") for other in rest)
    return structure.unflatten(f(path, leaf, *row) for (path, leaf), *row in zip(paths, *others, strict=True))


def _with_path(tree: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, Any]]:
    found = parts(tree)
    if found is None:
        if tree is not None:
            yield path, tree
        return
    like, keys, items = found
    if keys is None:
        fields = getattr(tree, "_fields", None)
        steps_ = [SequenceKey(i) for i in range(len(items))] if fields is None else [GetAttrKey(name) for name in fields]
    else:
        steps_ = [GetAttrKey(str(key)) if type(key) is Attribute else DictKey(key) for key in keys]
    for step, item in zip(steps_, items):
        yield from _with_path(item, (*path, step))


def tree_flatten(tree: Any) -> tuple[list[Any], Any]:
    """The leaves of a nest, in order, and its structure.

    Parameters
    ----------
    tree
        A pytree.

    Returns
    -------
    leaves : list
    structure
        `tree_unflatten` takes it.
    """
    leaves, form = flatten(tree)
    present = tuple(leaf is not None for leaf in leaves)
    return [leaf for leaf in leaves if leaf is not None], _Structure(form, present)


def tree_unflatten(treedef: Any, leaves: Any) -> Any:
    """The nest of a structure around other leaves.

    Parameters
    ----------
    treedef
        The structure of a pytree.
    leaves : iterable
        In the order of `tree_leaves`.

    Returns
    -------
    pytree
    """
    return treedef.unflatten(leaves)


def tree_leaves(tree: Any) -> list[Any]:
    """The leaves of a nest, in order.

    Parameters
    ----------
    tree
        A pytree.

    Returns
    -------
    list
    """
    return tree_flatten(tree)[0]


def tree_structure(tree: Any) -> Any:
    """The structure of a pytree.

    Parameters
    ----------
    tree
        A pytree.

    Returns
    -------
    structure
        `tree_unflatten` takes it.
    """
    return tree_flatten(tree)[1]


def tree_map(f: Callable[..., Any], tree: Any, *rest: Any) -> Any:
    """Apply a function to each leaf of a pytree, together with the leaves at the same places of other pytrees.

    Parameters
    ----------
    f : callable
    tree
        Tuples, lists, dictionaries, dataclasses and values of registered classes, of leaves.
    *rest
        Pytrees of the same structure.

    Returns
    -------
    nest
        Of the structure of `tree`.

    Examples
    --------
    >>> from gradspec.tree_util import tree_map
    >>> tree_map(lambda p, g: p - 0.5 * g, {"w": [1.0, 2.0], "b": 3.0}, {"w": [2.0, 2.0], "b": 0.0})
    {'w': [0.0, 1.0], 'b': 3.0}
    """
    leaves, structure = tree_flatten(tree)
    return structure.unflatten(f(*row) for row in zip(leaves, *(_in_order(tree, other, "") for other in rest), strict=True))


def _in_order(tree: Any, other: Any, place: str) -> list[Any]:
    """The parts of `other` at the places of the leaves of `tree`."""
    here, there = parts(tree), parts(other)
    if here is None and (tree is not None or other is None):
        return [] if tree is None else [other]
    found = None if here is None or there is None else paired(here, there)
    if here is None or there is None or found is None or type(here[0]) is Taken and here[0] != there[0]:
        raise ValueError(f"tree_map: at tree{place} the first pytree has {_kind(tree)}, but a later one {_kind(other)}")
    steps_ = steps(here[1], found)
    return [leaf for step, one, two in zip(steps_, here[2], found) for leaf in _in_order(one, two, place + step)]


def _kind(tree: Any) -> str:
    found = parts(tree)
    if found is None:
        return type(tree).__name__
    like, keys, items = found
    if keys is None:
        return f"a {type(tree).__name__} of {len(items)}"
    return f"a {'dictionary' if isinstance(like, dict) else type(tree).__name__} of {list(map(str, keys))}"


def tree_reduce(function: Callable[..., Any], tree: Any, *initializer: Any) -> Any:
    """`functools.reduce` over the leaves of a nest.

    Parameters
    ----------
    function : callable
        Of two leaves.
    tree
        A pytree.
    *initializer
        The first value, optional.

    Returns
    -------
    value
        The last value of `function`.
    """
    return functools.reduce(function, tree_leaves(tree), *initializer)


def tree_all(tree: Any) -> bool:
    """Whether all leaves are true.

    Parameters
    ----------
    tree
        A pytree.

    Returns
    -------
    bool
    """
    return all(tree_leaves(tree))


def ravel_pytree(pytree: Any) -> "tuple[Tensor, Callable[[Any], Any]]":
    """All elements of a nest in a vector, and the function that makes such a nest of a vector.

    Parameters
    ----------
    pytree
        Its leaves are arrays.

    Returns
    -------
    vector : Tensor
    unravel : callable
        Takes a vector.

    Examples
    --------
    >>> from gradspec.tree_util import ravel_pytree
    >>> vector, unravel = ravel_pytree({"w": [1.0, 2.0], "b": 3.0})
    >>> vector.tolist()
    [1.0, 2.0, 3.0]
    """
    leaves, structure = tree_flatten(pytree)
    arrays = [asarray(leaf) for leaf in leaves]

    def unravel(vector: Any) -> Any:
        parts, begin = [], 0
        for array in arrays:
            part = ops.reshape(ops.narrow(vector, 0, begin, array.size), array.shape)
            parts.append(part if part.dtype == array.dtype else ops.astype(part, array.dtype))
            begin += array.size
        return structure.unflatten(parts)

    return ops.concat([ops.ravel(array) for array in arrays]) if arrays else ops.zeros(0), unravel
