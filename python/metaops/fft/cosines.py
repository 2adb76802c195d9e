# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cosine transforms, by Fourier transforms of as many real numbers.

J. Makhoul, "A fast cosine transform in one and two dimensions", 1980: of n numbers, those of
even places come first, and then the others from the last one on.
"""

from __future__ import annotations

import math
from typing import Any

from .. import _core
from .._core import Var
from .._errors import at_line
from .._typing import as_integer
from ..ops.shape.shaping import flip, moveaxis
from ..ops.shape.stacking import concat, stack
from ._passes import Spectrum, as_axis, as_length, fitted, real_part, scale_of, to_half, to_real

__all__ = ["dct", "idct"]


def dct(x: Any, type: int = 2, n: int | None = None, dim: int = -1, norm: str | None = None) -> Var:
    """Return the discrete cosine transform of real numbers, as ``scipy.fft.dct``.

    Number k of the results is, of type 2, the sum of
    ``2 * x[j] * cos(pi * k * (2 * j + 1) / (2 * n))`` over j; of type 3, which is its
    transposed and inverse but for factors, ``x[0]`` and the sum of
    ``2 * x[j] * cos(pi * (2 * k + 1) * j / (2 * n))`` over the others.

    Parameters
    ----------
    x
        Real numbers. Integers become the default float, halves float32.
    type
        2 or 3.
    n
        The length: what is behind it in `x` is cut, and what is missing is 0. By default the
        extent of `x`.
    dim
        The dimension.
    norm
        "backward" (the default) has a factor of 1/2n in the inverse, "forward" in the other
        direction; with "ortho" the transform is an orthogonal matrix.

    Returns
    -------
    Var
        In the shape of `x`, with n elements along the dimension.

    Raises
    ------
    TypeError
        If `x` is complex.
    ValueError
        If n is below 1, the dimension is not there or empty, or there is no such type or norm.

    Examples
    --------
    >>> mo.fft.dct(mo.array([1.0, 1.0, 1.0, 1.0]))
    Var([8., 0., 0., 0.], dtype=float32)
    """
    return _transformed("dct", x, type, n, dim, norm, inverse=False)


def idct(
    x: Any, type: int = 2, n: int | None = None, dim: int = -1, norm: str | None = None
) -> Var:
    """Return the inverse of `dct` of the same type and norm.

    Parameters, results and errors are those of `dct`.
    """
    return _transformed("idct", x, type, n, dim, norm, inverse=True)


def _transformed(
    what: str, x: Any, type: int, n: int | None, dim: int, norm: str | None, *, inverse: bool
) -> Var:
    given = real_part(what, x)
    axis = as_axis(what, given, dim)
    kind = as_integer(what, "type", type)
    if kind not in (2, 3):
        raise at_line(ValueError(f"{what}: type is {kind}, expected 2 or 3"))
    length = given.shape[axis] if n is None else as_length(what, "n", n)
    scale = scale_of(what, norm, [2 * length], inverse)
    line = fitted(Spectrum(given, None), [axis], [length]).real
    transform = _to_cosines if (kind == 2) != inverse else _from_cosines
    result = transform(moveaxis(line, axis, -1), scale, norm == "ortho")
    return moveaxis(result, -1, axis)


def _turns(x: Var, count: int) -> tuple[Var, Var]:
    """Return cosines and sines of pi k / 2 n for the first numbers k."""
    angles = _core.iota((count,), 0, x.dtype) * (math.pi / (2 * x.shape[-1]))
    return angles.cos(), angles.sin()


def _first_scaled(x: Var, factor: float) -> Var:
    """Return lines whose first elements are multiplied by a number."""
    return concat([x[..., :1] * factor, x[..., 1:]], -1)


def _to_cosines(x: Var, scale: float, is_orthogonal: bool) -> Var:
    """Return transforms of type 2 along the last dimension."""
    length = x.shape[-1]
    ordered = concat([x[..., ::2], flip(x[..., 1::2], -1)], -1)
    real, imag = to_half(ordered, [x.ndim - 1], [length], 2 * scale).as_pair()
    cosines, sines = _turns(x, length // 2 + 1)
    first = real * cosines + imag * sines
    last = (real * sines - imag * cosines)[..., 1 : (length + 1) // 2]
    result = concat([first, flip(last, -1)], -1)
    return _first_scaled(result, math.sqrt(0.5)) if is_orthogonal else result


def _from_cosines(x: Var, scale: float, is_orthogonal: bool) -> Var:
    """Return transforms of type 3 along the last dimension."""
    length = x.shape[-1]
    given = _first_scaled(x, math.sqrt(2)) if is_orthogonal else x
    half = length // 2 + 1
    # The mirror of the first element is 0.
    mirrored = concat([given[..., :1] * 0, flip(given, -1)[..., : half - 1]], -1)
    given = given[..., :half]
    cosines, sines = _turns(x, half)
    spectrum = Spectrum(given * cosines + mirrored * sines, given * sines - mirrored * cosines)
    ordered = to_real(spectrum, [x.ndim - 1], [length], scale)
    evens, odds = ordered[..., : half - 1 + length % 2], flip(ordered, -1)[..., : length // 2]
    if length % 2:
        odds = concat([odds, evens[..., :1] * 0], -1)
    return stack([evens, odds], -1).reshape((*x.shape[:-1], -1))[..., :length]
