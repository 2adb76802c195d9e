# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cumulative functions: each element combined with all that come before it.

Along a dimension, or, without one, of x flattened. `reverse` begins at the other
end; `exclusive` leaves each element itself out, so that the first result is what
nothing makes: 0, 1, an infinity or the end of the integers.

A result depends on the extent and on the elements alone, whatever the number of
threads, and sums of numbers that are not negative never fall (docs/Spec.md). The
gradients divide by nothing, so those at zeros and ties are right.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ... import _core
from ..._core import Var
from ..._errors import at_line
from ..._typing import (
    DType,
    VarLike,
    as_line,
    as_var,
    lengthened,
    normalised_axis,
    refuse_out,
    widened,
)
from ..elementwise.elementwise import where
from ..shape.shaping import flip
from ..shape.stacking import concat

__all__ = [
    "associative_scan",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "cumulative_prod",
    "cumulative_sum",
    "linear_recurrence",
    "logcumsumexp",
]


def _prefix(kind: str, x: Var, dim: int | None, reverse: bool, exclusive: bool) -> Var:
    if dim is None:
        x, dim = x.reshape((-1,)), 0
    line, axis = as_line(x, dim)
    result = _core.prefix(kind, line, None, axis, bool(reverse), bool(exclusive))
    return result if x.ndim else result.reshape(())


def _summed(x: VarLike, dtype: DType | None) -> Var:
    """Return x in the dtype of its sums: integers and booleans have 64 bits."""
    x = as_var(x)
    return lengthened(x)[0] if dtype is None else x.cast(dtype)


def cumsum(
    x: VarLike,
    dim: int | None = None,
    dtype: DType | None = None,
    out: None = None,
    *,
    reverse: bool = False,
    exclusive: bool = False,
) -> Var:
    """Return the sums of the elements up to each one.

    Parameters
    ----------
    x
        Numbers or booleans.
    dim
        The dimension; without one, x is flattened first.
    dtype
        Of the result; by default integers and booleans are summed in 64 bits.
    out
        NumPy's, and None: the result is a tensor of its own.
    reverse, exclusive
        See the module.

    Returns
    -------
    Var
        Of x's shape. float16 and bfloat16 are summed in float32.

    Raises
    ------
    ValueError
        If `dim` is out of range.
    """
    refuse_out("cumsum", out)
    return _prefix("add", _summed(x, dtype), dim, reverse, exclusive)


def cumprod(
    x: VarLike,
    dim: int | None = None,
    dtype: DType | None = None,
    out: None = None,
    *,
    reverse: bool = False,
    exclusive: bool = False,
) -> Var:
    """Return the products of the elements up to each one; see `cumsum`."""
    refuse_out("cumprod", out)
    return _prefix("mul", _summed(x, dtype), dim, reverse, exclusive)


def cummax(
    x: VarLike, dim: int | None = None, *, reverse: bool = False, exclusive: bool = False
) -> Var:
    """Return the largest of the elements up to each one; NaN from the first NaN on.

    The gradient goes to the first of equal elements. See `cumsum`.
    """
    return _extreme("max", x, dim, reverse, exclusive)


def cummin(
    x: VarLike, dim: int | None = None, *, reverse: bool = False, exclusive: bool = False
) -> Var:
    """Return the smallest of the elements up to each one; see `cummax`."""
    return _extreme("min", x, dim, reverse, exclusive)


def _extreme(kind: str, x: VarLike, dim: int | None, reverse: bool, exclusive: bool) -> Var:
    x = as_var(x)
    if x.dtype == "bool":
        return _prefix(kind, x.cast("uint8"), dim, reverse, exclusive).cast("bool")
    return _prefix(kind, x, dim, reverse, exclusive)


def logcumsumexp(
    x: VarLike, dim: int | None = None, *, reverse: bool = False, exclusive: bool = False
) -> Var:
    """Return the logarithms of the sums of ``exp(x)`` up to each element.

    Without overflow in between. Integers become float32. See `cumsum`.
    """
    x, dtype = widened(x)
    return _prefix("logaddexp", x, dim, reverse, exclusive).cast(dtype)


def linear_recurrence(
    factors: VarLike, x: VarLike, dim: int = -1, *, reverse: bool = False, exclusive: bool = False
) -> Var:
    """Return h with ``h[k] = factors[k] * h[k - 1] + x[k]`` along a dimension.

    Before the first element h is 0: another start is added to it,
    ``x[0] + factors[0] * start``.

    Parameters
    ----------
    factors, x
        Numbers of one shape.
    dim
        The dimension.
    reverse, exclusive
        See the module.

    Raises
    ------
    ValueError
        If the shapes differ or `dim` is out of range.
    """
    x, factors = as_var(x), as_var(factors)
    line, axis = as_line(x, dim)
    factors = factors if factors.ndim else factors.reshape((1,))
    result = _core.prefix("linear", line, factors, axis, bool(reverse), bool(exclusive))
    return result if x.ndim else result.reshape(())


