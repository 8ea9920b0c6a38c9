"""Function: operators that users write, with their own backward and jvp.

Runs a custom forward, records its results in the graph and checks its tangents.
"""

from libc.stdint cimport uint32_t

import inspect
import warnings

from ..core.accumulate_grad cimport any_needs_grad, connect_all, set_history
from ..saved.copy_slices cimport rebase_history
from ..core.forward_ad cimport batch_of, levels_of, primal_of, set_tangent, stacked, tangent_of, tangents_of
from .function_node cimport FunctionNode
from .intermediate_values cimport follow, kept_by
from ..core.events cimport Event, begin_event, end_event
from ..core.grad_mode cimport DUAL, FORWARD_DISABLED, GRAD_DISABLED, LISTENING, MAPPED, ThreadState, thread_objects, thread_state
from ..core.tensor cimport (
    IN_FUNCTION, IN_NO_GRAD, ONE_OF_SEVERAL, PURE_VIEW, REQUIRES_GRAD, TANGENT, VIEW, TensorBase, is_inexact, wrap,
)
from ..saved.view cimport attach_alias, check_inplace, note_writes


class Function:
    """An operator with its own derivative.

    Subclass it with static methods: `forward(ctx, *args)`, or `forward(*args)` and `setup_context(ctx, inputs, output)`;
    `backward(ctx, *grads)` (or its synonym `vjp`) for reverse mode; `jvp(ctx, *tangents)` for forward mode.
    Call it through `apply`.  As in PyTorch, values that `forward` reads beside its arguments are constants; pass them as
    arguments to differentiate them.

    Parameters
    ----------
    *args, **kwargs
        Not used: a call of the class warns, and computes nothing.

    Examples
    --------
    >>> class Exp(gs.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         y = x.exp()
    ...         ctx.save_for_backward(y)
    ...         return y
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         y, = ctx.saved_tensors
    ...         return grad * y
    >>> Exp.apply(gs.tensor([0.0], requires_grad=True))
    tensor([1.], grad_fn=<ExpBackward>)
    """

    generate_vmap_rule = False  # True: inside a vmap the methods run on batches, so they may only call operators
    pure = False  # True: forward, backward and jvp only compute, and a compiled function records their operations
    clear_saved_tensors_on_access = False  # True: ctx.saved_tensors may be read once; the node then drops the values

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "_keeps" not in cls.__dict__:
            cls._keeps = "known" if cls.__module__.startswith("gradspec.") else None  # until its first forward
        cls._backward_cls = type(cls.__name__ + "Backward", (FunctionNode,), {"_forward_cls": cls, "__module__": cls.__module__})

    def __init__(self, *args, **kwargs):
        warnings.warn(f"{type(self).__name__} should not be instantiated: its methods are static, so call "
                      f"{type(self).__name__}.apply(...) on the class", DeprecationWarning, stacklevel=2)

    def __call__(self, *args, **kwargs):
        raise RuntimeError("Legacy autograd function with non-static forward method is deprecated. Please use new-style "
                           f"autograd function with static forward method, and call {type(self).__name__}.apply(...)")

    @staticmethod
    def forward(*args, **kwargs):
        """Compute the result: `forward(ctx, *args)`, or `forward(*args)` if there is a `setup_context`."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx, inputs, output):
        """Save and mark, after a `forward` without `ctx`."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx, *grad_outputs):
        """The gradients of the arguments, from the outputs' gradients; None for an argument without gradient."""
        raise NotImplementedError("You must implement either the backward or vjp method for your custom autograd.Function "
                                  "to use it with backward mode AD.")

    vjp = backward

    @staticmethod
    def jvp(ctx, *grad_inputs):
        """The tangents of the outputs, from the arguments' tangents."""
        raise NotImplementedError("You must implement the jvp function for custom autograd.Function to use it with forward "
                                  "mode AD.")

    @staticmethod
    def vmap(info, in_dims, *args):
        """The result of `apply` inside a vmap: the outputs for a whole batch, and the batch axis of each output.

        `info` has `batch_size` and `randomness`.  `in_dims` has the batch axis of each argument, None for an argument without
        batch.  For an argument of `vmap` itself, this is the axis in its `in_dims`; for a value computed from such arguments,
        it is 0.
        """
        raise NotImplementedError("You must implement the vmap function for custom autograd.Function to use it with vmap.")

    @classmethod
    def apply(cls, *args, **kwargs):
        """Run the forward on `args` and record it.

        Returns
        -------
        The result of `forward`, with a history.
        """
        if cls is Function:
            cls.forward()
        separate = cls.setup_context is not Function.setup_context
        if separate:
            bound = inspect.signature(cls.forward).bind(*args, **kwargs)
            if bound.kwargs:
                raise NotImplementedError(f"{cls.__name__}.apply: kwarg-only Tensor args, and others that forward takes by "
                                          f"keyword only, are not passed on: {', '.join(bound.kwargs)}; let forward take them "
                                          "by position")
            bound.apply_defaults()
            args = bound.args
        elif kwargs:
            raise TypeError(f"{cls.__name__}.apply() takes keyword arguments only where setup_context is defined, got "
                            f"{', '.join(kwargs)}")
        if thread_state().flags & MAPPED and (found := thread_objects().mapping.function(cls, args)) is not NotImplemented:
            return found
        if thread_state().flags & LISTENING:
            return run_heard(cls, args, separate)
        return run_forward(cls, args, separate)

    @classmethod
    def _backward_method(cls):
        """The user's `backward`, or `vjp`."""
        if cls.backward is not Function.backward and cls.vjp is not Function.vjp:
            raise RuntimeError("Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only "
                               "implement one of them.")
        return cls.vjp if cls.vjp is not Function.vjp else cls.backward


