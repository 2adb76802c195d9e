# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Statistics: reductions without NaN, weighted means, covariances."""

from __future__ import annotations

import math

from ..._core import Var, full
from ..._domains import FINITE, NOT_NEGATIVE
from ..._errors import at_line
from ..._typing import Axes, VarLike, as_var, normalised_axes, widened, widened_together
from ..elementwise.elementwise import clip, maximum, where
from ..reduce import reduction
from ..reduce._squares import root_of_squares
from ..shape.stacking import concat

__all__ = [
    "average",
    "corrcoef",
    "cov",
    "nanmax",
    "nanmean",
    "nanmin",
    "nanprod",
    "nanstd",
    "nansum",
    "nanvar",
]


def _numbers(x: Var) -> Var | None:
    """Return where x is a number; None if it is everywhere, by its type."""
    return x == x if "float" in x.dtype else None


def nansum(x: VarLike, dim: Axes = None, keepdims: bool = False) -> Var:
    """Return the sum of what is not NaN; 0 over nothing."""
    x = as_var(x)
    return reduction.sum(x, dim, keepdims, where=_numbers(x))


def nanprod(x: VarLike, dim: Axes = None, keepdims: bool = False) -> Var:
    """Return the product of what is not NaN; 1 over nothing."""
    x = as_var(x)
    return reduction.prod(x, dim, keepdims, where=_numbers(x))


def nanmean(x: VarLike, dim: Axes = None, keepdims: bool = False) -> Var:
    """Return the mean of what is not NaN; NaN over nothing."""
    x = as_var(x)
    return reduction.mean(x, dim, keepdims, where=_numbers(x))


def nanvar(x: VarLike, dim: Axes = None, keepdims: bool = False, *, correction: float = 0) -> Var:
    """Return the variance, as `metaops.var`, of what is not NaN."""
    x = as_var(x)
    return reduction.var(x, dim, keepdims, correction=correction, where=_numbers(x))


def nanstd(x: VarLike, dim: Axes = None, keepdims: bool = False, *, correction: float = 0) -> Var:
    """Return the standard deviation, as `metaops.std`, of what is not NaN."""
    x = as_var(x)
    return reduction.std(x, dim, keepdims, correction=correction, where=_numbers(x))


def nanmax(x: VarLike, dim: Axes = None, keepdims: bool = False) -> Var:
    """Return the largest element that is not NaN; NaN where there is none."""
    x = as_var(x)
    numbers = _numbers(x)
    result = reduction.max(x, dim, keepdims, where=numbers)
    return result if numbers is None else where(numbers.any(dim, keepdims), result, math.nan)


def nanmin(x: VarLike, dim: Axes = None, keepdims: bool = False) -> Var:
    """Return the smallest element that is not NaN; NaN where there is none."""
    x = as_var(x)
    numbers = _numbers(x)
    result = reduction.min(x, dim, keepdims, where=numbers)
    return result if numbers is None else where(numbers.any(dim, keepdims), result, math.nan)


def average(
    x: VarLike,
    dim: Axes = None,
    weights: VarLike | None = None,
    returned: bool = False,
    keepdims: bool = False,
) -> Var | tuple[Var, Var]:
    """Return the weighted mean, a float; NaN where the weights sum to 0.

    Computed in the type to which x and the weights are promoted, halves in float32;
    integers give float32.

    Parameters
    ----------
    x
        Any shape.
    dim, keepdims
        As in every reduction.
    weights
        Of x's shape, or of the extents of `dim` only, in rising order. Without any it
        is the mean.
    returned
        Whether the sum of the weights is returned as well, in the result's shape.

    Raises
    ------
    ValueError
        If the weights have another shape.
    """
    if weights is None:
        x, dtype = widened(x)
    else:
        (x, weight), dtype = widened_together(x, weights)
    axes = normalised_axes(dim, x.ndim)
    if weights is None:
        result = x.mean(axes, keepdims).cast(dtype)
        count = math.prod(x.shape[axis] for axis in axes)
        return (result, full(result.shape, count, dtype)) if returned else result
    if weight.shape != x.shape:
        if weight.shape != tuple(x.shape[axis] for axis in axes):
            raise at_line(
                ValueError(
                    f"average: weights have shape {weight.shape}, expected {x.shape} or the"
                    f" extents of the dimensions {axes}"
                )
            )
        others = [axis for axis in range(x.ndim) if axis not in axes]
        weight = weight.broadcast(x.shape, others)
    total = weight.sum(axes, keepdims)
    result = ((x * weight).sum(axes, keepdims) / total).cast(dtype)
    return (result, total.cast(dtype)) if returned else result


