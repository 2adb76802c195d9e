# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random tensors.

All derive from `metaops.random`, uniform numbers of a counter-based generator:
after `metaops.seed(n)` the same calls give the same numbers on every machine.
"""

from __future__ import annotations

import math
from typing import Any, overload

from . import _core
from ._core import Var, rand
from ._errors import at_line
from ._typing import DType, Shape, VarLike, as_var

__all__ = [
    "bernoulli",
    "normal",
    "rand",
    "rand_like",
    "randint",
    "randn",
    "randn_like",
    "uniform",
]


def rand_like(x: VarLike, dtype: DType | None = None) -> Var:
    """Return uniform numbers in [0, 1) of x's shape, and dtype if none is given."""
    x = as_var(x)
    return _core.random(x.shape, x.dtype if dtype is None else dtype)


def uniform(
    shape: Shape, low: float | Var = 0.0, high: float | Var = 1.0, dtype: DType = "float32"
) -> Var:
    """Return uniform numbers in [low, high)."""
    return low + _core.random(shape, dtype) * (high - low)


def normal(
    shape: Shape, mean: float | Var = 0.0, std: float | Var = 1.0, dtype: DType = "float32"
) -> Var:
    """Return normally distributed numbers (Box and Muller's method)."""
    # In f16 and bf16 the uniform numbers would be too few.
    wide = "float64" if _core.dtype(dtype) == "float64" else "float32"
    radius = _core.random(shape, wide)
    angle = _core.random(shape, wide)
    # 1 - u is in (0, 1], of which the logarithm is finite.
    numbers = (-2.0 * (1.0 - radius).log()).sqrt() * (2.0 * math.pi * angle).cos()
    return (mean + std * numbers).cast(dtype)


@overload
def randn(shape: Shape | int, dtype: DType, /) -> Var: ...
@overload
def randn(*shape: Shape | int, dtype: DType = ...) -> Var: ...
def randn(*shape: Any, dtype: DType = "float32") -> Var:
    """Return normal numbers of mean 0 and deviation 1; the shape is as for `zeros`."""
    extents, dtype = _core.shape_and_dtype(*shape, dtype=dtype)
    return normal(extents, dtype=dtype)


def randn_like(x: VarLike, dtype: DType | None = None) -> Var:
    """Return numbers as `randn` of x's shape, and dtype if none is given."""
    x = as_var(x)
    return normal(x.shape, dtype=x.dtype if dtype is None else dtype)


def randint(low: int, high: int | None = None, shape: Shape = (1,), dtype: DType = "int64") -> Var:
    """Return integers, each equally likely, in [low, high), or [0, low) without `high`.

    Raises
    ------
    ValueError
        If the interval is empty.
    """
    if high is None:
        low, high = 0, low
    if high <= low:
        raise at_line(ValueError(f"randint: the interval [{low}, {high}) is empty"))
    return (_core.random(shape, "float64") * (high - low)).floor().cast(dtype) + low


def bernoulli(probability: float, shape: Shape) -> Var:
    """Return booleans that are true with the given probability.

    Raises
    ------
    ValueError
        If `probability` is not in [0, 1].
    """
    if not 0.0 <= probability <= 1.0:
        raise at_line(
            ValueError(f"bernoulli: probability is {probability}, expected one in [0, 1]")
        )
    return _core.random(shape) < probability