cdef object run_forward(cls, tuple args, bint separate):
    """Run a custom Function: prepare the node, compute, and attach histories and tangents."""
    cdef ThreadState* state = thread_state()
    cdef unsigned int modes = GRAD_DISABLED | FORWARD_DISABLED, before = state.flags & modes
    cdef FunctionNode node = cls._backward_cls.__new__(cls._backward_cls)
    cdef tuple tensors = tuple([arg for arg in args if isinstance(arg, TensorBase)])
    cdef bint recording = any_needs_grad(state, tensors)
    cdef list tangents = []

    node.is_tensor = tuple([isinstance(arg, TensorBase) for arg in args])
    node.needs_input_grad_ = tuple([isinstance(arg, TensorBase) and (<TensorBase> arg).flags & REQUIRES_GRAD != 0
                                    for arg in args])
    if recording:
        connect_all(node, state, tensors)
        if state.flags & MAPPED and not cls.generate_vmap_rule:
            node.guard = thread_objects().mapping.guard
    node.track()
    if state.flags & DUAL:  # read now, as the forward may write to its inputs
        for level in levels_of(tensors):
            tangents.append((level, [tangent_argument(arg, level, node.materialize) for arg in args]))

    follower = follow(cls, tensors) if recording or tangents else None
    state.flags |= modes
    try:
        if separate:
            output = cls.forward(*args)
            cls.setup_context(node, args, output)
        else:
            output = cls.forward(node, *args)
    finally:
        state.flags = (state.flags & ~modes) | before
        if follower is not None:
            follower.stop()

    try:
        if state.flags & MAPPED and (recording or tangents):
            thread_objects().mapping.finished(cls, tensors, output if isinstance(output, tuple) else (output,))
        outputs = finish_outputs(state, node, tensors, output if isinstance(output, tuple) else (output,), recording)
        if recording or tangents:
            node.kept = kept_by(cls, node, follower, tensors, outputs, node.to_save, node.for_forward)
        if recording:
            node.save()
        if tangents:
            push_forward(cls, node, args, outputs, tangents)
    finally:  # an output among them references the node: even after an error, of a pack hook too, there must be no cycle
        node.to_save = node.for_forward = node.dirty = node.non_differentiable = None
    return outputs if isinstance(output, tuple) else outputs[0]


cdef object run_heard(cls, tuple args, bint separate):
    """`run_forward`, reported to listeners."""
    cdef ThreadState* state = thread_state()
    cdef Event event = begin_event(state, "range" if cls.pure else "function", cls.__name__, args, None)
    try:
        outputs = run_forward(cls, event.inputs, separate)
    except BaseException as error:
        end_event(state, event, None, error)
        raise
    end_event(state, event, outputs, None)
    return outputs


cdef bint holds(object tensors, object value):
    """Whether `value` itself is among `tensors`."""
    return tensors is not None and any([item is value for item in tensors])