def _rows(x: VarLike, what: str, rowvar: bool) -> Var:
    """Return variables as rows of observations, of floats wide enough."""
    x = as_var(x)
    if x.ndim > 2:
        raise at_line(
            ValueError(f"{what}: given a tensor of shape {x.shape}, expected at most 2 dimensions")
        )
    if x.ndim < 2:
        return x.reshape((1, -1))
    return x if rowvar else x.transpose((1, 0))


def _observation_weights(what: str, name: str, weights: VarLike, x: Var) -> Var:
    NOT_NEGATIVE.check(what, **{name: weights})
    weight = as_var(weights)
    if weight.shape != x.shape[1:]:
        raise at_line(
            ValueError(
                f"{what}: {name} has shape {weight.shape}, expected {x.shape[1:]},"
                " one for each observation"
            )
        )
    return weight.cast(x.dtype)


def cov(
    x: VarLike,
    y: VarLike | None = None,
    rowvar: bool = True,
    bias: bool = False,
    correction: float | None = None,
    fweights: VarLike | None = None,
    aweights: VarLike | None = None,
) -> Var:
    """Return the covariances of variables, as ``numpy.cov``.

    Halves are computed in float32; integers give float32.

    Parameters
    ----------
    x
        ``(variables, observations)``, or the observations of one variable.
    y
        Further variables, of the same form.
    rowvar
        False if x and y are ``(observations, variables)``.
    bias
        Whether to divide by the number of observations; by default by one less.
    correction
        What is subtracted from that number instead.
    fweights
        How often each observation occurs, integers.
    aweights
        How much each observation counts.

    Returns
    -------
    Var
        ``(variables, variables)``, or no dimensions for one variable.

    Raises
    ------
    ValueError
        If there are more than two dimensions, weights of another number, or weights that
        are negative.
    """
    given = _rows(x, "cov", rowvar)
    if y is not None:
        given = concat([given, _rows(y, "cov", rowvar)])
    return _covariance("cov", given, bias, correction, fweights, aweights)


def _covariance(
    what: str,
    given: Var,
    bias: bool = False,
    correction: float | None = None,
    fweights: VarLike | None = None,
    aweights: VarLike | None = None,
) -> Var:
    rows, dtype = widened(given)
    if correction is None:
        correction = 0 if bias else 1
    FINITE.check(what, correction=correction)
    count = rows.shape[1]
    if fweights is None and aweights is None:
        centred = rows - rows.mean(1, True)
        products = centred @ centred.transpose((1, 0))
        divisor = count - correction
        result = products / (divisor if divisor > 0 else 0.0)
    else:
        repeated, weight, important = None, None, None
        if fweights is not None:
            repeated = weight = _observation_weights(what, "fweights", fweights, rows)
        if aweights is not None:
            important = _observation_weights(what, "aweights", aweights, rows)
            weight = important if repeated is None else repeated * important
        assert weight is not None
        total = weight.sum()
        centred = rows - (rows * weight).sum(1, True) / total
        if important is None:
            divisor_var = total - correction
        else:
            divisor_var = total - correction * (weight * important).sum() / total
        products = (centred * weight) @ centred.transpose((1, 0))
        result = products / maximum(divisor_var, 0)
    return (result if rows.shape[0] != 1 else result.reshape(())).cast(dtype)


def corrcoef(x: VarLike, y: VarLike | None = None, rowvar: bool = True) -> Var:
    """Return Pearson's correlation coefficients of variables, as ``numpy.corrcoef``.

    Halves are computed in float32; integers give float32.

    Parameters
    ----------
    x, y, rowvar
        As of `cov`.

    Returns
    -------
    Var
        ``(variables, variables)`` in [-1, 1], or no dimensions for one variable. NaN
        for one that does not vary.

    Raises
    ------
    ValueError
        If there are more than two dimensions.
    """
    given = _rows(x, "corrcoef", rowvar)
    if y is not None:
        given = concat([given, _rows(y, "corrcoef", rowvar)])
    rows, dtype = widened(given)
    centred = rows - rows.mean(1, True)
    units = centred / root_of_squares(centred, (1,), True)
    result = clip(units @ units.transpose((1, 0)), -1, 1).cast(dtype)
    return result if rows.shape[0] != 1 else result.reshape(())
