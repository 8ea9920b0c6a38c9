"""SavedVariable: a value that backward needs, as of the time when it was saved.

Defines the version check, the pack and unpack hooks, and the rule that a saved output never references its own node.  An input
without hooks is saved as the tensor itself with a version number; only the other cases need an object of this class.
"""

from cpython.ref cimport PyObject
from libc.stdint cimport uint32_t

import weakref

from ..support cimport capi as cnp
from ..support.capi cimport ndarray
from ..core cimport node as node_module
from ..core.accumulate_grad cimport grad_accumulator
from ..core.non_operator_events cimport tell_of_copy
from ..core.forward_ad cimport take_tangents
from ..core.grad_mode cimport DUAL, REFUSE_MUTATION, SAVED_HOOKS, ThreadState, thread_objects, thread_state
from ..kernels.loops.memory cimport give_back
from ..core.node cimport Node
from .copy_on_write cimport Snapshot, present_snapshot
from ..core.tensor cimport (
    FOREIGN, INFERENCE_TENSOR, REPLACED, REQUIRES_GRAD, SAVED, TANGENT, VIEW, TensorBase, VersionCounter, is_tensor, wrap,
)
from .modes cimport unrecorded
from .view cimport base_of, replayed, steps_of

cnp.import_array()


cdef class SavedVariable:
    """A saved tensor as hooks see it: `node._raw_saved_x`."""

    def __dealloc__(self):
        give_back(<PyObject*> self.array)

    def __init__(self):
        raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden.")

    @property
    def data(self):
        """The kept object: the pack hook's result if there is one, else the tensor; a saved output is wrapped without history."""
        if self.unpack_hook is not None:
            return self.packed
        return wrap(self.array) if self.variable is None and self.array is not None else self.variable

    def register_hooks(self, pack_hook=None, unpack_hook=None):
        """Replace the saved tensor by `pack_hook(tensor)` now; `unpack_hook` restores it when it is needed.

        Parameters
        ----------
        pack_hook, unpack_hook : callable
        """
        owner = self.owner()
        if owner is None or (<Node> owner).released:
            raise RuntimeError("Calling register_hooks on a saved tensor after it has been freed.")
        if self.unpack_hook is not None:
            raise RuntimeError("Calling register_hooks on a saved tensor whose hooks have already been set.")
        if self.array is None:
            raise RuntimeError("Calling register_hooks on a saved tensor with value None is forbidden.")
        if not callable(pack_hook) or not callable(unpack_hook):
            raise TypeError("register_hooks: incompatible function arguments, expected two callables")
        self.pack(pack_hook, unpack_hook)

    cdef pack(self, pack_hook, unpack_hook):
        cdef TensorBase shown = self.variable
        cdef uint32_t version
        if shown is None or shown.array is not self.array or shown.flags & TANGENT:
            shown = wrap(self.array)
        version = shown.version()
        self.packed = unrecorded(pack_hook, shown)
        if shown.version() != version:
            raise RuntimeError("A saved tensor pack hook is modifying its input in place. Tensors provided as input to "
                               "pack hook can not be modified by in-place operations")
        self.unpack_hook = unpack_hook
        if self.variable is not None and (self.grad_fn is not None or not self.requires_grad):
            self.variable = None  # a leaf has to stay: it leads to its AccumulateGrad
        self.array = self.copy = self.keeper = None

    cdef TensorBase unpacked(self):
        """The result of the unpack hook."""
        value = self.unpack_hook(self.packed)
        if not isinstance(value, TensorBase):
            raise TypeError(f"Output of saved tensor unpack_hook expected to be a Tensor but got {type(value).__name__}")
        return value


cdef SavedVariable pack_variable(TensorBase value):
    cdef SavedVariable saved = SavedVariable.__new__(SavedVariable)
    saved.variable, saved.array = value, value.array
    saved.requires_grad, saved.had_history = value.flags & REQUIRES_GRAD, value.grad_fn_ is not None
    saved.grad_fn, saved.output_nr = value.grad_fn_, value.output_nr_
    saved.extra = value.extra if value.flags & TANGENT else None
    saved.counter, saved.version = value.shared_counter(), value.version()
    return saved


