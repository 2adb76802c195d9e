# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A module whose gradient computes again what it computes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .._errors import at_line
from .._typing import shown
from ..func.checkpoints import checkpoint
from .containers import Sequential
from .module import Module

__all__ = ["Checkpoint"]


class Checkpoint(Module):
    """A module of which gradients keep the arguments and the results alone.

    What lies between is computed again when a gradient is due, as by `metaops.checkpoint`.

    Parameters
    ----------
    module
        The module. Its parameters are those of this one, as ``module.``.
    segments
        How many parts to make of an `nn.Sequential`, of each of which the results are kept.

    keep
        Names of values that are kept as well, given to them by `metaops.checkpoint_name`.

    Raises
    ------
    TypeError
        If it is no module, or none whose parts are called one after the other.
    ValueError
        If `segments` is no number from 1 to that of its parts.

    Examples
    --------
    >>> layers = [nn.Checkpoint(nn.Linear(8, 8)) for _ in range(3)]
    >>> nn.Sequential(*layers)(mo.ones((2, 8))).shape
    (2, 8)
    """

    def __init__(
        self, module: Module, segments: int | None = None, keep: str | Sequence[str] = ()
    ) -> None:
        if not isinstance(module, Module):
            raise at_line(TypeError(f"Checkpoint: module is {shown(module)}, expected a module"))
        if segments is not None and not isinstance(module, Sequential):
            raise at_line(
                TypeError(
                    f"Checkpoint: module is {shown(module)}, expected an nn.Sequential for segments"
                )
            )
        self.module = module
        self.segments = segments
        self.keep = keep
        # So that what is wrong is said here.
        self._checkpointed()

    def _checkpointed(self) -> Callable[..., Any]:
        if self.segments is None:
            return checkpoint(self.module, keep=self.keep)
        parts: Any = self.module
        return checkpoint(list(parts), self.segments, self.keep)

    def execute(self, *args: Any, **kwargs: Any) -> Any:
        """Return what the module returns."""
        return self._checkpointed()(*args, **kwargs)
