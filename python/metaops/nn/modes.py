# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modes of modules: training or not, set also in functions that are recorded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..tracing.effects import Effect

if TYPE_CHECKING:
    from .module import Module

__all__ = ["SetMode", "used"]


@contextmanager
def used(module: Module) -> Iterator[None]:
    """Have a module and all within it be used, not trained; then as they were."""
    mode = SetMode(module, False)
    mode.advance()
    try:
        yield
    finally:
        mode.take_back()


class SetMode(Effect):
    """Says whether a module and all within it are being trained."""

    def __init__(self, owner: Module, mode: bool) -> None:
        super().__init__(owner)
        self._mode = mode
        self._before: list[tuple[Module, bool | None]] = []

    def advance(self) -> list[float] | None:
        """Set the mode."""
        owner = self.owner
        if owner is None:
            return None
        modules = list(owner.modules())
        # Those that have none of their own have that of their class.
        self._before = [(module, vars(module).get("is_train")) for module in modules]
        for module in modules:
            module.is_train = self._mode
        return []

    def take_back(self) -> None:
        """Have the modes be as they were."""
        for module, own in self._before:
            if own is None:
                vars(module).pop("is_train", None)
            else:
                module.is_train = own
        self._before = []

    def finish(self) -> None:
        """Let go of what was before."""
        self._before = []
