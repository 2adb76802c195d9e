# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How many threads a new session may start with."""

from __future__ import annotations

import os
from collections.abc import Mapping

__all__ = ["most_threads"]


def most_threads(environment: Mapping[str, str] = os.environ) -> int | None:
    """Return the bound that ``OMP_NUM_THREADS`` sets, or None for none.

    Of a list, one number for each level of nesting, the first counts. What is not
    a positive number sets no bound.
    """
    first = environment.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if not (first.isascii() and first.isdecimal()) or len(first) > 9:
        return None
    return int(first) or None
