# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kinds: a small program for each kind of kernel that there is for GPUs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import metaops as mo
import numpy as np
from metaops import nn

from . import differences
from .child import Record, file_name

#: Limits of how far results may differ, beside the largest of them, by what they are computed in.
TOLERANCES = {"float64": 1e-10, "float32": 1e-5, "float16": 3e-3, "bfloat16": 2e-2}


@dataclass(frozen=True)
class Kind:
    """A function of tensors of normal numbers, in some type, and what NumPy says."""

    body: Callable[..., Any]
    shapes: Sequence[tuple[int, ...]]
    dtype: str = "float32"
    expected: Callable[..., Any] | None = None
    tolerance: float = 0.0
    #: Of the session, while it is recorded and run.
    flags: tuple[tuple[str, Any], ...] = ()

    def arrays(self) -> list[np.ndarray]:
        """Return the inputs, the same ones whenever asked."""
        rng = np.random.default_rng(0)
        return [rng.standard_normal(shape).astype("float32") for shape in self.shapes]

    def record(self, arrays: Sequence[np.ndarray]) -> list[Any]:
        """Record the program on the current device."""
        with mo.flag_scope(**dict(self.flags)):
            results = self.body(*[mo.array(array).cast(self.dtype) for array in arrays])
            return list(results) if isinstance(results, (list, tuple)) else [results]

    def results(self) -> list[np.ndarray]:
        """Return what it computes on the current device."""
        mo.seed(0)
        with mo.flag_scope(**dict(self.flags)):
            results = self.record(self.arrays())
            mo.sync(results)
            wide = [r.cast("float32") if r.dtype in ("bfloat16", "float16") else r for r in results]
            return [np.array(result.numpy()) for result in wide]

    def compare(self, mine: Sequence[np.ndarray], theirs: Sequence[np.ndarray]) -> str:
        """Return how results differ, nothing if they agree."""
        limit = self.tolerance or TOLERANCES.get(self.dtype, 0.0)
        if len(mine) != len(theirs):
            return f"{len(mine)} and {len(theirs)} results"
        for place, (a, b) in enumerate(zip(mine, theirs, strict=True)):
            if a.shape != b.shape:
                return f"result {place} has shapes {a.shape} and {b.shape}"
            if not a.size:
                continue
            if a.dtype.kind not in "f":
                if (a != b).any():
                    return f"result {place} differs at {float((a != b).mean()):.2%} of the places"
                continue
            x, y = a.astype("float64"), b.astype("float64")
            odd = np.isfinite(x) != np.isfinite(y)
            if odd.any():
                return f"result {place} is finite at other places, {float(odd.mean()):.2%}"
            scale = np.abs(y[np.isfinite(y)]).max(initial=1e-6)
            there = np.isfinite(y)
            wrong = np.abs(x[there] - y[there]).max(initial=0.0) / scale
            if not wrong <= limit:
                return f"result {place} differs by {wrong:.1e} of the largest element"
        return ""


def _softmax(x: Any) -> Any:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def _layer_norm(x: Any) -> Any:
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)


def _our_layer_norm(x: Any) -> Any:
    centred = x - x.mean(-1, True)
    return centred / mo.sqrt((centred * centred).mean(-1, True) + 1e-5)


def _attention(q: Any, k: Any, v: Any) -> Any:
    return mo.softmax(q @ mo.transpose(k, (0, 2, 1)) * 0.125, -1) @ v


def _functions(x: Any) -> list[Any]:
    positive = mo.abs(x) + 0.1
    return [
        *(f(x) for f in (mo.exp, mo.erf, mo.tanh, mo.sin, mo.cos, mo.sigmoid, mo.expm1)),
        *(f(positive) for f in (mo.log, mo.log1p, mo.sqrt, mo.rsqrt)),
        mo.pow(positive, 1.7),
    ]


def _integers(x: Any, high: int) -> Any:
    return (mo.abs(x) * 1000.0).cast("int32") % high


