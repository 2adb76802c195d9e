# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The measured workloads: right on odd extents, and the same on every run."""

import sys
from pathlib import Path

import metaops as mo
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from ops.base import MissingError
from ops.metaops_ops import MetaOps
from ops.numpy_ops import NumPy
from workloads import NOTES, WORKLOADS
from workloads.base import SIZES, Untied, Workload


def results(library, workload, size="odd"):
    """Return what a workload returns on extents of a size."""
    mo.seed(7)
    tensors = library.prepare(workload, workload.arrays(size))()
    return [np.array(library.numpy(tensor)) for tensor in tensors]


@pytest.fixture(params=list(WORKLOADS))
def workload(request):
    return WORKLOADS[request.param]


def test_equals_the_interpreter(workload, compiled):
    actual = results(MetaOps(), workload)
    with mo.flag_scope(backend="interpreter"):
        expected = results(MetaOps(), workload)
    for a, b in zip(actual, expected, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


# NumPy has no derivatives, and other random numbers, and lacks the operators of some.
FORWARD = [name for name, w in WORKLOADS.items() if not w.gradients and not w.random]
LACKED = [
    "erf",
    "chain of 4 with exp, tanh, erf",
    "chain of 16 with exp, tanh, erf",
    "batch norm",
    "max pooling",
    "average pooling",
    "GELU",
    "depthwise convolution",
]


@pytest.mark.parametrize("name", LACKED)
def test_what_numpy_lacks(name):
    with pytest.raises(MissingError):
        results(NumPy(), WORKLOADS[name])


@pytest.mark.parametrize("name", [name for name in FORWARD if name not in LACKED])
def test_equals_numpy(name):
    workload = WORKLOADS[name]
    expected = results(NumPy(), workload)
    actual = results(MetaOps(), workload)
    for a, b in zip(actual, expected, strict=True):
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


def test_small_ones_have_the_same_bits_for_any_number_of_threads(compiled):
    before = mo.get_num_threads()
    shared = []
    try:
        for name, workload in WORKLOADS.items():
            bits = set()
            for count in (1, 2, 3):
                mo.set_num_threads(count)
                found = results(MetaOps(), workload, "small")
                bits.add(b"".join(result.tobytes() for result in found))
            assert len(bits) == 1, name
            if any(kernel.threads > 1 for kernel in mo.last_program().explain().kernels):
                shared.append(name)
    finally:
        mo.set_num_threads(before)
    # The others are too short to be worth a second thread.
    assert len(shared) > 40, shared


def test_every_workload_has_every_size(workload):
    assert set(workload.shapes) == set(SIZES)
    counts = {len(entries) for size, entries in workload.shapes.items() if size == "odd"}
    if workload.state is None:
        counts = {len(entries) for entries in workload.shapes.values()}
    assert len(counts) == 1


def test_a_small_one_fits_into_a_cache_and_a_large_one_does_not(workload):
    def footprint(size):
        return sum(
            4 * int(np.prod(getattr(entry, "shape", entry))) for entry in workload.shapes[size]
        )

    assert footprint("small") <= 1 << 20
    assert footprint("large") >= 1 << 26


def test_what_has_a_gradient_has_a_backward_pass_and_both():
    for name, workload in WORKLOADS.items():
        if workload.mode == "both":
            forward = name.removesuffix(" both")
            assert WORKLOADS[forward].mode == "forward"
            assert WORKLOADS[f"{forward} backward"].mode == "backward"


@pytest.mark.parametrize("shape", [(13, 17), (2, 3, 7, 11)])
def test_untied_inputs_differ_within_windows(shape):
    workload = Workload("untied", "", lambda ops, x: x, {"odd": [Untied(shape)]})
    (x,) = workload.arrays("odd")
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(-2, -1))
    ordered = np.sort(windows.reshape(-1, 9), axis=1)
    assert (np.diff(ordered) > 0).all()
    assert abs(x.mean()) < 0.3
    assert 0.7 < x.std() < 1.3


def test_a_linear_function_needs_no_inputs_backward():
    workload = WORKLOADS["average pooling backward"]
    x, cotangent = workload.arrays("odd")
    assert workload.bytes([x, cotangent], [x]) == cotangent.nbytes + x.nbytes


def test_notes_belong_to_workloads():
    assert set(NOTES) <= set(WORKLOADS)
    assert all(NOTES.values())
