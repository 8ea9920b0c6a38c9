"""Named results: tuples whose items have names, as in NumPy and PyTorch.

Replaces `collections.namedtuple`, which takes longer to create a class.
"""

from operator import itemgetter


class NamedResult(tuple):
    """A tuple whose items are also attributes."""

    __slots__ = ()
    _fields: tuple = ()

    def __new__(cls, *items):
        if len(items) != len(cls._fields):
            raise TypeError(f"{cls.__name__}: expected {', '.join(cls._fields)}, got {len(items)} items")
        return tuple.__new__(cls, items)

    def __getnewargs__(self):
        return tuple(self)

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{name}={item!r}' for name, item in zip(self._fields, self))})"

    def _asdict(self):
        """The items by name."""
        return dict(zip(self._fields, self))


def named(name, *fields, module):
    """A class of results with these fields."""
    items = {field: property(itemgetter(i)) for i, field in enumerate(fields)}
    about = {"__slots__": (), "_fields": fields, "__match_args__": fields, "__module__": module}
    return type(name, (NamedResult,), about | items)
