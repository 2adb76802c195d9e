# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Turns: who is timed has the GPU alone, by a lock on a file."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager

_held = False


@contextmanager
def alone(lock: str) -> Iterator[None]:
    """Wait until nobody else is timed; whoever has the lock may ask again."""
    global _held
    if _held:
        yield
        return
    with open(lock, "a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        _held = True
        try:
            yield
        finally:
            _held = False
