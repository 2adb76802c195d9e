# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What normalisations share: moments, and what is done with them."""

from __future__ import annotations

from collections.abc import Sequence

from .._core import Var
from .._errors import at_line
from .._typing import VarLike, as_var

__all__: list[str] = []


def moments(x: Var, axes: Sequence[int]) -> tuple[Var, Var, Var]:
    """Return x less its mean, the mean and the variance; reduced extents are 1.

    The variance is that of the centred values. The mean of squares less the
    squared mean would need one pass, but loses all digits where the mean is
    large beside the deviation.
    """
    mean = x.mean(axes, True)
    centred = x - mean
    return centred, mean, (centred * centred).mean(axes, True)


def scaled(
    centred: Var,
    variance: Var,
    weight: Var | None,
    bias: Var | None,
    shape: Sequence[int],
    dtype: str,
) -> Var:
    """Return the centred x divided by its deviation, scaled and moved.

    `shape` is that under which weight and bias broadcast with x. There is one
    division for each variance, not for each element.
    """
    result = centred * (1.0 / variance.sqrt())
    if weight is not None:
        result = result * weight.reshape(shape)
    if bias is not None:
        result = result + bias.reshape(shape)
    return result.cast(dtype)


def of_shape(name: str, what: str, value: VarLike | None, shape: tuple[int, ...]) -> Var | None:
    """Return a parameter as a Var, if there is one."""
    if value is None:
        return None
    value = as_var(value)
    if value.shape != shape:
        raise at_line(ValueError(f"{name}: {what} has shape {value.shape}, expected {shape}"))
    return value


def with_channels(name: str, x: VarLike, least: int) -> Var:
    """Return x as a Var of ``(N, C, ...)``.

    Raises
    ------
    ValueError
        If it has fewer than `least` dimensions. The message begins with `name`.
    """
    x = as_var(x)
    if x.ndim < least:
        raise at_line(
            ValueError(
                f"{name}: input has shape {x.shape}, expected (N, C, ...) with at least {least}"
                " dimensions"
            )
        )
    return x
