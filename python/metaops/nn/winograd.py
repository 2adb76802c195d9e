# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Winograd's convolution with kernels of 3 x 3: fewer multiplications, other rounding.

With constant matrices A, B and G, a tile of m x m results is

    Y = A^T [(G g G^T) * (B^T d B)] A

of the kernel g and the (m + 2) x (m + 2) elements d that it meets (Lavin and Gray,
"Fast Algorithms for Convolutional Neural Networks", 2016, section 4.1, formula 8).
Between the transforms is one product for each of (m + 2)^2 places, where the
convolution itself has nine for each of m^2; for m = 4, a quarter of them. Sums over
channels are taken there, so each place has a matrix product of its own (formula 12).

The matrices are Toom and Cook's: B^T d and G g evaluate polynomials at m + 1 points and
at infinity, and A^T interpolates. All transforms are recorded as contractions with a
matrix, whose numbers cost the same whatever they are; so the points are those that round
best, not those of the shortest sums. Images are transformed along one dimension after the
other, because tiles overlap: in the gradient, what meets in an element is added up along
one dimension at a time, too. Kernels and results are transformed along both dimensions at
once, by a Kronecker product.

Gradients are derived from all that, and are of the same form.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .. import _core
from .._core import Var
from .._typing import widened

if TYPE_CHECKING:
    from fractions import Fraction

__all__: list[str] = []

Matrix: TypeAlias = "npt.NDArray[np.floating[Any]]"

#: m, and how many elements a tile reads along each dimension. Tiles of 2 x 2 round less,
#: but gain little.
_TILE, _SIZE = 4, 6

#: Points at which polynomials are evaluated, beside infinity. Lavin and Gray have 0, 1, -1, 2, -2,
#: with which the error is twice as large. Pairs c, -c, 1 / c, -1 / c are those of Alam et al.,
#: "Winograd Convolution for Deep Neural Networks: Efficient Point Selection", 2022; of fractions
#: between 1/2 and 2, these had the smallest error.
_POINTS = ("0", "2/3", "-2/3", "3/2", "-3/2")

#: Time of a multiplication of a transform, in those of the products: transforms wait for memory.
_TRANSFORM_COST = 5


def _polynomial(roots: Sequence[Fraction]) -> list[Fraction]:
    """Return the coefficients of a polynomial with these roots, lowest powers first."""
    from fractions import Fraction

    coefficients = [Fraction(1)]
    for root in roots:
        times_x, times_root = [Fraction(0), *coefficients], [*coefficients, Fraction(0)]
        coefficients = [a - root * b for a, b in zip(times_x, times_root, strict=True)]
    return coefficients


def _as_floats(rows: Sequence[Sequence[Fraction]]) -> Matrix:
    return np.array([[float(number) for number in row] for row in rows])


def _transforms(points: Sequence[Fraction], tile: int) -> tuple[Matrix, Matrix, Matrix]:
    """Return B^T, G and A^T for kernels of `len(points) + 2 - tile`.

    Rows of B^T and G belong to points, the last ones to infinity. That of B^T has the
    coefficients of the polynomial with all other points as its roots; that of G evaluates
    a polynomial and divides by the product of the distances to other points.
    """
    from fractions import Fraction

    zero, one, taps = Fraction(0), Fraction(1), len(points) + 2 - tile
    images, kernels = [], []
    for k, point in enumerate(points):
        others = [*points[:k], *points[k + 1 :]]
        images.append([*_polynomial(others), zero])
        distances = math.prod((point - other for other in others), start=one)
        kernels.append([point**power / distances for power in range(taps)])
    images.append(_polynomial(points))
    kernels.append([zero] * (taps - 1) + [one])
    results = [[*(p**k for p in points), one if k == tile - 1 else zero] for k in range(tile)]
    return _as_floats(images), _as_floats(kernels), _as_floats(results)


@functools.cache
def _matrices() -> tuple[Matrix, Matrix, Matrix]:
    """Return the matrices that transform a row of images, kernels and results."""
    from fractions import Fraction

    points = [Fraction(point) for point in _POINTS]
    images, kernel, result = _transforms(points, _TILE)
    return images, np.kron(kernel, kernel).reshape(-1, 3, 3), np.kron(result, result)


