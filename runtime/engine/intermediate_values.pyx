"""Intermediate values: refuse second derivatives of custom Functions that would silently be zero.

Defines `once_differentiable`, and finds the intermediate values that a forward has kept: neither inputs nor outputs, they have no
history in backward.  A recorded backward or jvp gets such a value with a history that raises; under open tangents the read is
refused.  A listener finds the inputs that a value depends on; only a Function that keeps such values pays for it.
"""

import functools
from weakref import ref

from ..core.accumulate_grad cimport needs_grad
from ..core.error_nodes cimport refuse_through
from ..core.forward_ad cimport levels_of, tangent_of
from ..core.grad_mode cimport DUAL, GRAD_DISABLED, MAPPED, ThreadState, thread_objects, thread_state
from ..core.node cimport Node
from ..core.tensor cimport REQUIRES_GRAD, TANGENT, VIEW, TensorBase, is_inexact

cdef object new_follower = None


def set_follower(follower):
    """Set the factory of listeners that trace the values of a forward.

    Parameters
    ----------
    follower : callable
        Takes inputs and the bit of each; returns a Listener whose `of(value)` is the bits of the inputs that a value depends on.
    """
    global new_follower
    new_follower = follower


cdef class Kept:
    """The intermediate values that one forward kept."""

    cdef object shown(self, Node node, tuple tensors, bint in_jvp):
        """The saved tensors as a user's method gets them: with a history that raises if the method is recorded."""
        cdef tuple sources = self.forward if in_jvp else self.saved
        cdef list found = list(tensors)
        cdef int i
        if not any(sources):
            return tensors
        self.refuse_tangents(node, sources, in_jvp)
        if is_recorded(node):
            for i in range(len(sources)):
                if sources[i]:
                    found[i] = (<TensorBase> found[i]).alias()
                    hang(node, found[i], sources[i])
        return tuple(found)

    cdef object attribute(self, Node node, str name, bint in_jvp):
        """An attribute that was set aside because some input had a tangent."""
        value, sources = self.aside[name]
        self.refuse_tangents(node, sources, in_jvp)
        return value

    cdef int enter(self, Node node) except -1:
        """Called before a user's method reads attributes."""
        if is_recorded(node):
            for reference, source in self.attributes:
                tensor = reference()
                if tensor is not None and not has_history(tensor):
                    hang(node, tensor, source)
        return 0

    cdef int refuse_tangents(self, Node node, object sources, bint in_jvp) except -1:
        """Refuse a read if the value should have a tangent: of an open level, or in a jvp of a level outside of the jvp's own."""
        cdef list levels = [level for level, moved in self.levels if level in thread_objects().dual_levels
                            and any([moved & source for source in sources])]
        if len(levels) > in_jvp:
            raise RuntimeError(refusal(node))
        return 0


cdef bint has_history(TensorBase tensor) noexcept:
    """Whether a gradient flows on from here; a view of a leaf, taken in a forward, has only the leaf's flag."""
    return tensor.flags & REQUIRES_GRAD and (tensor.grad_fn_ is not None or not tensor.flags & VIEW)


cdef bint is_recorded(Node node) noexcept:
    return not thread_state().flags & GRAD_DISABLED and node.edge_count


cdef int hang(Node node, TensorBase tensor, object source) except -1:
    refuse_through(refusal(node), node, source, (), [tensor])
    return 0


cdef str refusal(Node node):
    return (f"{type(node).__name__}: a derivative through a value that its forward computed from an input and kept, which is "
            "neither an input nor an output and has no history there: return it from forward as an output, or recompute it in "
            "backward from saved inputs, which have a history; detach() it in backward if a constant is meant")


cdef object follow(cls, tuple inputs):
    """A listener to the forward of a Function that keeps, or may keep, intermediate values."""
    cdef int i
    if cls._keeps is False or cls._keeps == "known":
        return None
    return new_follower(inputs, [bit_of(inputs, i) for i in range(len(inputs))]).start()


cdef object bit_of(tuple inputs, int i):
    """The bit of an input that is differentiated; 0 for any other input."""
    return <object> 1 << i if is_inexact((<TensorBase> inputs[i]).array) and (
        (<TensorBase> inputs[i]).flags & (REQUIRES_GRAD | TANGENT)) else 0


