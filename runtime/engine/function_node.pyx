"""FunctionNode: the node of a custom Function, which is also the `ctx` of its methods.

Holds the values that the user saves and marks, and calls the user's backward.  Each Function gets its own subclass, with the name
and the attributes that users expect.
"""

from libc.stdint cimport uint32_t

import warnings

from ..support cimport capi as cnp
from ..support.capi cimport ndarray
from ..core.accumulate_grad cimport set_history
from ..core.events import set_mapping
from ..core.grad_mode cimport MAPPED, thread_state
from .input_buffer cimport defined_array
from ..core.node cimport Node, Wanted
from ..saved.saved_variable cimport as_variable, freed, save_input, save_output, saved_array, saved_tensor
from ..core.tensor cimport VIEW, TensorBase, wrap

cnp.import_array()


cdef class FunctionNode(Node):
    """One call of a custom Function."""

    def __cinit__(self):
        self.materialize = self.materialize_non_differentiable = True
        self.saved = self.is_tensor = self.needs_input_grad_ = ()
        self.no_gradient = set()

    def __getattr__(self, str name):
        if self.kept is None or name not in self.kept.aside:
            return Node.__getattr__(self, name)
        return self.kept.attribute(self, name, self.shown is not None)

    # The user's statements about the forward.

    def save_for_backward(self, *tensors):
        """Keep inputs or outputs for `backward`, which reads them from `saved_tensors`; None is kept as None."""
        self.to_save = only_tensors("save_for_backward", tensors)

    def save_for_forward(self, *tensors):
        """Keep inputs or outputs for `jvp`, which reads them from `saved_tensors`."""
        self.for_forward = only_tensors("save_for_forward", tensors)

    def mark_dirty(self, *tensors):
        """Declare the inputs that the forward writes to; each of them must be returned."""
        self.dirty = only_tensors("mark_dirty", tensors)

    def mark_non_differentiable(self, *tensors):
        """Declare the outputs that have no gradient."""
        self.non_differentiable = only_tensors("mark_non_differentiable", tensors)

    def set_materialize_grads(self, bint value):
        """Choose whether an undefined gradient or tangent arrives as zeros (the default) or as None."""
        self.materialize = value

    @property
    def needs_input_grad(self):
        """For each argument of `apply`, whether it requires a gradient."""
        return self.needs_input_grad_

    @property
    def materialize_grads(self):
        return self.materialize

    @materialize_grads.setter
    def materialize_grads(self, bint value):
        self.materialize = value

    @property
    def _is_pure_view(self):
        """Whether the output is declared to be only a view of the input; `backward` is then the adjoint of that view."""
        return self.pure_view

    @_is_pure_view.setter
    def _is_pure_view(self, bint value):
        self.pure_view = value

    @property
    def _materialize_non_diff_grads(self):
        return self.materialize_non_differentiable

    @_materialize_non_diff_grads.setter
    def _materialize_non_diff_grads(self, bint value):
        self.materialize_non_differentiable = value

    # Saved values.

    @property
    def saved_tensors(self):
        """The tensors of `save_for_backward`; in `jvp`, the tensors of `save_for_forward`."""
        if self.shown is not None:
            return self.shown if self.kept is None else self.kept.shown(self, self.shown, True)
        cdef tuple found
        if self.released:
            return saved_tensor(self, None, 0, "saved_tensors")
        if self.saved is None:
            raise RuntimeError(f"{type(self).__name__}: saved_tensors of a Function with clear_saved_tensors_on_access can only "
                               "be accessed once: keep them in a variable.")
        found = tuple([saved_tensor(self, item, version, "saved_tensors") for item, version in self.saved])
        if self.kept is not None:
            found = self.kept.shown(self, found, False)
        if found and type(self)._forward_cls.clear_saved_tensors_on_access:
            self.saved = None
        return found

    @property
    def saved_variables(self):
        """The former name of `saved_tensors`."""
        warnings.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2)
        return self.saved_tensors

    @property
    def _raw_saved_tensors(self):
        if self.released:
            return saved_tensor(self, None, 0, "_raw_saved_tensors")
        if self.saved is None:
            return ()
        self.saved = tuple([(as_variable(self, item, version), version) for item, version in self.saved])
        return tuple([item for item, _ in self.saved])

    @property
    def _lasting(self):
        """Whether saved values survive a pass that frees its graph: the pass did not reach all outputs of the node."""
        return self.lasting

    @_lasting.setter
    def _lasting(self, bint value):
        self.lasting = value

    def _saved_arrays(self, places):
        """The saved tensors at some places, as arrays; the others are not unpacked."""
        cdef list found = []
        for place in places:
            item, version = self.saved[place]
            found.append(saved_array(self, item, version, "saved_tensors"))
        return found

    def _refuse_second(self):
        """Raise the error for freed saved values."""
        freed(self, "saved_tensors")

    cdef int save(self) except -1:
        """Save the tensors of save_for_backward: an output without the tensor, which references this node."""
        cdef uint32_t version
        cdef TensorBase written
        cdef list saved = []
        for tensor in self.to_save or ():
            version = 0
            if tensor is not None and (<TensorBase> tensor).grad_fn_ is self:
                saved.append((save_output(tensor), 0))
            elif tensor is not None and (<TensorBase> tensor).flags & VIEW and any([tensor is one for one in self.dirty or ()]):
                # Its base's history, and so its own, references this node: save the value that this node wrote.
                written = (<TensorBase> tensor).alias()
                set_history(written, self, 0)  # such a Function has one output
                saved.append((save_output(written), 0))
            else:
                item = save_input(thread_state(), tensor, &version)
                saved.append((item, version))
        self.saved, self.to_save = tuple(saved), None
        return 0

    cdef void release_variables(self):
        if not self.lasting:
            self.released = True
            self.saved = ()

    # Backward.

    cdef bint takes_undefined(self):
        return True

    cdef object apply(self, object grad, Wanted wanted):
        return self.differentiate(grad, False)

    cdef object apply_recorded(self, object grad, Wanted wanted):
        return self.differentiate(grad, True)

    cdef object differentiate(self, object grad, bint recorded):
        """Call the user's backward on tensors; gradients that did not arrive are zeros."""
        cdef list grads = [None] * self.n_outputs if grad is None else [grad] if self.outputs == NULL else grad
        cdef list values = []
        cdef int i
        if self.kept is not None:
            self.kept.enter(self)
        for i in range(self.n_outputs):
            value = grads[i]
            if value is None and self.materialize and self.metadata(i).ndim >= 0 and (
                    self.materialize_non_differentiable or i not in self.no_gradient):
                value = defined_array(self, grads, i)
            values.append(wrap(value) if isinstance(value, ndarray) else value)
        grads = grad = value = None
        if self.guard is None or thread_state().flags & MAPPED:
            return self.checked(type(self)._forward_cls._backward_method()(self, *values), recorded)
        set_mapping(self.guard)
        try:
            return self.checked(type(self)._forward_cls._backward_method()(self, *values), recorded)
        finally:
            set_mapping(None)

    cdef object checked(self, object result, bint recorded):
        """The gradients of the tensor arguments, from the result of the user's backward."""
        cdef tuple grads = result if isinstance(result, tuple) else (result,)
        cdef Py_ssize_t expected = len(self.is_tensor), i
        cdef list kept = []
        result = None
        if len(grads) < expected or any([grad is not None for grad in grads[expected:]]):
            raise RuntimeError(f"function {type(self).__name__} returned an incorrect number of gradients (expected {expected}, "
                               f"got {len(grads)})")
        for i in range(expected):
            grad = grads[i]
            if not self.is_tensor[i]:
                if grad is not None:
                    raise RuntimeError(f"function {type(self).__name__} returned a gradient different than None at position "
                                       f"{i + 1}, but the corresponding forward input was not a Variable")
                continue
            if grad is not None and not isinstance(grad, TensorBase):
                raise RuntimeError(f"function {type(self).__name__}: expected Variable or None (got {type(grad).__name__}) at "
                                   f"position {i + 1}")
            if self.edge_count and not self.needs(<int> len(kept)):
                grad = None
            kept.append(grad if recorded or grad is None else (<TensorBase> grad).array)
        return kept[0] if len(kept) == 1 else tuple(kept)


cdef tuple only_tensors(str method, tuple values):
    for i, value in enumerate(values):
        if value is not None and not isinstance(value, TensorBase):
            raise TypeError(f"{method} can only save variables, but argument {i} is of type {type(value).__name__}"
                            if method.startswith("save") else
                            f"{method} only accepts variables, but argument {i} is of type {type(value).__name__}")
    return values
