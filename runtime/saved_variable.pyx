"""SavedVariable: a value that backward needs, as it was when it was saved.

Owns the version check, pack and unpack hooks, and the rule that a saved output never holds its own node.  An input that
no hook touches is kept as the tensor itself beside a version number; only the other cases need an object of this class.
Knows nothing of the engine.
"""

from libc.stdint cimport uint32_t
cimport numpy as cnp
from numpy cimport ndarray

import weakref

from . cimport node as node_module
from .accumulate_grad cimport grad_accumulator
from .grad_mode cimport DUAL, SAVED_HOOKS, ThreadObjects, ThreadState, thread_objects, thread_state
from .node cimport Node
from .tensor cimport REQUIRES_GRAD, TANGENT, TensorBase, is_tensor, wrap

cnp.import_array()


cdef class SavedVariable:
    """A saved tensor as hooks see it: `node._raw_saved_x`."""

    def __init__(self):
        raise TypeError("Trying to create a SavedTensor object from Python is forbidden.")

    def register_hooks(self, pack_hook, unpack_hook):
        """Replace the saved tensor by `pack_hook(tensor)` now, and by `unpack_hook` of that when it is needed.

        Parameters
        ----------
        pack_hook, unpack_hook : callable
        """
        if self.unpack_hook is not None:
            raise RuntimeError("Calling register_hooks on a saved tensor whose hooks have already been set.")
        owner = self.owner()
        if owner is None or (<Node> owner).released:
            raise RuntimeError("Calling register_hooks on a saved tensor after it has been freed.")
        if self.array is None:
            raise RuntimeError("Calling register_hooks on a saved tensor with value None is forbidden.")
        if not callable(pack_hook) or not callable(unpack_hook):
            raise TypeError("register_hooks: incompatible function arguments, expected two callables")
        self.pack(pack_hook, unpack_hook)

    cdef pack(self, pack_hook, unpack_hook):
        cdef TensorBase detached = wrap(self.array)
        cdef uint32_t version = detached.version()
        self.packed = pack_hook(detached)
        if detached.version() != version:
            raise RuntimeError("A saved tensor pack hook is modifying its input in place. Tensors provided as input to "
                               "pack hook can not be modified by in-place operations")
        self.unpack_hook = unpack_hook
        if self.variable is not None:
            self.grad_fn = self.variable.grad_fn_
            if self.grad_fn is not None or not self.variable.flags & REQUIRES_GRAD:
                self.variable = None  # a leaf has to stay: its AccumulateGrad is found through it
        self.array = None

    cdef ndarray unpacked(self):
        if self.unpack_hook is None:
            return self.array
        value = self.unpack_hook(self.packed)
        if not isinstance(value, TensorBase):
            raise TypeError(f"Output of saved tensor unpack_hook expected to be a Tensor but got {type(value).__name__}")
        return (<TensorBase> value).array


cdef SavedVariable pack_variable(TensorBase value):
    cdef SavedVariable saved = SavedVariable.__new__(SavedVariable)
    saved.variable, saved.array = value, value.array
    saved.requires_grad, saved.had_history = value.flags & REQUIRES_GRAD, value.grad_fn_ is not None
    saved.output_nr = value.output_nr_
    saved.extra = value.extra if value.flags & TANGENT else None
    saved.counter, saved.version = value.shared_counter(), value.version()
    return saved


# Up to how many elements an ndarray is copied when it is saved: beside a recorded operator that costs little.
cdef enum:
    COPIED = 4096


cdef TensorBase owned(TensorBase value):
    """An operand that was given as an ndarray, with memory of its own if it is small."""
    return wrap((<object> value.array).copy(order="K")) if cnp.PyArray_SIZE(value.array) <= COPIED else value


cdef object pack_input(TensorBase value):
    """A saved input under the innermost saved-tensor hooks."""
    cdef SavedVariable saved = pack_variable(value)
    pack_hook, unpack_hook = thread_objects().saved_hooks[-1]
    saved.pack(pack_hook, unpack_hook)
    return saved


