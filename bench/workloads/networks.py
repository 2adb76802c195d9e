# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Other parts of networks: pooling, GELU, dropout, convolution, Adam."""

from __future__ import annotations

from typing import Any

from .base import Positive, Untied, Workload, with_backward

IMAGES = {"small": (4, 16, 32, 32), "large": (32, 64, 128, 128), "odd": (3, 5, 7, 11)}
ROWS = {"small": (256, 256), "large": (8192, 4096), "odd": (13, 37)}
# 25 million parameters, in large and small tensors as networks have them.
PARAMETERS = {
    "small": [(64, 64), (64,)] * 6,
    "large": [(1024, 512), (512,)] * 48,
    "odd": [(13, 7), (7,), (3, 5, 3)],
}


def _pool(
    name: str, body: Any, divisor: Any, kind: Any = tuple, is_linear: bool = False
) -> list[Workload]:
    """Describe a function of windows, of images of some kind of input."""
    shapes: Any = {size: [kind(shape)] for size, shape in IMAGES.items()}
    results: Any = {
        size: [(*shape[:2], divisor(shape[2]), divisor(shape[3]))] for size, shape in IMAGES.items()
    }
    return with_backward(Workload(name, "networks", body, shapes), results, is_linear=is_linear)


def _rows(name: str, body: Any, random: bool = False, is_linear: bool = False) -> list[Workload]:
    """Describe a function of each element."""
    shapes: Any = {size: [shape] for size, shape in ROWS.items()}
    forward = Workload(name, "networks", body, shapes, random=random)
    return with_backward(forward, shapes, is_linear=is_linear)


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
    *_pool("max pooling", lambda ops, x: ops.max_pool(x), lambda n: (n - 1) // 2 + 1, Untied),
    *_pool("average pooling", lambda ops, x: ops.avg_pool(x), lambda n: n // 2, is_linear=True),
    *_rows("GELU", lambda ops, x: ops.gelu(x)),
    *_rows("dropout", lambda ops, x: ops.dropout(x, 0.25), random=True, is_linear=True),
    *_depthwise(),
    _adam(),
]

NOTES: dict[str, str] = {
    "GELU backward": (
        "The error function and the exponential are computed again from the input; JAX reads"
        " what its forward pass left. To get there: keep the former where the backward pass"
        " runs as a program of its own."
    ),
    "dropout backward": (
        "The mask is made again, by Philox2x32-10 at about 1 ns an element; the peers read the"
        " mask that the forward pass left. To get there: keep it as a bit an element where the"
        " backward pass runs as a program of its own."
    ),
    "Adam step": (
        "What is outside of kernels is the recording of a dozen operators a tensor from"
        " Python; PyTorch's operator takes a list of tensors. To get there: one recorded"
        " operator for a list."
    ),
}