cdef tuple finish_outputs(ThreadState* state, FunctionNode node, tuple inputs, tuple values, bint recording):
    """Attach the outputs of a forward to the graph."""
    cdef list outputs = []
    cdef int i
    for tensor in node.dirty or ():
        if not holds(values, tensor):
            raise RuntimeError("Some elements marked as dirty during the forward method were not returned as output. The "
                               "inputs that are modified inplace must all be outputs of the Function.")
        if not holds(inputs, tensor):
            if (<TensorBase> tensor).flags & VIEW:
                raise RuntimeError(f"{type(node).__name__}: mark_dirty received a tensor that was not an input. It is a view, "
                                   "and a write to it would have to reach the base: mark inputs only.")
            warnings.warn(f"{type(node).__name__}: a tensor that is not an input of the forward was given to mark_dirty; only "
                          "inputs that are modified in place should be", stacklevel=3)
    if node.pure_view and (len(inputs) != 1 or len(values) != 1):
        raise RuntimeError("Pure view custom Function can only have one input Tensor and one output Tensor. Open an issue if you "
                           f"need to support more. {type(node)._forward_cls.__name__} has {len(inputs)} and {len(values)}: leave "
                           "out _is_pure_view.")
    node.set_outputs(len(values))
    for i in range(len(values)):
        outputs.append(finish_output(state, node, i, values[i], inputs, len(values), recording))
    return tuple(outputs)


cdef object finish_output(ThreadState* state, FunctionNode node, int i, object value, tuple inputs, Py_ssize_t count,
                          bint recording):
    cdef TensorBase tensor, written
    cdef bint is_input, differentiable
    if not isinstance(value, TensorBase):
        node.no_gradient.add(i)
        return value
    tensor = value
    is_input = holds(inputs, tensor)
    differentiable = is_inexact(tensor.array) and not holds(node.non_differentiable, tensor)
    if not differentiable:
        node.no_gradient.add(i)
    if is_input and holds(node.dirty, tensor):
        if tensor.flags & VIEW and count > 1 and recording:
            raise RuntimeError("If your Function modifies inplace an input that is a view of another Tensor, your Function "
                               "cannot return more than one Tensor.")
        check_inplace(state, tensor, recording, type(node).__name__)
        tensor.bump()
        if recording and differentiable:
            written = wrap(tensor.array)
            set_history(written, node, i)
            rebase_history(state, tensor, written)
        return tensor
    if is_input or (tensor.flags & REQUIRES_GRAD and tensor.grad_fn_ is not node and not is_fresh_view(tensor)):
        # A tensor with its own history keeps it: the output is a new tensor on the same memory.
        tensor = tensor.alias()
        attach_alias(tensor, value)
        if not recording:
            tensor.flags &= ~<unsigned int> REQUIRES_GRAD
    elif tensor.flags & TANGENT and not tensor.flags & VIEW:  # from a forward that differentiates inside
        tensor = primal_of(tensor, 1)
    if tensor.flags & VIEW and (recording or is_fresh_view(tensor) and not state.flags & GRAD_DISABLED):
        tensor.extra.creation = PURE_VIEW if node.pure_view else ONE_OF_SEVERAL if count > 1 else IN_FUNCTION
        note_writes(tensor)
    if recording and differentiable:
        set_history(tensor, node, i)
    elif recording:
        node.describe(i, tensor.array)
    return tensor


cdef bint is_fresh_view(TensorBase tensor) noexcept:
    """Whether the tensor is a view taken by the forward, which records nothing."""
    return tensor.flags & VIEW and tensor.grad_fn_ is None and tensor.extra.creation == IN_NO_GRAD


cdef object tangent_argument(object arg, int level, bint fill):
    """The tangent that a jvp gets for an argument: None if it is not differentiable, such as an integer tensor."""
    if not isinstance(arg, TensorBase) or not is_inexact((<TensorBase> arg).array):
        return None
    return tangents_of(arg, level, fill)


cdef int push_forward(cls, FunctionNode node, tuple args, tuple outputs, list tangents) except -1:
    """Attach the tangents of the outputs, outermost level first."""
    cdef Py_ssize_t row, batch
    if node.kept is not None:
        node.kept.enter(node)
    for level, inputs_t in tangents:
        batch = batch_of(level)
        if not node.materialize:
            inputs_t = [tangent_argument(arg, level, False) for arg in args]
        if batch:
            rows = [pushed(cls, node, args, outputs, level, rows_of(args, inputs_t, row)) for row in range(batch)]
            outputs_t = [None if not isinstance(output, TensorBase) else stacked(list(column), output)
                         for output, column in zip(outputs, zip(*rows))]
        else:
            outputs_t = pushed(cls, node, args, outputs, level, inputs_t)
        for output, output_t in zip(outputs, outputs_t):
            if output_t is not None:
                set_tangent(output, level, output_t)
    return 0


