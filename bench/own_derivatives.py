# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Costs of functions with derivatives of their own.

1. A call of a function without work, beside one of `detach`.
2. The gradient of residual chains with one shared parameter, which should take twice the
   time for twice the length.
3. Memory that many calls leave.

    python bench/own_derivatives.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import metaops as mo


class Empty(mo.Function):
    """A function without work."""

    def execute(self, x: Any) -> Any:
        """Return the argument."""
        return x

    def grad(self, gradient: Any) -> Any:
        """Return the gradient."""
        return gradient


class Block(mo.Function):
    """A part of a residual chain."""

    def execute(self, h: Any, w: Any) -> Any:
        """Return tanh(h * w)."""
        self.h, self.w = h, w
        self.y = mo.tanh(h * w)
        return self.y

    def grad(self, gradient: Any) -> Any:
        """Return the gradients by h and w."""
        inner = gradient * (1 - self.y * self.y)
        return inner * self.w, inner * self.h


def microseconds(call: Callable[[], Any], calls: int = 10_000) -> float:
    """Return the median time of a call."""
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        times.append((time.perf_counter() - begin) / calls * 1e6)
    return median(times)


def chain_milliseconds(length: int) -> float:
    """Return the least time of a processor in which a chain's gradient is recorded."""
    times = []
    for _ in range(7):
        w, h = mo.full((4,), 0.1), mo.ones(4)
        x = h
        for _ in range(length):
            h = h + Block.apply(h, w)
        loss = h.sum()
        begin = time.thread_time()
        mo.grad(loss, [w, x])
        times.append((time.thread_time() - begin) * 1e3)
    return min(times)


def resident_kilobytes() -> int:
    """Return the memory of the process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4


def main() -> None:
    """Print all figures."""
    x = mo.ones(3)
    print(f"a call: {microseconds(lambda: Empty.apply(x)):.2f} us")
    print(f"detach: {microseconds(lambda: x.detach()):.2f} us")
    for length in (100, 200, 400, 800):
        print(f"the gradient of {length} blocks: {chain_milliseconds(length):.2f} ms")
    for _ in range(3):
        before = resident_kilobytes()
        for _ in range(100_000):
            Empty.apply(x)
        print(f"100,000 calls: {resident_kilobytes() - before:+} kB")


if __name__ == "__main__":
    main()
