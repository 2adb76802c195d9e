# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Frequencies of Fourier transforms, and their order."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .._core import Var
from .._defaults import get_default_dtype
from .._devices import on_device
from .._errors import at_line
from .._typing import DType, as_integers, as_number, as_var, normalised_axis
from ..complex_numbers.halves import is_pair
from ..complex_numbers.operands import as_complex
from ..complex_numbers.pair import Complex
from ..ops.shape.repeating import roll
from ._passes import as_length

__all__ = ["fftfreq", "fftshift", "ifftshift", "rfftfreq"]


def fftfreq(
    n: int, d: float = 1.0, *, dtype: DType | None = None, device: str | None = None
) -> Var:
    """Return the frequencies of the results of `fft`, in cycles per unit of `d`.

    Those of the second half are negative.

    Parameters
    ----------
    n
        The length of the transform.
    d
        The distance of samples.
    dtype
        By default the default float.
    device
        By default the device that is current, see `metaops.device`.

    Raises
    ------
    TypeError
        If n is no integer, or d no number.
    ValueError
        If n is below 1, or d is 0.

    Examples
    --------
    >>> mo.fft.fftfreq(5, d=0.1)
    Var([ 0,  2,  4, -4, -2], dtype=float32)
    """
    return _frequencies("fftfreq", n, d, dtype, device)


def rfftfreq(
    n: int, d: float = 1.0, *, dtype: DType | None = None, device: str | None = None
) -> Var:
    """Return the frequencies of the results of `rfft`, in cycles per unit of `d`.

    Parameters and errors are those of `fftfreq`.
    """
    return _frequencies("rfftfreq", n, d, dtype, device)


def _frequencies(what: str, n: int, d: float, dtype: DType | None, device: str | None) -> Var:
    length, distance = as_length(what, "n", n), as_number(what, "d", d)
    if distance == 0:
        raise at_line(ValueError(f"{what}: d is 0, expected another number"))
    values = getattr(np.fft, what)(length, distance)
    made = get_default_dtype() if dtype is None else dtype
    if device is None:
        return _core.array(values, made)
    return on_device(device, lambda: _core.array(values, made))


def fftshift(x: Any, axes: Any = None) -> Any:
    """Return results of transforms with frequency 0 in the middle.

    Parameters
    ----------
    x
        A tensor, real or complex.
    axes
        One dimension or several; all by default.

    Raises
    ------
    ValueError
        If a dimension is not there.

    Examples
    --------
    >>> mo.fft.fftshift(mo.fft.fftfreq(4, d=0.25))
    Var([-2, -1,  0,  1], dtype=float32)
    """
    return _shifted("fftshift", x, axes, forward=True)


def ifftshift(x: Any, axes: Any = None) -> Any:
    """Return what `fftshift` has moved at its place; parameters and errors are its own."""
    return _shifted("ifftshift", x, axes, forward=False)


def _shifted(what: str, x: Any, axes: Any, *, forward: bool) -> Any:
    if is_pair(x):
        z = as_complex(x)
        return Complex._of(
            _shifted(what, z.real, axes, forward=forward),
            _shifted(what, z.imag, axes, forward=forward),
        )
    x = as_var(x)
    given = range(x.ndim) if axes is None else as_integers(what, "axes", axes)
    places = [normalised_axis(axis, x.ndim) for axis in given]
    if not places:
        return x.clone()
    shifts = [x.shape[axis] // 2 if forward else -(x.shape[axis] // 2) for axis in places]
    return roll(x, shifts, places)
