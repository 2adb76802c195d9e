# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks of the numbers that models are made of, and of what they read."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

from .._core import Var, describe
from .._errors import at_line
from .._typing import as_count

__all__ = [
    "check_counts",
    "check_divisor",
    "check_each",
    "check_images",
    "check_multiple",
    "check_texts",
    "check_vars",
]


def check_counts(what: str, **numbers: int) -> None:
    """Raise an error unless all numbers are integers of at least 1.

    Raises
    ------
    ValueError
        If one is less.
    TypeError
        If one is no integer.
    """
    for name, number in numbers.items():
        as_count(f"{what}: {name}", number)


def check_each(what: str, name: str, numbers: Any) -> None:
    """Raise an error unless there are numbers, all of them integers of at least 1."""
    if not isinstance(numbers, Sequence):
        raise at_line(
            TypeError(f"{what}: {name} has {describe(numbers)}, expected a sequence of integers")
        )
    if not len(numbers):
        raise at_line(ValueError(f"{what}: {name} is empty, expected one number at least"))
    for number in numbers:
        if not isinstance(number, Integral):
            raise at_line(
                TypeError(f"{what}: {name} has a {type(number).__name__}, expected integers")
            )
        check_counts(what, **{name: int(number)})


def check_vars(what: str, **given: Var) -> None:
    """Raise an error unless all are tensors.

    Raises
    ------
    TypeError
        If one is not.
    """
    for name, value in given.items():
        if not isinstance(value, Var):
            raise at_line(TypeError(f"{what}: {name} is {describe(value)}, expected a Var"))


def check_multiple(what: str, name: str, number: int, divisor: int) -> None:
    """Raise an error unless a number is a positive multiple of another one."""
    check_counts(what, **{name: number})
    if number % divisor:
        raise at_line(ValueError(f"{what}: {name} is {number}, expected a multiple of {divisor}"))


def check_divisor(what: str, name: str, number: int, divisor: str, of: int) -> None:
    """Raise an error unless both numbers are positive, and the second divides the first."""
    check_counts(what, **{name: number, divisor: of})
    if number % of:
        raise at_line(
            ValueError(f"{what}: {name} is {number} and {divisor} {of}, expected a divisor")
        )


def check_texts(what: str, tokens: Var, least: int, most: int | None = None) -> None:
    """Raise an error unless texts are integers (N, L), and L is in a range.

    Raises
    ------
    ValueError
        If they have another shape.
    TypeError
        If they are no integers.
    """
    if tokens.ndim != 2:
        raise at_line(ValueError(f"{what}: texts have shape {tokens.shape}, expected (N, L)"))
    if "int" not in tokens.dtype:
        raise at_line(TypeError(f"{what}: texts are {tokens.dtype}, expected integers"))
    length = tokens.shape[1]
    if length < least or (most is not None and length > most):
        expected = f"at least {least}" if most is None else f"{least} to {most}"
        raise at_line(ValueError(f"{what}: texts have {length} tokens, expected {expected}"))


def check_images(what: str, x: Var, channels: int, *sizes: int) -> None:
    """Raise an error unless images are (N, channels, H, W) of a height and a width."""
    if x.ndim != 4 or x.shape[1:] != (channels, *sizes):
        expected = ", ".join(map(str, ("N", channels, *sizes)))
        raise at_line(ValueError(f"{what}: images have shape {x.shape}, expected ({expected})"))
