# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What distributions are told: types and parameters."""

from __future__ import annotations

import math

from . import _core
from ._core import Var
from ._errors import at_line
from ._typing import DType, Shape, VarLike, as_var
from .reduction import all_fit

__all__ = ["float_types", "parameter", "probability_of"]


def float_types(name: str, dtype: DType) -> tuple[str, str]:
    """Return the dtype of a result, and that in which it is computed."""
    result = _core.dtype(dtype)
    if "float" not in result:
        raise at_line(TypeError(f"{name}: given {result}, expected a float type"))
    return result, "float64" if result == "float64" else "float32"


def parameter(
    name: str, what: str, value: VarLike, shape: Shape, wide: str, *, positive: bool = False
) -> Var | float:
    """Return a parameter: a number as it is, or a Var that broadcasts to the shape.

    Raises
    ------
    ValueError
        If a number is not finite, or has to be positive and is not; if a Var does not
        broadcast. Elements of a Var are not looked at.
    """
    if isinstance(value, int | float):
        if not math.isfinite(value) or (positive and value <= 0):
            expected = "a positive number" if positive else "a finite number"
            raise at_line(ValueError(f"{name}: {what} is {value}, expected {expected}"))
        return float(value)
    var = as_var(value).cast(wide)
    if var.ndim > len(shape) or not all_fit(var.shape, tuple(shape[len(shape) - var.ndim :])):
        raise at_line(
            ValueError(
                f"{name}: {what} has shape {var.shape}, which does not broadcast to {tuple(shape)}"
            )
        )
    return var


def probability_of(name: str, probability: VarLike, shape: Shape) -> Var | float:
    """Return a probability, in float64; no gradient flows to it.

    Raises
    ------
    ValueError
        If a number is not in [0, 1], or a Var does not broadcast to the shape.
    """
    given = parameter(name, "probability", probability, shape, "float64")
    if isinstance(given, float) and not 0.0 <= given <= 1.0:
        raise at_line(ValueError(f"{name}: probability is {given}, expected one in [0, 1]"))
    return given.detach() if isinstance(given, Var) else given
