# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What several tests need: comparisons, finite differences, shapes."""

from __future__ import annotations

import gc
import itertools
import pathlib
from collections.abc import Callable, Sequence
from typing import Any

import metaops as mo
import numpy as np

# Flags of the processor, which tell if kernels are for AVX-512: its tiles of registers are larger
# than those of AVX2, so other operands are packed, and the kernels of a program are not the same. A
# root filesystem may have no /proc.
_FLAGS = pathlib.Path("/proc/cpuinfo")
AVX512 = _FLAGS.exists() and "avx512f" in _FLAGS.read_text()

# Shapes that broadcast nothing, with 0 and 1 among the extents.
SHAPES = [(), (0,), (1,), (7,), (3, 1, 5), (2, 0, 3), (2, 3, 17)]


def close(actual, expected, rtol=2e-6, atol=1e-6):
    """Compare a Var with what NumPy computed: shape, then values, NaN equal."""
    actual = actual.numpy() if isinstance(actual, mo.Var) else np.asarray(actual)
    expected = np.asarray(expected)
    assert actual.shape == expected.shape
    np.testing.assert_allclose(actual, expected, rtol=rtol, atol=atol)


def same(actual, expected):
    """Compare a Var with an array: shape, dtype and every value exactly."""
    actual = actual.numpy() if isinstance(actual, mo.Var) else np.asarray(actual)
    expected = np.asarray(expected)
    assert actual.shape == expected.shape
    assert actual.dtype == expected.dtype
    np.testing.assert_array_equal(actual, expected)


def bytes_in_use() -> int:
    """Return the session's memory, less what cycles of earlier tests hold until collected."""
    gc.collect()
    return mo.stats()["bytes_in_use"]


def on_processor(tensor: mo.Var) -> bool:
    """Return whether a Var is computed by processors, whose threads are counted."""
    return str(tensor.device).startswith("cpu")


def same_bits(compute: Callable[[], mo.Var | Sequence[mo.Var]]) -> Any:
    """Return what `compute` records, computed with 1, 2 and 3 threads to the same bits.

    An array for a Var, a list for several. Fails if no kernel has work for several
    threads of a processor: then nothing would be tested.
    """
    before = mo.get_num_threads()
    results = []
    try:
        for threads in (1, 2, 3):
            mo.set_num_threads(threads)
            recorded = compute()
            tensors = [recorded] if isinstance(recorded, mo.Var) else list(recorded)
            if mo.flags.backend == "compiled" and on_processor(tensors[0]):
                shares = [kernel.threads for kernel in mo.explain(tensors).kernels]
                assert max(shares) > 1 if threads > 1 else max(shares) == 1, shares
            mo.sync(tensors)
            results.append([tensor.numpy() for tensor in tensors])
    finally:
        mo.set_num_threads(before)
    for result in results[1:]:
        assert [a.tobytes() for a in result] == [a.tobytes() for a in results[0]]
    return results[0][0] if isinstance(recorded, mo.Var) else results[0]


def floats(rng, shape, dtype="float32", low=-2.0, high=2.0):
    """Return uniform numbers."""
    return np.asarray(rng.uniform(low, high, shape)).astype(dtype)


def finite_differences(f, arrays, eps):
    """Return the derivatives of a number by each element of float64 arrays."""
    result = []
    for array in arrays:
        derivative = np.zeros_like(array)
        for place in np.ndindex(array.shape):
            original = array[place]
            array[place] = original + eps
            above = f(arrays)
            array[place] = original - eps
            below = f(arrays)
            array[place] = original
            derivative[place] = (above - below) / (2 * eps)
        result.append(derivative)
    return result


def check_gradient(f, *arrays, order=2, eps=1e-5, rtol=1e-6, atol=1e-7):
    """Compare gradients of a function of Vars with finite differences.

    The loss of order 0 is a weighted sum of the function's result, that of order
    k + 1 a weighted sum of the gradients of the loss of order k. The gradient of
    each, up to `order` of them, is compared with its finite differences.
    """
    rng = np.random.default_rng(99)
    arrays = [np.array(array, dtype="float64") for array in arrays]
    weights = {}

    def weighted(k, tensors):
        total = mo.array(0.0, "float64")
        for number, tensor in enumerate(tensors):
            key = (k, number)
            if key not in weights:
                weights[key] = rng.uniform(0.5, 1.5, tensor.shape)
            total = total + (tensor * mo.array(weights[key], "float64")).sum()
        return total

    def loss(k, inputs):
        if k == 0:
            return weighted(0, [f(*inputs)])
        return weighted(k, mo.grad(loss(k - 1, inputs), inputs, allow_unused=True))

    def value(k, numbers):
        return loss(k, [mo.array(number.copy()) for number in numbers]).item()

    for k in range(order):
        inputs = [mo.array(array.copy()) for array in arrays]
        gradients = mo.grad(loss(k, inputs), inputs, allow_unused=True)
        expected = finite_differences(lambda numbers, k=k: value(k, numbers), arrays, eps)
        for gradient, difference, array in zip(gradients, expected, arrays, strict=True):
            assert gradient.shape == array.shape
            assert gradient.dtype == "float64"
            # What is subtracted has rounding errors in proportion to its size.
            scale = 1.0 + np.abs(difference).max(initial=0.0)
            np.testing.assert_allclose(
                gradient.numpy(),
                difference,
                rtol=rtol,
                atol=atol * scale * 10**k,
                err_msg=f"derivative {k + 1}",
            )
        # Forward mode gives the gradients' sum with any direction.
        directions = [rng.uniform(-1, 1, array.shape) for array in arrays]
        (moved,) = mo.jvp([loss(k, inputs)], inputs, [mo.array(d) for d in directions])
        sums = [(g.numpy() * d).sum() for g, d in zip(gradients, directions, strict=True)]
        size = 1.0 + sum(np.abs(g.numpy()).sum() for g in gradients)
        np.testing.assert_allclose(moved.item(), sum(sums), rtol=1e-9, atol=1e-11 * size)


def conv2d_reference(x, w, bias=None, stride=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1):
    """Cross-correlate in float64, one output element at a time."""
    N, _, H, W = x.shape
    K, Cg, h, wd = w.shape
    padded = np.pad(x.astype("float64"), ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2))
    Ho = (H + 2 * padding[0] - dilation[0] * (h - 1) - 1) // stride[0] + 1
    Wo = (W + 2 * padding[1] - dilation[1] * (wd - 1) - 1) // stride[1] + 1
    y = np.zeros((N, K, Ho, Wo))
    for k, i, j in itertools.product(range(K), range(Ho), range(Wo)):
        first = k // (K // groups) * Cg
        top, left = i * stride[0], j * stride[1]
        window = padded[
            :,
            first : first + Cg,
            top : top + dilation[0] * (h - 1) + 1 : dilation[0],
            left : left + dilation[1] * (wd - 1) + 1 : dilation[1],
        ]
        y[:, k, i, j] = (window * w[k]).sum((1, 2, 3))
    return y if bias is None else y + bias.reshape(1, -1, 1, 1)
