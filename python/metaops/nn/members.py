# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a module consists of: tensors and other modules, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar, cast

from .._core import Var
from .._errors import at_line
from .._typing import shown
from ..compat._names import nearest
from ..complex_numbers.pair import Complex

if TYPE_CHECKING:
    from .module import Module

__all__ = ["Members", "complex_halves"]

M = TypeVar("M", bound="Members")


class Members:
    """The part of `Module` that knows its attributes."""

    def _members(self) -> Iterator[tuple[str, Any]]:
        """Yield names and values of what belongs to this module directly."""
        for name, value in self.__dict__.items():
            if not name.startswith("_"):
                yield from _leaves(name, value)

    def _buffer_names(self) -> dict[str, bool]:
        """Return the names of this module's own buffers, and which are in the state."""
        names: dict[str, bool] = self.__dict__.setdefault("_registered_buffers", {})
        return names

    def register_buffer(self, name: str, value: Var | None, persistent: bool = True) -> None:
        """Make `value` the attribute `name`: state, but no parameter.

        Later values assigned to the attribute are buffers as well.

        Parameters
        ----------
        name
            Of an attribute, without dots.
        value
            A Var; None says that there is none, until one is assigned.
        persistent
            Whether it belongs to `state_dict`.
        """
        self._check_member("register_buffer", name, value, Var)
        setattr(self, name, value)
        self._buffer_names()[name] = persistent

    def register_parameter(self, name: str, value: Var | None) -> None:
        """Make `value`, a float Var or None, the attribute `name`.

        That is what an assignment does, which needs no name that is an identifier.
        """
        self._check_member("register_parameter", name, value, Var)
        if value is not None and "float" not in value.dtype:
            raise at_line(
                TypeError(f"register_parameter: {name!r} is {value.dtype}, expected floats")
            )
        self._buffer_names().pop(name, None)
        setattr(self, name, value)

    def add_module(self, name: str, module: Module | None) -> None:
        """Make `module` the attribute `name`."""
        self._check_member("add_module", name, module, Members)
        setattr(self, name, module)

    def _check_member(self, function: str, name: Any, value: Any, kind: type) -> None:
        """Raise an error unless an attribute of the name and value can be made."""
        if not isinstance(name, str):
            raise at_line(TypeError(f"{function}: name is {shown(name)}, expected a str"))
        if not name or "." in name or name.startswith("_") or hasattr(type(self), name):
            raise at_line(
                KeyError(
                    f"{function}: name is {name!r}, expected one without dots that is not"
                    f" private and no attribute of {type(self).__name__}"
                )
            )
        if value is not None and not isinstance(value, kind):
            expected = "Var" if kind is Var else "module"
            raise at_line(
                TypeError(f"{function}: {name!r} is {shown(value)}, expected a {expected}")
            )

    def _member(self, function: str, path: str) -> Any:
        """Return what a dotted name leads to, as in `named_modules`."""
        if not isinstance(path, str):
            raise at_line(TypeError(f"{function}: target is {shown(path)}, expected a str"))
        found: Any = self
        rest = path
        while rest and _is_module(found):
            # A name of a module within a list has dots itself.
            names = {name: value for name, value in found._members()}
            steps = [name for name in names if rest == name or rest.startswith(f"{name}.")]
            if not steps:
                break
            step = max(steps, key=len)
            found, rest = names[step], rest[len(step) + 1 :]
        if rest:
            known = [name for name, _ in self.named_modules()]
            known += [name for name, *_ in self._named_tensors()]
            message = f"{function}: {type(self).__name__} has no {shown(path)}"
            raise at_line(AttributeError(message + nearest(path, known)))
        return found

    def get_submodule(self, target: str) -> Module:
        """Return the module of a dotted name; that of "" is this one.

        Raises
        ------
        AttributeError
            If there is none.
        """
        found = self._member("get_submodule", target)
        if not _is_module(found):
            raise at_line(AttributeError(f"get_submodule: {target!r} is {shown(found)}"))
        return found

    def get_parameter(self, target: str) -> Var:
        """Return the parameter of a dotted name.

        Raises
        ------
        AttributeError
            If there is none.
        """
        return self._tensor("get_parameter", target, is_parameter=True)

    def get_buffer(self, target: str) -> Var:
        """Return the buffer of a dotted name.

        Raises
        ------
        AttributeError
            If there is none.
        """
        return self._tensor("get_buffer", target, is_parameter=False)

    def _tensor(self, function: str, target: str, is_parameter: bool) -> Var:
        found = self._member(function, target)
        trained = any(found is value for value in self.parameters())
        if not isinstance(found, Var) or trained is not is_parameter:
            kind = "parameter" if is_parameter else "buffer"
            raise at_line(AttributeError(f"{function}: {target!r} is no {kind}"))
        return found

    def named_modules(self, prefix: str = "") -> list[tuple[str, Module]]:
        """Return this module and all within it, each once, with dotted names."""
        if not isinstance(prefix, str):
            raise at_line(TypeError(f"named_modules: prefix is {shown(prefix)}, expected a str"))
        found: dict[int, tuple[str, Module]] = {}
        _find_modules(prefix, cast("Module", self), found)
        return list(found.values())

    def modules(self) -> list[Module]:
        """Return this module and all within it, each once."""
        return [module for _, module in self.named_modules()]

    def named_children(self) -> list[tuple[str, Module]]:
        """Return the modules that belong to this one directly, with names."""
        return [(name, value) for name, value in self._members() if _is_module(value)]

    def children(self) -> list[Module]:
        """Return the modules that belong to this one directly."""
        return [module for _, module in self.named_children()]

    def apply(self: M, function: Callable[[Module], object]) -> M:
        """Call `function` with this module and all within it; return this one."""
        for module in self.modules():
            function(module)
        return self

    def _named_tensors(self) -> Iterator[tuple[str, Var, bool]]:
        """Yield the name, the value and "is a parameter" of all tensors, each once."""
        seen: set[int] = set()
        for prefix, module in self.named_modules():
            buffers = module._buffer_names()
            is_frozen = "_is_frozen" in module.__dict__
            for name, value in module._members():
                if isinstance(value, Var) and id(value) not in seen:
                    seen.add(id(value))
                    is_parameter = (
                        "float" in value.dtype
                        and not is_frozen
                        and name.split(".")[0] not in buffers
                    )
                    yield _joined(prefix, name), value, is_parameter

    def _all_names(self, prefix: str, around: tuple[Module, ...]) -> Iterator[tuple[str, Var]]:
        """Yield all tensors by all of their names.

        `around` are the modules on the way here, into which no name leads again.
        """
        around = (*around, cast("Module", self))
        buffers = self._buffer_names()
        for name, value in self._members():
            if isinstance(value, Var):
                if buffers.get(name.split(".")[0], True):
                    yield _joined(prefix, name), value
            elif not any(value is module for module in around):
                yield from value._all_names(_joined(prefix, name), around)

    def named_parameters(self) -> list[tuple[str, Var]]:
        """Return all parameters, each once, with dotted names.

        Those of modules for which `requires_grad_` said no are none.
        """
        return [(name, value) for name, value, trained in self._named_tensors() if trained]

    def parameters(self) -> list[Var]:
        """Return all parameters, each once."""
        return [value for _, value in self.named_parameters()]

    def named_buffers(self) -> list[tuple[str, Var]]:
        """Return the state that is not trained, with dotted names."""
        return [(name, value) for name, value, trained in self._named_tensors() if not trained]

    def buffers(self) -> list[Var]:
        """Return the state that is not trained."""
        return [value for _, value in self.named_buffers()]


