# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of slices: their numbers, and that a tile computes them on processors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import metaops as mo
import numpy as np
import pytest
from util import AVX512, close

if TYPE_CHECKING:
    from collections.abc import Callable

#: Texts, their length, and inputs and outputs of a layer: few products, and as many as are
#: worth a tile.
SIZES = [(3, 34, 40, 70), (9, 257, 136, 131)]


def make(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Return numbers about 0."""
    return rng.standard_normal(shape).astype(np.float32)


#: Products by name, of x (B, L, K), w (K, N) and start, in both libraries.
PRODUCTS: dict[str, Callable[..., object]] = {
    "rows": lambda x, w, s: x[:, s:] @ w,
    "all but the last": lambda x, w, s: x[:, :-1] @ w,
    "every other": lambda x, w, s: x[:, s::2] @ w,
    "one text": lambda x, w, s: x[s] @ w,
    "from behind": lambda x, w, s: x[:, ::-1] @ w,
    "columns": lambda x, w, s: x @ w[:, s:-2],
    "steps of the sum": lambda x, w, s: x[:, :, s:] @ w[s:],
    "every other step": lambda x, w, s: x[:, :, ::2] @ w[1::2],
    "transposed": lambda x, w, s: x[:, s:].swapaxes(1, 2) @ x[:, s:],
    "scores": lambda x, w, s: x[:, :, :16] @ x[:, :, 16:32].swapaxes(1, 2),
    "both of a sum": lambda x, w, s: (x[:, s:] + x[:, :-s]) @ w,
}


@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.parametrize(
    "sizes", [pytest.param(SIZES[0]), pytest.param(SIZES[1], marks=pytest.mark.speed)]
)
@pytest.mark.parametrize("start", [1, 2])
def test_products_of_slices(
    rng: np.random.Generator, name: str, start: int, sizes: tuple[int, ...]
) -> None:
    B, L, K, N = sizes
    x, w = make(rng, B, L, K), make(rng, K, N)
    expected = PRODUCTS[name](x, w, start)
    close(PRODUCTS[name](mo.array(x), mo.array(w), start), expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("name", PRODUCTS)
def test_gradients_of_products_of_slices(rng: np.random.Generator, name: str) -> None:
    """Those of a product of the copies, which are no slices."""
    B, L, K, N = SIZES[0]
    x, w = (mo.array(make(rng, *shape).astype(np.float64)) for shape in ((B, L, K), (K, N)))
    y = PRODUCTS[name](x, w, 1)
    cotangent = mo.array(make(rng, *y.shape).astype(np.float64))
    found = mo.grad((y * cotangent).sum(), [x, w], allow_unused=True)
    ends = [x.numpy(), w.numpy()]
    for gradient, end, number in zip(found, ends, range(2), strict=True):
        direction = make(rng, *end.shape).astype(np.float64)
        moved = [list(ends), list(ends)]
        for sign, of in zip((1, -1), moved, strict=True):
            of[number] = end + sign * 1e-5 * direction
        above, below = ((PRODUCTS[name](*of, 1) * cotangent.numpy()).sum() for of in moved)
        slope = (above - below) / 2e-5
        np.testing.assert_allclose(
            (gradient.numpy() * direction).sum(), slope, rtol=1e-6, atol=1e-6
        )


@pytest.mark.speed
@pytest.mark.parametrize("padding", [0, 1, 2])
def test_convolutions_of_slices(rng: np.random.Generator, padding: int) -> None:
    """A window is outside of the slice where it is padded, and not of the tensor."""
    x, w = make(rng, 8, 64, 130), make(rng, 128, 64, 3)
    sliced = mo.nn.conv1d(mo.array(x)[:, :, 1:-1], mo.array(w), padding=padding)
    whole = mo.nn.conv1d(mo.array(x[:, :, 1:-1]), mo.array(w), padding=padding)
    close(sliced, whole.numpy(), rtol=1e-4, atol=1e-4)


@pytest.mark.processor
@pytest.mark.skipif(not AVX512, reason="of other processors, other tiles")
@pytest.mark.usefixtures("own_kernels")
@pytest.mark.parametrize("name", [name for name in PRODUCTS if name != "from behind"])
def test_a_tile_computes_products_of_slices(rng: np.random.Generator, name: str) -> None:
    x, w = mo.array(make(rng, 16, 300, 256)), mo.array(make(rng, 256, 256))
    PRODUCTS[name](x, w, 1).sync()
    contractions = [
        text for text in str(mo.last_program().explain()).split("\n") if "role: con" in text
    ]
    assert len(contractions) == 1


@pytest.mark.processor
@pytest.mark.usefixtures("own_kernels")
def test_a_cache_that_few_queries_read_is_not_copied(rng: np.random.Generator) -> None:
    query, keys = mo.array(make(rng, 4, 64)), mo.array(make(rng, 66_000, 64))
    (query @ keys[:65_536].swapaxes(0, 1)).sync()
    assert len(mo.last_program().kernels) == 1
