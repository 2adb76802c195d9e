# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fourier transforms along several dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._core import Var
from .._errors import at_line
from .._typing import as_integers
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

__all__ = [
    "fft2",
    "fftn",
    "hfft2",
    "hfftn",
    "ifft2",
    "ifftn",
    "ihfft2",
    "ihfftn",
    "irfft2",
    "irfftn",
    "rfft2",
    "rfftn",
]

Lengths = Sequence[int] | None
Dims = Sequence[int] | None


def _take_axes(
    what: str, x: Var, s: Lengths, axes: Dims, *, to_real: bool = False
) -> tuple[list[int], list[int]]:
    """Return axes counted from the start, and the lengths along them."""
    given = None if s is None else as_integers(what, "s", s)
    if axes is None:
        places = list(range(-(x.ndim if given is None else len(given)), 0))
    else:
        places = as_integers(what, "axes", axes)
    counted = [as_axis(what, x, axis) for axis in places]
    if given is None:
        given = [-1] * len(counted)
        if to_real and given:
            given[-1] = 2 * (x.shape[counted[-1]] - 1)
    if len(given) != len(counted):
        raise at_line(
            ValueError(f"{what}: s has {len(given)} lengths for {len(counted)} dimensions")
        )
    lengths = [
        x.shape[axis] if length == -1 else as_length(what, "a length in s", length)
        for axis, length in zip(counted, given, strict=True)
    ]
    return counted, lengths


def _expect_axis(what: str, axes: list[int]) -> None:
    if not axes:
        raise at_line(ValueError(f"{what}: expected a dimension, given none"))


def fftn(x: Any, s: Lengths = None, axes: Dims = None, norm: str | None = None) -> Complex:
    """Return the discrete Fourier transform along several dimensions, or all.

    Parameters
    ----------
    x
        Real or complex numbers. Integers become the default float, halves float32.
    s
        The length along each dimension, as `n` of `fft`; -1 stands for the extent of `x`.
    axes
        The dimensions. By default the last ones, as many as `s` has, and all without `s`. One
        that is given twice is transformed twice.
    norm
        As of `fft`; n is the product of the lengths.

    Returns
    -------
    Complex
        In the shape of `x`, with the lengths along the dimensions.

    Raises
    ------
    ValueError
        If a length is below 1, there are not as many lengths as dimensions, one of these is not
        there or empty, or there is no such norm.
    """
    return _complex("fftn", x, s, axes, norm, inverse=False)


def ifftn(x: Any, s: Lengths = None, axes: Dims = None, norm: str | None = None) -> Complex:
    """Return the inverse of `fftn`; parameters, results and errors are those of `fftn`."""
    return _complex("ifftn", x, s, axes, norm, inverse=True)


def fft2(x: Any, s: Lengths = None, axes: Dims = (-2, -1), norm: str | None = None) -> Complex:
    """Return the transform along two dimensions, the last ones by default; see `fftn`."""
    return _complex("fft2", x, s, axes, norm, inverse=False)


def ifft2(x: Any, s: Lengths = None, axes: Dims = (-2, -1), norm: str | None = None) -> Complex:
    """Return the inverse of `fft2`; see `fftn`."""
    return _complex("ifft2", x, s, axes, norm, inverse=True)


def _complex(
    what: str, x: Any, s: Lengths, axes: Dims, norm: str | None, *, inverse: bool
) -> Complex:
    given = as_spectrum(x)
    places, lengths = _take_axes(what, given.real, s, axes)
    scale = scale_of(what, norm, lengths, inverse)
    return as_complex_result(transformed(given, places, lengths, inverse, scale))


def rfftn(x: Any, s: Lengths = None, axes: Dims = None, norm: str | None = None) -> Complex:
    """Return the transforms of real numbers: a half of those of `fftn` along the last dimension.

    Parameters
    ----------
    x
        Real numbers.
    s, axes, norm
        As of `fftn`, with one dimension at least.

    Returns
    -------
    Complex
        In the shape of `x`, with the lengths along the dimensions, but ``n // 2 + 1`` along the
        last of these.

    Raises
    ------
    TypeError
        If `x` is complex.
    ValueError
        As of `fftn`, and without a dimension.
    """
    return _to_half("rfftn", x, s, axes, norm, inverse=False)


def rfft2(x: Any, s: Lengths = None, axes: Dims = (-2, -1), norm: str | None = None) -> Complex:
    """Return the transforms of real numbers along two dimensions; see `rfftn`."""
    return _to_half("rfft2", x, s, axes, norm, inverse=False)


def ihfftn(x: Any, s: Lengths = None, axes: Dims = None, norm: str | None = None) -> Complex:
    """Return the inverse of `hfftn`, a half of it along the last dimension; see `rfftn`."""
    return _to_half("ihfftn", x, s, axes, norm, inverse=True)


def ihfft2(x: Any, s: Lengths = None, axes: Dims = (-2, -1), norm: str | None = None) -> Complex:
    """Return the inverse of `hfft2`; see `rfftn`."""
    return _to_half("ihfft2", x, s, axes, norm, inverse=True)


def _to_half(
    what: str, x: Any, s: Lengths, axes: Dims, norm: str | None, *, inverse: bool
) -> Complex:
    given = real_part(what, x)
    places, lengths = _take_axes(what, given, s, axes)
    _expect_axis(what, places)
    half = to_half(given, places, lengths, scale_of(what, norm, lengths, inverse))
    return as_complex_result(half.conj() if inverse else half)


def irfftn(x: Any, s: Lengths = None, axes: Dims = None, norm: str | None = None) -> Var:
    """Return the inverse of `rfftn`: real numbers.

    Parameters
    ----------
    x
        The transforms, a half of them along the last dimension.
    s, axes, norm
        As of `rfftn`. By default the last length is even; an odd one has to be said.

    Returns
    -------
    Var
        In the shape of `x`, with the lengths along the dimensions.

    Raises
    ------
    ValueError
        As of `rfftn`, and if the last length is not given where `x` has a single element.
    """
    return _to_real("irfftn", x, s, axes, norm, inverse=True)


def irfft2(x: Any, s: Lengths = None, axes: Dims = (-2, -1), norm: str | None = None) -> Var:
    """Return the inverse of `rfft2`; see `irfftn`."""
    return _to_real("irfft2", x, s, axes, norm, inverse=True)


def hfftn(x: Any, s: Lengths = None, axes: Dims = None, norm: str | None = None) -> Var:
    """Return the transform of numbers of which a half is given along the last dimension.

    The others are conjugates, so the results are real. Parameters, results and errors are those
    of `irfftn`.
    """
    return _to_real("hfftn", x, s, axes, norm, inverse=False)


def hfft2(x: Any, s: Lengths = None, axes: Dims = (-2, -1), norm: str | None = None) -> Var:
    """Return the transform of such numbers along two dimensions; see `hfftn`."""
    return _to_real("hfft2", x, s, axes, norm, inverse=False)


def _to_real(what: str, x: Any, s: Lengths, axes: Dims, norm: str | None, *, inverse: bool) -> Var:
    given = as_spectrum(x)
    places, lengths = _take_axes(what, given.real, s, axes, to_real=True)
    _expect_axis(what, places)
    scale = scale_of(what, norm, lengths, inverse)
    return to_real(given if inverse else given.conj(), places, lengths, scale)
