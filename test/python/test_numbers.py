# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Extents, offsets and scalars are numbers that kernels are called with: few
kernels serve many lengths, and each length has the right result."""

import metaops as mo
import numpy as np
import pytest
from metaops import _core
from util import AVX512, close, floats, on_processor

COUNT = 60


@pytest.fixture
def lengths(rng):
    """Sixty lengths, one and two among them, in an order of their own."""
    some = rng.choice(np.arange(3, 200), COUNT - 2, replace=False)
    return [int(n) for n in rng.permutation([1, 2, *some])]


def compiled():
    return mo.stats()["kernels_compiled"]


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def correlate(x, w):
    """A convolution of NCHW images with padding that keeps their size."""
    pad = w.shape[2] // 2
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], axis=(2, 3))
    return np.einsum("nihwkl,oikl->nohw", windows, w)


def run_elementwise(rng, n):
    x = floats(rng, (n, 5))
    close((mo.exp(mo.array(x)) * 2.5 + 1).numpy(), np.exp(x) * 2.5 + 1, rtol=1e-5)


def run_sum_rows(rng, n):
    x = floats(rng, (n, 37))
    close(mo.array(x).sum(1).numpy(), x.sum(1, dtype="f8"), rtol=1e-4, atol=1e-4)


def run_sum_columns(rng, n):
    x = floats(rng, (n, 37))
    close(mo.array(x).sum(0).numpy(), x.sum(0, dtype="f8"), rtol=1e-4, atol=1e-4)


def run_softmax(rng, n):
    x = floats(rng, (n, 40))
    close(mo.softmax(mo.array(x), 1).numpy(), softmax(x, 1), rtol=1e-4, atol=1e-6)


def run_matmul(rng, n):
    x, w = floats(rng, (n, 24)), floats(rng, (24, 36))
    close((mo.array(x) @ mo.array(w)).numpy(), x @ w, rtol=1e-4, atol=1e-4)


def run_transpose(rng, n):
    x = floats(rng, (n, 12))
    np.testing.assert_array_equal((mo.array(x).transpose(1, 0) + 0.0).numpy(), x.T)


def run_convolution(rng, n):
    x, w = floats(rng, (n, 2, 6, 5)), floats(rng, (4, 2, 3, 3))
    y = mo.nn.conv2d(mo.array(x), mo.array(w), padding=1)
    close(y.numpy(), correlate(x, w), rtol=1e-4, atol=1e-4)


# How many kernels the sixty lengths take, a few for each group of fusion: of
# rows, unrolled whole up to eight, by four, and by eight, or in tiles of a few
# sizes; of vectors, one for each width. Of AVX2's smaller tiles there are more sizes.
#
# On a GPU, a length that one block does has a block of as many warps, and rows of
# several that one has are its threads: so have 17 as the rows of a transpose. Columns
# are added up in steps of five to eight rows times a power of two, of which the lengths
# take thirteen, each with a special and a general form.
@pytest.mark.parametrize(
    ("run", "most", "most_on_gpu"),
    [
        (run_elementwise, 6, 12),
        (run_sum_rows, 8, 3),
        (run_sum_columns, 8, 2 * 13),
        (run_softmax, 24, 5),
        (run_matmul, 14 if AVX512 else 20, 14),
        (run_transpose, 9, 17 + 2),
        (run_convolution, 8 if AVX512 else 12, 4),
    ],
)
def test_lengths_share_kernels(rng, lengths, run, most, most_on_gpu):
    before = compiled()
    for n in lengths:
        run(rng, n)
    assert compiled() - before <= (most if on_processor(mo.zeros(())) else most_on_gpu)


def test_offsets_of_a_window_share_a_kernel(rng):
    x = floats(rng, 300)
    var, before = mo.array(x), compiled()
    for i in rng.permutation(250)[:COUNT].tolist():
        np.testing.assert_array_equal((var[i : i + 8] * 2).numpy(), x[i : i + 8] * 2)
    assert compiled() - before <= 2


def test_offsets_of_a_rest_share_kernels(rng):
    x = floats(rng, 300)
    var, before = mo.array(x), compiled()
    for i in rng.permutation(250)[:COUNT].tolist():
        np.testing.assert_array_equal((var[i:] * 2).numpy(), x[i:] * 2)
    # Of a GPU's blocks, there are those of one warp, too.
    assert compiled() - before <= (3 if on_processor(var) else 5)


def test_scalars_share_a_kernel(rng):
    x = floats(rng, 100)
    var, before = mo.array(x), compiled()
    for number in rng.uniform(-5, 5, COUNT).tolist():
        np.testing.assert_array_equal((var * number).numpy(), x * np.float32(number))
    assert compiled() - before <= 1


def test_training_with_batches_of_many_lengths(rng, lengths):
    class Net(mo.Module):
        def __init__(self):
            self.first = mo.nn.Linear(12, 20)
            self.second = mo.nn.Linear(20, 4)

        def execute(self, x):
            return self.second(mo.relu(self.first(x)))

    net = Net()
    optimizer = mo.optim.Adam(net.parameters(), 0.01)
    losses, counts = [], []
    target = floats(rng, (12, 4))
    for n in lengths:
        x = floats(rng, (n, 12))
        loss = mo.nn.cross_entropy_loss(net(mo.array(x)), mo.array((x @ target).argmax(1)))
        optimizer.step(loss)
        losses.append(loss.item())
        counts.append(compiled())
    assert np.isfinite(losses).all()
    assert np.mean(losses[-10:]) < np.mean(losses[:10])
    # The last third needs next to nothing new; on a GPU, lengths that one block does
    # have blocks of their own, as above.
    most = 12 if on_processor(loss) else 15
    assert counts[-1] - counts[COUNT * 2 // 3] <= most


@pytest.mark.processor
def test_programs_of_lengths_that_are_forgotten(rng):
    """Programs of shared kernels are made again, others stay."""

    def count(*lengths):
        before = mo.stats()["programs_compiled"]
        for n in lengths:
            run_matmul(rng, n)
        return mo.stats()["programs_compiled"] - before

    _core.forget_lengths()
    assert count(40, 41, 40, 41) == 2
    _core.forget_lengths()
    assert count(40) == 0
    assert count(41) == 1