# An ndarray of at most this many elements is copied when it is saved: cheap beside a recorded operator.
cdef enum:
    COPIED = 4096


cdef object save_shared(ThreadState* state, TensorBase value, uint32_t* version):
    """`save_input` if the tensor and its version may not suffice: under hooks, or for a shared or overwritten buffer.

    Version 0, and leaves, are saved as the tensor itself.  A later version, which the next recorded write may end, is saved
    with a Snapshot as well.  A view of a buffer that recorded writes fill step by step is saved as a copy of its value.  A
    snapshot of the whole buffer for each step would cost the square of its size.
    """
    cdef SavedVariable saved
    if value.flags & INFERENCE_TENSOR:
        raise RuntimeError("Inference tensors cannot be saved for backward. To work around you can make a clone to get a normal "
                           "tensor and use it in autograd.")
    if value.flags & FOREIGN and cnp.PyArray_SIZE(value.array) <= COPIED:
        value = wrap(tell_of_copy(value.array, value.array.copy(order="K")))
    if state.flags & SAVED_HOOKS:
        saved = pack_variable(value)
        pack_hook, unpack_hook = thread_objects().saved_hooks[-1]
        saved.pack(pack_hook, unpack_hook)
        return saved
    version[0] = value.version()
    if value.flags & REPLACED:
        return pack_variable(value)
    if version[0] == 0 or (value.flags & REQUIRES_GRAD and value.grad_fn_ is None) or state.flags & REFUSE_MUTATION:
        value.flags |= SAVED
        if value.counter is not None:
            value.counter.saved = True
        if value.grad_fn_ is not None:
            version[0] |= HAD_HISTORY
        return value
    saved = pack_variable(value)
    if value.flags & VIEW and value.counter.rebased:
        saved.copy = tell_of_copy(value.array, value.array.copy(order="K"))
    else:
        saved.keeper = present_snapshot(value.counter)
    return saved


cdef SavedVariable save_output(TensorBase value):
    """A saved output: the array without the tensor, whose grad_fn would close a reference cycle."""
    cdef SavedVariable saved = SavedVariable.__new__(SavedVariable)
    saved.array, saved.is_output = value.array, True
    saved.output_nr, saved.requires_grad = value.output_nr_, True
    saved.counter = value.shared_counter()
    saved.version = saved.counter.value
    saved.extra = value.ensure_extra() if thread_state().flags & DUAL else value.extra  # tangents are set after this
    saved.counter.saved = True
    if saved.version:
        saved.keeper = present_snapshot(saved.counter)
    if thread_state().flags & SAVED_HOOKS:
        pack_hook, unpack_hook = thread_objects().saved_hooks[-1]
        saved.pack(pack_hook, unpack_hook)
    return saved


cdef class SavedList:
    """Several values saved under one name: a list of arrays, or an index of several parts."""


cdef SavedList save_inputs(ThreadState* state, tuple values):
    """`save_input` for each item of a list of arrays."""
    cdef uint32_t version
    cdef SavedList saved = SavedList.__new__(SavedList)
    cdef list parts = []
    for value in values:
        version = 0
        item = save_input(state, value, &version)
        parts.append((item, version))
    saved.kind, saved.parts = list, tuple(parts)
    return saved


cdef object slow_index(ThreadState* state, object index, uint32_t* version):
    """`save_index` for mutable values: a tensor is saved like an input; an array, a list or a number is copied."""
    cdef uint32_t part_version
    cdef SavedList saved
    cdef list parts
    if is_tensor(index):
        if cnp.PyArray_NDIM((<TensorBase> index).array) > 0:
            return save_input(state, index, version)
        index = (<TensorBase> index).array  # a number, as without listeners: later writes do not change it
    if isinstance(index, ndarray):
        return save_input(state, wrap(tell_of_copy(index, (<ndarray> index).copy())), version)
    if type(index) is not list and not (type(index) is tuple and is_mutable(<tuple> index)):
        return index
    parts = []
    for part in index:
        part_version = 0
        item = save_index(state, part, &part_version)
        parts.append((item, part_version))
    saved = SavedList.__new__(SavedList)
    saved.kind, saved.parts = type(index), tuple(parts)
    return saved


