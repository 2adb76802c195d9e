# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of recorded functions, to be looked at before they are run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _core
from ..tools.explaining import Explanation

if TYPE_CHECKING:
    from .._core import Var
    from .recorder import Entry

__all__ = ["explain_call"]


def explain_call(entry: Entry, bound: list[Var]) -> Explanation:
    """Return what the kernels of a call do; nothing is run, and no effect advanced.

    Parameters
    ----------
    entry
        The recording that the call would use.
    bound
        Its arguments and captured tensors, as the guards gather them.
    """
    return Explanation(_core.plan_call(entry.function, bound))
