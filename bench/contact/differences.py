# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Differences: where results are wrong, in the few words that a report has room for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .child import Record

#: Elements further apart than this part of the largest are told.
APART = 1e-4
#: Results of so many bytes are kept as they are.
KEPT_BYTES = 1 << 19


def wrong_places(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return where elements are not alike."""
    if a.dtype.kind != "f":
        return np.asarray(a != b)
    x, y = a.astype("float64"), b.astype("float64")
    there = np.isfinite(x) & np.isfinite(y)
    scale = np.abs(y[np.isfinite(y)]).max(initial=1e-6)
    with np.errstate(invalid="ignore"):
        apart = np.abs(x - y) > APART * scale
    return np.where(there, apart, ~((x == y) | (np.isnan(x) & np.isnan(y))))


def describe(mine: Sequence[np.ndarray], theirs: Sequence[np.ndarray]) -> list[Record]:
    """Return, of each result that is wrong, how many elements are, and the first and last."""
    found: list[Record] = []
    for place, (a, b) in enumerate(zip(mine, theirs, strict=False)):
        if a.shape != b.shape:
            found.append({"result": place, "shape": a.shape, "expected": b.shape})
            continue
        wrong = np.argwhere(wrong_places(a, b))
        if not len(wrong):
            continue
        told: Record = {"result": place, "shape": a.shape, "wrong": len(wrong)}
        for name, index in (("first", tuple(wrong[0])), ("last", tuple(wrong[-1]))):
            told[name] = [[int(k) for k in index], str(a[index]), str(b[index])]
        found.append(told)
    return found


def describe_bits(mine: Sequence[np.ndarray], theirs: Sequence[np.ndarray]) -> list[Record]:
    """Return, of each result with other bits, how many elements have, and two of them."""
    found: list[Record] = []
    for place, (a, b) in enumerate(zip(mine, theirs, strict=False)):
        if a.shape != b.shape or a.dtype != b.dtype:
            continue
        other = np.argwhere(bits_of(a) != bits_of(b))
        if len(other):
            told = [[str(a[tuple(k)]), str(b[tuple(k)])] for k in (other[0], other[-1])]
            found.append({"result": place, "of": a.size, "differ": len(other), "told": told})
    return found


def bits_of(array: np.ndarray) -> np.ndarray:
    """Return elements as unsigned integers."""
    return np.ascontiguousarray(array).view(f"u{array.itemsize}").reshape(array.shape)


def keep(folder: str, name: str, results: Sequence[np.ndarray]) -> None:
    """Keep results that are not too many."""
    if sum(result.nbytes for result in results) <= KEPT_BYTES:
        file = Path(folder, "culprits", name + ".npz")
        file.parent.mkdir(exist_ok=True)
        arrays: dict[str, Any] = {f"result{k}": result for k, result in enumerate(results)}
        np.savez_compressed(file, **arrays)
