"""Optimizer: the base class of all optimisers.

Holds the state of an optimiser as tensors, including step counts.  A step consists of operators on them under `no_grad`. In-place
writes advance version counters, so that graphs detect them.  A trace of a step contains no number that changes at the next step.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import wraps
from itertools import chain
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..core.conversion import asarray
from ..core.grad_mode import enable_grad, no_grad
from ..core.leaf_gradient import rows_of_gradient
from ..generated import ops
from ..generated.tensor import Tensor
from ..support.hooks import RemovableHandle
from .vectors import Vectors

Hook = Callable[..., Any]
HOOKS = ("step before", "step behind", "state before", "state behind", "loading before", "loading behind")
KEPT: WeakKeyDictionary["Optimizer", dict[int, Vectors]] = WeakKeyDictionary()  # not part of an optimiser: copies have their own
EVERYWHERE: tuple[dict[int, Hook], dict[int, Hook]] = ({}, {})  # of the steps of all optimisers


# Options that only choose how PyTorch computes a step: values without effect here, and the reason to refuse other values.
WAYS: dict[str, tuple[tuple[bool | None, ...], str]] = {
    "foreach": ((None, False, True), ""), "fused": ((None, False, True), ""),
    "capturable": ((None, False), "there is no device to capture on; gs.compile records a step as it is"),
    "differentiable": ((None, False), "steps are not recorded; for derivatives of steps compute on tensors: "
                                      "param - lr * gs.autograd.grad(loss, param, create_graph=True)[0]"),
}  # fmt: skip


def without_ways(init: Callable[..., None]) -> Callable[..., None]:
    """The constructor, with options that only choose how PyTorch computes a step; unsupported values are refused."""

    @wraps(init)
    def begin(self: "Optimizer", *args: Any, **kwargs: Any) -> None:
        init(self, *args, **said(kwargs, type(self).__name__))

    return begin


def said(options: dict[str, Any], name: str) -> dict[str, Any]:
    """The options except the options in `WAYS`."""
    for way, (idle, reason) in WAYS.items():
        if options.get(way) not in idle:
            raise ValueError(f"{name}: {way}={options[way]!r} is not supported: {reason or 'it is None, False or True'}")
    return {option: value for option, value in options.items() if option not in WAYS}


class Optimizer:
    """The base class of all optimisers: groups of parameters with options of their own, and a state for each parameter.

    Parameters
    ----------
    params : iterable of Tensor, or of dict
        Leaves to optimise.  A dict is a group: its "params", and options that differ from the defaults.
    defaults : dict
        Options of groups that do not set them.

    Attributes
    ----------
    param_groups : list of dict
        Read at every step: a schedule assigns `group["lr"] = ...`.
    state : dict
        From a parameter to its buffers.
    """

    numbers: tuple[str, ...] = ("step",)  # entries of a parameter's state that are one number, in double precision
    shorter: tuple[str, ...] = ()  # entries with the parameter's dtype and a different shape
    nonnegative: tuple[str, ...] = ()  # further options that must be 0 or more
    elementwise = False  # whether the `update` of this class is elementwise

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__init__" in vars(cls) and cls.__module__.startswith(__package__):
            cls.__init__ = without_ways(cls.__init__)  # type: ignore[method-assign]

    def __init__(self, params: Iterable[Tensor] | Iterable[dict[str, Any]], defaults: dict[str, Any]) -> None:
        if isinstance(params, (Tensor, dict, set)):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, in a fixed order, "
                f"got {type(params).__name__}"
            )
        self.defaults = defaults
        self.state: defaultdict[Tensor, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        self._hooks: tuple[dict[int, Hook], ...] = tuple({} for _ in HOOKS)
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Optimise more parameters, with options of their own.

        Parameters
        ----------
        param_group : dict
            "params" (a Tensor or an iterable of Tensors) and the options that differ from the defaults.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, got {type(param_group).__name__}")
        if "params" not in param_group:
            raise ValueError(f"param_group has no 'params', only {', '.join(map(repr, param_group)) or 'nothing'}")
        param_group = said(param_group, type(self).__name__)
        if unknown := set(param_group) - {"params", "param_names"} - set(self.defaults):
            raise ValueError(f"{type(self).__name__} has no option {', '.join(map(repr, sorted(unknown)))}")
        params = param_group["params"]
        params = [params] if isinstance(params, Tensor) else list(params)
        names = [param[0] for param in params if isinstance(param, tuple)]
        if names:
            if len(names) != len(params) or len(set(names)) != len(names):
                raise ValueError("all optimizer params should be with names of their own, or none")
            params = [param for _, param in params]
        if self.param_groups and bool(names) != ("param_names" in self.param_groups[0]):
            raise ValueError("all optimizer param groups should be with/without names. cannot add param group with names to the "
                             "optimizer")  # fmt: skip
        for param in params:
            if not isinstance(param, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(param).__name__}")
            if not param.is_leaf:
                raise ValueError("can't optimize a non-leaf Tensor: it is computed anew from its inputs; optimize those")
        seen = [id(param) for param in chain(params, *(group["params"] for group in self.param_groups))]
        if len(seen) != len(set(seen)):
            raise ValueError("some parameters appear more than once, in one or in several parameter groups")
        group = {**self.defaults, **param_group, "params": params, **({"param_names": names} if names else {})}
        self.check_options(group)
        self.param_groups.append(group)

    def check_options(self, group: dict[str, Any]) -> None:
        """Raise ValueError if an option of `group` is invalid."""
        for name, title in (("lr", "learning rate"), ("weight_decay", "weight_decay value"), ("eps", "epsilon value")):
            if name in group and not group[name] >= 0:
                raise ValueError(f"Invalid {title}: {group[name]}; it must be 0 or more")
        for name in self.nonnegative:
            if not group[name] >= 0:
                raise ValueError(f"Invalid {name} value: {group[name]}; it must be 0 or more")
        for i, beta in enumerate(group.get("betas", ())):
            if not 0 <= beta < 1:
                raise ValueError(f"Invalid beta parameter at index {i}: {beta}; it must be in [0, 1)")

    def update(self, param: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]) -> Tensor:
        """The step to subtract from a parameter, as a new tensor; `state` is the parameter's own and is changed."""
        raise NotImplementedError(f"{type(self).__name__} has no update()")

    def takes_rows(self, group: dict[str, Any]) -> bool:
        """Whether a row-sparse gradient changes only its rows, so that `update_rows` is the whole step."""
        return False

    def update_rows(
        self, param: Tensor, places: np.ndarray, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> Tensor:
        """`update` for the rows of a parameter at increasing indices; the gradient is zero in all other rows."""
        raise NotImplementedError(f"{type(self).__name__} has no update_rows()")

    def step(self, closure: Callable[[], Tensor] | None = None) -> Tensor | None:
        """Update every parameter that has a gradient.

        Parameters
        ----------
        closure : callable, optional
            Computes the loss and its gradients again; called once, before the parameters change.

        Returns
        -------
        Tensor or None
            The result of `closure`.
        """
        for hook in (*EVERYWHERE[0].values(), *self._hooks[0].values()):
            changed = hook(self, (closure,), {})
            if changed is not None:
                if not isinstance(changed, tuple) or len(changed) != 2:
                    raise RuntimeError(f"{type(self).__name__}.step pre-hook must return None or a tuple of (new_args, "
                                       f"new_kwargs), but got {changed}.")  # fmt: skip
                closure = (changed[1].get("closure") if changed[1] else None) or (changed[0][0] if changed[0] else None)
        loss = self._step(closure)
        for hook in (*self._hooks[1].values(), *EVERYWHERE[1].values()):
            hook(self, (closure,), {})
        return loss

    def _step(self, closure: Callable[[], Tensor] | None) -> Tensor | None:
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with no_grad():
            together = KEPT.setdefault(self, {}) if self._is_elementwise() else None
            for number, group in enumerate(self.param_groups):
                params = [param for param in group["params"] if not self._has_moved_rows(param, group) and param.grad is not None]
                if together is not None:
                    vectors = together.setdefault(number, Vectors())
                    for vector in vectors.of(params, self.state, self.numbers):
                        vector.take(self.change(vector.param(), vector.grad(), vector.state, group))
                    params = vectors.rest
                for param in params:
                    param -= self.change(param, param.grad, self.state[param], group)
        return loss

    def _has_moved_rows(self, param: Tensor, group: dict[str, Any]) -> bool:
        """Update the rows of a parameter with a row-sparse gradient; reading `.grad` would build a dense array."""
        found = rows_of_gradient(param) if self.takes_rows(group) else None
        if found is None:
            return False
        places, grad = found[0], asarray(-found[1] if group.get("maximize") else found[1])
        param[places] -= asarray(self.update_rows(param, places, grad, self.state[param], group), dtype=param.dtype)
        return True

    def _is_elementwise(self) -> bool:
        """Whether the class that defines `update` declares it elementwise: a derived class may do more."""
        return next(bool(vars(cls).get("elementwise")) for cls in type(self).__mro__ if "update" in vars(cls))

    def change(self, param: Tensor, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> Tensor:
        """The amount that a step subtracts from a parameter."""
        change = self.update(param, -grad if group.get("maximize") else grad, state, group)
        return asarray(change, dtype=param.dtype)  # an option may be a float64 scalar

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clear the gradients of all parameters.

        Parameters
        ----------
        set_to_none : bool
            False keeps the gradient's tensor and fills it with zeros.
        """
        for param in chain.from_iterable(group["params"] for group in self.param_groups):
            if set_to_none:
                param.grad = None
            elif param.grad is not None:
                param.grad.detach_()
                param.grad.zero_()

    def state_dict(self) -> dict[str, Any]:
        """State and options, with each parameter replaced by its number; the buffers are not copied.

        Returns
        -------
        dict
            "state" (number to buffers) and "param_groups" (options, and "params" as numbers).
        """
        for hook in self._hooks[2].values():
            hook(self)
        number = {id(p): i for i, p in enumerate(chain.from_iterable(group["params"] for group in self.param_groups))}
        found = {
            "state": {number[id(param)]: state for param, state in self.state.items()},
            "param_groups": [{**group, "params": [number[id(p)] for p in group["params"]]} for group in self.param_groups],
        }
        for hook in self._hooks[3].values():
            found = hook(self, found) or found
        return found

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue from the result of `state_dict`; parameters are matched by their order.

        Parameters
        ----------
        state_dict : dict
            It is copied: later steps do not change it.
        """
        from copy import deepcopy  # a slow import, deferred

        for hook in self._hooks[4].values():
            state_dict = hook(self, state_dict) or state_dict
        saved = deepcopy(state_dict)
        ours, theirs = ([len(group["params"]) for group in groups] for groups in (self.param_groups, saved["param_groups"]))
        if len(ours) != len(theirs):
            raise ValueError(f"loaded state dict has {len(theirs)} parameter groups, the optimizer has {len(ours)}")
        if ours != theirs:
            raise ValueError(f"loaded state dict has groups of {theirs} parameters, the optimizer has groups of {ours}")
        pairs = zip(self.param_groups, saved["param_groups"])
        groups = [{**self.defaults, **theirs, "params": ours["params"]} for ours, theirs in pairs]
        for group in groups:
            self.check_options(group)
        parameters = dict(
            zip(
                chain.from_iterable(group["params"] for group in saved["param_groups"]),
                chain.from_iterable(group["params"] for group in groups),
            )
        )
        state: defaultdict[Tensor, dict[str, Any]] = defaultdict(dict)
        for number, values in saved["state"].items():
            param = parameters[number]
            for name, value in values.items():
                if hasattr(value, "__array__") and not isinstance(value, Tensor):  # as PyTorch's tensors have
                    value = np.asarray(value)
                if name in self.numbers and isinstance(value, (int, float, np.ndarray, Tensor)):  # a Python number in older files
                    values[name] = asarray(value, dtype=float)
                elif isinstance(value, (np.ndarray, Tensor)):
                    if value.shape != param.shape and name not in self.shorter:
                        raise ValueError(f"loaded {name} of parameter {number} has shape {value.shape}, not {param.shape}")
                    values[name] = asarray(value, dtype=param.dtype)
            state[param] = values
        self.param_groups, self.state = groups, state
        for hook in self._hooks[5].values():
            hook(self)

    def register_step_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` before each step; it may return different ones."""
        return RemovableHandle(self._hooks[0], hook)

    def register_step_post_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` after each step."""
        return RemovableHandle(self._hooks[1], hook)

    def register_state_dict_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(optimizer)` before `state_dict`."""
        return RemovableHandle(self._hooks[2], hook)

    def register_state_dict_post_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(optimizer, state_dict)` on the result of `state_dict`; the hook may return a different one."""
        return RemovableHandle(self._hooks[3], hook)

    def register_load_state_dict_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(optimizer, state_dict)` before `load_state_dict`; the hook may return a different `state_dict`."""
        return RemovableHandle(self._hooks[4], hook)

    def register_load_state_dict_post_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(optimizer)` after `load_state_dict`."""
        return RemovableHandle(self._hooks[5], hook)

    def __repr__(self) -> str:
        hidden = ("params", "param_names")
        groups = (
            f"    {len(group['params'])} parameters, {', '.join(f'{k}={v}' for k, v in group.items() if k not in hidden)}"
            for group in self.param_groups
        )
        return "\n".join([f"{type(self).__name__} (", *groups, ")"])


def as_real(x: Tensor) -> Tensor:
    """A complex tensor as a view of its real and imaginary parts, which have separate moments."""
    return ops.view_as_real(x) if x.dtype.kind == "c" else x


def as_given(x: Tensor, like: Tensor) -> Tensor:
    """Real and imaginary parts as the original complex tensor."""
    return ops.view_as_complex(x) if like.dtype.kind == "c" else x


def begin(state: dict[str, Any], param: Tensor, *names: str) -> None:
    """Set the step count and the buffers of a parameter without state to zero."""
    state["step"] = ops.zeros((), dtype=float)
    state.update({name: ops.zeros(param.shape, dtype=param.dtype) for name in names})


def decayed(param: Tensor, grad: Tensor, group: dict[str, Any]) -> Tensor:
    """The gradient plus the gradient of an L2 penalty, unless the weight decay is decoupled."""
    if group["weight_decay"] and not group.get("decoupled_weight_decay"):
        return grad + group["weight_decay"] * param
    return grad


def register_optimizer_step_pre_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(optimizer, args, kwargs)` before each step of any optimiser."""
    return RemovableHandle(EVERYWHERE[0], hook)


def register_optimizer_step_post_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(optimizer, args, kwargs)` after each step of any optimiser."""
    return RemovableHandle(EVERYWHERE[1], hook)
