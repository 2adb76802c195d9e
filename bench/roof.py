# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the machine can move and compute at best, by roof.cpp and peak.cpp."""

from __future__ import annotations

import ctypes
import functools
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

#: Built by `ninja bench_roof`, which script/bench does.
LIBRARY = Path(__file__).resolve().parents[1] / "build" / "release" / "lib" / "libbench_roof.so"

PAGE = 4096


@functools.lru_cache
def library() -> ctypes.CDLL:
    """Return the functions of both."""
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
    functions.metaopsMultiplyAdd.restype = ctypes.c_int64
    functions.metaopsMultiplyAdd.argtypes = [ctypes.c_void_p, ctypes.c_int64]
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


#: About a quarter of a millisecond for a thread.
BLOCKS = 200


def peak(threads: int) -> float:
    """Return the seconds of a multiplication or addition at the peak of so many threads.

    The best of some milliseconds: whoever interrupts is not the machine's peak, nor are
    a peer's threads that wait actively after its turn.
    """

    def once() -> float:
        begin = time.perf_counter()
        operations = library().metaopsMultiplyAdd(pool(threads), BLOCKS * threads)
        return (time.perf_counter() - begin) / operations

    return min(once() for _ in range(24))


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
