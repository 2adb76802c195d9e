# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that are called before and after a module's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .._errors import at_line
from .._typing import shown

__all__ = ["Hook", "RegisteredHook", "RemovableHandle", "call_with_hooks"]

#: A function of a module, its arguments and maybe its result.
Hook = Callable[..., Any]


@dataclass(frozen=True, eq=False)
class RegisteredHook:
    """A hook as its module has it."""

    #: "before" or "after".
    when: str
    hook: Hook
    with_kwargs: bool


class RemovableHandle:
    """A handle that takes a hook away again.

    The module has the hook alone: if it had the handle, both would be a cycle, and its
    tensors would live until Python's collector comes.
    """

    def __init__(self, module: Any, registered: RegisteredHook) -> None:
        self.module = module
        self.registered = registered

    @staticmethod
    def add(
        module: Any, when: str, hook: Hook, prepend: bool, with_kwargs: bool
    ) -> RemovableHandle:
        """Add a hook to a module's; `when` is "before" or "after"."""
        given: Any = hook
        if not callable(given):
            raise at_line(TypeError(f"a hook is {shown(given)}, expected a function"))
        registered = RegisteredHook(when, hook, with_kwargs)
        hooks = module.__dict__.setdefault("_hooks", [])
        hooks.insert(0 if prepend else len(hooks), registered)
        return RemovableHandle(module, registered)

    def remove(self) -> None:
        """Take the hook away; nothing happens if it is away already."""
        hooks = self.module.__dict__.get("_hooks", [])
        if self.registered in hooks:
            hooks.remove(self.registered)
        if not hooks:
            self.module.__dict__.pop("_hooks", None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


def call_with_hooks(
    module: Any, hooks: list[RegisteredHook], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Return what the module and its hooks make of the arguments."""
    hooks = list(hooks)
    for registered in hooks:
        if registered.when == "before":
            args, kwargs = _before(registered, module, args, kwargs)
    result = module.execute(*args, **kwargs)
    for registered in hooks:
        if registered.when == "after":
            given = (args, kwargs) if registered.with_kwargs else (args,)
            changed = registered.hook(module, *given, result)
            result = result if changed is None else changed
    return result


def _before(
    registered: RegisteredHook, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments as one hook leaves them."""
    if not registered.with_kwargs:
        changed = registered.hook(module, args)
        if changed is None:
            return args, kwargs
        return (changed if isinstance(changed, tuple) else (changed,)), kwargs
    changed = registered.hook(module, args, kwargs)
    if changed is None:
        return args, kwargs
    if not isinstance(changed, tuple) or len(changed) != 2:
        raise at_line(
            TypeError(f"a hook returned {shown(changed)}, expected None or (args, kwargs)")
        )
    return changed
