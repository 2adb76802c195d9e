# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that make tensors from numbers."""

from __future__ import annotations

import math
import operator

from . import _core
from ._core import Var, empty, ones, zeros
from ._errors import at_line
from ._typing import DType, VarLike, as_var, shown

__all__ = [
    "arange",
    "empty",
    "empty_like",
    "full_like",
    "linspace",
    "one_hot",
    "ones",
    "ones_like",
    "zeros",
    "zeros_like",
]


def full_like(x: VarLike, value: float, dtype: DType | None = None) -> Var:
    """Return a tensor of x's shape, and dtype if none is given, filled with `value`."""
    x = as_var(x)
    return _core.full(x.shape, value, x.dtype if dtype is None else dtype)


def zeros_like(x: VarLike, dtype: DType | None = None) -> Var:
    """Return zeros of x's shape, and dtype if none is given."""
    return full_like(x, 0, dtype)


def ones_like(x: VarLike, dtype: DType | None = None) -> Var:
    """Return ones of x's shape, and dtype if none is given."""
    return full_like(x, 1, dtype)


def empty_like(x: VarLike, dtype: DType | None = None) -> Var:
    """Return a tensor to be assigned to, see `empty`, of x's shape and dtype."""
    return full_like(x, 0, dtype)


def arange(
    start: float, stop: float | None = None, step: float = 1, dtype: DType | None = None
) -> Var:
    """Return evenly spaced numbers ``start, start + step, ...`` before `stop`.

    Parameters
    ----------
    start, stop
        The half-open interval; ``arange(n)`` is ``arange(0, n)``.
    step
        The distance, not 0.
    dtype
        By default "int64" if all numbers are Python integers, else "float32".

    Returns
    -------
    Var
        Shape ``(max(0, ceil((stop - start) / step)),)``.

    Raises
    ------
    ValueError
        If `step` is 0.
    """
    if stop is None:
        start, stop = 0, start
    if step == 0:
        raise at_line(ValueError("arange: step is 0, expected another number"))
    integral = all(isinstance(number, int) for number in (start, stop, step))
    if dtype is None:
        dtype = "int64" if integral else "float32"
    # Floats would round large integers.
    steps = -((start - stop) // step) if integral else math.ceil((stop - start) / step)
    count = max(0, int(steps))
    # Positions as float64 keep every number that a smaller dtype can hold.
    numbers = _core.iota((count,), 0, "int64" if integral else "float64") * step + start
    return numbers.cast(dtype)


def linspace(start: float, stop: float, num: int = 50, dtype: DType = "float32") -> Var:
    """Return `num` evenly spaced numbers from `start` to `stop`, both included.

    Raises
    ------
    ValueError
        If `num` is negative.
    """
    if num < 0:
        raise at_line(ValueError(f"linspace: num is {num}, expected 0 or more"))
    position = _core.iota((num,), 0, "float64") / max(num - 1, 1)
    # Weighting both ends meets `stop` exactly.
    return (start * (1.0 - position) + stop * position).cast(dtype)


def one_hot(labels: VarLike, num_classes: int = -1, dtype: DType = "float32") -> Var:
    """Return 1 where the last dimension's index is the label, else 0.

    Parameters
    ----------
    labels
        Integers of any shape in ``[0, num_classes)``.
    num_classes
        The extent of the new last dimension. By default, -1, one more than the largest
        label: the labels are computed at once then, since the shape depends on them.
    dtype
        Of the result.

    Returns
    -------
    Var
        Shape ``labels.shape + (num_classes,)``.

    Raises
    ------
    IndexError
        When the result is waited for, if a label is out of range.
    TypeError
        If the labels are not integers.
    ValueError
        If `num_classes` is less than -1, or -1 though there are no labels.
    """
    labels = as_var(labels)
    if not labels.dtype.startswith(("int", "uint")):
        raise at_line(TypeError(f"one_hot: labels are {labels.dtype}, expected integers"))
    try:
        num_classes = operator.index(num_classes)
    except TypeError:
        given = shown(num_classes)
        error = TypeError(f"one_hot: num_classes is {given}, expected an integer")
        raise at_line(error) from None
    if num_classes == -1 and labels.size:
        num_classes = max(labels.max().item(), -1) + 1
    elif num_classes < 0:
        expected = "expected 0 or more" + (" of no labels" if num_classes == -1 else "")
        raise at_line(ValueError(f"one_hot: num_classes is {num_classes}, {expected}"))
    labels = _core.check_labels(labels, num_classes, None)
    shape = (*labels.shape, num_classes)
    classes = _core.iota(shape, labels.ndim, labels.dtype)
    return (labels.broadcast(shape, (-1,)) == classes).cast(dtype)