cdef bint is_mutable(tuple index) noexcept:
    """Whether some part of an index is mutable."""
    for part in index:
        if isinstance(part, (ndarray, TensorBase, list)) or type(part) is tuple and is_mutable(<tuple> part):
            return True
    return False


cdef bint holds_arrays(object saved) noexcept:
    """Whether a saved index is freed with the other saved values; integers and slices stay, like an axis."""
    return isinstance(saved, (TensorBase, SavedVariable, SavedList))


cdef object refuse_changed(Node node, uint32_t now, uint32_t then, str name):
    how = f"is at version {now}; expected version {then} instead" if now != then else "has got other data since"
    raise RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"'{name}', saved by {type(node).__name__}, {how}. "
        "Hint: write to a clone(), or compute what is needed before the in-place operation."
    )


cdef int check_detached(Node node, TensorBase tensor, str name) except -1:
    if tensor.grad_fn_ is None:
        raise RuntimeError(f"Trying to use a saved tensor that has been detached in-place, i.e. with .detach_(): '{name}', "
                           f"saved by {type(node).__name__}. Use detach(), which makes a new tensor.")
    return 0


cdef ndarray kept_array(Node node, VersionCounter counter, Snapshot keeper, ndarray array, uint32_t then, str name):
    """The old value of a saved array, from the snapshot taken by the recorded write that changed it."""
    cdef Snapshot snapshot = keeper if keeper is not None else counter.first if then == 0 else None
    cdef ndarray found = None
    if snapshot is not None and snapshot.array is not None:
        found = snapshot.array_of(array)
    if found is None:
        refuse_changed(node, counter.value, then, name)
    return found


cdef bint is_unchanged(TensorBase tensor, uint32_t then) noexcept:
    """Whether a tensor is unchanged since a node saved it; a bit of the version word says whether it had a history then."""
    return (tensor.version() | (then & HAD_HISTORY)) == then and not tensor.flags & REPLACED and not (
        then & HAD_HISTORY and tensor.grad_fn_ is None)


cdef ndarray tensor_before(Node node, TensorBase tensor, uint32_t then, str name):
    """The array of a saved tensor, as of saving."""
    cdef uint32_t version = then & ~<uint32_t> HAD_HISTORY
    if tensor.flags & REPLACED:
        refuse_changed(node, tensor.version(), version, name)
    if then & HAD_HISTORY:
        check_detached(node, tensor, name)
    return kept_array(node, tensor.counter, None, tensor.array, version, name)


cdef ndarray variable_array(Node node, SavedVariable variable, str name):
    """The array of a SavedVariable, as of saving."""
    if variable.unpack_hook is not None:
        return variable.unpacked().array
    if variable.variable is not None and variable.had_history:
        check_detached(node, variable.variable, name)
    if variable.counter.value == variable.version:
        return variable.array
    if variable.copy is not None:
        return variable.copy
    return kept_array(node, variable.counter, variable.keeper, variable.array, variable.version, name)


cdef object freed(Node node, str name):
    raise RuntimeError(
        "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
        f"been freed): {type(node).__name__} no longer has '{name}'. Saved intermediate values of the graph are freed when you "
        "call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the graph a "
        "second time or if you need to access saved tensors after calling backward."
    )


cdef object saved_array(Node node, object saved, uint32_t version, str name):
    """The saved value for an unrecorded formula: an array, a Python number, or None."""
    if is_tensor(saved):
        if is_unchanged(<TensorBase> saved, version):
            return (<TensorBase> saved).array
        return tensor_before(node, saved, version, name)
    if saved is None:
        return freed(node, name) if node.released else None
    if isinstance(saved, SavedVariable):
        return None if (<SavedVariable> saved).counter is None else variable_array(node, saved, name)
    if isinstance(saved, SavedList):
        return (<SavedList> saved).kind([saved_array(node, item, v, name) for item, v in (<SavedList> saved).parts])
    return saved


