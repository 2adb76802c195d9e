# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of complex numbers that real ones do not need: parts, angles, views."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._core import Var
from .._errors import at_line
from .._typing import as_var, paired, shown
from ..ops.elementwise import functions
from ..ops.elementwise.elementwise import isnan, where
from . import formulas
from .halves import is_pair, kept
from .operands import as_complex
from .pair import Complex

__all__ = [
    "angle",
    "iscomplex",
    "iscomplexobj",
    "isreal",
    "isrealobj",
    "polar",
    "view_as_complex",
    "view_as_real",
]


def angle(x: Any) -> Var:
    """Return the angle of numbers with the positive real axis, in (-pi, pi].

    That of negative real numbers is pi. The gradient at 0 is 0.

    Parameters
    ----------
    x
        A `Complex`, or a real tensor.

    Returns
    -------
    Var
        Of x's shape, and of the type of its halves.
    """
    if is_pair(x):
        z = as_complex(x)
        return formulas.angle(z.real, z.imag)
    x = as_var(x)
    if "float" not in x.dtype:
        x = x.cast("float32")
    turned = functions.atan2(_core.full(x.shape, 0, x.dtype), x.detach())
    return where(isnan(x), x, turned)


def polar(abs: Any, angle: Any) -> Complex:
    """Return the numbers of absolute values and angles.

    Parameters
    ----------
    abs
        The absolute values: a real tensor.
    angle
        The angles, in radians, which broadcast with the absolute values.

    Examples
    --------
    >>> mo.polar(2.0, mo.array([0.0, 3.14159265]))
    Complex([ 2.+0.000000e+00j, -2.-1.748456e-07j], dtype=complex64)
    """
    abs, angle = kept("polar", "abs", abs), kept("polar", "angle", angle)
    size, turn = paired(abs, angle)
    return Complex(size * functions.cos(turn), size * functions.sin(turn))


def view_as_real(x: Complex) -> Var:
    """Return the halves of complex numbers along a new last dimension, of extent 2.

    It is a copy, as all values are, and no view of the memory.

    Raises
    ------
    TypeError
        If x is not complex.
    """
    if not is_pair(x):
        raise at_line(TypeError(f"view_as_real: given {shown(x)}, expected a Complex"))
    z = as_complex(x)
    return _core.stack([z.real, z.imag], z.ndim)


def view_as_complex(x: Any) -> Complex:
    """Return complex numbers of the halves along the last dimension, of extent 2.

    Raises
    ------
    TypeError
        If x is complex already.
    ValueError
        If it has no last dimension of extent 2.
    """
    if is_pair(x):
        raise at_line(TypeError(f"view_as_complex: given {shown(x)}, expected a real tensor"))
    x = as_var(x)
    if x.ndim == 0 or x.shape[-1] != 2:
        raise at_line(
            ValueError(
                f"view_as_complex: given shape {x.shape}, expected a last dimension of extent 2"
            )
        )
    return Complex(x[..., 0], x[..., 1])


def iscomplexobj(x: Any) -> bool:
    """Tell whether a tensor is of a complex type."""
    return is_pair(x)


def isrealobj(x: Any) -> bool:
    """Tell whether a tensor is of a real type."""
    return not is_pair(x)


def iscomplex(x: Any) -> Var:
    """Tell where imaginary parts are not 0."""
    if is_pair(x):
        return as_complex(x).imag != 0
    return _core.full(as_var(x).shape, False, "bool")


def isreal(x: Any) -> Var:
    """Tell where imaginary parts are 0."""
    if is_pair(x):
        return as_complex(x).imag == 0
    return _core.full(as_var(x).shape, True, "bool")
