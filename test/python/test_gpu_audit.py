# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the kernels of the bench's workloads take of a GPU, counted without one."""

import sys
from pathlib import Path

import metaops as mo
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

import gpu_audit
from ops.metaops_ops import MetaOps
from workloads import CONTRACTIONS, WORKLOADS

pytestmark = pytest.mark.gpu_code

TOOLS = gpu_audit.ROOT / "build" / "release" / "bin"

#: One of each kind: contractions of a kind differ in their extents.
KINDS = {workload.kind or name: name for name, workload in reversed(WORKLOADS.items())}
NAMES = [name for name in WORKLOADS if name in KINDS.values()]


@pytest.mark.skipif(
    not (TOOLS / "metaop-translate").exists() or not gpu_audit.toolkits(),
    reason="takes our tools and nvJitLink",
)
@pytest.mark.parametrize(
    ("chip", "dtype"),
    [("sm_90a", "float32"), ("sm_90a", "bfloat16"), ("sm_80", "float32")],
)
def test_nothing_is_spilled_and_kernels_are_as_few_as_on_a_processor(chip, dtype, compiled):
    rows = gpu_audit.audit(NAMES, dtype, chip, quick=True)
    assert {row.name: row.failure for row in rows if row.failure} == {}
    functions = [function for row in rows for function in row.functions]
    assert len(functions) > 200
    assert {
        (row.name, function.name)
        for row in rows
        for function in row.functions
        if function.local_bytes or function.spilled_bytes
    } == set()
    assert all(function.blocks >= 1 and 0 < function.registers <= 255 for function in functions)
    assert {row.name for row in rows if row.kernels > row.kernels_on_cpu} == set()


# On the emulator

#: Rows that move more than contiguous accesses of whole sectors would, and why; of the others that
#: are small, all move the least.
ODD_ROWS = {
    "slice": "rows begin between sectors",
    "slice both": "rows begin between sectors",
    "slice backward": "rows begin between sectors",
    "pad": "rows begin between sectors",
    "pad both": "rows begin between sectors",
    "pad backward": "rows begin between sectors",
    "depthwise convolution": "windows begin between sectors",
    "depthwise convolution backward": "windows begin between sectors",
    "depthwise convolution both": "windows begin between sectors",
}
APART = {
    "slice with steps": "every other element is read",
    "embedding backward": "rows are added to by their indices",
    "max pooling backward": "windows two elements apart",
    "max pooling both": "windows two elements apart",
}
SMALL = [
    name
    for name, workload in WORKLOADS.items()
    if "small" in workload.shapes and workload.group not in CONTRACTIONS
]


def counts(name, size):
    """Return what each kernel of a workload moves, on the emulator."""
    workload = WORKLOADS[name]
    with mo.device("emulator:sm_90a"):
        tensors = [mo.array(array) for array in workload.arrays(size)]
        record = MetaOps().recorder(workload, tensors)
        with mo.profile_scope(timeline=False) as report:
            mo.sync(record())
            mo.sync_all()
    return [kernel.counts for kernel in report.kernels if kernel.counts]


def test_small_ones_move_whole_sectors_without_bank_conflicts(compiled):
    moved, conflicts = {}, set()
    for name in SMALL:
        kernels = counts(name, "small")
        ratios = [kernel.in_global.moved / kernel.in_global.least for kernel in kernels]
        moved[name] = max(ratios, default=1.0)
        if any(kernel.bank_conflicts for kernel in kernels):
            conflicts.add(name)
    assert len(moved) > 80
    assert {name for name, ratio in moved.items() if ratio > 1.05} == {*ODD_ROWS, *APART}
    assert {name for name, ratio in moved.items() if ratio > 1.25} <= set(APART)
    assert conflicts == set()


def test_odd_rows_move_few_sectors_more():
    """Rows of 1001 and 257 elements, none of which but the first is aligned."""
    for shape in ((33, 1001), (65, 257)):
        with mo.device("emulator:sm_90a"):
            x = mo.random(shape)
            x.sync()
            with mo.profile_scope(timeline=False) as report:
                mo.sync([mo.exp(x), mo.softmax(x, -1), x.sum(1), x.sum(0), x.T + 0.0])
        kernels = [kernel.counts for kernel in report.kernels if kernel.counts]
        assert kernels
        for kernel in kernels:
            assert kernel.in_global.moved <= 1.25 * kernel.in_global.least
