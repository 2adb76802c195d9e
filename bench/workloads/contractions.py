# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products, convolutions, attention: what is bound by multiplication and addition.

A row's extents are in its name, so there is one size, `own`, beside that of tests.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .base import Shape, Workload, with_backward

# Products


def _product(
    name: str, kind: str, own: tuple[Shape, Shape], odd: tuple[Shape, Shape], flops: int, body: Any
) -> Workload:
    return Workload(
        f"product {name}",
        "products",
        body,
        {"own": own, "odd": odd},
        flops=flops,
        kind=f"product {kind}",
    )


def _plain(ops: Any, a: Any, b: Any) -> Any:
    return a @ b


def _rectangle(m: int, k: int, n: int) -> Workload:
    """Describe the product of an m x k with a k x n matrix."""
    kind = "of a row" if m == 1 else "with a column" if n == 1 else "outer" if k == 1 else "plain"
    odd = [1 if own == 1 else extent for own, extent in ((m, 13), (k, 37), (n, 19))]
    return _product(
        str(m) if m == k == n else f"{m}x{k}x{n}",
        kind,
        ((m, k), (k, n)),
        ((odd[0], odd[1]), (odd[1], odd[2])),
        2 * m * k * n,
        _plain,
    )


def _batched(batch: int, m: int, k: int, n: int) -> Workload:
    return _product(
        f"{batch} of {m}x{k}x{n}",
        "batched",
        ((batch, m, k), (batch, k, n)),
        ((3, 5, 7), (3, 7, 11)),
        2 * batch * m * k * n,
        _plain,
    )


def _transposed(kind: str, extent: int, odd: tuple[Shape, Shape], body: Any) -> Workload:
    own = (extent, extent)
    return _product(f"{kind} {extent}", kind, (own, own), odd, 2 * extent**3, body)


PRODUCTS = [
    *(_rectangle(n, n, n) for n in (64, 128, 256, 512, 1000, 1024, 2048)),
    _rectangle(1, 4096, 4096),
    _rectangle(4096, 4096, 1),
    _rectangle(4096, 1, 4096),
    _rectangle(4096, 64, 64),
    _rectangle(64, 64, 4096),
    _rectangle(64, 4096, 64),
    _batched(32, 128, 64, 128),
    _transposed("A^T B", 512, ((37, 13), (37, 19)), lambda ops, a, b: a.T @ b),
    _transposed("A B^T", 512, ((13, 37), (19, 37)), lambda ops, a, b: a @ b.T),
    _transposed("A^T B^T", 512, ((37, 13), (19, 37)), lambda ops, a, b: a.T @ b.T),
]

# Convolutions

#: Channels in and out, the kernel's and the image's extent, the stride: each of
#: ResNet-50's once (He et al., 2016; the stride in the blocks' second convolution).
RESNET = [
    (3, 64, 7, 224, 2),
    (64, 64, 1, 56, 1),
    (64, 64, 3, 56, 1),
    (64, 256, 1, 56, 1),
    (256, 64, 1, 56, 1),
    (256, 128, 1, 56, 1),
    (128, 128, 3, 56, 2),
    (128, 512, 1, 28, 1),
    (256, 512, 1, 56, 2),
    (512, 128, 1, 28, 1),
    (128, 128, 3, 28, 1),
    (512, 256, 1, 28, 1),
    (256, 256, 3, 28, 2),
    (256, 1024, 1, 14, 1),
    (512, 1024, 1, 28, 2),
    (1024, 256, 1, 14, 1),
    (256, 256, 3, 14, 1),
    (1024, 512, 1, 14, 1),
    (512, 512, 3, 14, 2),
    (512, 2048, 1, 7, 1),
    (1024, 2048, 1, 14, 2),
    (2048, 512, 1, 7, 1),
    (512, 512, 3, 7, 1),
]

#: Channels, the image's extent and the stride of MobileNetV2's depthwise convolutions
#: (Sandler et al., 2018), each once.
MOBILENET = [
    (32, 112, 1),
    (96, 112, 2),
    (144, 56, 1),
    (144, 56, 2),
    (192, 28, 1),
    (192, 28, 2),
    (384, 14, 1),
    (576, 14, 1),
    (576, 14, 2),
    (960, 7, 1),
]

BATCHES = (1, 16)


def _directions(forward: Workload, results: dict[str, list[Any]]) -> list[Workload]:
    """Return a convolution and its two gradients, each by itself: they cost the same."""
    shapes = {size: [*entries, *results[size]] for size, entries in forward.shapes.items()}
    backward = replace(forward, shapes=shapes, mode="backward")
    return [
        forward,
        *(
            replace(
                backward,
                name=f"{forward.name} by {what}",
                group=f"{forward.group} by {what}",
                kind=f"{forward.kind} by {what}",
                gradients=(place,),
                traffic=_without(place),
            )
            for place, what in enumerate(("image", "weights"))
        ),
    ]


def _without(place: int) -> Callable[[Any, Any], int]:
    """Return what counts bytes where the input that is differentiated by is not needed."""

    def traffic(arrays: Any, results: Any) -> int:
        read = sum(array.nbytes for k, array in enumerate(arrays) if k != place)
        return read + sum(result.nbytes for result in results)

    return traffic


