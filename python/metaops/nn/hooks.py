# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that are called before and after a module's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._errors import at_line
from .._typing import shown

__all__ = ["Hook", "RemovableHandle", "call_with_hooks"]

#: A function of a module, its arguments and maybe its result.
Hook = Callable[..., Any]


class RemovableHandle:
    """What takes a hook away again."""

    def __init__(self, module: Any, when: str, hook: Hook, with_kwargs: bool) -> None:
        self.module = module
        self.when = when
        self.hook = hook
        self.with_kwargs = with_kwargs

    @staticmethod
    def add(
        module: Any, when: str, hook: Hook, prepend: bool, with_kwargs: bool
    ) -> RemovableHandle:
        """Add a hook to a module's; `when` is "before" or "after"."""
        given: Any = hook
        if not callable(given):
            raise at_line(TypeError(f"a hook is {shown(given)}, expected a function"))
        handle = RemovableHandle(module, when, hook, with_kwargs)
        hooks = module.__dict__.setdefault("_hooks", [])
        hooks.insert(0 if prepend else len(hooks), handle)
        return handle

    def remove(self) -> None:
        """Take the hook away; nothing happens if it is away already."""
        hooks = self.module.__dict__.get("_hooks", [])
        if self in hooks:
            hooks.remove(self)
        if not hooks:
            self.module.__dict__.pop("_hooks", None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


def call_with_hooks(
    module: Any, hooks: list[RemovableHandle], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Return what the module and its hooks make of the arguments."""
    hooks = list(hooks)
    for handle in hooks:
        if handle.when == "before":
            args, kwargs = _before(handle, module, args, kwargs)
    result = module.execute(*args, **kwargs)
    for handle in hooks:
        if handle.when == "after":
            given = (args, kwargs) if handle.with_kwargs else (args,)
            changed = handle.hook(module, *given, result)
            result = result if changed is None else changed
    return result


def _before(
    handle: RemovableHandle, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments as one hook leaves them."""
    if not handle.with_kwargs:
        changed = handle.hook(module, args)
        if changed is None:
            return args, kwargs
        return (changed if isinstance(changed, tuple) else (changed,)), kwargs
    changed = handle.hook(module, args, kwargs)
    if changed is None:
        return args, kwargs
    if not isinstance(changed, tuple) or len(changed) != 2:
        raise at_line(
            TypeError(f"a hook returned {shown(changed)}, expected None or (args, kwargs)")
        )
    return changed
