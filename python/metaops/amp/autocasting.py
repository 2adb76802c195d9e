# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The scope in which products are computed in halves."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._errors import at_line
from .._precision import enter_scope, leave_scope, low_dtype
from .._typing import shown
from ..scopes import Scope

__all__ = ["autocast"]

_HALVES = ("bfloat16", "float16")


class autocast(Scope):  # noqa: N801 (used like a function)
    """Compute products in halves, in a ``with`` block or in a function's calls.

    Products and convolutions are computed in halves and summed in float32; softmax, losses,
    sums, exponentials and logarithms in float32; all else in the widest type of what it is
    given, as ever. It is the function, method or operator
    that is called in the scope that counts, and not what this calls itself. Tensors of
    float64, and what is computed with them, stay, and so do integers. Parameters stay
    float32: a step casts each of them once.

    Functions that are recorded, and the bodies of checkpoints, loops and branches, are
    recorded in the scope that their call is in. Derivatives of a `metaops.Function` are
    computed as they are written. Scopes belong to a thread or a task.

    Parameters
    ----------
    dtype
        The type of the halves: bfloat16, or float16, whose gradients need a `GradScaler`.
    enabled
        Whether there are halves at all; if not, the scope is as if there were no other.

    Raises
    ------
    TypeError
        If it is another type.

    Examples
    --------
    >>> layer = mo.nn.Linear(3, 2)
    >>> with mo.amp.autocast("bfloat16"):
    ...     y = layer(mo.ones((4, 3)))
    >>> y.dtype, y.sum().dtype
    (metaops.bfloat16, metaops.float32)
    """

    def __init__(self, dtype: Any = "bfloat16", enabled: bool = True) -> None:
        try:
            name = str(_core.dtype(dtype))
        except (TypeError, ValueError):
            name = ""
        if name not in _HALVES:
            raise at_line(
                TypeError(f"autocast: dtype is {shown(dtype)}, expected bfloat16 or float16")
            )
        self._dtype = name if enabled else None

    def _enter(self) -> None:
        enter_scope(self, self._dtype)

    def _leave(self) -> None:
        if not leave_scope(self):
            raise at_line(
                RuntimeError("autocast: a scope is left that this thread or task is not in")
            )

    @staticmethod
    def current() -> _core.dtype | None:
        """Return the type of the halves of the scope that the thread is in.

        None in none, and where calls are computed as ever, as in derivatives that are written
        by hand.
        """
        dtype = low_dtype()
        return None if dtype is None else _core.dtype(dtype)
