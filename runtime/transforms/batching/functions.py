"""Custom Functions on batches: by their own `vmap` rule, or by a rule generated from their methods.

The generated rule is a Function on whole batches: its methods call the user's methods with rows, inside of the levels that were
open at the call.
"""

from typing import Any, NamedTuple

from ...engine.function import Function
from ...generated.tensor import Tensor
from ...support.dispatch import ops
from ...support.pytree import flatten, rebuild
from .batched import Level, as_given, batched, inside_of, is_row, spread


class VmapInfo(NamedTuple):
    """Information about the batch for a Function's `vmap`."""

    batch_size: int
    randomness: str


def called(cls: Any, level: Level, args: tuple, mapping: Any) -> Any:
    """The result of `cls.apply` if some arguments are batches at a level."""
    own = cls.vmap is not Function.vmap
    if own and cls.generate_vmap_rule:
        raise RuntimeError(f"{cls.__name__}: it has both generate_vmap_rule=True and a vmap staticmethod; give one of them")
    if cls.generate_vmap_rule:
        mine = tuple([is_row(arg, level) for arg in args])
        outputs = _Rows.apply(cls, level, mapping, mine, *[inside_of(arg, level) for arg in args])
        return _several(outputs, lambda output: batched(output, level))
    if not own:
        raise RuntimeError(f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Please override and "
                           "implement the vmap staticmethod or set generate_vmap_rule=True.")  # fmt: skip
    whole, dims = zip(*[_whole_and_dims(arg, level) for arg in args])
    with mapping.without(level):
        found = cls.vmap(VmapInfo(level.size, level.randomness), dims, *whole)
    if not isinstance(found, tuple) or len(found) != 2:
        raise RuntimeError(f"Expected {cls.__name__}.vmap to have two returns: the output, and along which axis of it the batch "
                           "lies")  # fmt: skip
    outputs, out_dims = found
    several, listed = isinstance(outputs, (tuple, list)), isinstance(out_dims, (tuple, list))
    if listed and (not several or type(out_dims) is not type(outputs) or len(out_dims) != len(outputs)):
        raise RuntimeError(f"{cls.__name__}.vmap returned an incompatible (output, out_dims): out_dims {out_dims!r} for "
                           f"{f'a {type(outputs).__name__} of {len(outputs)}' if several else 'one output'}")  # fmt: skip
    if not several:
        return _moved(outputs, out_dims, level)
    every = out_dims if listed else [out_dims] * len(outputs)
    return type(outputs)([_moved(output, dim, level) for output, dim in zip(outputs, every)])


def _whole_and_dims(arg: Any, level: Level) -> tuple[Any, Any]:
    """An argument with batches in place of its rows, itself if it has no rows; and the batch axes in the same nest."""
    leaves, form = flatten(arg)
    found, dims = zip(*[as_given(leaf) if is_row(leaf, level) else (leaf, None) for leaf in leaves]) if leaves else ((), ())
    return arg if all(dim is None for dim in dims) else rebuild(form, found), rebuild(form, dims)


def _moved(output: Any, dim: Any, level: Level) -> Any:
    if dim is None or not isinstance(output, Tensor):
        return output
    return batched(output if dim == 0 else ops.moveaxis(output, dim, 0), level)


def _several(outputs: Any, change: Any) -> Any:
    if isinstance(outputs, tuple):
        return tuple([change(output) if isinstance(output, Tensor) else output for output in outputs])
    return change(outputs) if isinstance(outputs, Tensor) else outputs


class _Context:
    """The ctx of the user's methods: it has rows in place of the batches that the node saves."""

    def __init__(self) -> None:
        self._saved: tuple = ()
        self._forward: tuple = ()
        self._dirty: tuple = ()
        self._fixed: tuple = ()
        self._materialize = True

    def save_for_backward(self, *tensors: Any) -> None:
        self._saved = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        self._forward = tensors

    def mark_dirty(self, *tensors: Any) -> None:
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        self._fixed = tensors

    def set_materialize_grads(self, value: bool) -> None:
        self._materialize = value

    @property
    def saved_tensors(self) -> tuple:
        return self._saved


class _Rows(Function):
    """A Function on whole batches that calls the methods of the user's Function with rows."""

    generate_vmap_rule = True
    _keeps = None  # like the user's methods

    @staticmethod
    def forward(ctx: Any, cls: Any, level: Level, mapping: Any, mine: tuple, *whole: Any) -> Any:
        inner = _Context()
        inner.needs_input_grad = ctx.needs_input_grad[4:]
        rows = tuple([batched(arg, level) if is_mine else arg for arg, is_mine in zip(whole, mine)])
        if cls.setup_context is not Function.setup_context:
            outputs = cls.forward(*rows)
            cls.setup_context(inner, rows, outputs)
        else:
            outputs = cls.forward(inner, *rows)
        if inner._dirty:
            raise RuntimeError(f"vmap: {cls.__name__} writes to its inputs (mark_dirty), which a generated rule cannot do; "
                               "implement its vmap staticmethod")  # fmt: skip
        several = outputs if isinstance(outputs, tuple) else (outputs,)
        found = [spread(output, level).inside if isinstance(output, Tensor) else output for output in several]
        ctx.mark_non_differentiable(*[new for new, old in zip(found, several) if any(old is one for one in inner._fixed)])
        ctx.set_materialize_grads(inner._materialize)
        ctx.save_for_backward(*[inside_of(value, level) for value in inner._saved])
        ctx.save_for_forward(*[inside_of(value, level) for value in inner._forward])
        ctx.saved_mine = [is_row(value, level) for value in inner._saved]
        ctx.forward_mine = [is_row(value, level) for value in inner._forward]
        inner._saved = inner._forward = inner._fixed = ()
        ctx.attributes = vars(inner)
        ctx.inner, ctx.user, ctx.level, ctx.mapping, ctx.mine = inner, cls, level, mapping.again(), mine
        return tuple(found) if isinstance(outputs, tuple) else found[0]

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        level, inner = ctx.level, ctx.inner
        ctx.attributes  # noqa: B018 (refuses them where they may not be read)
        inner._node = ctx
        with ctx.mapping():
            inner._saved = tuple(_as_rows(ctx.saved_tensors, ctx.saved_mine, level))
            found = ctx.user._backward_method()(inner, *[None if grad is None else batched(grad, level) for grad in grads])
            inner._saved, inner._node = (), None
            found = found if isinstance(found, tuple) else (found,)
            whole = [_whole(grad, is_mine, level) for grad, is_mine in zip(found, ctx.mine)]
        return None, None, None, None, *whole

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        level, inner = ctx.level, ctx.inner
        ctx.attributes  # noqa: B018
        inner._saved = tuple(_as_rows(ctx.saved_tensors, ctx.forward_mine or ctx.saved_mine, level))
        given = [t if t is None or not is_mine else batched(t, level) for t, is_mine in zip(tangents[4:], ctx.mine)]
        found = ctx.user.jvp(inner, *given)
        inner._saved = ()
        return _several(found, lambda tangent: spread(tangent, level).inside)


def _as_rows(values: Any, mine: Any, level: Level) -> list:
    return [batched(value, level) if is_mine else value for value, is_mine in zip(values, mine)]


def _whole(grad: Any, is_mine: bool, level: Level) -> Any:
    """The gradient of a batch from its rows; for a value that all rows share, their sum."""
    if grad is None:
        return None
    inside = spread(grad, level).inside
    return inside if is_mine else ops.sum(inside, (0,))