def _convolution(
    inputs: int, outputs: int, kernel: int, extent: int, stride: int, batch: int
) -> list[Workload]:
    def places(extent: int) -> int:
        return (extent - 1) // stride + 1

    window = f"{kernel}x{kernel}{' stride 2' if stride == 2 else ''}"
    side = places(extent)
    forward = Workload(
        f"convolution {window} {inputs}>{outputs} at {extent}, batch {batch}",
        "convolutions",
        lambda ops, x, w: ops.convolution(x, w, stride),
        {
            "own": [(batch, inputs, extent, extent), (outputs, inputs, kernel, kernel)],
            "odd": [(2, 3, 9, 12), (5, 3, kernel, kernel)],
        },
        flops=2 * batch * outputs * side * side * inputs * kernel * kernel,
        kind=f"convolution {window}",
    )
    results: dict[str, list[Any]] = {
        "own": [(batch, outputs, side, side)],
        "odd": [(2, 5, places(9), places(12))],
    }
    return _directions(forward, results)


def _depthwise(channels: int, extent: int, stride: int, batch: int) -> list[Workload]:
    def places(extent: int) -> int:
        return (extent - 1) // stride + 1

    side = places(extent)
    window = f"3x3{' stride 2' if stride == 2 else ''}"
    forward = Workload(
        f"depthwise {window} {channels} at {extent}, batch {batch}",
        "depthwise",
        lambda ops, x, w: ops.depthwise(x, w, stride),
        {
            "own": [(batch, channels, extent, extent), (channels, 1, 3, 3)],
            "odd": [(2, 5, 9, 12), (5, 1, 3, 3)],
        },
        flops=2 * batch * channels * side * side * 9,
        kind=f"depthwise {window}",
    )
    results: dict[str, list[Any]] = {
        "own": [(batch, channels, side, side)],
        "odd": [(2, 5, places(9), places(12))],
    }
    return _directions(forward, results)


# Blocks of networks


def _block(
    name: str, body: Any, own: list[Shape], odd: list[Shape], results: int, flops: float
) -> list[Workload]:
    """Describe a function of matrices, its derivatives by all, and both.

    The result is like the first input but for its last extent, `results` at both sizes.
    The gradients are twice as many products as the result.
    """
    forward = Workload(name, "blocks", body, {"own": own, "odd": odd})
    shapes: Any = {"own": [(*own[0][:-1], results or own[0][-1])]}
    shapes["odd"] = [(*odd[0][:-1], odd[-1][-1] if results else odd[0][-1])]
    rows = with_backward(forward, shapes, tuple(range(len(own))))
    return [
        replace(row, flops=round(flops * times)) for row, times in zip(rows, (1, 2, 3), strict=True)
    ]


def _attention(is_causal: bool) -> list[Workload]:
    heads, length, depth = 8, 512, 64
    # A place sees half of the others on average.
    seen = (length + 1) / 2 if is_causal else length
    return _block(
        f"{'causal ' if is_causal else ''}attention {heads}x{length}x{depth}",
        lambda ops, q, k, v: ops.attention(q, k, v, is_causal),
        [(heads, length, depth)] * 3,
        [(2, 13, 7)] * 3,
        0,
        4 * heads * length * seen * depth,
    )


def _mlp() -> list[Workload]:
    def body(ops: Any, x: Any, w: Any, b: Any, u: Any, c: Any) -> Any:
        return ops.linear(ops.gelu(ops.linear(x, w, b)), u, c)

    rows, width, hidden = 512, 768, 3072
    return _block(
        f"MLP with GELU {rows}x{width}x{hidden}",
        body,
        [(rows, width), (hidden, width), (hidden,), (width, hidden), (width,)],
        [(13, 7), (19, 7), (19,), (7, 19), (7,)],
        0,
        4 * rows * width * hidden,
    )


def _linear_relu(extent: int) -> list[Workload]:
    return _block(
        f"product, bias and ReLU {extent}",
        lambda ops, x, w, b: ops.relu(ops.linear(x, w, b)),
        [(extent, extent), (extent, extent), (extent,)],
        [(13, 7), (19, 7), (19,)],
        extent,
        2 * extent**3,
    )


WORKLOADS = [
    *PRODUCTS,
    *(row for batch in BATCHES for shape in RESNET for row in _convolution(*shape, batch)),
    *(row for batch in BATCHES for shape in MOBILENET for row in _depthwise(*shape, batch)),
    *_attention(False),
    *_attention(True),
    *_mlp(),
    *_linear_relu(512),
]

_SCORES = (
    "the scores go through memory between the two products; peers keep blocks of them in"
    " cache (FlashAttention), which takes a softmax that is corrected block by block"
)
_WEIGHTS = "the weights are packed at each call; kept panels would save that"
NOTES: dict[str, str] = {
    "product 64": "half of the time is recording and starting a program",
    **{
        f"{kind} 8x512x64{mode}": _SCORES
        for kind in ("attention", "causal attention")
        for mode in ("", " backward", " both")
    },
    "convolution 3x3 512>512 at 7, batch 1": _WEIGHTS,
}