def applies(
    x: Var,
    weight: Var,
    stride: tuple[int, int],
    padding: tuple[int, int],
    dilation: tuple[int, int],
    groups: int,
) -> bool:
    """Return whether a convolution has this form and should be faster in it."""
    if (stride, dilation, groups) != ((1, 1), (1, 1), 1) or weight.shape[2:] != (3, 3):
        return False
    if "float" not in x.dtype or x.dtype != weight.dtype:
        return False
    N, C, H, W = x.shape
    K = weight.shape[0]
    rows, columns = _tile_counts(x, padding)
    tiles, places = N * rows * columns, _SIZE**2
    transforms = places * (2 * _SIZE * C * tiles + 9 * C * K + _TILE**2 * K * tiles)
    direct = 9 * C * K * N * (H + 2 * padding[0] - 2) * (W + 2 * padding[1] - 2)
    return places * C * K * tiles + _TRANSFORM_COST * transforms < direct


def convolve(x: Var, weight: Var, padding: tuple[int, int]) -> Var:
    """Return the cross-correlation of images with kernels of 3 x 3.

    Parameters
    ----------
    x
        Images, ``(N, C, H, W)``, of floats; halves are computed in float32.
    weight
        Kernels, ``(K, C, 3, 3)``, of x's dtype.
    padding
        That of height and of width.

    Returns
    -------
    Var
        ``(N, K, H', W')``, of x's dtype.
    """
    (x, dtype), (weight, _) = widened(x), widened(weight)
    N, _, H, W = x.shape
    products = _transformed_images(x, padding) @ _transformed_kernels(weight)
    tiles = _transformed_results(products).reshape(
        _TILE, _TILE, N, *_tile_counts(x, padding), weight.shape[0]
    )
    shape = (N, weight.shape[0], H + 2 * padding[0] - 2, W + 2 * padding[1] - 2)
    indices = (f"i2%{_TILE}", f"i3%{_TILE}", "i0", f"i2/{_TILE}", f"i3/{_TILE}", "i1")
    return tiles.reindex(shape, indices).cast(dtype)


def _tile_counts(x: Var, padding: tuple[int, int]) -> tuple[int, int]:
    """Return how many tiles cover a column of results, and how many a row."""
    rows, columns = (x.shape[2 + k] + 2 * padding[k] - 2 for k in (0, 1))
    return -(-rows // _TILE), -(-columns // _TILE)


def _transformed_images(x: Var, padding: tuple[int, int]) -> Var:
    """Return B^T d B of each tile: ``((m + 2)^2, tiles, C)``."""
    N, C = x.shape[:2]
    rows, columns = _tile_counts(x, padding)
    transform = _as_var(_matrices()[0], x)
    # Channels are innermost, so that all that follows reads whole vectors, and the border
    # is in memory. One kernel does that for all elements of the tiles.
    bordered = (N, _TILE * rows + 2, _TILE * columns + 2, C)
    x = x.reindex(bordered, ("i0", "i3", f"i1-{padding[0]}", f"i2-{padding[1]}")).stop_fuse()
    vertical = (_SIZE, N, rows, bordered[2], C, _SIZE)
    windows = x.reindex(vertical, ("i1", f"i2*{_TILE}+i5", "i3", "i4"))
    x = (transform.broadcast(vertical, (1, 2, 3, 4)) * windows).sum(5)
    both = (_SIZE, _SIZE, N, rows, columns, C, _SIZE)
    windows = x.reindex(both, ("i0", "i2", "i3", f"i4*{_TILE}+i6", "i5"))
    x = (transform.broadcast(both, (0, 2, 3, 4, 5)) * windows).sum(6)
    return x.reshape(_SIZE**2, N * rows * columns, C)


def _transformed_kernels(weight: Var) -> Var:
    """Return G g G^T of each kernel: ``((m + 2)^2, C, K)``."""
    K, C = weight.shape[:2]
    transform = _as_var(_matrices()[1], weight)
    space = (_SIZE**2, C, K, 3, 3)
    kernels = weight.reindex(space, ("i2", "i1", "i3", "i4"))
    return (transform.broadcast(space, (1, 2)) * kernels).sum((3, 4))


def _transformed_results(products: Var) -> Var:
    """Return A^T p A of each tile of products: ``(m^2, tiles, K)``."""
    tiles, K = products.shape[1:]
    transform = _as_var(_matrices()[2], products)
    space = (_TILE**2, tiles, K, _SIZE**2)
    places = products.reindex(space, ("i3", "i1", "i2"))
    return (transform.broadcast(space, (1, 2)) * places).sum(3)


def _as_var(matrix: Matrix, like: Var) -> Var:
    return _core.array(matrix, like.dtype)
