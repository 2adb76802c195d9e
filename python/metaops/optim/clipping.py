# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients bounded before a step."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from .._core import Var, array, transfer
from .._devices import device_of
from .._errors import at_line
from .._targets import note_alike
from .._typing import VarLike, as_var, shown, widened
from ..complex_numbers.pair import Complex, separated, together
from ..ops.elementwise.elementwise import clip, minimum
from ..ops.elementwise.functions import hypot
from ..ops.reduce.norms import norm
from ..ops.shape.stacking import stack

__all__ = ["check_bound", "clip_grad_norm", "clip_grad_value"]

#: Added to the norm by which the bound is divided.
_EPS = 1e-6


def _as_gradients(name: str, gradients: Iterable[VarLike]) -> list[Any]:
    given: Any = gradients
    if isinstance(given, Var | Complex):
        kind = type(given).__name__
        raise at_line(TypeError(f"{name}: gradients are a {kind}, expected a sequence of Vars"))
    result = [x if isinstance(x, Complex) else as_var(x) for x in given]
    for gradient in separated(result):
        if "float" not in gradient.dtype:
            raise at_line(TypeError(f"{name}: a gradient is {gradient.dtype}, expected floats"))
    return result


def check_bound(what: str, bound: float) -> None:
    """Raise a ``ValueError`` if a bound is negative."""
    if not bound >= 0:
        raise at_line(
            ValueError(f"{what} is {shown(bound)}, expected a number that is not negative")
        )


def clip_grad_norm(
    gradients: Iterable[VarLike], max_norm: float, norm_type: float = 2.0
) -> tuple[list[Var], Var]:
    """Return gradients scaled so that their norm is at most `max_norm`, and the norm.

    To clip within a step::

        gradients = mo.grad(loss, optimizer.parameters)
        gradients, norm = mo.optim.clip_grad_norm(gradients, 1.0)
        optimizer.apply(gradients)

    Parameters
    ----------
    gradients
        Such as `metaops.grad` returns.
    max_norm
        The bound of the norm of all gradients together.
    norm_type
        The order of the norm, as in `metaops.norm`. A `Complex` counts by its absolute
        values.

    Returns
    -------
    list of Var, Var
        The gradients, which move the same parameters as those given, and the 0-d norm
        that they had.

    Raises
    ------
    ValueError
        If `max_norm` is negative.
    """
    check_bound("clip_grad_norm: max_norm", max_norm)
    given = _as_gradients("clip_grad_norm", gradients)
    if not given:
        return [], array(0.0)
    # The gradients may be on several devices.
    place = device_of(separated(given)[0])
    norms = [transfer(norm(_sizes(gradient), norm_type), place) for gradient in given]
    dtype = "float64" if any(own.dtype == "float64" for own in norms) else "float32"
    total = norm(stack([own.cast(dtype) for own in norms]), norm_type)
    # Another bound is no other program.
    bound = array(max_norm, dtype)
    scale = minimum(bound / (total + _EPS), array(1.0, dtype))
    halves = separated(given)
    scales = {own: transfer(scale, own) for own in {device_of(gradient) for gradient in halves}}
    clipped = [
        (gradient * scales[device_of(gradient)].cast(widened(gradient)[0].dtype)).cast(
            gradient.dtype
        )
        for gradient in halves
    ]
    note_alike(clipped, halves)
    return together(given, clipped), total


def _sizes(gradient: Any) -> Var:
    """Return what a norm is of: the absolute values of complex numbers."""
    if isinstance(gradient, Complex):
        return hypot(gradient.real, gradient.imag)
    return widened(gradient)[0]


def clip_grad_value(gradients: Iterable[VarLike], clip_value: float) -> list[Var]:
    """Return gradients moved into ``[-clip_value, clip_value]``, each half of complex ones.

    Raises
    ------
    ValueError
        If `clip_value` is negative.
    """
    check_bound("clip_grad_value: clip_value", clip_value)
    given = _as_gradients("clip_grad_value", gradients)
    halves = separated(given)
    if math.isinf(clip_value):
        clipped = [+gradient for gradient in halves]
    else:
        clipped = [clip(gradient, -clip_value, clip_value) for gradient in halves]
    note_alike(clipped, halves)
    return together(given, clipped)
