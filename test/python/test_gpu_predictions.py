# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Predictions for GPUs: what they count of schedules, and how near they come to hardware.

What a kernel does is counted by the emulator, which runs it. It has the code before LLVM and
an assembler make less of its addresses and loops, and no instruction less than it needs.
"""

import sys
from pathlib import Path

import metaops as mo
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

import gpu_kept

pytestmark = pytest.mark.gpu_code

EMULATOR = "emulator:sm_90a"
#: Classes that no assembler leaves out.
NEEDED = ("float", "function", "conversion", "global", "shared", "exchange", "barrier")


def matmul(a, b):
    return a @ b


def operands(shapes, dtype):
    rng = np.random.default_rng(7)
    values = [mo.asarray(rng.standard_normal(shape).astype("float32")) for shape in shapes]
    values = [value.astype(dtype) for value in values]
    mo.sync(values)
    return values


def both(function, shapes, dtype="float32"):
    """Return what the prediction counts of kernels, and what the emulator does."""
    with mo.device(EMULATOR):
        values = operands(shapes, dtype)
        explanation = mo.explain(function(*values))
        with mo.profile_scope(timeline=False) as report:
            mo.sync(function(*values))
    grids = [kernel.grid for kernel in explanation.kernels if kernel.grid]
    counts = [kernel.counts for kernel in report.kernels if kernel.counts]
    assert len(grids) == len(counts) > 0
    return grids, counts


def check(grids, counts, least=1.0, most=1.2):
    """Compare both: `least` times what is needed, `most` times all that is counted."""
    passes = sum(count.in_shared.moved for count in counts)
    assert sum(grid.shared_passes for grid in grids) == pytest.approx(passes, rel=0.01)
    slots = sum(grid.warp_instructions for grid in grids)
    needed = sum(count.instructions[kind] for count in counts for kind in NEEDED) / 32
    everything = sum(sum(count.instructions.values()) for count in counts) / 32
    assert least * needed <= slots <= most * everything
    return slots / needed


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64"])
@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (matmul, [(128, 128), (128, 128)]),
        (matmul, [(64, 512), (512, 64)]),
        (lambda a, b: a.T @ b, [(128, 192), (128, 64)]),
        (lambda a, b: a @ b.T, [(128, 192), (64, 192)]),
        (lambda a, b: a.T @ b.T, [(192, 128), (64, 192)]),
        (matmul, [(6, 64, 64), (6, 64, 64)]),
        (lambda a, b: mo.relu(a @ b) + 1, [(128, 128), (128, 128)]),
    ],
    ids=["square", "long", "A^T B", "A B^T", "A^T B^T", "batched", "epilogue"],
)
def test_products_are_counted_as_the_emulator_counts_them(function, shapes, dtype):
    # Beside what is needed there are addresses and loops: a fourth to a half.
    assert 1.2 <= check(*both(function, shapes, dtype)) <= 1.5


@pytest.mark.parametrize(
    "shapes",
    [
        [(100, 50), (50, 72)],
        [(257, 129), (129, 65)],
        [(256, 64), (64, 8)],
        [(16, 256), (256, 128)],
        [(7, 33), (33, 5)],
    ],
    ids=lambda shapes: "x".join(map(str, (*shapes[0], shapes[1][1]))),
)
def test_products_of_odd_extents_are(shapes):
    check(*both(matmul, shapes))


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (lambda a: mo.exp(a), (512, 512)),
        (lambda a: mo.tanh(a), (300, 200)),
        (lambda a: a.T + 0.0, (512, 320)),
        (lambda a: a.sum(1), (300, 1000)),
        (lambda a: a.sum(0), (1000, 300)),
        (lambda a: mo.softmax(a, 1), (300, 1000)),
    ],
    ids=["exp", "tanh", "transpose", "rows", "columns", "softmax"],
)
def test_other_kernels_are(function, shape):
    check(*both(function, [shape]))


def test_convolutions_are():
    for stride in (1, 2):
        shapes = [(2, 16, 14, 14), (32, 16, 3, 3)]
        check(*both(lambda x, w, s=stride: mo.nn.conv2d(x, w, stride=s, padding=1), shapes))


@pytest.fixture
def schedules(tmp_path):
    """Return a function that has products do as a schedule says."""

    def take(change, explanation=None):
        if explanation is None:
            a, b = operands([(128, 128), (128, 128)], "float32")
            explanation = mo.explain(a @ b, target="cuda:sm_90a")
        path = tmp_path / "schedules.txt"
        explanation.save_schedules(path)
        text = path.read_text()
        assert change(text) != text
        path.write_text(change(text))
        mo.flags.schedule_file = str(path)

    yield take
    mo.flags.schedule_file = ""


@pytest.mark.parametrize(("rows", "columns"), [(8, 4), (2, 8), (4, 2)])
def test_products_of_other_tiles_are(schedules, rows, columns):
    schedules(lambda text: text.replace("0: 4, 2: 4", f"0: {rows}, 2: {columns}"))
    grids, counts = both(matmul, [(128, 128), (128, 128)])
    check(grids, counts)
    # Of a tile, as many numbers are read as it has rows and columns; few are stored before.
    (grid,) = grids
    passes = grid.shared_passes * 32 / 128**3
    reads = (rows + columns) / (rows * columns)
    assert reads <= passes <= 1.1 * reads


def test_conflicts_of_banks_are_passes(schedules):
    shapes = [(128, 128), (128, 128)]
    (padded,), _ = both(lambda a, b: a.T @ b.T, shapes)
    with mo.device(EMULATOR):
        a, b = operands(shapes, "float32")
        explanation = mo.explain(a.T @ b.T)
    schedules(lambda text: text.replace("0: 1, 1: 1", "0: 0, 1: 0"), explanation)
    (straight,), counts = both(lambda a, b: a.T @ b.T, shapes)
    check([straight], counts)
    assert straight.shared_passes > 1.2 * padded.shared_passes


def test_a_product_has_half_of_its_slots_for_arithmetic():
    a, b = (mo.asarray(np.zeros((1024, 1024), "float32")) for _ in range(2))
    (kernel,) = mo.explain(a @ b, target="cuda:sm_90a").kernels
    steps = 1024**3 / 16 / 32
    # As the assembler has it: 16 multiplications, 8 reads, and 7 others.
    assert 31 <= kernel.grid.warp_instructions / steps <= 35
    assert 8 <= kernel.grid.shared_passes / steps <= 8.5
    peak = 2 * 1024**3 / (132 * 128 * 2 * 1.98e9)
    assert kernel.grid.predicted_seconds["H100"] > 2 * peak


def test_what_takes_the_time_is_told():
    def bound(function, *shapes, dtype="float32"):
        values = [mo.zeros(shape, dtype=dtype) for shape in shapes]
        mo.sync(values)
        (kernel,) = mo.explain(function(*values), target="cuda:sm_90a").kernels
        return kernel.grid.bounds["H100"]

    assert bound(matmul, (2048, 2048), (2048, 2048)) == "shared memory"
    assert bound(matmul, (64, 4096), (4096, 64)) == "waiting"
    assert bound(lambda x: x + 1, (1 << 26,)) == "memory"
    assert bound(lambda x: x + 1, (1 << 22,)) == "second cache"


#: Of each kind, some that were timed in runs that are kept.
TIMED = {
    **dict.fromkeys(["product 64", "product 512", "product 2048", "product 64x4096x64"], 1.5),
    "convolution 1x1 256>1024 at 14, batch 16": 1.5,
    "convolution 3x3 512>512 at 7, batch 1": 1.5,
    "convolution 3x3 128>128 at 28, batch 16 by image": 1.7,
    "convolution 3x3 64>64 at 56, batch 16 by weights": 1.5,
    "depthwise 3x3 144 at 56, batch 16": 1.5,
    "depthwise 3x3 960 at 7, batch 16 by weights": 1.7,
}


@pytest.mark.parametrize("name", TIMED)
def test_predictions_are_near_to_what_was_measured(name):
    measured = {
        line["workload"]: line["us"]
        for line in gpu_kept.read(gpu_kept.KEPT / "2026-11-28-h100" / gpu_kept.RATES)
    }
    predicted = float(gpu_kept.predict(name, "own")["predicted_us"])
    assert 1 / TIMED[name] <= measured[name] / predicted <= TIMED[name]
