"""Pytrees: flatten and rebuild tuples, lists, dictionaries, dataclasses and registered classes, to any depth.

Decides which classes are pytrees, and defines their parts.  A leaf may be anything.
"""

LEAF = None  # the form of a leaf
KINDS = {}  # registered class -> its functions to take a value apart and to build one: see `parts`
LEAVES = set()  # classes of leaves seen so far
MANY = 256  # maximal size of LEAVES: classes come and go


class Taken:
    """A value of a dataclass or registered class in a form: everything except its parts."""

    __slots__ = ("cls", "make", "rest")

    def __init__(self, cls, make, rest):
        self.cls, self.make, self.rest = cls, make, rest

    def __eq__(self, other):
        return type(other) is Taken and self.cls is other.cls and bool(self.rest == other.rest)

    def __hash__(self):
        return hash((self.cls, self.rest))


class Attribute(str):
    """The key of a part that is an attribute."""

    __slots__ = ()


def flatten(tree):
    """The leaves of a pytree, in order, and its form.

    Parameters
    ----------
    tree : object
        Tuples, lists, dictionaries, dataclasses and values of registered classes are flattened; anything else is a leaf.

    Returns
    -------
    leaves : list
    form
        The argument of `rebuild`.
    """
    leaves = []
    return leaves, _flatten(tree, leaves)


def _flatten(tree, leaves):
    found = None if type(tree) in LEAVES else parts(tree)
    if found is None:
        leaves.append(tree)
        return LEAF
    like, keys, items = found
    return like, keys, [_flatten(item, leaves) for item in items]


def parts(tree):
    """A pytree without its parts, the keys of the parts (None if they are numbered), and the parts; None for a leaf."""
    cls = type(tree)
    if cls in KINDS:
        apart, make = KINDS[cls]
        keys, items, rest = apart(tree)
        return Taken(cls, make, rest), keys, items
    if isinstance(tree, dict):
        return tree, list(tree), [tree[key] for key in tree]
    if isinstance(tree, (tuple, list)):
        return tree, None, tree
    if hasattr(cls, "__dataclass_fields__"):
        keys, items, rest = apart_dataclass(tree)
        return Taken(cls, made_dataclass, rest), keys, items
    if len(LEAVES) >= MANY:
        LEAVES.clear()
    LEAVES.add(cls)
    return None


def apart_dataclass(tree):
    """The fields of a dataclass: parts and static fields.

    None, strings, bools, functions and classes are static, unless marked by `field(metadata={"static": False})`; other fields are
    static if marked by `field(metadata={"static": True})`.
    """
    from dataclasses import fields  # not imported with gradspec

    keys, items, rest = [], [], [type(tree)]
    for field in fields(tree):
        if not hasattr(tree, field.name):
            continue
        value = getattr(tree, field.name)
        static = field.metadata.get("static")
        constant = value is None or isinstance(value, (str, bytes, bool)) or callable(value) and parts(value) is None
        if constant if static is None else static:
            rest.append((field.name, value))
        else:
            keys.append(Attribute(field.name))
            items.append(value)
    return keys, items, tuple(rest)


def made_dataclass(rest, keys, items):
    """A dataclass with these fields; its `__init__` is not called."""
    cls, *static = rest
    tree = cls.__new__(cls)
    for name, value in (*static, *zip(keys, items)):
        object.__setattr__(tree, name, value)  # the class may be frozen
    return tree


def rebuild(form, leaves):
    """The pytree with the given form and leaves."""
    return _rebuild(form, iter(leaves))


def _rebuild(form, leaves):
    if form is LEAF:
        return next(leaves)
    like, keys, forms = form
    items = [_rebuild(item, leaves) for item in forms]
    if type(like) is Taken:
        return like.make(like.rest, keys, items)
    if keys is not None:
        from copy import copy  # not imported with gradspec

        tree = {} if type(like) is dict else copy(like)
        tree.update(zip(keys, items))
        return tree
    return type(like)(*items) if hasattr(like, "_fields") else type(like)(items)


def without_leaves(form):
    """The same form without references to the flattened pytree."""
    if form is LEAF:
        return LEAF
    like, keys, forms = form
    if type(like) is not Taken:
        like = rebuild((like, keys, [LEAF] * len(forms)), [None] * len(forms))
    return like, keys, list(map(without_leaves, forms))


def places(form, place=""):
    """The path to each leaf, as in code: `[0]['weight']`, `.weight`."""
    if form is LEAF:
        return [place]
    _, keys, forms = form
    return [found for name, item in zip(steps(keys, forms), forms) for found in places(item, place + name)]


def steps(keys, items):
    """The path to each part, as in code."""
    return [f".{key}" if type(key) is Attribute else f"[{key!r}]" for key in (range(len(items)) if keys is None else keys)]


def alike(form, other):
    """Whether two forms have the same places; lists and tuples count as equal."""
    if form is LEAF or other is LEAF:
        return form is other
    found = paired(form, other)
    if found is None or form[1] != other[1] or type(form[0]) is Taken and form[0] != other[0]:
        return False
    return all(map(alike, form[2], found))


def paired(first, other):
    """The parts of the other pytree (or form) in the order of the first one's places; None if the places differ."""
    (like, keys, items), (other_like, other_keys, other_items) = first, other
    if Taken in (type(like), type(other_like)) and getattr(like, "cls", 0) is not getattr(other_like, "cls", 1):
        return None
    if len(items) != len(other_items) or (keys is None) != (other_keys is None):
        return None
    if keys is None or keys == other_keys:
        return other_items
    found = dict(zip(other_keys, other_items))
    return [found[key] for key in keys] if found.keys() == set(keys) else None
