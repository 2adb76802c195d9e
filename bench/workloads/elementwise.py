# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Chains of element-wise operators, and broadcasts."""

from __future__ import annotations

from typing import Any

from .base import Workload, with_backward

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


def _with_backward(name: str, body: Any) -> list[Workload]:
    return with_backward(_chain(name, body), ONE)


def _broadcast(what: str, small: Any, large: Any, odd: Any) -> list[Workload]:
    shapes = {"small": [SMALL, small], "large": [LARGE, large], "odd": [ODD, odd]}
    forward = Workload(f"broadcast {what}", "broadcast", lambda ops, x, y: x * y + y, shapes)
    return with_backward(forward, ONE, (0, 1))


# The cheap chains are forward only: where numbers are equal, libraries disagree on
# the gradient of the larger.
WORKLOADS = [
    *(_chain(f"chain of {count}", cheap(count)) for count in (1, 4, 16)),
    *(_chain(name, single(name)) for name in ("exp", "tanh", "erf")),
    *_with_backward("chain of 4 with exp, tanh, erf", dear(4)),
    *_with_backward("chain of 16 with exp, tanh, erf", dear(16)),
    *_broadcast("row", (256,), (4096,), (37,)),
    *_broadcast("column", (256, 1), (8192, 1), (13, 1)),
    *_broadcast("scalar", (), (), ()),
]

_AGAIN = (
    "Ours starts from the inputs and computes the forward pass again, operator by operator;"
    " the peers read what theirs has left. To get there: keep results of the dear operators"
    " where the backward pass runs as a program of its own."
)

_RECORDING = (
    "Most is outside of kernels: 16 operators and their numbers are 28 recorded operators"
    " from Python. To get there: trace a function once and run it by its identity."
)
_MANY_CONSTANTS = (
    "A dozen polynomials in one loop have more constants than there are registers: 1.3 times"
    " the time of each by itself. To get there: split such a loop where a few values pass."
)

NOTES: dict[str, str] = {
    "chain of 16": _RECORDING,
    **{f"chain of {count} with exp, tanh, erf backward": _AGAIN for count in (4, 16)},
    "chain of 16 with exp, tanh, erf both": _MANY_CONSTANTS,
}
