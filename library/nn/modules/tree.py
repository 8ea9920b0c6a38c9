"""Tree: store a module's parameters, buffers and submodules by name, iterate over them, and print a module.

Holds the three dictionaries of a module, and defines the iterators over them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

import gradspec as gs

from ..parameter import Parameter, is_lazy

if TYPE_CHECKING:
    from .module import Module

T = TypeVar("T")


class Tree:
    """The parameters, buffers and submodules of a module, by name.

    Attributes
    ----------
    training : bool
        Whether the module is in training mode: dropout is active, and batch norm uses the statistics of the batch.
    """

    training: bool
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, gs.Tensor | None]
    _modules: dict[str, Module | None]

    # Walks.

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """This module and all below it, each with its path; with `remove_duplicate`, a module in several places is returned once.

        Parameters
        ----------
        memo : set, optional
            Modules to leave out; with `remove_duplicate`, each returned module is added.
        prefix : str
        remove_duplicate : bool

        Returns
        -------
        iterator of (str, Module)
        """
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, cast("Module", self)
        for name, child in self._modules.items():
            if child is not None:
                yield from child.named_modules(memo, joined(prefix, name), remove_duplicate)

    def modules(self) -> Iterator[Module]:
        """This module and all below it."""
        return (module for _, module in self.named_modules())

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules directly below this one, each with its name."""
        seen = set()
        for name, child in self._modules.items():
            if child is not None and child not in seen:
                seen.add(child)
                yield name, child

    def children(self) -> Iterator[Module]:
        """The modules directly below this one."""
        return (child for _, child in self.named_children())

    def _named_members(
        self, members: Callable[[Any], dict[str, T | None]], prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, T]]:
        seen = set()
        modules = self.named_modules(None, prefix, remove_duplicate) if recurse else iter([(prefix, cast("Module", self))])
        for path, module in modules:
            for name, member in members(module).items():
                if member is None or remove_duplicate and id(member) in seen:
                    continue
                seen.add(id(member))
                yield joined(path, name), member

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """The parameters of this module and all below it, each with its path.

        Parameters
        ----------
        prefix : str
        recurse : bool
            False for the parameters of this module alone.
        remove_duplicate : bool
            Whether a parameter that several modules share is returned once.

        Returns
        -------
        iterator of (str, Parameter)
        """
        return self._named_members(lambda module: module._parameters, prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters of this module and all below it, for an optimiser."""
        return (parameter for _, parameter in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, gs.Tensor]]:
        """The buffers of this module and all below it, each with its path.

        Parameters
        ----------
        prefix : str
        recurse : bool
        remove_duplicate : bool

        Returns
        -------
        iterator of (str, Tensor)
        """
        return self._named_members(lambda module: module._buffers, prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[gs.Tensor]:
        """The buffers of this module and all below it."""
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    # Access by path.

    def get_submodule(self, target: str) -> Module:
        """The module at a path, `"layers.0.linear"`.

        Raises
        ------
        AttributeError
            No module has this path.
        """
        module = cast("Module", self)
        for name in target.split(".") if target else []:
            if not hasattr(module, name):
                raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
            found = getattr(module, name)
            if not isinstance(found, Tree):
                raise AttributeError(f"`{name}` is not an nn.Module")
            module = cast("Module", found)
        return module

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Set the module at a path, replacing the present one.

        Parameters
        ----------
        target : str
        module : Module
        strict : bool
            Whether a module must be present at the path.
        """
        if not target:
            raise ValueError("Cannot set the submodule without a target name!")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{type(parent).__name__} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Tree):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a path, or AttributeError."""
        found = self._member(target)
        if not isinstance(found, Parameter):
            raise AttributeError(f"`{target.rpartition('.')[2]}` is not an nn.Parameter")
        return found

    def get_buffer(self, target: str) -> gs.Tensor:
        """The buffer at a path, or AttributeError."""
        path, _, name = target.rpartition(".")
        found = self._member(target)
        if name not in self.get_submodule(path)._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return cast(gs.Tensor, found)

    def _member(self, target: str) -> Any:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
        return getattr(module, name)

    # Changes to all modules.

    def apply(self, fn: Callable[[Module], Any]) -> Self:
        """Call `fn` for each module below this one, and then for this one.

        Parameters
        ----------
        fn : callable

        Returns
        -------
        Module
            This module.
        """
        for child in self.children():
            child.apply(fn)
        fn(cast("Module", self))
        return self

    def train(self, mode: bool = True) -> Self:
        """Set the training mode of this module and all below it.

        Parameters
        ----------
        mode : bool

        Returns
        -------
        Module
            This module.
        """
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self) -> Self:
        """`train(False)`."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set `requires_grad` of all parameters, and return this module."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Reset the gradients of all parameters.

        Parameters
        ----------
        set_to_none : bool
            False keeps the tensors of the gradients, and fills them with zeros.
        """
        for parameter in self.parameters():
            if set_to_none:
                parameter.grad = None  # without reading it: a gradient kept as rows need not become an array
            elif parameter.grad is not None:
                parameter.grad.detach_()
                parameter.grad.zero_()

    # Printing.

    def extra_repr(self) -> str:
        """The text between the brackets of a module's `repr`; for classes to override."""
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        """The tree as text: one line for each module, with the number of its parameters."""
        lines = [line for line in [self.extra_repr()] if line]
        children = [f"({name}): {child!r}".replace("\n", "\n  ") for name, child in self._modules.items()]
        if children:
            lines = [line for text in lines for line in text.split("\n")]
            inside = "".join(f"\n  {line}" for line in [*lines, *children]) + "\n"
        else:
            inside = "".join(f"\n  {line}" for line in lines[0].split("\n")) + "\n" if "\n" in "".join(lines) else "".join(lines)
        return f"{self._get_name()}({inside}){counted(self)}"

    def _repr_html_(self) -> str:
        """The tree for a notebook, where a module with children opens and closes."""
        from html import escape  # not imported with gradspec

        def shown(name: str, module: Tree) -> str:
            if type(module).__repr__ is not Tree.__repr__:
                return f"<pre>{escape(f'{name}{module!r}')}</pre>"
            words = escape(f"{name}{module._get_name()}({module.extra_repr()}){counted(module)}")
            children = "".join(shown(f"({key}): ", child) for key, child in module._modules.items() if child is not None)
            inside = f'<div style="margin-left: 2em">{children}</div>'
            return f'<details open="open"><summary>{words}</summary>{inside}</details>' if children else f"<div>{words}</div>"

        return f'<div style="font-family: monospace; white-space: pre-wrap">{shown("", self)}</div>'


def counted(module: Tree) -> str:
    """The number of elements of a module's parameters, as the end of a line."""
    count = sum(parameter.size for parameter in module.parameters() if not is_lazy(parameter))
    return f"  # {count:,} parameter{'s' * (count != 1)}" if count else ""


def joined(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name