def _standard(
    function: Callable[..., Var], x: VarLike, dim: int | None, dtype: DType | None, initial: bool
) -> Var:
    """Return a cumulative function as the array API has it."""
    x = as_var(x)
    name = f"cumulative_{function.__name__[3:]}"
    if dim is None and x.ndim != 1:
        raise at_line(
            ValueError(f"{name}: x has {x.ndim} dimensions, so one has to be given as dim")
        )
    axis = normalised_axis(0 if dim is None else dim, x.ndim)
    result = function(x, axis, dtype)
    if not initial:
        return result
    shape = (*result.shape[:axis], 1, *result.shape[axis + 1 :])
    start = 0 if function is cumsum else 1
    return concat([_core.full(shape, start, result.dtype), result], axis)


def cumulative_sum(
    x: VarLike,
    dim: int | None = None,
    *,
    dtype: DType | None = None,
    include_initial: bool = False,
) -> Var:
    """Return `cumsum` as the array API has it.

    Parameters
    ----------
    x
        Numbers.
    dim
        The dimension; it may be left out where there is one only.
    dtype
        As in `cumsum`.
    include_initial
        Whether a 0 comes first: the dimension is one longer then.

    Raises
    ------
    ValueError
        If `dim` is missing or out of range.
    """
    return _standard(cumsum, x, dim, dtype, include_initial)


def cumulative_prod(
    x: VarLike,
    dim: int | None = None,
    *,
    dtype: DType | None = None,
    include_initial: bool = False,
) -> Var:
    """Return `cumprod` as the array API has it; see `cumulative_sum`."""
    return _standard(cumprod, x, dim, dtype, include_initial)


# Scans of any function


def _part(x: Var, axis: int, start: int | None, stop: int | None = None, step: int = 1) -> Var:
    return x[(slice(None),) * axis + (slice(start, stop, step),)]


def _interleaved(even: Var, odd: Var, axis: int, extent: int) -> Var:
    """Return elements by turns; `even` has the first."""
    shape = (*even.shape[:axis], extent, *even.shape[axis + 1 :])
    indices = [f"i{axis}/2" if k == axis else f"i{k}" for k in range(len(shape))]
    is_even = _core.iota(shape, axis, "int64") % 2 == 0
    return where(is_even, even.reindex(shape, indices), odd.reindex(shape, indices))


def associative_scan(
    function: Callable[[Any, Any], Any],
    elements: VarLike | Sequence[VarLike],
    dim: int = 0,
    *,
    reverse: bool = False,
) -> Any:
    """Return the elements up to each one, combined by an associative function.

    Where a cumulative function has no name of its own. The function is called of the
    order of ``log2(n)`` times, on parts of half, a quarter and so on of the elements
    (Blelloch, Prefix Sums and Their Applications, 1990).

    Parameters
    ----------
    function
        Of two elements, or of two lists of tensors if several are given; what it
        returns has their shapes. Called on many elements at once.
    elements
        A tensor, or several that have one extent along the dimension.
    dim
        The dimension.
    reverse
        Whether to begin at the last element.

    Returns
    -------
    Var or list of Var
        As `elements`.

    Raises
    ------
    ValueError
        If extents differ or `dim` is out of range.

    Examples
    --------
    >>> mo.associative_scan(mo.maximum, x, dim=1)
    """
    is_one = not isinstance(elements, list | tuple)
    several: Any = [elements] if is_one else elements
    given = [as_var(x) for x in several]
    if not given:
        raise at_line(ValueError("associative_scan: no elements are given"))
    axes = [normalised_axis(dim, x.ndim) for x in given]
    extents = {x.shape[axis] for x, axis in zip(given, axes, strict=True)}
    if len(extents) > 1:
        raise at_line(
            ValueError(f"associative_scan: extents along the dimension are {sorted(extents)}")
        )

    def combine(xs: Sequence[Var], ys: Sequence[Var]) -> list[Var]:
        result = function(xs[0], ys[0]) if is_one else function(list(xs), list(ys))
        return [result] if is_one else list(result)

    if reverse:
        given = [flip(x, axis) for x, axis in zip(given, axes, strict=True)]
    result = [+x for x in _scan(combine, given, axes, extents.pop())]
    if reverse:
        result = [flip(x, axis) for x, axis in zip(result, axes, strict=True)]
    return result[0] if is_one else result


def _scan(
    combine: Callable[[Sequence[Var], Sequence[Var]], list[Var]],
    xs: Sequence[Var],
    axes: Sequence[int],
    extent: int,
) -> Sequence[Var]:
    """Return what has been combined up to each place, by halves."""

    def parts(ys: Sequence[Var], *bounds: Any) -> list[Var]:
        return [_part(y, axis, *bounds) for y, axis in zip(ys, axes, strict=True)]

    if extent < 2:
        return xs
    half = extent // 2
    pairs = combine(parts(xs, 0, 2 * half, 2), parts(xs, 1, None, 2))
    odd = _scan(combine, pairs, axes, half)
    first = parts(xs, 0, 1)
    if extent > 2:
        later = combine(parts(odd, 0, (extent - 1) // 2), parts(xs, 2, None, 2))
        even = [concat(ps, axis) for *ps, axis in zip(first, later, axes, strict=True)]
    else:
        even = first
    return [_interleaved(*pair, extent) for pair in zip(even, odd, axes, strict=True)]
