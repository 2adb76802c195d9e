# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums of squares, or of other powers, that neither overflow nor vanish.

Squares of float32, and powers up to 6.5 by halves, are numbers of float64, in which one
more pass over the elements, for their largest one, is saved; an operation of the
compiler's sums them, whose derivatives are computed in float32. float64 has no wider
type: there, and where powers are other ones, elements are divided by a power of two near
the largest magnitude first, which changes no digit.
"""

from __future__ import annotations

from ... import _core
from ..._core import Var, array, binary, bitcast
from ..elementwise.elementwise import abs, maximum, minimum, where
from ..elementwise.functions import sqrt

__all__ = ["factor_of", "in_range", "root", "root_of_powers", "root_of_squares", "unit_of"]

#: Of float32 and float64: the integers of their bits, the bits of an exponent, the largest
#: exponent of a unit, and the most by which the least one is above its opposite. The higher
#: it is, the smaller are the cotangents by which a unit can be multiplied.
_UNITS = {
    "float32": ("int32", 0xFF << 23, 126, 26),
    "float64": ("int64", 0x7FF << 52, 1022, 122),
}
#: Powers of a number divided by the least unit, whose exponents are no lower, are summed.
_LEAST_POWER = {"float32": -60, "float64": -244}
#: The exponents of magnitudes between which numbers are left as they are.
_USUAL = {"float32": (-30, 40), "float64": (-300, 400)}


def unit_of(x: Var, axes: tuple[int, ...], order: float = 2.0) -> Var:
    """Return a power of two near the largest magnitude along axes, whose extents are 1.

    Powers of that order, of what is divided by it, do not vanish.
    """
    integers, exponents, most, above = _UNITS[x.dtype]
    least = int(min(above, -_LEAST_POWER[x.dtype] / order)) - most
    largest = bitcast(abs(x).max(axes, True).detach(), integers)
    power = bitcast(binary("and", largest, exponents), x.dtype)
    # Of 0 and of an infinity it is a number, too.
    return maximum(minimum(power, 2.0**most), 2.0**least)


def factor_of(largest: Var) -> Var:
    """Return powers of two by which numbers of those magnitudes are multiplied for squares.

    They are 1 where a square is far from both ends.
    """
    low, high = _USUAL[largest.dtype]
    factor = where(largest < 2.0**low, 0.25**low, array(1.0, largest.dtype))
    return where(largest > 2.0**high, 0.25**high, factor)


def in_range(x: Var, axes: tuple[int, ...]) -> tuple[Var, Var | None]:
    """Return x as its squares may be summed along axes, and by what that was divided."""
    if x.dtype == "float32":
        return x.cast("float64"), None
    unit = unit_of(x, axes)
    return x * (1.0 / unit), unit


def root(squares: Var) -> Var:
    """Return the square root of sums of squares, without an infinite slope at 0.

    What is added there, and subtracted again, makes it 1/2; since the gradients
    of the squares are 0, so is the product.
    """
    added = (squares == 0).cast(squares.dtype)
    return sqrt(squares + added) - added


def root_of_squares(
    x: Var, axes: tuple[int, ...], keepdims: bool, divisor: Var | float | None = None
) -> Var:
    """Return the root of the sum of squares of floats along axes, or of a quotient of it."""
    if x.dtype == "float32" and not isinstance(divisor, Var):
        return _core.norm(x, axes, keepdims, 1.0 if divisor is None else divisor, 2.0, False)
    wide, unit = in_range(x, axes)
    squares = (wide * wide).sum(axes, keepdims)
    result = root(squares if divisor is None else squares / divisor)
    if unit is None:
        return result.cast(x.dtype)
    return result * (unit if keepdims else unit.reshape(result.shape))


def root_of_powers(
    x: Var, order: float, axes: tuple[int, ...], keepdims: bool, is_signed: bool = False
) -> Var | None:
    """Return the root of the sum of powers, of magnitudes unless signed, of float32.

    None where the powers would be no numbers of float64, or are no products and roots.
    """
    if x.dtype != "float32" or not 1.5 <= order <= 6.5 or (2 * order) % 1 != 0:
        return None
    return _core.norm(x, axes, keepdims, 1.0, float(order), is_signed)
