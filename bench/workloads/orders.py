# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What depends on the order of elements: prefixes, sorts, selections and searches."""

from __future__ import annotations

from typing import Any

from .base import Distinct, Integers, Shape, Workload

VECTOR: dict[str, list[Shape]] = {"million": [(1_000_000,)], "odd": [(1237,)]}
ROWS: dict[str, list[Shape]] = {"million": [(1000, 1000)], "odd": [(13, 37)]}
#: Each value a thousand times, and once or not at all.
FEW = {"million": [Integers((1_000_000,), 1000)], "odd": [Integers((1237,), 7)]}
MANY = {"million": [Integers((1_000_000,), 1_000_000)], "odd": [Integers((1237,), 1237)]}
SEARCH = {"million": [(1_000_000,), (1_000_000,)], "odd": [(137,), (1237,)]}
IMAGES: dict[str, list[Shape]] = {"million": [(4, 16, 64, 64)], "odd": [(2, 3, 5, 7)]}


def _distinct(shapes: dict[str, list[Shape]]) -> dict[str, list[Distinct]]:
    return {size: [Distinct(shape) for shape in inputs] for size, inputs in shapes.items()}


def _row(name: str, body: Any, shapes: Any, **more: Any) -> Workload:
    return Workload(name, "orders", body, shapes, **more)


WORKLOADS = [
    _row("cumsum", lambda ops, x: ops.cumsum(x, 0), VECTOR),
    _row("cumsum of rows", lambda ops, x: ops.cumsum(x, 1), ROWS),
    _row("cumsum of columns", lambda ops, x: ops.cumsum(x, 0), ROWS),
    _row("sort", lambda ops, x: ops.sort(x, 0), VECTOR),
    _row("sort of rows", lambda ops, x: ops.sort(x, 1), ROWS),
    _row("sort of columns", lambda ops, x: ops.sort(x, 0), ROWS),
    _row("argsort", lambda ops, x: ops.argsort(x, 0), _distinct(VECTOR)),
    _row("argsort of rows", lambda ops, x: ops.argsort(x, 1), _distinct(ROWS)),
    _row("topk 100", lambda ops, x: ops.topk(x, 100), VECTOR),
    _row("topk 10 of rows", lambda ops, x: ops.topk(x, 10), ROWS),
    _row("median", lambda ops, x: ops.median(x), VECTOR),
    _row("unique of few", lambda ops, x: ops.unique(x), FEW),
    _row("unique of many", lambda ops, x: ops.unique(x), MANY),
    _row("unique with inverse", lambda ops, x: ops.unique_inverse(x), MANY),
    _row("nonzero", lambda ops, x: ops.nonzero(x > 0), VECTOR),
    _row("compress", lambda ops, x: ops.compress(x, x > 0), VECTOR),
    _row("searchsorted", lambda ops, x, y: ops.searchsorted(ops.sort(x, 0), y), SEARCH),
    _row("interpolate", lambda ops, x: ops.interpolate(x, 2), IMAGES),
]

NOTES: dict[str, str] = {}
