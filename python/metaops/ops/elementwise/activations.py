# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Activation functions, stable for large magnitudes in value and gradient.

Halves are computed in float32 and rounded once. Integers give float32, and are computed as
floats from the beginning (docs/Types.md); those functions that return x itself, or a number
that they are given, keep the type.
"""

from __future__ import annotations

import math
from typing import Any

from ..._core import Var
from ..._domains import FINITE, NOT_NEGATIVE, NUMBER, check_rising
from ..._errors import at_line
from ..._typing import (
    VarLike,
    as_var,
    normalised_axes,
    normalised_axis,
    shown,
    unrounded,
    widened,
    widened_together,
)
from .elementwise import abs, clip, where
from .functions import erf, exp, expm1, log, log1p, tanh

__all__ = [
    "celu",
    "elu",
    "gelu",
    "glu",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "leaky_relu",
    "log_sigmoid",
    "log_softmax",
    "mish",
    "prelu",
    "relu",
    "relu6",
    "selu",
    "sigmoid",
    "silu",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanhshrink",
    "threshold",
]


def relu(x: VarLike) -> Var:
    """Return x where it is positive, else 0. NaN stays; the gradient at 0 is 0."""
    return where(as_var(x) <= 0, 0, x)


def relu6(x: VarLike) -> Var:
    """Return x moved into [0, 6]."""
    return where(as_var(x) >= 6, 6, relu(x))


def threshold(x: VarLike, threshold: float, value: float) -> Var:
    """Return x where it is above the threshold, else `value`.

    Raises
    ------
    ValueError
        If the threshold is NaN.
    """
    NUMBER.check("threshold", threshold=threshold)
    x = as_var(x)
    # A number is not rounded to a half before x is compared with it.
    return where(unrounded(x) <= threshold, value, x)


def check_bounds(name: str, min_val: float, max_val: float) -> None:
    """Raise ValueError unless two numbers do not fall."""
    NUMBER.check(name, min_val=min_val, max_val=max_val)
    check_rising(name, min_val=min_val, max_val=max_val)


def hardtanh(x: VarLike, min_val: float = -1.0, max_val: float = 1.0) -> Var:
    """Return x moved into ``[min_val, max_val]``; the gradient at both ends is 0.

    Raises
    ------
    ValueError
        If `min_val` is above `max_val`.
    """
    check_bounds("hardtanh", min_val, max_val)
    x = as_var(x)
    return where(x <= min_val, min_val, where(x >= max_val, max_val, x))


def hardsigmoid(x: VarLike) -> Var:
    """Return ``x / 6 + 1 / 2`` moved into [0, 1].

    Halves are computed in float32; integers give float32.
    """
    x, dtype = widened(x)
    return where(x <= -3, 0.0, where(x >= 3, 1.0, x / 6.0 + 0.5)).cast(dtype)


def hardswish(x: VarLike) -> Var:
    """Return ``x * hardsigmoid(x)`` (Howard et al., 2019).

    Halves are computed in float32; integers give float32.
    """
    x, dtype = widened(x)
    is_below, is_above = x <= -3, x >= 3
    # The square of a large x would overflow.
    inside = where(is_below | is_above, 0.0, x)
    result = where(is_below, 0.0, where(is_above, x, inside * (inside / 6.0 + 0.5)))
    return result.cast(dtype)


def hardshrink(x: VarLike, lambd: float = 0.5) -> Var:
    """Return x where its magnitude is above `lambd`, else 0.

    Raises
    ------
    ValueError
        If `lambd` is negative.
    """
    NOT_NEGATIVE.check("hardshrink", lambd=lambd)
    x = as_var(x)
    exact = unrounded(x)
    inside = exact <= lambd
    if not x.dtype.startswith("uint"):
        # Of unsigned integers none is below, and a negative number would be none of them.
        inside = inside & (exact >= -lambd)
    return where(inside, 0, x)


def softshrink(x: VarLike, lambd: float = 0.5) -> Var:
    """Return x moved by `lambd` towards 0, and 0 where it is not farther away.

    Halves are computed in float32; integers give float32.

    Raises
    ------
    ValueError
        If `lambd` is negative.
    """
    NOT_NEGATIVE.check("softshrink", lambd=lambd)
    x, dtype = widened(x)
    inside = (x >= -lambd) & (x <= lambd)
    return where(inside, 0.0, where(x < 0, x + lambd, x - lambd)).cast(dtype)


def tanhshrink(x: VarLike) -> Var:
    """Return ``x - tanh(x)``.

    Halves are computed in float32; integers give float32.
    """
    x, dtype = widened(x)
    return (x - tanh(x)).cast(dtype)


def softsign(x: VarLike) -> Var:
    """Return ``x / (1 + |x|)``.

    Halves are computed in float32; integers give float32.
    """
    x, dtype = widened(x)
    return (x / (1.0 + abs(x))).cast(dtype)


def leaky_relu(x: VarLike, slope: float = 0.01) -> Var:
    """Return x where it is positive, else ``slope * x``.

    Halves are computed in float32; integers give float32.

    Raises
    ------
    ValueError
        If the slope is not finite.
    """
    FINITE.check("leaky_relu", slope=slope)
    x, dtype = widened(x)
    return where(x <= 0, x * slope, x).cast(dtype)


def prelu(x: VarLike, weight: VarLike) -> Var:
    """Return x where it is positive, else ``weight * x`` (He et al., 2015).

    Of the type to which both are promoted; halves are computed in float32.

    Parameters
    ----------
    x
        ``(N, C, ...)``, or any shape with one weight.
    weight
        One number, or ``(C,)``, one for each channel.

    Raises
    ------
    ValueError
        If the weight has another shape.
    """
    (x, weight), dtype = widened_together(x, weight)
    if weight.size != 1:
        channels = x.shape[1] if x.ndim > 1 else 1
        if weight.shape != (channels,):
            raise at_line(
                ValueError(
                    f"prelu: input has shape {x.shape} and the weight {weight.shape},"
                    f" expected (1,) or ({channels},)"
                )
            )
        weight = weight.reshape((-1,) + (1,) * (x.ndim - 2))
    else:
        weight = weight.reshape(())
    return where(x <= 0, weight * x, x).cast(dtype)


def elu(x: VarLike, alpha: float = 1.0) -> Var:
    """Return x where it is positive, else ``alpha * (exp(x) - 1)``.

    Halves are computed in float32; integers give float32.

    Raises
    ------
    ValueError
        If `alpha` is not finite.
    """
    FINITE.check("elu", alpha=alpha)
    return _elu(x, 1.0, alpha, 1.0)


def _elu(x: VarLike, scale: float, alpha: float, rate: float) -> Var:
    """Return ``scale * x`` where x is positive, else ``alpha * (exp(rate * x) - 1)``."""
    x, dtype = widened(x)
    negative = x <= 0
    # The exponential of a large x would overflow, and its gradient be 0 * inf.
    inside = where(negative, x, 0.0)
    falling = expm1(inside if rate == 1.0 else inside * rate)
    # Recording a number and a product takes longer than small arrays do.
    if not isinstance(alpha, int | float) or alpha != 1:
        falling = alpha * falling
    return where(negative, falling, x if scale == 1.0 else x * scale).cast(dtype)


def check_not_zero(name: str, parameter: str, number: float) -> None:
    """Raise ValueError unless a number that is divided by is finite, and not 0."""
    FINITE.check(name, **{parameter: number})
    if isinstance(number, int | float) and number == 0:
        raise at_line(ValueError(f"{name}: {parameter} is 0, expected another number"))


def celu(x: VarLike, alpha: float = 1.0) -> Var:
    """Return x where it is positive, else ``alpha * (exp(x / alpha) - 1)``.

    Halves are computed in float32; integers give float32.

    The derivative is continuous for every alpha (Barron, 2017).

    Raises
    ------
    ValueError
        If `alpha` is 0, or not finite.
    """
    check_not_zero("celu", "alpha", alpha)
    return _elu(x, 1.0, alpha, 1.0 / alpha)


#: The scale and alpha that keep mean 0 and variance 1 of normal numbers.
_SELU_SCALE = 1.0507009873554804934193349852946
_SELU_ALPHA = 1.6732632423543772848170429916717


def selu(x: VarLike) -> Var:
    """Return the scaled `elu` that normalises itself (Klambauer et al., 2017).

    Halves are computed in float32; integers give float32.
    """
    return _elu(x, _SELU_SCALE, _SELU_SCALE * _SELU_ALPHA, 1.0)


def decay_of(x: Var) -> tuple[Var, Var]:
    """Return where x is not negative, and ``exp(-|x|)`` with a derivative at 0."""
    positive = x >= 0
    return positive, exp(where(positive, -x, x))


def sigmoid(x: VarLike) -> Var:
    """Return ``1 / (1 + exp(-x))``.

    Halves are computed in float32; integers give float32.
    """
    x, dtype = widened(x)
    positive, decay = decay_of(x)
    return (where(positive, 1, decay) / (1 + decay)).cast(dtype)


def log_sigmoid(x: VarLike) -> Var:
    """Return the logarithm of ``sigmoid(x)``.

    Halves are computed in float32; integers give float32.
    """
    x, dtype = widened(x)
    return (-softplus(-x)).cast(dtype)


def softplus(x: VarLike, beta: float = 1.0, threshold: float | None = None) -> Var:
    """Return ``log(1 + exp(beta * x)) / beta``.

    Halves are computed in float32; integers give float32.

    Parameters
    ----------
    x
        Floats of any shape.
    beta
        How sharp the bend is.
    threshold
        If given, the result is x where ``beta * x`` is above it. Nothing
        overflows without.

    Raises
    ------
    ValueError
        If `beta` is 0, or not finite.
    """
    check_not_zero("softplus", "beta", beta)
    if threshold is not None:
        NUMBER.check("softplus", threshold=threshold)
    x, dtype = widened(x)
    scaled = x if beta == 1.0 else x * beta
    positive, decay = decay_of(scaled)
    y = where(positive, scaled, 0) + log1p(decay)
    y = y if beta == 1.0 else y / beta
    return (y if threshold is None else where(scaled > threshold, x, y)).cast(dtype)


def silu(x: VarLike) -> Var:
    """Return ``x * sigmoid(x)``.

    Halves are computed in float32; integers give float32.
    """
    x, dtype = widened(x)
    return (x * sigmoid(x)).cast(dtype)


def mish(x: VarLike) -> Var:
    """Return ``x * tanh(softplus(x))`` (Misra, 2019).

    Halves are computed in float32; integers give float32.
    """
    x, dtype = widened(x)
    positive, decay = decay_of(x)
    # The tangent of a logarithm is a quotient of polynomials in exp(x), or in
    # exp(-x) where that is the smaller one.
    numerator = where(positive, 1.0 + 2.0 * decay, decay * (decay + 2.0))
    rest = where(positive, 2.0 * decay * decay, 2.0)
    return (x * (numerator / (numerator + rest))).cast(dtype)


def glu(x: VarLike, dim: int = -1) -> Var:
    """Return the first half along a dimension times the `sigmoid` of the second.

    Halves are computed in float32; integers give float32.

    Gated linear units (Dauphin et al., 2017).

    Raises
    ------
    ValueError
        If the dimension is out of range or its extent is odd.
    """
    x, dtype = widened(x)
    dim = normalised_axis(dim, x.ndim)
    extent = x.shape[dim]
    if extent % 2:
        raise at_line(
            ValueError(f"glu: dimension {dim} has extent {extent}, expected an even number")
        )
    half = extent // 2
    before = (slice(None),) * dim
    first, second = (*before, slice(0, half)), (*before, slice(half, None))
    return (x[first] * sigmoid(x[second])).cast(dtype)


#: Beyond this, the tangent in `gelu` is -1 or 1 in every dtype.
_GELU_END = 10.0


def gelu(x: VarLike, approximate: str = "none") -> Var:
    """Return x times the normal distribution's cumulative function.

    Halves are computed in float32; integers give float32.

    Parameters
    ----------
    x
        Floats of any shape.
    approximate
        "none", or "tanh" for the usual formula with tanh instead of erf
        (Hendrycks and Gimpel, 2016).

    Raises
    ------
    ValueError
        If `approximate` is something else.
    """
    check_approximate("gelu", approximate)
    x, dtype = widened(x)
    if approximate == "none":
        return (0.5 * x * (1.0 + erf(x * math.sqrt(0.5)))).cast(dtype)
    # The cube of a large x would overflow, and its gradient be 0 * inf.
    near = clip(x, -_GELU_END, _GELU_END)
    inner = math.sqrt(2.0 / math.pi) * (near + 0.044715 * near * near * near)
    return (0.5 * x * (1.0 + tanh(inner))).cast(dtype)


def check_approximate(name: str, approximate: Any) -> None:
    """Raise ValueError unless `approximate` names a formula of `gelu`."""
    if not isinstance(approximate, str) or approximate not in ("none", "tanh"):
        raise at_line(
            ValueError(f"{name}: approximate is {shown(approximate)}, expected 'none' or 'tanh'")
        )


def softmax(x: VarLike, dim: int = -1) -> Var:
    """Return ``exp(x) / sum(exp(x))`` along a dimension, computed without overflow.

    Halves are computed in float32; integers give float32.
    """
    x, dtype = widened(x)
    axes = normalised_axes(dim, x.ndim)
    numerator = exp(_below_largest(x, axes))
    # One division for each sum, where a quotient would take one for each element.
    return (numerator * (1.0 / numerator.sum(axes, True))).cast(dtype)


def _below_largest(x: Var, axes: tuple[int, ...]) -> Var:
    """Return x less its largest element along dimensions.

    What is made of it does not depend on that shift, whose gradient is cut.
    """
    return x - x.max(axes, True).detach()


def softmin(x: VarLike, dim: int = -1) -> Var:
    """Return ``softmax(-x)`` along a dimension.

    Halves are computed in float32; integers give float32.
    """
    x, dtype = widened(x)
    return softmax(-x, dim).cast(dtype)


def log_softmax(x: VarLike, dim: int = -1) -> Var:
    """Return the logarithm of ``softmax(x, dim)``; NaN where x has NaN or infinity.

    Halves are computed in float32; integers give float32.
    """
    x, dtype = widened(x)
    axes = normalised_axes(dim, x.ndim)
    # Not x - logsumexp(x): a large x would round the sum's logarithm away.
    shifted = _below_largest(x, axes)
    return (shifted - log(exp(shifted).sum(axes, True))).cast(dtype)
