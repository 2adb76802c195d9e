# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What distributions are told: types and parameters."""

from __future__ import annotations

from .. import _core
from .._core import Var
from .._defaults import float_type
from .._domains import FINITE, POSITIVE_FINITE, POSITIVE_PROBABILITY, PROBABILITY, Domain
from .._errors import at_line
from .._typing import DType, Shape, VarLike, as_var
from ..ops.reduce.reduction import all_fit

__all__ = ["float_types", "parameter", "probability_of"]


def float_types(name: str, dtype: DType | None) -> tuple[str, str]:
    """Return the dtype of a result, by default the default, and that in which it is computed."""
    result = _core.dtype(float_type(dtype))
    if "float" not in result:
        raise at_line(TypeError(f"{name}: given {result}, expected a float type"))
    return result, "float64" if result == "float64" else "float32"


def parameter(
    name: str,
    what: str,
    value: VarLike,
    shape: Shape,
    wide: str,
    *,
    positive: bool = False,
    domain: Domain | None = None,
) -> Var | float:
    """Return a parameter: a number as it is, or a Var that broadcasts to the shape.

    Raises
    ------
    ValueError
        If a number is not finite, has to be positive and is not, or is out of the domain
        that is given; if a Var does not broadcast. Elements of a Var are not looked at.
    """
    domain = (POSITIVE_FINITE if positive else FINITE) if domain is None else domain
    domain.check(name, **{what: value})
    if isinstance(value, int | float):
        return float(value)
    var = as_var(value).cast(wide)
    if var.ndim > len(shape) or not all_fit(var.shape, tuple(shape[len(shape) - var.ndim :])):
        raise at_line(
            ValueError(
                f"{name}: {what} has shape {var.shape}, which does not broadcast to {tuple(shape)}"
            )
        )
    return var


def probability_of(
    name: str, probability: VarLike, shape: Shape, *, may_be_none: bool = True
) -> Var | float:
    """Return a probability, in float64; no gradient flows to it.

    Raises
    ------
    ValueError
        If a number is not in [0, 1], or is 0 and must not be, or a Var does not broadcast to
        the shape.
    """
    domain = PROBABILITY if may_be_none else POSITIVE_PROBABILITY
    given = parameter(name, "probability", probability, shape, "float64", domain=domain)
    return given.detach() if isinstance(given, Var) else given