cdef object saved_tensor(Node node, object saved, uint32_t version, str name):
    """The saved value for a recorded formula: the tensor with its history, a Python number, or None."""
    cdef TensorBase tensor, base, earlier, constant
    if is_tensor(saved):
        tensor = saved
        if is_unchanged(tensor, version):
            return tensor
        array = tensor_before(node, tensor, version, name)
        base = base_of(tensor)
        if base.extra is None or base.extra.before is None:  # an alias without a history
            return wrap(array)
        earlier = replayed(steps_of(tensor), None, base.extra.before)
        if not version & HAD_HISTORY:
            constant = wrap(array)
            take_tangents(constant, earlier)
            return constant
        return earlier
    if saved is None:
        return freed(node, name) if node.released else None
    if isinstance(saved, SavedVariable):
        return None if (<SavedVariable> saved).counter is None else variable_tensor(node, saved, name)
    if isinstance(saved, SavedList):
        return (<SavedList> saved).kind([saved_tensor(node, item, v, name) for item, v in (<SavedList> saved).parts])
    return saved


cdef TensorBase variable_tensor(Node node, SavedVariable variable, str name):
    """A SavedVariable as a tensor with its history."""
    cdef TensorBase tensor, unpacked
    cdef bint packed = variable.unpack_hook is not None
    if packed:
        unpacked = variable.unpacked()
        if not variable.requires_grad:
            return unpacked
        tensor = wrap(unpacked.array)
    else:
        tensor = wrap(variable_array(node, variable, name))
        if tensor.array is variable.array:
            if variable.variable is not None:
                return variable.variable
            tensor.counter = variable.counter
    tensor.output_nr_ = variable.output_nr
    tensor.grad_fn_ = node if variable.is_output else variable.grad_fn
    if node.tracked:  # the node may come to reference this tensor, by an attribute or a hook
        tensor.track()
    if variable.requires_grad:
        tensor.flags |= REQUIRES_GRAD
        if tensor.grad_fn_ is None and variable.variable is not None:
            tensor.grad_fn_ = grad_accumulator(variable.variable)
    if variable.extra is not None and variable.extra.tangents is not None:
        tensor.ensure_extra().tangents = variable.extra.tangents
        tensor.flags |= TANGENT
    return tensor


cdef object as_variable(Node node, object saved, uint32_t version):
    """A saved field as a SavedVariable, which accepts hooks."""
    cdef SavedVariable variable
    if saved is None and node.released:
        return freed(node, "it")
    if saved is None:
        variable = SavedVariable.__new__(SavedVariable)
    elif isinstance(saved, SavedVariable):
        variable = saved
    elif isinstance(saved, TensorBase):
        variable = pack_variable(saved)
        variable.version, variable.had_history = version & ~<uint32_t> HAD_HISTORY, version & HAD_HISTORY != 0
    elif isinstance(saved, SavedList):
        return raw_list(node, saved)
    else:
        return saved
    if variable.owner is None:
        variable.owner = weakref.ref(node)
    return variable


cdef SavedList raw_list(Node node, SavedList saved):
    """`as_variable` for each part; the parts are replaced for good."""
    cdef list parts = []
    for item, version in saved.parts:
        parts.append((as_variable(node, item, version), version))
    saved.parts = tuple(parts)
    return saved


cdef bint is_packed(object saved) except -1:
    """Whether some part of a saved field has an unpack hook."""
    if isinstance(saved, SavedVariable):
        return (<SavedVariable> saved).unpack_hook is not None
    if isinstance(saved, SavedList):
        return any([is_packed(item) for item, _ in (<SavedList> saved).parts])
    return isinstance(saved, tuple) and any([is_packed(item) for item in saved])


cdef object read_saved(Node node, str name, bint raw):
    """`node._saved_x`, or `node._raw_saved_x`, which accepts hooks; a list of tensors is returned as a tuple."""
    if name not in type(node).saves:
        raise AttributeError(f"{type(node).__name__} saves no {name!r}; it saves {', '.join(type(node).saves) or 'nothing'}")
    field = f"saved_{name}"
    saved, version = getattr(node, field), getattr(node, f"version_{name}", None)
    if version is None:  # not a tensor: an axis, a shape
        return saved
    if raw:
        saved = as_variable(node, saved, version)
        setattr(node, field, saved)
        return tuple([item for item, _ in (<SavedList> saved).parts]) if isinstance(saved, SavedList) else saved
    value = saved_tensor(node, saved, version, name)
    return tuple(value) if type(value) is list else value


node_module.read_saved = read_saved