cdef SavedVariable save_output(TensorBase value):
    """A saved output: the array without the tensor, whose grad_fn would close a circle."""
    cdef SavedVariable saved = SavedVariable.__new__(SavedVariable)
    saved.array, saved.is_output = value.array, True
    saved.output_nr, saved.requires_grad = value.output_nr_, True
    saved.counter = value.shared_counter()
    saved.version = saved.counter.value
    saved.extra = value.ensure_extra() if thread_state().flags & DUAL else value.extra  # tangents arrive after this
    if thread_state().flags & SAVED_HOOKS:
        pack_hook, unpack_hook = thread_objects().saved_hooks[-1]
        saved.pack(pack_hook, unpack_hook)
    return saved


cdef class SavedList:
    """Several values saved under one name: a list of arrays, or an index of several parts."""


cdef SavedList save_inputs(ThreadState* state, tuple values):
    """What `save_input` keeps of each of a list of arrays."""
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
    """`save_index` of what may be written to: a tensor as an input is, a copy of an array or a list."""
    cdef uint32_t part_version
    cdef SavedList saved
    cdef list parts
    if is_tensor(index):
        return save_input(state, index, version)
    if isinstance(index, ndarray):
        return save_input(state, wrap((<ndarray> index).copy()), version)
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
    """Whether some part of an index may be written to."""
    for part in index:
        if isinstance(part, (ndarray, TensorBase, list)) or type(part) is tuple and is_mutable(<tuple> part):
            return True
    return False


cdef bint holds_arrays(object saved) noexcept:
    """Whether a saved index is to be freed with the rest; integers and slices stay, as an axis does."""
    return isinstance(saved, (TensorBase, SavedVariable, SavedList))


cdef int check_tensor(Node node, TensorBase tensor, uint32_t then, str name) except -1:
    check(node, tensor.version(), then & ~<uint32_t> HAD_HISTORY, name)
    if then & HAD_HISTORY and tensor.grad_fn_ is None:
        raise RuntimeError(f"Trying to use a saved tensor that has been detached in-place, i.e. with .detach_(): '{name}', "
                           f"saved by {node.name()}. Use detach(), which makes a new tensor.")
    return 0


cdef int check_variable(Node node, SavedVariable variable, str name) except -1:
    """What `check_tensor` does; a value that a hook has packed cannot have changed."""
    if variable.unpack_hook is not None:
        return 0
    if variable.variable is not None and variable.had_history:
        return check_tensor(node, variable.variable, variable.version | HAD_HISTORY, name)
    return check(node, variable.counter.value, variable.version, name)


cdef int check(Node node, uint32_t now, uint32_t then, str name) except -1:
    if now != then:
        raise RuntimeError(
            "one of the variables needed for gradient computation has been modified by an inplace operation: "
            f"'{name}', saved by {node.name()}, is at version {now}; expected version {then} instead. "
            "Hint: write to a clone(), or compute what is needed before the in-place operation."
        )
    return 0


cdef object freed(Node node, str name):
    raise RuntimeError(
        "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
        f"been freed): {node.name()} no longer has '{name}'. Saved intermediate values of the graph are freed when you "
        "call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the graph a "
        "second time or if you need to access saved tensors after calling backward."
    )


cdef object saved_array(Node node, object saved, uint32_t version, str name):
    """The saved value for an unrecorded formula: an array, a Python number, or None."""
    cdef TensorBase tensor
    cdef SavedVariable variable
    if is_tensor(saved):
        tensor = saved
        check_tensor(node, tensor, version, name)
        return tensor.array
    if saved is None:
        return freed(node, name) if node.released else None
    if isinstance(saved, SavedVariable):
        variable = saved
        if variable.counter is None:
            return None
        check_variable(node, variable, name)
        return variable.unpacked()
    if isinstance(saved, SavedList):
        return (<SavedList> saved).kind([saved_array(node, item, v, name) for item, v in (<SavedList> saved).parts])
    return saved


