# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Results that are larger than the caches and are stored past them."""

from __future__ import annotations

import metaops as mo
import numpy as np
import pytest
from metaops.tools.explaining import Explanation
from util import AVX512, close, same, same_bits

pytestmark = pytest.mark.processor

# Results of at least so many bytes are stored past the caches.
LIMIT = 32 << 20


def make(shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape, "float32")


def streams(explanation: Explanation) -> list[bool]:
    """Return which results of the kernels are stored so."""
    return [
        access.is_streamed
        for kernel in explanation.kernels
        for stage in kernel.stages
        for access in stage.accesses
        if access.is_write
    ]


# Kernels of one family: with and without a rest that is masked.
@pytest.mark.parametrize("more", [0, 1, 16, 4095, 4112])
def test_one_loop(more: int) -> None:
    data = make((LIMIT // 4 + more,))
    y = mo.array(data) * 2.0 + 1.0
    assert streams(mo.explain(y)) == [True]
    close(y, data * 2 + 1)


def test_smaller_results_are_not() -> None:
    data = make((LIMIT // 4 - 1,))
    y = mo.array(data) * 2.0 + 1.0
    assert streams(mo.explain(y)) == [False]
    close(y, data * 2 + 1)


@pytest.mark.parametrize(("shape", "expected"), [((2912, 3104), True), ((2911, 3105), False)])
def test_rows(shape: tuple[int, int], expected: bool) -> None:
    data = make(shape)
    x = mo.array(data)
    for y, want in [
        (x.transpose(1, 0), data.T),
        (mo.pad(x, ((1, 2), (7, 9))), np.pad(data, ((1, 2), (7, 9)))),
    ]:
        whole_lines = want.shape[1] % 16 == 0
        # A tile of a transpose writes as much of a row as a vector holds: a line, or half.
        transposes = want.shape == data.T.shape
        assert streams(mo.explain(y)) == [whole_lines and (AVX512 or not transposes)]
        same(y, want)
    rows = mo.softmax(x, 1)
    assert streams(mo.explain(rows))[-1] == expected
    exps = np.exp(data - data.max(1, keepdims=True))
    close(rows, exps / exps.sum(1, keepdims=True), rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float64", "float16", "int8", "bool"])
def test_types(dtype: str) -> None:
    size = LIMIT // np.dtype(dtype).itemsize + 5
    data = np.random.default_rng(1).integers(-5, 5, size).astype(dtype)
    x = mo.array(data)
    y = mo.logical_not(x) if dtype == "bool" else x + x
    assert streams(mo.explain(y)) == [True]
    same(y, ~data if dtype == "bool" else data + data)


def test_with_foreign_memory_at_any_address() -> None:
    memory = np.zeros(LIMIT // 4 + 64, "float32")
    for start in (0, 1, 4, 13):
        data = memory[start : start + LIMIT // 4]
        data[:] = make(data.shape, start)
        want = data * 3 - 1
        x = mo.asarray(data)
        y = x * 3.0 - 1.0
        assert streams(mo.explain(y)) == [True]
        close(y, want)
        # The memory is the array's: what replaces it is elsewhere.
        before = data.copy()
        x.update(x * 3.0 - 1.0)
        close(x, want)
        same(data, before)


def test_updates_in_place() -> None:
    data = make((LIMIT // 4,))
    x = mo.array(data)
    for _ in range(3):
        x.update(x + 1.0)
        x.sync()
    close(x, data + 1 + 1 + 1)


def test_a_file_decides(tmp_path) -> None:
    data = make((LIMIT // 4 + 3,))
    x = mo.array(data)
    path = tmp_path / "schedules.txt"
    mo.explain(x - 2.0).save_schedules(path)
    text = path.read_text()
    assert ", stream = [0]" in text
    path.write_text(text.replace(", stream = [0]", ""))
    with mo.flag_scope(schedule_file=str(path)):
        y = x - 2.0
        assert streams(mo.explain(y)) == [False]
        close(y, data - 2)


def test_threads_see_what_others_stored() -> None:
    data = make((2048, 4096))
    x = mo.array(data)
    # Every part is read by whichever thread comes to it.
    y, sums = same_bits(lambda: (y := mo.stop_fuse(x * 1.5), y.transpose(1, 0).sum(1)))
    close(sums, (data * 1.5).sum(0), rtol=1e-4, atol=1e-3)
    same(y, data * np.float32(1.5))
