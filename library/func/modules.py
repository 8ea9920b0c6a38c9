"""Modules as functions of their parameters: functional_call, and the parameters of several models as one batch.

Replaces a module's tensors for the duration of a call, and takes running statistics out of batch norms.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import gradspec as gs

from ..nn import Module

__all__ = ["functional_call", "replace_all_batch_norm_modules_", "stack_module_state"]
__dir__ = __all__.copy

State = Mapping[str, Any]
_in_use: WeakKeyDictionary[Module, threading.RLock] = WeakKeyDictionary()  # one thread at a time may replace a module's tensors


def functional_call(
    module: Module,
    parameter_and_buffer_dicts: State | Sequence[State],
    args: Any = None,
    kwargs: Mapping[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with other parameters and buffers in place of its own.

    Parameters
    ----------
    module : Module
        Its own tensors are restored when the call ends.  Threads that call the same module do so one after another.
    parameter_and_buffer_dicts : mapping of str to Tensor, or sequence of these
        Tensors by their paths, as in `named_parameters`; all other tensors stay the module's own.
    args : object or tuple of objects
        The arguments of the module.
    kwargs : mapping, optional
    tie_weights : bool
        Whether a tensor that the module has under several names is replaced under all of them.
    strict : bool
        Whether every parameter and buffer must be given.

    Returns
    -------
    object
        The result of the module.

    Raises
    ------
    KeyError
        The module has no parameter or buffer of a given name.
    RuntimeError
        A name is missing, and `strict` is true.

    Examples
    --------
    >>> net = gs.nn.Linear(2, 1)
    >>> gs.func.functional_call(net, {"weight": gs.ones((1, 2)), "bias": gs.zeros(1)}, gs.ones((1, 2))).tolist()
    [[2.0]]
    """
    dicts = [parameter_and_buffer_dicts] if isinstance(parameter_and_buffer_dicts, Mapping) else list(parameter_and_buffer_dicts)
    given: dict[str, Any] = {}
    for one in dicts:
        if twice := sorted(given.keys() & one.keys()):
            raise ValueError(f"{twice} appeared in multiple dictionaries; behavior of functional call is ambiguous")
        given |= one
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with _in_use.setdefault(module, threading.RLock()), _holding(module, given, tie_weights, strict):
        return module(*args, **(kwargs or {}))


@contextmanager
def _holding(module: Module, given: dict[str, Any], tie_weights: bool, strict: bool) -> Iterator[None]:
    """Replace a module's tensors while the context is open."""
    places = {}
    for path, holder in module.named_modules(remove_duplicate=False):
        for group in (holder._parameters, holder._buffers):
            for name, value in group.items():
                places[f"{path}.{name}" if path else name] = (group, name, value)
    if unknown := [name for name in given if name not in places]:
        raise KeyError(f"functional_call: {type(module).__name__} has no parameter or buffer {', '.join(map(repr, unknown))}")
    if missing := [name for name, (_, _, value) in places.items() if name not in given and value is not None] if strict else []:
        raise RuntimeError(f"Missing key(s): {', '.join(map(repr, missing))}.")
    if tie_weights:
        of = {id(places[name][2]): value for name, value in given.items() if places[name][2] is not None}
        given |= {name: of[id(value)] for name, (_, _, value) in places.items() if name not in given and id(value) in of}
    written: dict[tuple[int, str], Any] = {}
    try:
        for path, value in given.items():
            group, name, own = places[path]
            written.setdefault((id(group), name), (group, name, own))
            group[name] = value
        yield
    finally:
        for group, name, own in written.values():
            group[name] = own


def replace_all_batch_norm_modules_(root: Module) -> Module:
    """Let every batch norm of a module use the statistics of its batch only, so that `vmap` may call the module in training.

    Parameters
    ----------
    root : Module
        Changed: its batch norms lose their running statistics.

    Returns
    -------
    Module
        `root`.

    Examples
    --------
    >>> net = gs.func.replace_all_batch_norm_modules_(gs.nn.Sequential(gs.nn.BatchNorm1d(2)))
    >>> net[0].track_running_stats, list(net.buffers())
    (False, [])
    """
    for module in root.modules():
        if isinstance(module, gs.nn.modules.normalisation.BatchNorm):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root


def stack_module_state(models: Sequence[Module]) -> tuple[dict[str, gs.Tensor], dict[str, gs.Tensor]]:
    """The parameters and the buffers of several models of one class, stacked, for `vmap` over them with functional_call.

    Parameters
    ----------
    models : sequence of Module

    Returns
    -------
    params, buffers : dict of str to Tensor
        The stacked tensors, with the models along axis 0; the parameters are leaves that require grad as the models' do.

    Examples
    --------
    >>> models = [gs.nn.Linear(2, 1) for _ in range(3)]
    >>> params, buffers = gs.func.stack_module_state(models)
    >>> params["weight"].shape, buffers
    ((3, 1, 2), {})
    """
    models = list(models)
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if any(model.training != models[0].training for model in models):
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if any(type(model) is not type(models[0]) for model in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    params, buffers = {}, {}
    for name, first in models[0].named_parameters():
        values = [model.get_parameter(name) for model in models]
        if any(value.requires_grad != first.requires_grad for value in values):
            raise RuntimeError(f"stack_module_state: Expected parameter {name!r} to have the same .requires_grad in all models")
        params[name] = gs.stack([value.detach() for value in values]).requires_grad_(first.requires_grad)
    for name, _ in models[0].named_buffers():
        buffers[name] = gs.stack([model.get_buffer(name).detach() for model in models])
    return params, buffers
