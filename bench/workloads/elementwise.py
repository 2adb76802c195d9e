# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Chains of element-wise operators, and broadcasts."""

from __future__ import annotations

from typing import Any

from .base import Workload

SMALL, LARGE, ODD = (256, 256), (8192, 4096), (13, 37)
ONE = {"small": [SMALL], "large": [LARGE], "odd": [ODD]}


def cheap(count: int) -> Any:
    """Return a chain of additions, products and maxima."""

    def body(ops: Any, x: Any) -> Any:
        y = x
        for k in range(count):
            if k % 4 == 0:
                y = y * 1.25
            elif k % 4 == 1:
                y = y + 0.5
            elif k % 4 == 2:
                y = ops.maximum(y, -1.5)
            else:
                y = y - x
        return y

    return body


def dear(count: int) -> Any:
    """Return a chain with an exponential, a hyperbolic tangent or an error function."""

    def body(ops: Any, x: Any) -> Any:
        y = x
        for k in range(count):
            if k % 4 == 0:
                y = ops.tanh(y)
            elif k % 4 == 1:
                y = ops.exp(y)
            elif k % 4 == 2:
                y = y * 0.5 - x
            else:
                y = ops.erf(y)
        return y

    return body


def single(name: str) -> Any:
    """Return one operator."""
    return lambda ops, x: getattr(ops, name)(x)


def _chain(name: str, body: Any) -> Workload:
    return Workload(name, "element-wise", body, ONE)


def _broadcast(what: str, small: Any, large: Any, odd: Any) -> Workload:
    shapes = {"small": [SMALL, small], "large": [LARGE, large], "odd": [ODD, odd]}
    return Workload(f"broadcast {what}", "broadcast", lambda ops, x, y: x * y + y, shapes)


WORKLOADS = [
    *(_chain(f"chain of {count}", cheap(count)) for count in (1, 4, 16)),
    *(_chain(name, single(name)) for name in ("exp", "tanh", "erf")),
    *(_chain(f"chain of {count} with exp, tanh, erf", dear(count)) for count in (4, 16)),
    _broadcast("row", (256,), (4096,), (37,)),
    _broadcast("column", (256, 1), (8192, 1), (13, 1)),
    _broadcast("scalar", (), (), ()),
]

NOTES: dict[str, str] = {}
