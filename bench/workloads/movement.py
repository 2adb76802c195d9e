# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What moves elements only: transposes, slices, borders, joins."""

from __future__ import annotations

from typing import Any

from .base import Integers, Workload, with_backward

TWO = {"small": [(256, 256)], "large": [(8192, 4096)], "odd": [(13, 37)]}
IMAGES = {"small": [(4, 16, 32, 32)], "large": [(32, 64, 128, 128)], "odd": [(3, 5, 7, 11)]}
LAST = {"small": [(4, 32, 32, 16)], "large": [(32, 128, 128, 64)], "odd": [(3, 7, 11, 5)]}
PAIR = {
    "small": [(256, 128), (256, 128)],
    "large": [(8192, 2048), (8192, 2048)],
    "odd": [(13, 17), (13, 17)],
}
# Rows of 256 numbers: a table of 384 with 256 places, and one far beyond the cache.
TABLE = {
    "small": [(256, 256), Integers((256,), 256)],
    "large": [(131072, 256), Integers((131072,), 131072)],
    "odd": [(13, 7), Integers((19,), 13)],
}
SPREAD = {
    size: [*TABLE[size], shape]
    for size, shape in {"small": (256, 256), "large": (131072, 256), "odd": (19, 7)}.items()
}


def _moved(arrays: Any, results: Any) -> int:
    """Return the bytes where only what is kept has to be read."""
    return 2 * sum(result.nbytes for result in results)


def _row(name: str, body: Any, shapes: Any, **more: Any) -> Workload:
    return Workload(name, "movement", body, shapes, **more)


def _both(forward: Workload, result: Any, gradients: tuple[int, ...] = (0,)) -> list[Workload]:
    """Describe the derivatives too, for a result whose shape a function tells."""
    cotangents: Any = {size: [result(*entries[0])] for size, entries in forward.shapes.items()}
    return with_backward(forward, cotangents, gradients, is_linear=True)


WORKLOADS = [
    *_both(_row("transpose", lambda ops, x: ops.transpose(x, (1, 0)), TWO), lambda m, n: (n, m)),
    _row("NCHW to NHWC", lambda ops, x: ops.transpose(x, (0, 2, 3, 1)), IMAGES),
    _row("NHWC to NCHW", lambda ops, x: ops.transpose(x, (0, 3, 1, 2)), LAST),
    *_both(
        _row("slice", lambda ops, x: ops.contiguous(x[3:, 5:-2]), TWO, traffic=_moved),
        lambda m, n: (m - 3, n - 7),
    ),
    _row(
        "slice with steps",
        lambda ops, x: ops.contiguous(x[::2, 1::2]),
        TWO,
        traffic=lambda arrays, results: arrays[0].nbytes // 2 + results[0].nbytes,
    ),
    *_both(
        _row("pad", lambda ops, x: ops.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))), IMAGES),
        lambda n, c, h, w: (n, c, h + 2, w + 2),
    ),
    _row("concat rows", lambda ops, x, y: ops.concat((x, y), 0), PAIR),
    *_both(
        _row("concat columns", lambda ops, x, y: ops.concat((x, y), 1), PAIR),
        lambda m, n: (m, 2 * n),
        (0, 1),
    ),
    _row("embedding", lambda ops, t, k: ops.take(t, k), TABLE),
    _row(
        "embedding backward",
        lambda ops, t, k: ops.take(t, k),
        SPREAD,
        gradients=(0,),
        mode="backward",
        traffic=lambda arrays, results: sum(a.nbytes for a in (*arrays[1:], *results)),
    ),
]

NOTES: dict[str, str] = {
    "embedding": (
        "At the small size, nearly all is outside of kernels: indices are cast, wrapped and"
        " checked, each a recorded operator. To get there: do so in one operator."
    ),
}
