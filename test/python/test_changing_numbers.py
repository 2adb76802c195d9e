# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Offsets, shifts, counts and shares that differ from call to call.

Where shapes stay, such a number is an operand, and another one compiles nothing. Where
extents follow it, there is another program, but of kernels that are there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from util import on_processor

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.usefixtures("compiled")

PROCESSOR = on_processor(mo.zeros(()))
ROWS, COLUMNS = 64, 48


def numbers(rng: np.random.Generator) -> np.ndarray:
    return rng.standard_normal((ROWS, COLUMNS)).astype("float32")


def put(x: np.ndarray, key: slice, value: float) -> np.ndarray:
    x = x.copy()
    x[key] = value
    return x


#: Functions of x and a number from 1 to 16, and NumPy's for them.
SHAPES_STAY: dict[str, tuple[Callable, Callable]] = {
    "roll": (lambda x, k: mo.roll(x, k, 0), lambda x, k: np.roll(x, k, 0)),
    "roll back": (lambda x, k: mo.roll(x, -k, 1), lambda x, k: np.roll(x, -k, 1)),
    "roll of both": (
        lambda x, k: mo.roll(x, (k, k - 9), (0, 1)),
        lambda x, k: np.roll(x, (k, k - 9), (0, 1)),
    ),
    "roll of all": (lambda x, k: mo.roll(x, 10**20 + k), lambda x, k: np.roll(x, 10**20 + k)),
    "quantile": (lambda x, k: mo.quantile(x, k / 16), lambda x, k: np.quantile(x, k / 16)),
    "quantile, unbiased": (
        lambda x, k: mo.quantile(x, k / 16, 0, method="median_unbiased"),
        lambda x, k: np.quantile(x, k / 16, 0, method="median_unbiased"),
    ),
    "quantile, averaged": (
        lambda x, k: mo.quantile(x, k / 16, method="averaged_inverted_cdf"),
        lambda x, k: np.quantile(x, k / 16, method="averaged_inverted_cdf"),
    ),
    "quantile of rows": (
        lambda x, k: mo.quantile(x, k / 16, 1, method="lower"),
        lambda x, k: np.quantile(x, k / 16, 1, method="lower"),
    ),
    "kthvalue": (lambda x, k: mo.kthvalue(x, k)[0], lambda x, k: np.sort(x, -1)[:, k - 1]),
    "a window": (lambda x, k: x[k : k + 8, k], lambda x, k: x[k : k + 8, k]),
    "a window replaced": (
        lambda x, k: x.at[k : k + 8].set(7.0),
        lambda x, k: put(x, np.s_[k : k + 8], 7.0),
    ),
    "every other one replaced": (
        lambda x, k: x.at[k : k + 8 : 2].set(7.0),
        lambda x, k: put(x, np.s_[k : k + 8 : 2], 7.0),
    ),
    "diagonal": (lambda x, k: mo.diagonal(x, -k), lambda x, k: np.diagonal(x, -k)),
    "triangle": (lambda x, k: mo.triu(x, k), lambda x, k: np.triu(x, k)),
    "clip": (lambda x, k: mo.clip(x, -k / 9, k / 9), lambda x, k: np.clip(x, -k / 9, k / 9)),
    "a range": (lambda x, k: mo.arange(k, k + 9), lambda x, k: np.arange(k, k + 9)),
}

#: Functions of x and a number from 24 on.
EXTENTS_FOLLOW: dict[str, tuple[Callable, Callable]] = {
    "pad": (
        lambda x, k: mo.pad(x, ((k, 0), (0, 1))),
        lambda x, k: np.pad(x, ((k, 0), (0, 1))),
    ),
    "the first": (lambda x, k: x[:k] * 2, lambda x, k: x[:k] * 2),
    "the last": (lambda x, k: x[k:] * 2, lambda x, k: x[k:] * 2),
    "steps": (lambda x, k: x[:: k - 20] * 2, lambda x, k: x[:: k - 20] * 2),
    "a product": (lambda x, k: x[:k] @ x[:k].T, lambda x, k: x[:k] @ x[:k].T),
    "the first replaced": (
        lambda x, k: x.at[:k].set(0.0),
        lambda x, k: put(x, np.s_[:k], 0.0),
    ),
    "diagonal": (
        lambda x, k: mo.diagonal(x, k // 4 - 5),
        lambda x, k: np.diagonal(x, k // 4 - 5),
    ),
    "tile": (lambda x, k: mo.tile(x[:1], (k, 1)), lambda x, k: np.tile(x[:1], (k, 1))),
    "repeat": (lambda x, k: mo.repeat(x, k, 0), lambda x, k: np.repeat(x, k, 0)),
    "topk": (lambda x, k: mo.topk(x, k, 0)[0], lambda x, k: -np.sort(-x, 0)[:k]),
    "arange": (lambda x, k: mo.arange(k) * 3, lambda x, k: np.arange(k) * 3),
    "windows": (
        lambda x, k: mo.sliding_window_view(x[:, 0], k),
        lambda x, k: np.lib.stride_tricks.sliding_window_view(x[:, 0], k),
    ),
    "interpolate": (
        lambda x, k: nn.interpolate(x.reshape(1, 1, ROWS, COLUMNS), (2 * k + 1, 7)),
        lambda x, k: x[np.arange(2 * k + 1) * ROWS // (2 * k + 1)][
            :, np.arange(7) * COLUMNS // 7
        ].reshape(1, 1, -1, 7),
    ),
}


@pytest.mark.parametrize("name", SHAPES_STAY)
def test_where_shapes_stay_nothing_compiles(name: str, rng: np.random.Generator) -> None:
    ours, numpys = SHAPES_STAY[name]
    given = numbers(rng)
    x = mo.array(given)
    # A shift of 0 and the last element, too, are numbers like others.
    for k in range(1, 17):
        if k == 2:
            before = mo.stats()["programs_compiled"]
        np.testing.assert_allclose(ours(x, k).numpy(), numpys(given, k), rtol=1e-6)
    assert mo.stats()["programs_compiled"] == before


@pytest.mark.parametrize("name", EXTENTS_FOLLOW)
def test_where_extents_follow_kernels_are_there(name: str, rng: np.random.Generator) -> None:
    ours, numpys = EXTENTS_FOLLOW[name]
    given = numbers(rng)
    x = mo.array(given)
    for k in range(24, 48):
        if k == 40:
            before = mo.stats()["kernels_compiled"]
        np.testing.assert_allclose(ours(x, k).numpy(), numpys(given, k), rtol=1e-5, atol=1e-5)
    # A GPU's threads are shared out otherwise: there are more classes of extents.
    assert mo.stats()["kernels_compiled"] == before or not PROCESSOR


@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 3, 1), (0, 3)])
@pytest.mark.parametrize("dtype", ["float64", "int8", "bool"])
def test_rolls_have_gradients_and_any_type(
    shape: tuple[int, ...], dtype: str, rng: np.random.Generator
) -> None:
    given = (rng.standard_normal(shape) * 9).astype(dtype)
    for axis in range(len(shape)):
        for shift in (-7, -1, 0, 2, 11):
            x = mo.array(given)
            y = mo.roll(x, shift, axis)
            np.testing.assert_array_equal(y.numpy(), np.roll(given, shift, axis))
            if dtype == "float64":
                weights = rng.standard_normal(shape)
                slope = mo.grad((y * y * mo.array(weights)).sum(), x)
                expected = 2 * given * np.roll(weights, -shift, axis)
                np.testing.assert_allclose(slope.numpy(), expected, rtol=1e-12)
