# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients bounded before a step."""

from __future__ import annotations

import math
from collections.abc import Iterable

from .._core import Var, array, transfer
from .._devices import device_of
from .._errors import at_line
from .._targets import note_alike
from .._typing import VarLike, as_var, shown, widened
from ..ops.elementwise.elementwise import clip, minimum
from ..ops.reduce.norms import norm
from ..ops.shape.stacking import stack

__all__ = ["clip_grad_norm", "clip_grad_value"]

#: Added to the norm by which the bound is divided.
_EPS = 1e-6


def _as_gradients(name: str, gradients: Iterable[VarLike]) -> list[Var]:
    if isinstance(gradients, Var):
        raise at_line(TypeError(f"{name}: gradients are a Var, expected a sequence of Vars"))
    result = [as_var(gradient) for gradient in gradients]
    for gradient in result:
        if "float" not in gradient.dtype:
            raise at_line(TypeError(f"{name}: a gradient is {gradient.dtype}, expected floats"))
    return result


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
        The order of the norm, as in `metaops.norm`.

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
    if not max_norm >= 0:
        raise at_line(
            ValueError(
                f"clip_grad_norm: max_norm is {shown(max_norm)}, expected a number that is not"
                " negative"
            )
        )
    given = _as_gradients("clip_grad_norm", gradients)
    if not given:
        return [], array(0.0)
    # The gradients may be on several devices.
    place = device_of(given[0])
    norms = [transfer(norm(widened(gradient)[0], norm_type), place) for gradient in given]
    dtype = "float64" if any(own.dtype == "float64" for own in norms) else "float32"
    total = norm(stack([own.cast(dtype) for own in norms]), norm_type)
    # Another bound is no other program.
    bound = array(max_norm, dtype)
    scale = minimum(bound / (total + _EPS), array(1.0, dtype))
    scales = {own: transfer(scale, own) for own in {device_of(gradient) for gradient in given}}
    clipped = [
        (gradient * scales[device_of(gradient)].cast(widened(gradient)[0].dtype)).cast(
            gradient.dtype
        )
        for gradient in given
    ]
    note_alike(clipped, given)
    return clipped, total


def clip_grad_value(gradients: Iterable[VarLike], clip_value: float) -> list[Var]:
    """Return gradients moved into ``[-clip_value, clip_value]``.

    Raises
    ------
    ValueError
        If `clip_value` is negative.
    """
    if not clip_value >= 0:
        raise at_line(
            ValueError(
                f"clip_grad_value: clip_value is {shown(clip_value)}, expected a number that is not"
                " negative"
            )
        )
    given = _as_gradients("clip_grad_value", gradients)
    if math.isinf(clip_value):
        clipped = [+gradient for gradient in given]
    else:
        clipped = [clip(gradient, -clip_value, clip_value) for gradient in given]
    note_alike(clipped, given)
    return clipped
