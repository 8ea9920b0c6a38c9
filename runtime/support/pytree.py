"""Nests: tensors inside tuples, lists, dictionaries, dataclasses and values of registered classes, to any depth.

Owns how a nest is taken apart into its leaves and put together again around others, and which classes are nests.  Knows nothing
of what a leaf is.
"""

LEAF = None  # the form of a leaf
KINDS = {}  # registered class -> how a value is taken apart, and how one is made: see `parts`
LEAVES = set()  # classes whose values are leaves, as far as they have been met
MANY = 256  # of them: classes come and go


class Taken:
    """What stands in a form for a value of a class of its own: all of it but its parts."""

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


def flatten(nest):
    """The leaves of a nest, in order, and its form.

    Parameters
    ----------
    nest : object
        Tuples, lists, dictionaries, dataclasses and values of registered classes are taken apart; anything else is a leaf.

    Returns
    -------
    leaves : list
    form
        What `rebuild` wants.
    """
    leaves = []
    return leaves, _flatten(nest, leaves)


def _flatten(nest, leaves):
    found = None if type(nest) in LEAVES else parts(nest)
    if found is None:
        leaves.append(nest)
        return LEAF
    like, keys, items = found
    return like, keys, [_flatten(item, leaves) for item in items]


def parts(nest):
    """What of a nest is no part of it, the keys of the parts (None where they are counted), and the parts; None for a leaf."""
    cls = type(nest)
    if cls in KINDS:
        apart, make = KINDS[cls]
        keys, items, rest = apart(nest)
        return Taken(cls, make, rest), keys, items
    if isinstance(nest, dict):
        return nest, list(nest), [nest[key] for key in nest]
    if isinstance(nest, (tuple, list)):
        return nest, None, nest
    if hasattr(cls, "__dataclass_fields__"):
        keys, items, rest = apart_dataclass(nest)
        return Taken(cls, made_dataclass, rest), keys, items
    if len(LEAVES) >= MANY:
        LEAVES.clear()
    LEAVES.add(cls)
    return None


def apart_dataclass(nest):
    """The fields of a dataclass.  What is no number is no part: None, strings, bools, functions and classes, and fields that are
    marked: `field(metadata={"static": True})`."""
    from dataclasses import fields  # no import of gradspec should wait for it

    keys, items, rest = [], [], [type(nest)]
    for field in fields(nest):
        if not hasattr(nest, field.name):
            continue
        value = getattr(nest, field.name)
        static = field.metadata.get("static")
        constant = value is None or isinstance(value, (str, bytes, bool)) or callable(value) and parts(value) is None
        if constant if static is None else static:
            rest.append((field.name, value))
        else:
            keys.append(Attribute(field.name))
            items.append(value)
    return keys, items, tuple(rest)


def made_dataclass(rest, keys, items):
    """A dataclass of these fields; its `__init__` is not called."""
    cls, *static = rest
    nest = cls.__new__(cls)
    for name, value in (*static, *zip(keys, items)):
        object.__setattr__(nest, name, value)  # the class may be frozen
    return nest


def rebuild(form, leaves):
    """The nest of a form around other leaves."""
    return _rebuild(form, iter(leaves))


def _rebuild(form, leaves):
    if form is LEAF:
        return next(leaves)
    like, keys, forms = form
    items = [_rebuild(item, leaves) for item in forms]
    if type(like) is Taken:
        return like.make(like.rest, keys, items)
    if keys is not None:
        from copy import copy  # no import of gradspec should wait for it

        nest = {} if type(like) is dict else copy(like)
        nest.update(zip(keys, items))
        return nest
    return type(like)(*items) if hasattr(like, "_fields") else type(like)(items)


def without_leaves(form):
    """The same form, which holds nothing of the nest that it was taken from."""
    if form is LEAF:
        return LEAF
    like, keys, forms = form
    if type(like) is not Taken:
        like = rebuild((like, keys, [LEAF] * len(forms)), [None] * len(forms))
    return like, keys, list(map(without_leaves, forms))


def places(form, place=""):
    """How to get at each leaf, as one would write it: `[0]['weight']`, `.weight`."""
    if form is LEAF:
        return [place]
    _, keys, forms = form
    return [found for name, item in zip(steps(keys, forms), forms) for found in places(item, place + name)]


def steps(keys, items):
    """How to get at each part, as one would write it."""
    return [f".{key}" if type(key) is Attribute else f"[{key!r}]" for key in (range(len(items)) if keys is None else keys)]


def alike(form, other):
    """Whether two forms have the same places; a list is as good as a tuple."""
    if form is LEAF or other is LEAF:
        return form is other
    found = paired(form, other)
    if found is None or form[1] != other[1] or type(form[0]) is Taken and form[0] != other[0]:
        return False
    return all(map(alike, form[2], found))


def paired(first, other):
    """The parts of another nest (or of a form) in the places of those of the first; None where it has other places."""
    (like, keys, items), (other_like, other_keys, other_items) = first, other
    if Taken in (type(like), type(other_like)) and getattr(like, "cls", 0) is not getattr(other_like, "cls", 1):
        return None
    if len(items) != len(other_items) or (keys is None) != (other_keys is None):
        return None
    if keys is None or keys == other_keys:
        return other_items
    found = dict(zip(other_keys, other_items))
    return [found[key] for key in keys] if found.keys() == set(keys) else None
