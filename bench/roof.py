# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the machine can move at best, by roof.cpp."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from pathlib import Path

import numpy as np

#: Built by `ninja bench_roof`, which script/bench does.
LIBRARY = Path(__file__).resolve().parents[1] / "build" / "release" / "lib" / "libbench_roof.so"

PAGE = 4096


@functools.lru_cache
def library() -> ctypes.CDLL:
    """Return the functions of roof.cpp."""
    functions = ctypes.CDLL(str(LIBRARY))
    functions.metaopsMakePool.restype = ctypes.c_void_p
    functions.metaopsMakePool.argtypes = [ctypes.c_uint]
    functions.metaopsMove.restype = None
    functions.metaopsMove.argtypes = [
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_int64,
        ctypes.c_void_p,
        ctypes.c_int64,
        ctypes.c_bool,
    ]
    return functions


@functools.lru_cache
def pool(threads: int) -> int:
    """Return a pool of so many threads."""
    return library().metaopsMakePool(threads)


def aligned(count: int) -> np.ndarray:
    """Return so many bytes from the start of a page on, all of them touched."""
    memory = np.ones(count + PAGE, "uint8")
    start = -memory.ctypes.data % PAGE
    return memory[start : start + count]


def movers(read: int, written: int, threads: int) -> dict[str, Callable[[], None]]:
    """Return what reads and writes so many bytes, each in one way."""
    source, target = aligned(read), aligned(written)

    def mover(count: int, streamed: bool) -> Callable[[], None]:
        team = pool(count)
        at, to = source.ctypes.data, target.ctypes.data

        def move() -> None:
            # Keeps the arrays, too.
            library().metaopsMove(team, at, source.size, to, target.size, streamed)

        return move

    return {
        f"roof ({count} threads{', streamed' if streamed else ''})": mover(count, streamed)
        for count in sorted({1, threads})
        for streamed in (False, True)
    }
