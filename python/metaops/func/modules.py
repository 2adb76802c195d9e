# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules as functions of their state."""

from __future__ import annotations

from collections.abc import Mapping
from types import MethodType
from typing import TYPE_CHECKING, Any

from .._core import Var
from .._errors import at_line
from .._typing import VarLike, as_var, shown
from ..compat._names import nearest
from ..trees import children_of, make_like

if TYPE_CHECKING:
    from ..nn import Module

__all__ = ["functional_call"]


def functional_call(
    module: Module, state: Mapping[str, VarLike], /, *args: Any, **kwargs: Any
) -> Any:
    """Return what a module does with other tensors in the place of its own.

    The module stays as it is: what is called is a copy of it that shares all else. What the
    call updates, such as the statistics of a BatchNorm in training mode, are the tensors that
    are given, and the module's own for those that are not. Methods that are attributes are
    those of the copy; another function in an attribute, such as a lambda that reads the module
    from outside, sees the module's own tensors.

    Parameters
    ----------
    module : Module
        The module.
    state : mapping
        Tensors by their names, all of `Module.state_dict` or some. A tensor that has several
        names is replaced wherever it is. By such a one, derivatives are asked for with one of
        its names, as ``dict(module.named_parameters())`` has it.
    *args, **kwargs
        What it is called with.

    Raises
    ------
    KeyError
        If the module has no tensor of a name.
    ValueError
        If a tensor has another shape than the module's, or one has two values.

    Examples
    --------
    >>> model = mo.nn.Linear(2, 1)
    >>> state = {name: mo.ones_like(x) for name, x in model.state_dict().items()}
    >>> mo.functional_call(model, state, mo.ones((1, 2))).numpy()
    array([[3.]], dtype=float32)
    """
    from ..nn import Module

    if not isinstance(module, Module):
        raise at_line(TypeError(f"functional_call: module is {shown(module)}, expected a Module"))
    if not isinstance(state, Mapping):
        raise at_line(
            TypeError(f"functional_call: state is {shown(state)}, expected tensors by names")
        )
    own = dict(module._all_names("", ()))
    given: dict[int, Var] = {}
    for name, value in state.items():
        if name not in own:
            raise at_line(
                KeyError(
                    f"functional_call: {type(module).__name__} has no {name!r}"
                    f"{nearest(str(name), list(own))}"
                )
            )
        var = as_var(value)
        if var.shape != own[name].shape:
            raise at_line(
                ValueError(
                    f"functional_call: {name} has shape {var.shape}, expected {own[name].shape}"
                )
            )
        if given.setdefault(id(own[name]), var) is not var:
            raise at_line(
                ValueError(
                    f"functional_call: {name} is another tensor than that of another name, and"
                    " both are one in the module; expected the same, or one of the names alone,"
                    " as named_parameters has it"
                )
            )
    return _Replacement(Module, given).copy(module)(*args, **kwargs)


class _Replacement:
    """Copies of modules with other tensors in them."""

    def __init__(self, kind: type[Module], given: dict[int, Var]) -> None:
        self._kind, self._given = kind, given
        #: By their modules' identities.
        self._copies: dict[int, Any] = {}

    def copy(self, module: Any) -> Any:
        """Return a copy of a module, which shares what is not replaced."""
        made = self._copies.get(id(module))
        if made is None:
            cls: Any = type(module)
            made = self._copies[id(module)] = cls.__new__(cls)
            made.__dict__.update(
                (name, self._replaced(value)) for name, value in module.__dict__.items()
            )
        return made

    def _replaced(self, value: Any) -> Any:
        if isinstance(value, Var):
            return self._given.get(id(value), value)
        if isinstance(value, self._kind):
            return self.copy(value)
        if isinstance(value, MethodType) and isinstance(value.__self__, self._kind):
            return MethodType(value.__func__, self.copy(value.__self__))
        children = children_of(value) if isinstance(value, list | tuple | dict) else None
        if not children:
            return value
        made = [self._replaced(child) for child in children.values()]
        changed = any(new is not old for new, old in zip(made, children.values(), strict=True))
        return make_like(value, made, list(children)) if changed else value
