# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random tensors: uniform and normal numbers, integers, booleans.

All derive from `metaops.random`, uniform numbers of a counter-based generator:
after `metaops.seed(n)` the same calls give the same numbers on every machine.
With ``key=`` the numbers depend on that `metaops.Key` alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, overload

import numpy as np

from .. import _core
from .._core import Var
from .._defaults import float_type, shape_and_dtype
from .._devices import makes_arrays
from .._domains import DEVIATION, FINITE, PROBABILITY, check_rising
from .._errors import at_line
from .._typing import DType, Shape, VarLike, as_integer, as_var, shown
from .keys import Key, Source, multiplied_high

__all__ = [
    "bernoulli",
    "normal",
    "rand",
    "rand_like",
    "randint",
    "randn",
    "randn_like",
    "random",
    "uniform",
]


@makes_arrays
def random(
    shape: Shape,
    dtype: DType | None = None,
    *,
    key: Key | None = None,
    device: str | None = None,
) -> Var:
    """Return uniform numbers in [0, 1), or random words as uint32.

    float64 has 53 random bits, float32 24, float16 11 and bfloat16 8.
    """
    dtype = float_type(dtype)
    return _core.random(shape, dtype) if key is None else Source(key).uniform(shape, dtype)


@overload
def rand(
    shape: Shape | int, dtype: DType, /, *, key: Key | None = None, device: str | None = None
) -> Var: ...
@overload
def rand(
    *shape: Shape | int, dtype: DType = ..., key: Key | None = None, device: str | None = None
) -> Var: ...
@makes_arrays
def rand(
    *shape: Any, dtype: DType | None = None, key: Key | None = None, device: str | None = None
) -> Var:
    """Return uniform numbers in [0, 1); the shape is as for `zeros`."""
    extents, dtype = shape_and_dtype(shape, dtype)
    return random(extents, dtype, key=key)


@makes_arrays
def rand_like(
    x: VarLike, dtype: DType | None = None, *, key: Key | None = None, device: str | None = None
) -> Var:
    """Return uniform numbers in [0, 1) of x's shape, and dtype if none is given."""
    x = as_var(x)
    return random(x.shape, x.dtype if dtype is None else dtype, key=key)


@makes_arrays
def uniform(
    shape: Shape,
    low: float | Var = 0.0,
    high: float | Var = 1.0,
    dtype: DType | None = None,
    *,
    key: Key | None = None,
    device: str | None = None,
) -> Var:
    """Return uniform numbers in [low, high); rounding may give `high` if `low` is not 0.

    Raises
    ------
    ValueError
        If a bound is not finite, or `low` is above `high`; values of Vars are not looked at.
    """
    FINITE.check("uniform", low=low, high=high)
    check_rising("uniform", low=low, high=high)
    return low + random(shape, dtype, key=key) * (high - low)


@makes_arrays
def normal(
    shape: Shape,
    mean: float | Var = 0.0,
    std: float | Var = 1.0,
    dtype: DType | None = None,
    *,
    key: Key | None = None,
    device: str | None = None,
) -> Var:
    """Return normally distributed numbers (Box and Muller's method).

    Raises
    ------
    ValueError
        If `mean` or `std` is not finite, or `std` is negative; values of Vars are not
        looked at.
    """
    FINITE.check("normal", mean=mean)
    DEVIATION.check("normal", std=std)
    # In f16 and bf16 the uniform numbers would be too few.
    dtype = float_type(dtype)
    wide = "float64" if _core.dtype(dtype) == "float64" else "float32"
    return (mean + std * standard_normal(Source(key), shape, wide)).cast(dtype)


def standard_normal(source: Source, shape: Shape, wide: str) -> Var:
    """Return normal numbers of mean 0 and deviation 1, float32 or float64."""
    radius, angle = source.uniform(shape, wide), source.uniform(shape, wide)
    # 1 - u is in (0, 1], of which the logarithm is finite.
    return (-2.0 * (1.0 - radius).log()).sqrt() * _cosine_of_turns(angle, wide)


def _cosine_of_turns(turns: Var, wide: str) -> Var:
    """Return ``cos(2 * pi * turns)`` of numbers in [0, 1).

    That is the sine of a quarter turn to either side, by Taylor's series, which is off
    by less than a rounding: the C library's function takes many times as long.
    """
    x = (2.0 * math.pi) * (abs(turns - 0.5) - 0.25)
    square = x * x
    last = 11 if wide == "float32" else 21
    series = square * _sine_term(last) + _sine_term(last - 2)
    for order in range(last - 4, 0, -2):
        series = series * square + _sine_term(order)
    return series * x


