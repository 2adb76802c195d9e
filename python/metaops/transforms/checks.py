# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks of what transforms are told: sizes, probabilities, ranges, interpolations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .._domains import DEVIATION, FINITE, PROBABILITY, Domain
from .._errors import at_line
from .._typing import as_count, as_integers, as_number, shown

__all__ = [
    "MOST_PIXELS",
    "Fill",
    "Span",
    "as_factor",
    "as_fills",
    "as_interpolation",
    "as_pair",
    "as_size",
    "as_span",
    "check_fill",
    "check_held",
    "check_probability",
    "interval",
]

#: The outside of an image: a number, or one for each channel; None is 0.
Fill = float | Sequence[float] | None
#: The least and the largest number that is drawn.
Span = tuple[float, float]

#: The largest height and width.
MOST_PIXELS = 2**31 - 1

#: The names of Pillow's filters, in the order of its numbers.
_FILTERS = ("nearest", "lanczos", "bilinear", "bicubic", "box", "hamming")
#: Those that a pixel between others is interpolated by.
_WARPS = ("nearest", "bilinear", "bicubic")


def as_size(what: str, size: Any) -> tuple[int, int]:
    """Return the height and the width that a size says; one number is both.

    Raises
    ------
    TypeError, ValueError
        If it is something else than one or two integers of at least 1.
    """
    numbers = as_integers(what, "size", size)
    if len(numbers) not in (1, 2):
        raise at_line(
            ValueError(f"{what}: size is {shown(size)}, expected a number, or a height and a width")
        )
    for number in numbers:
        if as_count(f"{what}: size", number) > MOST_PIXELS:
            raise at_line(ValueError(f"{what}: size is {number}, expected at most {MOST_PIXELS}"))
    return numbers[0], numbers[-1]


def check_probability(what: str, p: Any) -> None:
    """Raise an error unless a number is from 0 to 1."""
    PROBABILITY.check(what, p=as_number(what, "p", p))


def as_factor(what: str, name: str, factor: Any) -> float:
    """Return a factor of colours.

    Raises
    ------
    TypeError, ValueError
        If it is no finite number of 0 or more.
    """
    number = as_number(what, name, factor)
    DEVIATION.check(what, **{name: number})
    return number


def check_fill(what: str, fill: Any) -> list[float]:
    """Return the numbers of a fill.

    Raises
    ------
    TypeError, ValueError
        If they are no finite numbers.
    """
    given = list(fill) if isinstance(fill, tuple | list) else [0 if fill is None else fill]
    numbers = [as_number(what, "fill", number) for number in given]
    FINITE.check(what, fill=numbers)
    return numbers


def check_held(what: str, limits: tuple[int, int] | None, **parameters: Any) -> None:
    """Raise ValueError if numbers are out of those of a type of integers; None is of floats."""
    if limits is not None:
        least, most = limits
        Domain(least, most, f"it in [{least}, {most}]").check(what, **parameters)


def as_fills(
    what: str, fill: Fill, channels: int, limits: tuple[int, int] | None = None
) -> list[float]:
    """Return what is outside of an image for each of its channels.

    Parameters
    ----------
    what
        The function that asks.
    fill
        One number, or one for each channel.
    channels
        How many there are.
    limits
        The least and the largest of the image's integers; None of floats.

    Raises
    ------
    TypeError, ValueError
        If there is another number of them, or the image does not hold them.
    """
    numbers = check_fill(what, fill)
    if len(numbers) not in (1, channels):
        raise at_line(
            ValueError(f"{what}: fill is {shown(fill)}, expected a number or {channels} of them")
        )
    check_held(what, limits, fill=numbers)
    return numbers * channels if len(numbers) == 1 else numbers


def as_pair(what: str, name: str, given: Any, domain: Domain) -> Span:
    """Return two numbers of a domain, the first of which is not above the second.

    Raises
    ------
    TypeError, ValueError
        If they are something else.
    """
    if not isinstance(given, Sequence) or isinstance(given, str) or len(given) != 2:
        raise at_line(
            ValueError(f"{what}: {name} is {shown(given)}, expected two numbers, (least, most)")
        )
    least, most = (float(as_number(what, name, number)) for number in given)
    domain.check(what, **{name: [least, most]})
    if least > most:
        raise at_line(
            ValueError(f"{what}: {name} is {shown(given)}, expected the smaller number first")
        )
    return _drawable(what, name, given, (least, most))


def _drawable(what: str, name: str, given: Any, span: Span) -> Span:
    """Return a range, or raise ValueError where it is wider than the largest number."""
    if not math.isfinite(span[1] - span[0]):
        raise at_line(ValueError(f"{what}: {name} is {shown(given)}, expected a smaller range"))
    return span


def as_span(what: str, name: str, given: Any, domain: Domain, centre: float = 0.0) -> Span:
    """Return a range of numbers: two that are given, or those around a centre.

    Ranges around 1, which are of factors, end at 0.
    """
    if isinstance(given, Sequence) and not isinstance(given, str):
        return as_pair(what, name, given, domain)
    radius = as_number(what, name, given)
    numbers = "0 or more" if domain.highest > 1 else f"0 to {domain.highest:g}"
    Domain(0.0, domain.highest, f"{numbers}, or a range").check(what, **{name: radius})
    least = centre - radius
    return _drawable(
        what, name, given, (max(least, 0.0) if centre == 1 else least, centre + radius)
    )


def interval(least: float, most: float) -> Domain:
    """Return the domain of numbers between two."""
    return Domain(least, most, f"it in [{least:g}, {most:g}]")


def as_interpolation(what: str, given: Any, warps: bool = False) -> str:
    """Return the name of an interpolation, which may be given by Pillow's number.

    Parameters
    ----------
    what
        The function that asks.
    given
        A name, or a member of ``PIL.Image.Resampling``.
    warps
        Whether it is for pixels between others, else for images of another size.

    Raises
    ------
    ValueError
        If there is none of the name.
    """
    name = given
    if isinstance(given, int) and not isinstance(given, bool) and 0 <= given < len(_FILTERS):
        name = _FILTERS[given]
    known = _WARPS if warps else _FILTERS
    if not isinstance(name, str) or name not in known:
        raise at_line(
            ValueError(
                f"{what}: interpolation is {shown(given)}, expected one of"
                f" {', '.join(map(repr, known))}"
            )
        )
    return name
