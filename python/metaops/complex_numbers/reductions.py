# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products and deviations of complex numbers along dimensions."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._core import Var
from .._typing import normalised_axes, refuse_out
from ..ops.reduce import reduction
from ..ops.reduce.cumulative import associative_scan
from . import arithmetic
from .dtypes import as_complex_dtype, find_dtype, half_of
from .formulas import magnitude
from .halves import kept
from .operands import as_complex
from .pair import Complex

__all__ = ["cumprod", "prod", "std", "var"]


def _typed(what: str, x: Any, dtype: Any) -> Complex:
    """Return x with a complex type, or as it is without one."""
    return as_complex(x, None if dtype is None else half_of(as_complex_dtype(what, dtype)))


def _real_dtype(dtype: Any) -> Any:
    """Return the type of halves for a complex one, and others as they are."""
    found = find_dtype(dtype)
    return dtype if found is None else half_of(found)


def _front(x: Var, axes: tuple[int, ...]) -> Var:
    """Return a tensor whose reduced dimensions are one, in front."""
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    moved = x.transpose([*axes, *kept]) if axes else x
    return moved.reshape((-1, *(x.shape[axis] for axis in kept))) if x.size else moved


def prod(
    x: Any,
    dim: Any = None,
    keepdims: bool = False,
    *,
    dtype: Any = None,
    initial: Any = None,
    where: Any = None,
    out: Any = None,
) -> Complex:
    """Return the product along dimensions, of halves of the elements again and again."""
    refuse_out("prod", out)
    z = _typed("prod", x, dtype)
    if where is not None:
        z = arithmetic.where(where, z, 1)
    axes = normalised_axes(dim, z.ndim)
    shape = tuple(1 if axis in axes else extent for axis, extent in enumerate(z.shape))
    count = 1
    for axis in axes:
        count *= z.shape[axis]
    if count == 0:
        kept = tuple(extent for axis, extent in enumerate(z.shape) if axis not in axes)
        ones = _core.full(kept, 1, z.real.dtype)
        z = Complex._of(ones, _core.full(kept, 0, z.real.dtype))
    elif axes:
        z = Complex._of(_front(z.real, axes), _front(z.imag, axes))
        while count > 1:
            pairs = count // 2
            whole = arithmetic.multiply(_rows(z, 0, pairs), _rows(z, pairs, 2 * pairs))
            if count % 2:
                rest = _rows(z, 2 * pairs, count)
                whole = Complex._of(
                    _core.concat([whole.real, rest.real], 0),
                    _core.concat([whole.imag, rest.imag], 0),
                )
            z, count = whole, count - pairs
        z = Complex._of(z.real[0], z.imag[0])
    if keepdims:
        z = Complex._of(z.real.reshape(shape), z.imag.reshape(shape))
    return z if initial is None else arithmetic.multiply(z, initial)


def _rows(z: Complex, start: int, stop: int) -> Complex:
    return Complex._of(z.real[start:stop], z.imag[start:stop])


def cumprod(
    x: Any,
    dim: Any = None,
    dtype: Any = None,
    out: Any = None,
    *,
    reverse: bool = False,
    exclusive: bool = False,
) -> Complex:
    """Return the products of the elements up to each one."""
    refuse_out("cumprod", out)
    z = _typed("cumprod", x, dtype)
    if dim is None:
        z, dim = Complex._of(z.real.reshape(-1), z.imag.reshape(-1)), 0
    if exclusive:
        z = _shifted(z, dim, reverse)

    def combine(first: list[Var], second: list[Var]) -> list[Var]:
        product = arithmetic.multiply(Complex._of(*first), Complex._of(*second))
        return [product.real, product.imag]

    return Complex._of(*associative_scan(combine, [z.real, z.imag], dim, reverse=reverse))


def _shifted(z: Complex, dim: int, reverse: bool) -> Complex:
    """Return the elements one place on, behind a 1."""
    extent = z.shape[dim]
    if not extent:
        return z
    axis = dim % z.ndim
    kept: list[Any] = [slice(None)] * z.ndim
    kept[axis] = slice(1, None) if reverse else slice(0, extent - 1)
    edge = tuple(1 if k == axis else count for k, count in enumerate(z.shape))
    halves = []
    for part, number in ((z.real, 1), (z.imag, 0)):
        pieces = [_core.full(edge, number, part.dtype), part[tuple(kept)]]
        halves.append(_core.concat(pieces[::-1] if reverse else pieces, axis))
    return Complex._of(*halves)


def var(
    x: Any,
    dim: Any = None,
    keepdims: bool = False,
    *,
    correction: float = 0,
    dtype: Any = None,
    where: Any = None,
    out: Any = None,
) -> Var:
    """Return the mean of the squared distances from the mean: the sum of both halves' variances."""
    z = as_complex(x)
    correction = kept("var", "correction", correction)
    first, second = (
        reduction.var(
            part,
            dim,
            keepdims,
            correction=correction,
            dtype=_real_dtype(dtype),
            where=where,
            out=out,
        )
        for part in (z.real, z.imag)
    )
    return first + second


def std(
    x: Any,
    dim: Any = None,
    keepdims: bool = False,
    *,
    correction: float = 0,
    dtype: Any = None,
    where: Any = None,
    out: Any = None,
) -> Var:
    """Return the square root of `var`, whose gradient is 0 where that is 0."""
    z = as_complex(x)
    correction = kept("std", "correction", correction)
    return magnitude(
        *(
            reduction.std(
                part,
                dim,
                keepdims,
                correction=correction,
                dtype=_real_dtype(dtype),
                where=where,
                out=out,
            )
            for part in (z.real, z.imag)
        )
    )