def _sine_term(order: int) -> float:
    return (-1.0) ** (order // 2) / math.factorial(order)


@overload
def randn(
    shape: Shape | int, dtype: DType, /, *, key: Key | None = None, device: str | None = None
) -> Var: ...
@overload
def randn(
    *shape: Shape | int, dtype: DType = ..., key: Key | None = None, device: str | None = None
) -> Var: ...
@makes_arrays
def randn(
    *shape: Any, dtype: DType | None = None, key: Key | None = None, device: str | None = None
) -> Var:
    """Return normal numbers of mean 0 and deviation 1; the shape is as for `zeros`."""
    extents, dtype = shape_and_dtype(shape, dtype)
    return normal(extents, dtype=dtype, key=key)


@makes_arrays
def randn_like(
    x: VarLike, dtype: DType | None = None, *, key: Key | None = None, device: str | None = None
) -> Var:
    """Return numbers as `randn` of x's shape, and dtype if none is given."""
    x = as_var(x)
    return normal(x.shape, dtype=x.dtype if dtype is None else dtype, key=key)


@makes_arrays
def randint(
    low: int,
    high: int | Sequence[int] | None = None,
    shape: Shape | None = None,
    dtype: DType = "int64",
    *,
    key: Key | None = None,
    device: str | None = None,
) -> Var:
    """Return integers in [low, high), or [0, low) without `high`.

    ``randint(low, shape)`` is ``randint(0, low, shape)``. The shape is ``(1,)`` by default.

    A random number of twice as many bits is multiplied by their count, and the upper
    half taken (Lemire, "Fast random integer generation in an interval", 2019, without
    its rejections): of up to 2**32 integers the probabilities differ from each other
    by less than 2**-32 of them, of more by 2**-64.

    Raises
    ------
    ValueError
        If the interval is empty, or not within the dtype.
    TypeError
        If `low` or `high` is no integer.
    """
    if shape is None and isinstance(high, list | tuple):
        high, shape = None, high
    if high is None:
        low, high = 0, low
    low, high = as_integer("randint", "low", low), as_integer("randint", "high", high)
    shape = (1,) if shape is None else shape
    if high <= low:
        raise at_line(ValueError(f"randint: the interval [{low}, {high}) is empty"))
    _check_interval(low, high, _core.dtype(dtype))
    count, source = high - low, Source(key)
    if count <= 2**32:
        numbers = multiplied_high(source.words(shape), count)
    elif count < 2**64:
        upper, lower = source.words(shape), source.words(shape)
        numbers = _product_of_128_bits(upper, lower, count)
    else:
        numbers = source.words(shape)
    return (numbers + low % 2**64).cast("int64" if low < 0 else "uint64").cast(dtype)


def _check_interval(low: int, high: int, dtype: str) -> None:
    if "float" in dtype:
        limits = (-(2**63), 2**64)
    elif dtype == "bool":
        limits = (0, 2)
    else:
        info = np.iinfo(dtype)
        limits = (int(info.min), int(info.max) + 1)
    if low < limits[0] or high > limits[1] or (low < 0 and high > 2**63):
        raise at_line(
            ValueError(f"randint: the interval [{shown(low)}, {shown(high)}) is not within {dtype}")
        )


def _product_of_128_bits(upper: Var, lower: Var, count: int) -> Var:
    """Return ``(upper << 64 | lower) * count >> 128``."""
    low, added = upper * count, multiplied_high(lower, count)
    carry = (low + added < low).cast("uint64")
    return multiplied_high(upper, count) + carry


@makes_arrays
def bernoulli(
    probability: VarLike,
    shape: Shape | None = None,
    *,
    key: Key | None = None,
    device: str | None = None,
) -> Var:
    """Return booleans that are true with the given probability, in steps of 2**-24.

    A tensor of probabilities broadcasts with the shape, which is theirs by default.

    Raises
    ------
    ValueError
        If `probability` is a number that is not in [0, 1].
    """
    PROBABILITY.check("bernoulli", probability=probability)
    if not isinstance(probability, int | float):
        probability = as_var(probability)
    if shape is None:
        shape = probability.shape if isinstance(probability, Var) else ()
    return random(shape, "float32", key=key) < probability
