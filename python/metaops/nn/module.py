# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The base class of models and layers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .. import io
from .._core import Var, array
from .._errors import at_line
from .._typing import VarLike

__all__ = ["Module"]

M = TypeVar("M", bound="Module")


class Module:
    """A model or a layer: tensors and other modules in attributes, and a call.

    A subclass defines `execute` (or `forward`); calling the module calls it. It
    need not call ``super().__init__()``. Attributes that are modules, or lists,
    tuples or dicts of modules and tensors, belong to the module. Float tensors
    are its parameters, except those given to `register_buffer`; buffers and
    parameters together are its state.

    Attributes
    ----------
    is_train : bool
        Whether the module is being trained: what `train` and `eval` set.
    """

    is_train: bool = True

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call `execute`."""
        return self.execute(*args, **kwargs)

    def execute(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the module's result; by default calls `forward`."""
        return self.forward(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the module's result; another name of `execute`."""
        raise at_line(TypeError(f"{type(self).__name__} defines neither execute nor forward"))

    if not TYPE_CHECKING:  # or any attribute would pass

        def __getattr__(self, name: str) -> Any:
            """Compute a parameter that is one of `parametrizations`, see `metaops.nn.utils`."""
            if self._is_computed(name):
                return self.__dict__["parametrizations"][name]()
            return super().__getattribute__(name)  # raises again, what a property raised

    def __setattr__(self, name: str, value: Any) -> None:
        if self._is_computed(name):
            raise at_line(
                AttributeError(
                    f"{type(self).__name__}: {name!r} is computed, see `parametrizations`; call"
                    " remove_parametrizations before it is set"
                )
            )
        super().__setattr__(name, value)

    def _is_computed(self, name: str) -> bool:
        """Return whether an attribute is a parameter that is computed from others."""
        computed = self.__dict__.get("parametrizations")
        return isinstance(computed, dict) and name in computed

    # What the module consists of.

    def _members(self) -> Iterator[tuple[str, Any]]:
        """Yield names and values of what belongs to this module directly."""
        for name, value in self.__dict__.items():
            if not name.startswith("_"):
                yield from _leaves(name, value)

    def _buffer_names(self) -> set[str]:
        """Return the names of this module's own buffers."""
        names: set[str] = self.__dict__.setdefault("_registered_buffers", set())
        return names

    def register_buffer(self, name: str, value: Var) -> None:
        """Make `value` the attribute `name`: state, but no parameter.

        Later values assigned to the attribute are buffers as well.
        """
        setattr(self, name, value)
        self._buffer_names().add(name)

    def named_modules(self, prefix: str = "") -> list[tuple[str, Module]]:
        """Return this module and all within it, each once, with dotted names."""
        result: list[tuple[str, Module]] = []
        seen: set[int] = set()

        def visit(name: str, module: Module) -> None:
            if id(module) in seen:
                return
            seen.add(id(module))
            result.append((name, module))
            for member, value in module._members():
                if isinstance(value, Module):
                    visit(_joined(name, member), value)

        visit(prefix, self)
        return result

    def modules(self) -> list[Module]:
        """Return this module and all within it, each once."""
        return [module for _, module in self.named_modules()]

    def named_children(self) -> list[tuple[str, Module]]:
        """Return the modules that belong to this one directly, with names."""
        return [(name, value) for name, value in self._members() if isinstance(value, Module)]

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
            for name, value in module._members():
                if isinstance(value, Var) and id(value) not in seen:
                    seen.add(id(value))
                    is_parameter = "float" in value.dtype and name.split(".")[0] not in buffers
                    yield _joined(prefix, name), value, is_parameter

    def _all_names(self, prefix: str, around: tuple[Module, ...]) -> Iterator[tuple[str, Var]]:
        """Yield all tensors by all of their names.

        `around` are the modules on the way here, into which no name leads again.
        """
        around = (*around, self)
        for name, value in self._members():
            if isinstance(value, Var):
                yield _joined(prefix, name), value
            elif not any(value is module for module in around):
                yield from value._all_names(_joined(prefix, name), around)

    def named_parameters(self) -> list[tuple[str, Var]]:
        """Return all parameters, each once, with dotted names."""
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

    # State.

    def state_dict(self) -> dict[str, Var]:
        """Return parameters and buffers by dotted name.

        One that is there under several names, as a tied weight, has them all.
        """
        return dict(self._all_names("", ()))

    def load_state_dict(self, state: Mapping[str, VarLike], strict: bool = True) -> None:
        """Take values from a dict like that of `state_dict`.

        Parameters
        ----------
        state
            Vars or arrays by name. Values are converted to the dtype that the
            module's tensor has. Of a tensor with several names, one suffices.
        strict
            Whether names must agree; else those of one side only are skipped.

        Raises
        ------
        KeyError
            If names do not agree and `strict` is set.
        ValueError
            If a shape differs, or if names of one tensor have different values.
            Nothing is changed by a call that raises.
        """
        own = self.state_dict()
        given_once = {id(own[name]) for name in own.keys() & state.keys()}
        missing = sorted(
            name for name in own.keys() - state.keys() if id(own[name]) not in given_once
        )
        unknown = sorted(state.keys() - own.keys())
        if strict and (missing or unknown):
            raise at_line(
                KeyError(f"load_state_dict: missing names {missing}, unknown names {unknown}")
            )
        values: dict[int, tuple[str, Var]] = {}
        for name, target in own.items():
            if name not in state:
                continue
            value = _loaded(name, state[name], target)
            first, known = values.setdefault(id(target), (name, value))
            if known is not value and not _is_same(known, value):
                raise at_line(
                    ValueError(
                        f"load_state_dict: {first!r} and {name!r} are one tensor, but their values"
                        " differ"
                    )
                )
        for target in own.values():
            if id(target) in values:
                target.assign(values.pop(id(target))[1])

    def save(self, path: io.Path) -> None:
        """Write the state to a file, see `metaops.save`."""
        io.save(self.state_dict(), path)

    def load(self, path: io.Path) -> None:
        """Take the state from a file that `save` wrote.

        Raises
        ------
        KeyError, ValueError, OSError
            As `load_state_dict` and `metaops.load`; also if the file holds no dict.
        """
        state = io.load(path)
        if not isinstance(state, dict):
            raise at_line(
                ValueError(f"load: {path} holds a {type(state).__name__}, expected a state")
            )
        self.load_state_dict(state)

    # Training or not.

    def train(self: M, mode: bool = True) -> M:
        """Say that this module and all within it are being trained; return it."""
        for module in self.modules():
            module.is_train = mode
        return self

    def eval(self: M) -> M:
        """Say that this module and all within it are being used; return it."""
        return self.train(False)

    def is_training(self) -> bool:
        """Return whether the module is being trained."""
        return self.is_train

    def extra_repr(self) -> str:
        """Return what `repr` shows of this module beside its name and children."""
        return ""

    def __repr__(self) -> str:
        children = [f"{name}: {child!r}" for name, child in self.named_children()]
        if not children:
            return f"{type(self).__name__}({self.extra_repr()})"
        lines = "\n".join(children).replace("\n", "\n  ")
        return f"{type(self).__name__}({self.extra_repr()}\n  {lines}\n)"


def _loaded(name: str, given: VarLike, target: Var) -> Var:
    """Return a value for a tensor, a leaf of its own: two modules share no history."""
    shape = given.shape if isinstance(given, Var) else np.shape(given)
    if shape != target.shape:
        raise at_line(
            ValueError(f"load_state_dict: {name!r} has shape {shape}, expected {target.shape}")
        )
    return array(given.numpy() if isinstance(given, Var) else given, target.dtype)


def _is_same(x: Var, y: Var) -> bool:
    """Return whether the values are the same, bit by bit."""
    return x.numpy().tobytes() == y.numpy().tobytes()


def _joined(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name


def _leaves(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield `value`, or what it contains if it is a list, a tuple or a dict."""
    items: Iterable[tuple[Any, Any]]
    if isinstance(value, (Module, Var)):
        yield name, value
        return
    if isinstance(value, (list, tuple)):
        items = enumerate(value)
    elif isinstance(value, dict):
        items = value.items()
    else:
        return
    for key, item in items:
        yield from _leaves(f"{name}.{key}", item)
