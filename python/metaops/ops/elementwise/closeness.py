# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether tensors are equal, or nearly so. The answers are lazy, as all Vars."""

from __future__ import annotations

import math

import numpy as np

from ..._core import Var, full
from ..._domains import NOT_NEGATIVE
from ..._typing import VarLike, as_var, paired
from .elementwise import abs, add, multiply

__all__ = ["allclose", "array_equal", "array_equiv", "isclose"]


def _wide(x: Var) -> Var:
    """Return floats in which differences of x's elements are told."""
    if x.dtype in ("float32", "float64"):
        return x
    return x.cast("float32" if "float" in x.dtype else "float64")


def _equal(x: Var, y: Var, equal_nan: bool) -> Var:
    equal = x == y
    return equal | ((x != x) & (y != y)) if equal_nan else equal


def isclose(
    x: VarLike, y: VarLike, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Var:
    """Return a boolean: ``|x - y| <= atol + rtol * |y|``, or x and y are equal.

    Parameters
    ----------
    x, y
        Tensors that broadcast. Halves are compared in float32, integers in float64.
    rtol, atol
        What may be between them, in proportion to y and beside that.
    equal_nan
        Whether NaN is close to NaN.

    Raises
    ------
    ValueError
        If `rtol` or `atol` is negative.
    """
    NOT_NEGATIVE.check("isclose", rtol=rtol, atol=atol)
    x, y = paired(x, y)
    equal = _equal(x, y, equal_nan)
    wide, other = _wide(x), _wide(y)
    size = abs(other)
    # A bound that is infinite would hold for every number.
    return equal | ((abs(wide - other) <= add(multiply(size, rtol), atol)) & (size < math.inf))


def allclose(
    x: VarLike, y: VarLike, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Var:
    """Return a boolean without dimensions: all elements are close, see `isclose`."""
    return isclose(x, y, rtol, atol, equal_nan).all()


def array_equal(x: VarLike, y: VarLike, equal_nan: bool = False) -> Var:
    """Return a boolean without dimensions: one shape, and all elements are equal."""
    x, y = as_var(x), as_var(y)
    if x.shape != y.shape:
        return full((), 0, "bool")
    return _equal(x, y, equal_nan).all()


def array_equiv(x: VarLike, y: VarLike) -> Var:
    """Return a boolean without dimensions: x and y broadcast, and all elements are equal."""
    x, y = as_var(x), as_var(y)
    try:
        np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        return full((), 0, "bool")
    return (x == y).all()
