# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Softmax, cross entropy and the norms, forward and backward."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .base import Integers, Ones, Positive, Workload, with_backward

ROWS = {"small": (256, 256), "large": (8192, 4096), "odd": (13, 37)}
IMAGES = {"small": (4, 16, 32, 32), "large": (32, 64, 128, 128), "odd": (3, 5, 7, 11)}


def _rows(name: str, body: Any, scales: int = 0) -> list[Workload]:
    """Describe a function of rows and of vectors that scale and move them."""
    shapes: Any = {size: [shape, *[Positive(shape[1:])] * scales] for size, shape in ROWS.items()}
    same: Any = {size: [shape] for size, shape in ROWS.items()}
    forward = Workload(name, "norms", body, shapes)
    return with_backward(forward, same, tuple(range(1 + scales)))


def _images(name: str, body: Any, channels: int = 0) -> list[Workload]:
    """Describe a function of images and of vectors with a number a channel."""
    shapes: Any = {
        size: [shape, *[Positive(shape[1:2])] * channels] for size, shape in IMAGES.items()
    }
    same: Any = {size: [shape] for size, shape in IMAGES.items()}
    forward = Workload(name, "norms", body, shapes)
    return with_backward(forward, same, tuple(range(min(3, 1 + channels))))


def _cross_entropy() -> list[Workload]:
    shapes: Any = {
        size: [shape, Integers(shape[:1], shape[1])]
        for size, shape in {**ROWS, "large": (16384, 4096)}.items()
    }
    forward = Workload(
        "log-softmax and cross entropy",
        "norms",
        lambda ops, x, labels: ops.cross_entropy(x, labels),
        shapes,
    )
    return with_backward(forward, {size: [Ones(())] for size in ROWS})


def _batch_norm() -> list[Workload]:
    """Describe the norm with, and its derivatives without, the running moments."""
    rows = _images("batch norm", lambda ops, *xs: ops.batch_norm(*xs)[0], 4)
    return [replace(rows[0], body=lambda ops, *xs: ops.batch_norm(*xs)), *rows[1:]]


WORKLOADS = [
    *_rows("softmax", lambda ops, x: ops.softmax(x, -1)),
    *_cross_entropy(),
    *_rows("layer norm", lambda ops, x, w, b: ops.layer_norm(x, w, b), 2),
    *_rows("RMS norm", lambda ops, x, w: ops.rms_norm(x, w), 1),
    *_images("instance norm", lambda ops, x: ops.instance_norm(x)),
    *_batch_norm(),
]

_WEIGHTS = (
    "The gradients of weights are sums over rows, that of the input has sums within rows; the"
    " former are kernels of their own, and read from memory what the latter has computed. To"
    " get there: sums for some rows in the kernel that has these rows in cache."
)
_MOMENTS = (
    "A mean has to be known before what differs from it is squared, and both before images are"
    " normalised: three passes over a channel that no cache holds, two for the gradient. To get"
    " there: moments of parts of a channel in one pass, combined as Chan's formula does."
)

_PRODUCTS = (
    "The products of the row and its gradient are written to memory between the two passes"
    " over a row, as the row is too long for a local one: 1.33 times the bytes. To get there:"
    " compute them again in the second pass."
)

_SMALL = (
    "At the small size, most is outside of kernels: a norm or a loss is some twenty recorded"
    " operators from Python. To get there: trace it once and run it by its identity."
)

NOTES: dict[str, str] = {
    "layer norm": _SMALL,
    "log-softmax and cross entropy": _SMALL,
    "log-softmax and cross entropy backward": _SMALL,
    "softmax backward": _PRODUCTS,
    "layer norm backward": _WEIGHTS,
    "layer norm both": _WEIGHTS,
    "RMS norm backward": _WEIGHTS,
    "RMS norm both": _WEIGHTS,
    "batch norm": _MOMENTS,
    "batch norm backward": _MOMENTS,
    "batch norm both": _MOMENTS,
}