def _is_module(value: Any) -> TypeGuard[Module]:
    return isinstance(value, Members)


def _find_modules(name: str, module: Module, found: dict[int, tuple[str, Module]]) -> None:
    """Add a module and all within it to those found, by identity, with dotted names."""
    if id(module) in found:
        return
    found[id(module)] = (name, module)
    for member, value in module._members():
        if _is_module(value):
            _find_modules(_joined(name, member), value, found)


def _joined(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name


def complex_halves(module: Members) -> set[int]:
    """Return the ids of a module's tensors that are halves of a Complex."""
    found: set[int] = set()
    rest = [
        value
        for each in module.modules()
        for name, value in each.__dict__.items()
        if not name.startswith("_")
    ]
    while rest:
        value = rest.pop()
        if isinstance(value, Complex):
            found |= {id(value.real), id(value.imag)}
        elif isinstance(value, list | tuple):
            rest += value
        elif isinstance(value, dict):
            rest += value.values()
    return found


def _leaves(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield `value`, or what it contains if it is a list, a tuple, a dict or a Complex."""
    items: Iterable[tuple[Any, Any]]
    if isinstance(value, (Members, Var)):
        yield name, value
        return
    if isinstance(value, (list, tuple)):
        items = enumerate(value)
    elif isinstance(value, Complex):
        items = (("real", value.real), ("imag", value.imag))
    elif isinstance(value, dict):
        items = value.items()
    else:
        return
    for key, item in items:
        yield from _leaves(f"{name}.{key}", item)