cdef object saved_tensor(Node node, object saved, uint32_t version, str name):
    """The saved value for a recorded formula: the tensor with its history, a Python number, or None."""
    cdef TensorBase tensor
    cdef SavedVariable variable
    if is_tensor(saved):
        tensor = saved
        check_tensor(node, tensor, version, name)
        return tensor
    if saved is None:
        return freed(node, name) if node.released else None
    if isinstance(saved, SavedVariable):
        variable = saved
        if variable.counter is None:
            return None
        check_variable(node, variable, name)
        if variable.unpack_hook is None and variable.variable is not None:
            return variable.variable
        tensor = wrap(variable.unpacked())
        if variable.unpack_hook is None:
            tensor.counter = variable.counter
        tensor.output_nr_ = variable.output_nr
        tensor.grad_fn_ = node if variable.is_output else variable.grad_fn
        if variable.requires_grad:
            tensor.flags |= REQUIRES_GRAD
        if variable.variable is not None and tensor.grad_fn_ is None:
            tensor.grad_fn_ = grad_accumulator(variable.variable)
        if variable.extra is not None and variable.extra.tangents is not None:
            tensor.extra = variable.extra
            tensor.flags |= TANGENT
        return tensor
    if isinstance(saved, SavedList):
        return (<SavedList> saved).kind([saved_tensor(node, item, v, name) for item, v in (<SavedList> saved).parts])
    return saved


cdef object as_variable(Node node, object saved, uint32_t version):
    """A saved field as a SavedVariable, which hooks can be registered on."""
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
    """`as_variable` for each part, which stays as that."""
    cdef list parts = []
    for item, version in saved.parts:
        parts.append((as_variable(node, item, version), version))
    saved.parts = tuple(parts)
    return saved


cdef object read_saved(Node node, str name, bint raw):
    """`node._saved_x`, or `node._raw_saved_x`, on which hooks can be registered; a list of tensors is a tuple."""
    if name not in node.saves:
        raise AttributeError(f"{node.name()} saves no {name!r}; it saves {', '.join(node.saves) or 'nothing'}")
    field = f"saved_{name}"
    saved, version = getattr(node, field), getattr(node, f"version_{name}", None)
    if version is None:  # no tensor: an axis, a shape
        return saved
    if raw:
        saved = as_variable(node, saved, version)
        setattr(node, field, saved)
        return tuple([item for item, _ in (<SavedList> saved).parts]) if isinstance(saved, SavedList) else saved
    value = saved_tensor(node, saved, version, name)
    return tuple(value) if type(value) is list else value


node_module.read_saved = read_saved


class saved_tensors_hooks:
    """Pack every tensor saved inside the block, and unpack it when backward needs it.

    Parameters
    ----------
    pack_hook : callable
        Gets a tensor, returns anything.
    unpack_hook : callable
        Gets what `pack_hook` returned, returns a tensor with the same values.
    """

    def __init__(self, pack_hook, unpack_hook):
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self):
        cdef ThreadObjects objects = thread_objects()
        if objects.hooks_disabled:
            raise RuntimeError(objects.hooks_disabled[-1])
        objects.saved_hooks.append((self.pack_hook, self.unpack_hook))
        thread_state().flags |= SAVED_HOOKS

    def __exit__(self, *exc_info):
        cdef list hooks = thread_objects().saved_hooks
        if hooks:
            hooks.pop()
        if not hooks:
            thread_state().flags &= ~<unsigned int> SAVED_HOOKS


class disable_saved_tensors_hooks:
    """Refuse `saved_tensors_hooks` inside the block.

    Parameters
    ----------
    error_message : str
        What the RuntimeError says.
    """

    def __init__(self, error_message):
        self.error_message = error_message

    def __enter__(self):
        cdef ThreadObjects objects = thread_objects()
        if objects.saved_hooks:
            raise RuntimeError(self.error_message)
        objects.hooks_disabled.append(self.error_message)

    def __exit__(self, *exc_info):
        thread_objects().hooks_disabled.pop()