def _scattered(x: Any, table: Any, scale: Any = None) -> Any:
    addends = x if scale is None else (x * scale[0]) * scale[1]
    return mo.vjp([mo.take(table, _integers(x[:, 0], 37), 0)], [table], [addends])


def _scattered_subnormals(x: Any, table: Any) -> Any:
    return _scattered(x, table, (1e-38, 0.01))


def _many(*xs: Any) -> Any:
    total = xs[0]
    for x in xs[1:]:
        total = total * 0.5 + x
    return total


def _grown(x: Any) -> list[Any]:
    return [(x[:rows] * 2.0 + 1.0).sum(1) for rows in (3, 5, 17, 64, 129, 255)]


ODD = (61, 129)

#: By their names; those first that others build on.
KINDS: dict[str, Kind] = {
    "elementwise, contiguous": Kind(
        lambda x, y: mo.maximum(x * y + 1.5, 0.25),
        [(64, 1024)] * 2,
        expected=lambda x, y: np.maximum(x * y + 1.5, 0.25),
    ),
    "elementwise, odd extents": Kind(lambda x: x * 3.0 - 1.0, [(997,)]),
    "elementwise, strided": Kind(
        lambda x: x[::2, 1::3] * 2.0, [ODD], expected=lambda x: x[::2, 1::3] * 2.0
    ),
    "elementwise, broadcast": Kind(
        lambda x, y: x + y, [(61, 1), (129,)], expected=lambda x, y: x + y
    ),
    "elementwise, one element": Kind(lambda x: x + 1.0, [(1,)]),
    "transpose": Kind(lambda x: mo.transpose(x, (1, 0)), [(257, 131)], expected=lambda x: x.T),
    "transpose of squares": Kind(
        lambda x: mo.transpose(x, (0, 2, 1)) + 1.0,
        [(3, 128, 64)],
        expected=lambda x: x.transpose(0, 2, 1) + 1.0,
    ),
    "reversed": Kind(lambda x: mo.flip(x, (0,)), [ODD], expected=lambda x: x[::-1]),
    "padded": Kind(
        lambda x: mo.pad(x, ((1, 2), (3, 1))),
        [ODD],
        expected=lambda x: np.pad(x, ((1, 2), (3, 1))),
    ),
    "concatenated": Kind(
        lambda x, y: mo.concat((x, y), 1),
        [ODD, (61, 7)],
        expected=lambda x, y: np.concatenate((x, y), 1),
    ),
    "rows, short": Kind(lambda x: x.sum(1), [(3001, 7)], expected=lambda x: x.sum(1)),
    "rows, long": Kind(lambda x: x.max(1), [(300, 3001)], expected=lambda x: x.max(1)),
    "rows of a cluster": Kind(
        lambda x: x.sum(1), [(50, 20_011)], expected=lambda x: x.sum(1), tolerance=1e-4
    ),
    "rows of a cluster, few": Kind(
        lambda x: (x * x).sum(1), [(4, 200_003)], expected=lambda x: (x * x).sum(1)
    ),
    "all elements": Kind(lambda x: (x * x).sum(), [(1_000_003,)], expected=lambda x: (x * x).sum()),
    "columns": Kind(lambda x: x.sum(0), [(2000, 129)], expected=lambda x: x.sum(0), tolerance=1e-4),
    "columns, split": Kind(
        lambda x: x.sum(0), [(66_001, 40)], expected=lambda x: x.sum(0), tolerance=1e-4
    ),
    "channels": Kind(
        lambda x: x.sum((0, 2, 3)),
        [(8, 5, 33, 65)],
        expected=lambda x: x.sum((0, 2, 3)),
        tolerance=1e-4,
    ),
    "places of the largest": Kind(
        lambda x: mo.argmax(x, 1), [(60, 1001)], expected=lambda x: x.argmax(1)
    ),
    "windows": Kind(lambda x: nn.max_pool2d(x, 3, 2, 1), [(2, 3, 33, 47)]),
    "windows, sums": Kind(lambda x: nn.avg_pool2d(x, 2), [(2, 3, 34, 46)]),
    "prefixes": Kind(
        lambda x: mo.cumsum(x, 0), [(10_007,)], expected=lambda x: x.cumsum(0), tolerance=1e-4
    ),
    "prefixes of rows": Kind(
        lambda x: mo.cumsum(x, 1), [ODD], expected=lambda x: x.cumsum(1), tolerance=1e-4
    ),
    "prefixes of columns": Kind(
        lambda x: mo.cumsum(x, 0), [ODD], expected=lambda x: x.cumsum(0), tolerance=1e-4
    ),
    "joined rows, registers": Kind(lambda x: mo.softmax(x, -1), [(301, 64)], expected=_softmax),
    "joined rows, shared memory": Kind(
        lambda x: mo.softmax(x, -1), [(65, 8000)], expected=_softmax
    ),
    "joined rows, clusters": Kind(
        lambda x: mo.softmax(x, -1), [(17, 100_003)], expected=_softmax, tolerance=1e-4
    ),
    "layer norm": Kind(_our_layer_norm, [(301, 768)], expected=_layer_norm, tolerance=1e-4),
    "layer norm, long": Kind(_our_layer_norm, [(33, 30_000)], expected=_layer_norm, tolerance=1e-4),
    "product": Kind(
        lambda x, y: x @ y, [(256, 128), (128, 192)], expected=lambda x, y: x @ y, tolerance=1e-5
    ),
    "product, odd extents": Kind(
        lambda x, y: x @ y, [(131, 77), (77, 93)], expected=lambda x, y: x @ y
    ),
    "product, left transposed": Kind(
        lambda x, y: x.T @ y, [(128, 256), (128, 192)], expected=lambda x, y: x.T @ y
    ),
    "product, right transposed": Kind(
        lambda x, y: x @ y.T, [(256, 128), (192, 128)], expected=lambda x, y: x @ y.T
    ),
    "product, both transposed": Kind(
        lambda x, y: x.T @ y.T, [(128, 256), (192, 128)], expected=lambda x, y: x.T @ y.T
    ),
    "product, batched": Kind(
        lambda x, y: x @ y, [(5, 65, 70), (5, 70, 33)], expected=lambda x, y: x @ y
    ),
    "product, long sums": Kind(
        lambda x, y: x @ y, [(32, 4096), (4096, 48)], expected=lambda x, y: x @ y, tolerance=1e-4
    ),
    "matrix by vector": Kind(
        lambda x, y: x @ y, [(300, 1000), (1000,)], expected=lambda x, y: x @ y, tolerance=1e-4
    ),
    "product with an epilogue": Kind(
        lambda x, y, b: mo.relu(x @ y + b),
        [(256, 128), (128, 192), (192,)],
        expected=lambda x, y, b: np.maximum(x @ y + b, 0),
    ),
    **{
        f"product of {dtype}": Kind(
            lambda x, y: x @ y,
            [(256, 128), (128, 192)],
            dtype=dtype,
            expected=lambda x, y: x @ y,
        )
        for dtype in ("float64", "float16", "bfloat16")
    },
    "chained products": Kind(_attention, [(4, 128, 64)] * 3, tolerance=1e-4),
    "chained products of bfloat16": Kind(_attention, [(4, 128, 64)] * 3, dtype="bfloat16"),
    "convolution": Kind(lambda x, w: nn.conv2d(x, w, padding=1), [(2, 16, 19, 23), (32, 16, 3, 3)]),
    "convolution of bfloat16": Kind(
        lambda x, w: nn.conv2d(x, w, padding=1), [(2, 16, 19, 23), (32, 16, 3, 3)], "bfloat16"
    ),
    "convolution by image": Kind(
        lambda x, w, d: mo.vjp([nn.conv2d(x, w, padding=1)], [x], [d]),
        [(2, 16, 19, 23), (32, 16, 3, 3), (2, 32, 19, 23)],
        tolerance=1e-4,
    ),
    "convolution by weights": Kind(
        lambda x, w, d: mo.vjp([nn.conv2d(x, w, padding=1)], [w], [d]),
        [(2, 16, 19, 23), (32, 16, 3, 3), (2, 32, 19, 23)],
        tolerance=1e-4,
    ),
    "depthwise convolution": Kind(
        lambda x, w: nn.conv2d(x, w, padding=1, groups=16), [(2, 16, 19, 23), (16, 1, 3, 3)]
    ),
    **{
        f"elementwise and rows of {dtype}": Kind(
            lambda x: [mo.exp(x) * 0.5, x.sum(1), mo.softmax(x, -1)], [ODD], dtype=dtype
        )
        for dtype in ("float64", "float16", "bfloat16")
    },
    "functions of float32": Kind(_functions, [(10_007,)], tolerance=2e-6),
    "functions of float64": Kind(_functions, [(10_007,)], dtype="float64"),
    "functions of float16": Kind(_functions, [(10_007,)], dtype="float16"),
    "functions of bfloat16": Kind(_functions, [(10_007,)], dtype="bfloat16"),
    "remainders": Kind(lambda x, y: [mo.fmod(x, y), mo.remainder(x, y)], [ODD] * 2, tolerance=1e-6),
    "integers of 64 bits": Kind(
        lambda x: [
            (x * 1e6).cast("int64") * 1_000_003 // 7,
            (x * 1e6).cast("int64").sum(1),
        ],
        [ODD],
    ),
    "integers of 8 bits": Kind(lambda x: (x * 20.0).cast("int8") * 3 + 1, [ODD]),
    "booleans": Kind(
        lambda x, y: [(x > y) & (x > 0.0), (x > 0.0).any(1), mo.where(x > y, x, y)], [ODD] * 2
    ),
    "gather": Kind(lambda x, t: mo.take(t, _integers(x, 37), 0), [(301,), (37, 65)]),
    "scatter of integers": Kind(lambda x: mo.bincount(_integers(x, 50), minlength=50), [(10_007,)]),
    "scatter in fixed point": Kind(_scattered, [(1001, 65), (37, 65)]),
    "scatter by float atomics": Kind(
        _scattered, [(1001, 65), (37, 65)], tolerance=1e-4, flags=(("float_atomics", True),)
    ),
    # Alike within the tolerance, as all of it is next to nothing; bits say who flushes.
    "scatter of subnormals by float atomics": Kind(
        _scattered_subnormals, [(1001, 65), (37, 65)], flags=(("float_atomics", True),)
    ),
    "random numbers": Kind(lambda x: [mo.rand(1001, 7) + x[0], mo.randn(999)], [(7,)]),
    "sorted": Kind(lambda x: mo.sort(x, 1), [ODD], expected=lambda x: np.sort(x, 1)),
    "growing extents": Kind(
        _grown,
        [(300, 37)],
        expected=lambda x: [(x[:n] * 2.0 + 1.0).sum(1) for n in (3, 5, 17, 64, 129, 255)],
    ),
    "many arguments": Kind(_many, [(1001,)] * 90),
    "not numbers and infinities": Kind(
        lambda x: [mo.log(x), 1.0 / (x - x), mo.exp(x * 1000.0), (x * 1e-38) * 0.01], [ODD]
    ),
}


def check(name: str, device: str, reference: str, folder: str) -> Record:
    """Compare a kind's results on two devices, and with NumPy's."""
    kind = KINDS[name]
    with mo.device(device):
        mine = kind.results()
    with mo.device(reference):
        theirs = kind.results()
    difference = kind.compare(mine, theirs)
    same_bits = [a.tobytes() for a in mine] == [b.tobytes() for b in theirs]
    record: Record = {"same_bits": same_bits}
    if not same_bits:
        record["bits"] = differences.describe_bits(mine, theirs)
    if difference:
        record["where"] = differences.describe(mine, theirs)
        differences.keep(folder, file_name(name), mine)
    if not difference and kind.expected:
        wide = kind.expected(*[array.astype("float64") for array in kind.arrays()])
        wide = wide if isinstance(wide, list) else [wide]
        difference = kind.compare(mine, [np.asarray(result) for result in wide])
        difference = difference and f"NumPy: {difference}"
    return record | {"difference": difference}