cdef Kept kept_by(cls, Node node, object follower, tuple inputs, tuple outputs, object to_save, object for_forward):
    """The intermediate values that a forward has kept, or None."""
    cdef list attributes = [], saved = [], every, found
    cdef Kept kept
    cdef int i, number
    if cls._keeps == "known":
        return None
    find(to_save, inputs, outputs, saved, 1)
    find(for_forward, inputs, outputs, saved, 1)
    find(node.__dict__, inputs, outputs, attributes, 8)
    if not saved and not attributes:
        if follower is not None and cls._keeps is None:
            cls._keeps = False
        return None
    cls._keeps = True
    if follower is None:  # the first forward that kept such values: they may depend on every input
        source = 0
        for i in range(len(inputs)):
            source |= bit_of(inputs, i)

        def source_of(tensor):
            return source
    else:
        source_of = follower.of
    kept = Kept.__new__(Kept)
    kept.aside = {}
    kept.saved = tuple([source_of(tensor) if holds(saved, tensor) else 0 for tensor in to_save or ()])
    kept.forward = tuple([source_of(tensor) if holds(saved, tensor) else 0 for tensor in for_forward or ()])
    kept.attributes = [(ref(tensor), source_of(tensor)) for tensor in attributes]
    kept.attributes = [(reference, source) for reference, source in kept.attributes if source]
    kept.levels = []
    if thread_state().flags & DUAL:
        every = thread_objects().dual_levels
        for number in levels_of(inputs):
            moved = 0
            for i in range(len(inputs)):
                if tangent_of(inputs[i], number) is not None:
                    moved |= <object> 1 << i
            kept.levels.append((every[number - 1], moved))
        for name, value in list(node.__dict__.items()):
            found = []
            find(value, inputs, outputs, found, 7)
            sources = [source_of(tensor) for tensor in found]
            if any(sources):
                kept.aside[name] = node.__dict__.pop(name), sources
    return kept if kept.attributes or any(kept.saved) or any(kept.forward) else None


cdef int find(object value, tuple inputs, tuple outputs, list found, int depth) except -1:
    """Add the tensors in `value` that are neither inputs nor outputs and have no history."""
    if isinstance(value, TensorBase):
        value = behind((value,))[0]
        if not has_history(value) and is_inexact((<TensorBase> value).array) and not (
                holds(inputs, value) or holds(outputs, value) or holds(found, value)):
            found.append(value)
    elif depth and isinstance(value, (tuple, list)):
        for item in value:
            find(item, inputs, outputs, found, depth - 1)
    elif depth and isinstance(value, dict):
        for item in value.values():
            find(item, inputs, outputs, found, depth - 1)
    return 0


cdef bint holds(object tensors, object value):
    """Whether `value` itself is among `tensors`."""
    return any([item is value for item in tensors])


def once_differentiable(function):
    """Decorate a `backward` that cannot itself be differentiated: using its result in a second derivative raises.

    Parameters
    ----------
    function : callable
        The static method `backward(ctx, *grads)`.
    """
    @functools.wraps(function)
    def wrapper(ctx, *grads):
        cdef ThreadState* state = thread_state()
        cdef unsigned int before = state.flags & GRAD_DISABLED
        state.flags |= GRAD_DISABLED
        try:
            results = function(ctx, *grads)
        finally:
            state.flags = (state.flags & ~<unsigned int> GRAD_DISABLED) | before
        if before:
            return results
        several = results if isinstance(results, tuple) else (results,)
        several = tuple([value.detach() if is_differentiable(value) else value for value in several])
        refuse_through("trying to differentiate twice a function that was marked with @once_differentiable",
                       getattr(ctx, "_node", ctx), -1, tuple([one for one in behind(grads) if needs_grad(thread_state(), one)]),
                       [value for value in behind(several) if is_differentiable(value)])
        return several if isinstance(results, tuple) else several[0]
    return wrapper


cdef bint is_differentiable(object value) except -1:
    return isinstance(value, TensorBase) and is_inexact((<TensorBase> value).array)


cdef object behind(tuple values):
    """The values; a row of a vmap is replaced by its batch."""
    return thread_objects().mapping.insides(values) if thread_state().flags & MAPPED else values
