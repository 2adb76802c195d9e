# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Unrolling: how many trips one iteration of a loop makes."""

from __future__ import annotations

from .._typing import as_count

__all__ = ["as_unroll"]


def as_unroll(what: str, given: int | bool | None, trips: int) -> int:
    """Return how many trips an iteration of a loop makes; 0 where its length decides."""
    if given is None:
        return 0
    if isinstance(given, bool):
        return max(trips, 1) if given else 1
    return min(as_count(f"{what}: unroll", given), max(trips, 1))