cdef list rows_of(tuple args, list inputs_t, Py_ssize_t row):
    """A row of each batch of tangents, as a view; zeros for an absent tangent are copied, as a jvp may write to them."""
    cdef list found = []
    for arg, input_t in zip(args, inputs_t):
        if input_t is not None:
            input_t = input_t.clone() if input_t.ndim == arg.ndim else input_t[row, ...]
        found.append(input_t)
    return found


cdef tuple pushed(cls, FunctionNode node, tuple args, tuple outputs, int level, list inputs_t):
    """The checked result of the user's jvp for tangents of the arguments."""
    cdef tuple kept = node.for_forward or ()
    moved = [(arg, input_t) for arg, input_t in zip(args, inputs_t)
             if holds(node.dirty, arg) and tangent_of(arg, level) is not None]
    versions = [(<TensorBase> input_t).version() for _, input_t in moved]
    node.shown = tuple([primal_of(tensor, level) for tensor in kept])
    try:
        outputs_t = cls.jvp(node, *inputs_t)
    finally:
        node.shown = None
    if not isinstance(outputs_t, tuple):
        outputs_t = (outputs_t,)
    if len(outputs_t) != len(outputs):
        raise RuntimeError(f"{cls.__name__}'s jvp returned an invalid number of forward gradients (expected {len(outputs)} "
                           f"but got {len(outputs_t)})")
    for i, (output, output_t) in enumerate(zip(outputs, outputs_t)):
        for (arg, input_t), version in zip(moved, versions):
            if arg is output:
                check_written(input_t, version, output_t)
        if output_t is not None:
            check_tangent(node, i, args, inputs_t, output, output_t)
    return outputs_t


cdef int check_tangent(FunctionNode node, int i, tuple args, list inputs_t, object output, object output_t) except -1:
    """Refuse a tangent that does not match its output."""
    cdef TensorBase tensor, source
    cdef TensorBase tangent
    if i in node.no_gradient:
        raise RuntimeError(f"{type(node).__name__}: jvp returned a tangent for output {i}, which is not differentiable. You "
                           "should return None at that position instead.")
    if not isinstance(output_t, TensorBase):
        raise TypeError(f"{type(node).__name__}: jvp must return a Tensor or None for output {i}, got {type(output_t).__name__}")
    tensor, tangent = output, output_t
    if tangent.shape != tensor.shape:
        raise RuntimeError(f"{type(node).__name__}: jvp returned a tangent of shape {tangent.shape} for output {i} of shape "
                           f"{tensor.shape}")
    for arg, input_t in zip(args, inputs_t):
        if input_t is None:
            continue
        source = arg
        if source is not tensor and tensor.flags & VIEW and same_base(tensor, source):
            if not tangent.flags & VIEW:
                raise RuntimeError("A custom Function's forward is returning a view (or an input as-is) but the jvp is not "
                                   "returning a view.")
            if not same_base(tangent, input_t):
                whose = "same base as the given grad input" if (<TensorBase> input_t).flags & VIEW else "given grad input"
                raise RuntimeError("A custom Function's forward is returning a view (or an input as-is) but the jvp is not "
                                   f"returning a view of the {whose}, which is the tangent: both must be views of one base.")
    return 0


cdef int check_written(TensorBase tangent, uint32_t version, object output_t) except -1:
    """Check a tangent whose tensor the forward wrote to: the jvp must have written to the same tangent and returned it."""
    if tangent.version() == version:
        what = "is not modifying the forward mode gradients inplace"
    elif output_t is not tangent:
        what = "is not returning the forward mode gradients as-is"
    else:
        return 0
    raise RuntimeError(f"An inplace custom Function {what}. If the forward is modifying an input inplace, then the jvp "
                       "function must modify the corresponding gradient inplace and return it.")


cdef bint same_base(TensorBase view, TensorBase source) noexcept:
    return view.extra.base is (source.extra.base if source.flags & VIEW else source)
