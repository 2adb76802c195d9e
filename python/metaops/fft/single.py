# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fourier transforms along one dimension."""

from __future__ import annotations

from typing import Any

from .._core import Var
from ..complex_numbers.pair import Complex
from ._passes import (
    as_axis,
    as_complex_result,
    as_length,
    as_spectrum,
    real_part,
    scale_of,
    to_half,
    to_real,
    transformed,
)

__all__ = ["fft", "hfft", "ifft", "ihfft", "irfft", "rfft"]


def fft(x: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Complex:
    """Return the discrete Fourier transform along a dimension.

    Number k of the results is the sum of ``x[j] * exp(-2j * pi * j * k / n)`` over j.

    Parameters
    ----------
    x
        Real or complex numbers. Integers become the default float, halves float32.
    n
        The length of the transform: what is behind it in `x` is cut, and what is missing is 0.
        By default the extent of `x`.
    dim
        The dimension.
    norm
        "backward" (the default) has a factor of 1/n in the inverse, "forward" in the other
        direction, and "ortho" of 1/sqrt(n) in both.

    Returns
    -------
    Complex
        In the shape of `x`, with n elements along the dimension.

    Raises
    ------
    ValueError
        If n is below 1, the dimension is not there or empty, or there is no such norm.

    Examples
    --------
    >>> mo.fft.fft(mo.array([1.0, 2.0, 3.0, 4.0]))
    Complex([10.+0.j, -2.+2.j, -2.+0.j, -2.-2.j], dtype=complex64)
    """
    return _complex("fft", x, n, dim, norm, inverse=False)


def ifft(x: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Complex:
    """Return the inverse of `fft`: sums of ``x[k] * exp(2j * pi * j * k / n) / n``.

    Parameters, results and errors are those of `fft`.
    """
    return _complex("ifft", x, n, dim, norm, inverse=True)


def _complex(
    what: str, x: Any, n: int | None, dim: int, norm: str | None, *, inverse: bool
) -> Complex:
    given = as_spectrum(x)
    axis = as_axis(what, given.real, dim)
    length = given.real.shape[axis] if n is None else as_length(what, "n", n)
    scale = scale_of(what, norm, [length], inverse)
    return as_complex_result(transformed(given, [axis], [length], inverse, scale))


def rfft(x: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Complex:
    """Return the transforms of real numbers: those for k from 0 to n/2 of `fft`.

    The others are conjugates of these.

    Parameters
    ----------
    x
        Real numbers.
    n, dim, norm
        As of `fft`.

    Returns
    -------
    Complex
        In the shape of `x`, with ``n // 2 + 1`` elements along the dimension.

    Raises
    ------
    TypeError
        If `x` is complex.
    ValueError
        As of `fft`.
    """
    return _to_half("rfft", x, n, dim, norm, inverse=False)


def ihfft(x: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Complex:
    """Return the inverse of `hfft`, which is real: those for k from 0 to n/2 of `ifft`.

    Parameters, results and errors are those of `rfft`.
    """
    return _to_half("ihfft", x, n, dim, norm, inverse=True)


def _to_half(
    what: str, x: Any, n: int | None, dim: int, norm: str | None, *, inverse: bool
) -> Complex:
    given = real_part(what, x)
    axis = as_axis(what, given, dim)
    length = given.shape[axis] if n is None else as_length(what, "n", n)
    half = to_half(given, [axis], [length], scale_of(what, norm, [length], inverse))
    return as_complex_result(half.conj() if inverse else half)


def irfft(x: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Var:
    """Return the inverse of `rfft`: real numbers.

    Imaginary parts that are 0 in transforms of real numbers, of the first element and, where n
    is even, of that for n/2, are not read.

    Parameters
    ----------
    x
        The transforms for k from 0 to n/2.
    n
        How many real numbers there are. By default as many as go with `x`, an even number:
        odd ones have to be said.
    dim, norm
        As of `fft`.

    Returns
    -------
    Var
        In the shape of `x`, with n elements along the dimension.

    Raises
    ------
    ValueError
        If n is below 1 or, where it is not given, `x` has a single element; else as of `fft`.
    """
    return _to_real("irfft", x, n, dim, norm, inverse=True)


def hfft(x: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Var:
    """Return the transform of numbers of which a half is given, the others being conjugates.

    So the results are real. Parameters, results and errors are those of `irfft`.
    """
    return _to_real("hfft", x, n, dim, norm, inverse=False)


def _to_real(what: str, x: Any, n: int | None, dim: int, norm: str | None, *, inverse: bool) -> Var:
    given = as_spectrum(x)
    axis = as_axis(what, given.real, dim)
    length = as_length(what, "n", 2 * (given.real.shape[axis] - 1) if n is None else n)
    scale = scale_of(what, norm, [length], inverse)
    return to_real(given if inverse else given.conj(), [axis], [length], scale)
