"""Nests: tensors inside tuples, lists and dictionaries, to any depth.

Owns how a nest is taken apart into its leaves and put together again around others.  Knows nothing of what a leaf is.
"""

LEAF = None  # the form of a leaf


def flatten(nest):
    """The leaves of a nest, in order, and its form.

    Parameters
    ----------
    nest : object
        Tuples, lists and dictionaries are taken apart; anything else is a leaf.

    Returns
    -------
    leaves : list
    form
        What `rebuild` wants.
    """
    leaves = []
    return leaves, _flatten(nest, leaves)


def _flatten(nest, leaves):
    if isinstance(nest, dict):
        return nest, list(nest), [_flatten(nest[key], leaves) for key in nest]
    if isinstance(nest, (tuple, list)):
        return nest, None, [_flatten(item, leaves) for item in nest]
    leaves.append(nest)
    return LEAF


def rebuild(form, leaves):
    """The nest of a form around other leaves."""
    return _rebuild(form, iter(leaves))


def _rebuild(form, leaves):
    if form is LEAF:
        return next(leaves)
    like, keys, forms = form
    items = [_rebuild(item, leaves) for item in forms]
    if keys is not None:
        from copy import copy  # no import of gradspec should wait for it

        nest = {} if type(like) is dict else copy(like)
        nest.update(zip(keys, items))
        return nest
    return type(like)(*items) if hasattr(like, "_fields") else type(like)(items)


def places(form, place=""):
    """How to get at each leaf, as one would write it: `[0]['weight']`."""
    if form is LEAF:
        return [place]
    _, keys, forms = form
    names = range(len(forms)) if keys is None else keys
    return [found for name, item in zip(names, forms) for found in places(item, f"{place}[{name!r}]")]


def alike(form, other):
    """Whether two forms have the same places; a list is as good as a tuple."""
    if form is LEAF or other is LEAF:
        return form is other
    (_, keys, forms), (_, other_keys, other_forms) = form, other
    if keys is not None or other_keys is not None:
        if keys is None or keys != other_keys:
            return False
    return len(forms) == len(other_forms) and all(map(alike, forms, other_forms))
