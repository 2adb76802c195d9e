# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Other parts of networks: pooling, GELU, dropout, convolution, Adam."""

from __future__ import annotations

from typing import Any

from .base import Positive, Workload, with_backward

IMAGES = {"small": (4, 16, 32, 32), "large": (32, 64, 128, 128), "odd": (3, 5, 7, 11)}
ROWS = {"small": (256, 256), "large": (8192, 4096), "odd": (13, 37)}
# 25 million parameters, in large and small tensors as networks have them.
PARAMETERS = {
    "small": [(64, 64), (64,)] * 6,
    "large": [(1024, 512), (512,)] * 48,
    "odd": [(13, 7), (7,), (3, 5, 3)],
}


def _pool(name: str, body: Any, divisor: Any) -> list[Workload]:
    shapes: Any = {size: [shape] for size, shape in IMAGES.items()}
    results: Any = {
        size: [(*shape[:2], divisor(shape[2]), divisor(shape[3]))] for size, shape in IMAGES.items()
    }
    return with_backward(Workload(name, "networks", body, shapes), results)


def _rows(name: str, body: Any, **more: Any) -> list[Workload]:
    shapes: Any = {size: [shape] for size, shape in ROWS.items()}
    return with_backward(Workload(name, "networks", body, shapes, **more), shapes)


def _depthwise() -> list[Workload]:
    shapes: Any = {size: [shape, (shape[1], 1, 3, 3)] for size, shape in IMAGES.items()}
    forward = Workload(
        "depthwise convolution", "networks", lambda ops, x, w: ops.depthwise(x, w), shapes
    )
    return with_backward(forward, {size: [shape] for size, shape in IMAGES.items()}, (0, 1))


def _adam() -> Workload:
    shapes: Any = {}
    for size, extents in PARAMETERS.items():
        # Gradients, parameters and means; squares are positive.
        shapes[size] = [*extents * 3, *map(Positive, extents)]
    return Workload(
        "Adam step",
        "networks",
        lambda ops, *xs: ops.adam(xs),
        shapes,
        # The gradients stay.
        state=lambda count: tuple(range(count // 4, count)),
    )


WORKLOADS = [
    *_pool("max pooling", lambda ops, x: ops.max_pool(x), lambda n: (n - 1) // 2 + 1),
    *_pool("average pooling", lambda ops, x: ops.avg_pool(x), lambda n: n // 2),
    *_rows("GELU", lambda ops, x: ops.gelu(x)),
    *_rows("dropout", lambda ops, x: ops.dropout(x, 0.25), random=True),
    *_depthwise(),
    _adam(),
]

NOTES: dict[str, str] = {}
