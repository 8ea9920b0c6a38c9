"""Leaves that took an array of another shape: what was recorded before has gradients of a shape that the leaf has no more.

Owns the notes of when that was, in the numbers that nodes have.  Knows leaves and nodes by their public faces only.
"""

import weakref

_notes = {}  # by id of the leaf: a weak reference to it, and the number that the next node had then


def note(leaf, number):
    """The leaf takes an array of another shape; the next node that is made gets this number."""
    key = id(leaf)
    _notes[key] = weakref.ref(leaf, lambda _: _notes.pop(key, None)), number


def is_of_another_shape(leaf, node):
    """Whether the leaf has taken an array of another shape since the node was made."""
    return id(leaf) in _notes and node._sequence_nr() < _notes[id(leaf)][1]
