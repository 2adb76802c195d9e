# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Initial values of parameters.

Each function returns a tensor of a shape. ``p.assign(init.xavier_normal(p.shape))``
gives a parameter that is there already another value.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import _core
from .._core import Var, full
from .._defaults import float_type
from .._domains import DEVIATION, FINITE, SHARE
from .._errors import at_line
from .._typing import DType, Shape, shown
from ..ops.elementwise.elementwise import clip, sign, where
from ..ops.elementwise.functions import erf, exp, log, sqrt
from ..random import sampling

__all__ = [
    "calculate_gain",
    "constant",
    "dirac",
    "eye",
    "fans",
    "kaiming_normal",
    "kaiming_uniform",
    "normal",
    "orthogonal",
    "sparse",
    "trunc_normal",
    "uniform",
    "xavier_normal",
    "xavier_uniform",
]


def fans(shape: Shape) -> tuple[int, int]:
    """Return how many inputs an output has and how many outputs an input has.

    Parameters
    ----------
    shape
        ``(outputs, inputs, *kernel)``.

    Raises
    ------
    ValueError
        If it has fewer than two dimensions.
    """
    if len(shape) < 2:
        raise at_line(
            ValueError(f"fans: shape is {shown(tuple(shape))}, expected at least two dimensions")
        )
    kernel = math.prod(shape[2:])
    return shape[1] * kernel, shape[0] * kernel


def constant(shape: Shape, value: float = 0.0, dtype: DType | None = None) -> Var:
    """Return `value` everywhere."""
    return full(shape, value, float_type(dtype))


def uniform(shape: Shape, low: float = 0.0, high: float = 1.0, dtype: DType | None = None) -> Var:
    """Return uniform numbers in [low, high)."""
    return sampling.uniform(shape, low, high, dtype)


def normal(shape: Shape, mean: float = 0.0, std: float = 1.0, dtype: DType | None = None) -> Var:
    """Return normally distributed numbers."""
    return sampling.normal(shape, mean, std, dtype)


def xavier_uniform(shape: Shape, gain: float = 1.0, dtype: DType | None = None) -> Var:
    """Return uniform numbers of variance ``gain**2 * 2 / (inputs + outputs)``."""
    DEVIATION.check("xavier_uniform", gain=gain)
    bound = gain * math.sqrt(6.0 / max(sum(fans(shape)), 1))
    return uniform(shape, -bound, bound, dtype)


def xavier_normal(shape: Shape, gain: float = 1.0, dtype: DType | None = None) -> Var:
    """Return normal numbers of variance ``gain**2 * 2 / (inputs + outputs)``."""
    DEVIATION.check("xavier_normal", gain=gain)
    return normal(shape, 0.0, gain * math.sqrt(2.0 / max(sum(fans(shape)), 1)), dtype)


def _fan(name: str, shape: Shape, mode: str) -> int:
    """Return the inputs or the outputs that a mode names, at least 1."""
    given: Any = mode
    if given not in ("fan_in", "fan_out"):
        raise at_line(ValueError(f"{name}: mode is {shown(given)}, expected 'fan_in' or 'fan_out'"))
    return max(fans(shape)[0 if mode == "fan_in" else 1], 1)


def kaiming_uniform(
    shape: Shape,
    gain: float = math.sqrt(2.0),
    dtype: DType | None = None,
    *,
    mode: str = "fan_in",
) -> Var:
    """Return uniform numbers of variance ``gain**2 / inputs``; the gain is ReLU's.

    With "fan_out" for `mode` it is ``gain**2 / outputs``.
    """
    DEVIATION.check("kaiming_uniform", gain=gain)
    bound = gain * math.sqrt(3.0 / _fan("kaiming_uniform", shape, mode))
    return uniform(shape, -bound, bound, dtype)


def kaiming_normal(
    shape: Shape,
    gain: float = math.sqrt(2.0),
    dtype: DType | None = None,
    *,
    mode: str = "fan_in",
) -> Var:
    """Return normal numbers of variance ``gain**2 / inputs``; the gain is ReLU's.

    With "fan_out" for `mode` it is ``gain**2 / outputs``.
    """
    DEVIATION.check("kaiming_normal", gain=gain)
    return normal(shape, 0.0, gain / math.sqrt(_fan("kaiming_normal", shape, mode)), dtype)


#: The gains of functions without a parameter.
_GAINS = {
    "linear": 1.0,
    "sigmoid": 1.0,
    "tanh": 5.0 / 3.0,
    "relu": math.sqrt(2.0),
    "selu": 0.75,
}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Return the gain that keeps the variance through an activation function.

    Parameters
    ----------
    nonlinearity
        "linear", "sigmoid", "tanh", "relu", "leaky_relu" or "selu".
    param
        The slope of "leaky_relu", by default 0.01.

    Raises
    ------
    ValueError
        If the function is another one.
    """
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        FINITE.check("calculate_gain", param=slope)
        return math.sqrt(2.0 / (1.0 + slope * slope))
    given: Any = nonlinearity
    if not isinstance(given, str) or given not in _GAINS:
        known = ", ".join([*_GAINS, "leaky_relu"])
        raise at_line(
            ValueError(f"calculate_gain: nonlinearity is {shown(given)}, expected one of {known}")
        )
    return _GAINS[given]


def _inverse_erf(y: Var) -> Var:
    """Return x with ``erf(x) = y`` for y inside (-1, 1)."""
    # Winitzki's formula has an error of 0.002, which two of Newton's steps square.
    near = log((1.0 - y) * (1.0 + y))
    middle = 2.0 / (math.pi * 0.147) + 0.5 * near
    x = sign(y) * sqrt(sqrt(middle * middle - near / 0.147) - middle)
    for _ in range(2):
        x = x - (erf(x) - y) * (0.5 * math.sqrt(math.pi)) * exp(x * x)
    return x


def trunc_normal(
    shape: Shape,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    dtype: DType | None = None,
) -> Var:
    """Return normally distributed numbers, of those that are in ``[a, b]``.

    Raises
    ------
    ValueError
        If `a` is not below `b`, or `std` is not positive.
    """
    FINITE.check("trunc_normal", mean=mean)
    if not a < b or not 0 < std < math.inf:
        raise at_line(
            ValueError(
                f"trunc_normal: std is {shown(std)}, a is {shown(a)} and b is {shown(b)},"
                " expected a positive std and a below b"
            )
        )
    dtype = float_type(dtype)
    wide = "float64" if _core.dtype(dtype) == "float64" else "float32"
    low, high = (math.erf((end - mean) / (std * math.sqrt(2.0))) for end in (a, b))
    # The ends have no inverse where they are -1 and 1.
    last = 1.0 - 2.0 ** (-50 if wide == "float64" else -22)
    drawn = clip(sampling.uniform(shape, low, high, wide), -last, last)
    return clip(mean + std * math.sqrt(2.0) * _inverse_erf(drawn), a, b).cast(dtype)


def eye(shape: Shape, dtype: DType | None = None) -> Var:
    """Return a matrix with 1 on its diagonal, else 0.

    Raises
    ------
    ValueError
        If the shape has other than two dimensions.
    """
    if len(shape) != 2:
        raise at_line(ValueError(f"eye: shape is {shown(tuple(shape))}, expected two dimensions"))
    return (_core.iota(shape, 0, "int64") == _core.iota(shape, 1, "int64")).cast(float_type(dtype))


def dirac(shape: Shape, groups: int = 1, dtype: DType | None = None) -> Var:
    """Return weights of a convolution that copies its first channels.

    Parameters
    ----------
    shape
        ``(outputs, inputs, *kernel)``, with a kernel of one to three dimensions.
    groups
        Of the convolution. Each copies its own channels.

    Raises
    ------
    ValueError
        If the shape has other dimensions or the groups do not divide the outputs.
    """
    if len(shape) not in (3, 4, 5):
        raise at_line(
            ValueError(f"dirac: shape is {shown(tuple(shape))}, expected three to five dimensions")
        )
    if groups < 1 or shape[0] % groups:
        raise at_line(
            ValueError(f"dirac: {shown(groups)} groups do not divide the {shape[0]} outputs")
        )
    output = _core.iota(shape, 0, "int64")
    is_one = output % max(shape[0] // groups, 1) == _core.iota(shape, 1, "int64")
    for axis in range(2, len(shape)):
        is_one = is_one & (_core.iota(shape, axis, "int64") == shape[axis] // 2)
    return is_one.cast(float_type(dtype))


def orthogonal(shape: Shape, gain: float = 1.0, dtype: DType | None = None) -> Var:
    """Return a matrix whose rows, or columns, are orthogonal (Saxe et al., 2014).

    The numbers are drawn as those of `normal`, and decomposed by NumPy at once.

    Parameters
    ----------
    shape
        ``(outputs, ...)``; the dimensions behind the first count as one.
    gain
        The norm of each row, or column, whichever are fewer.

    Raises
    ------
    ValueError
        If the shape has fewer than two dimensions.
    """
    if len(shape) < 2:
        raise at_line(
            ValueError(
                f"orthogonal: shape is {shown(tuple(shape))}, expected at least two dimensions"
            )
        )
    FINITE.check("orthogonal", gain=gain)
    dtype = float_type(dtype)
    rows, columns = shape[0], math.prod(shape[1:])
    if rows * columns == 0:
        return _core.zeros(shape, dtype)
    wide = "float64" if _core.dtype(dtype) == "float64" else "float32"
    drawn = sampling.normal((max(rows, columns), min(rows, columns)), 0.0, 1.0, wide).numpy()
    q, r = np.linalg.qr(drawn)
    # The signs that make the result uniform among all such matrices.
    q = q * np.where(np.diagonal(r) < 0, -gain, gain).astype(wide)
    return _core.array(q if rows >= columns else q.T, dtype).reshape(shape)


def sparse(shape: Shape, sparsity: float, std: float = 0.01, dtype: DType | None = None) -> Var:
    """Return normal numbers, of which a share of each column is 0 (Martens, 2010).

    Parameters
    ----------
    shape
        ``(rows, columns)``.
    sparsity
        The share, rounded up to whole rows.
    std
        The deviation of the others.

    Raises
    ------
    ValueError
        If the shape has other than two dimensions or the share is not in [0, 1].
    """
    if len(shape) != 2:
        raise at_line(
            ValueError(f"sparse: shape is {shown(tuple(shape))}, expected two dimensions")
        )
    SHARE.check("sparse", sparsity=sparsity)
    DEVIATION.check("sparse", std=std)
    order = _core.random(shape)
    # Those with the lowest numbers of their column, equal ones by row.
    mine, other = order.unsqueeze(0), order.unsqueeze(1)
    cube = (shape[0], shape[0], shape[1])
    is_before = _core.iota(cube, 0, "int64") < _core.iota(cube, 1, "int64")
    rank = ((other < mine) | ((other == mine) & is_before)).sum(0)
    return where(rank < math.ceil(sparsity * shape[0]), 0.0, normal(shape, 0.0, std, dtype))
