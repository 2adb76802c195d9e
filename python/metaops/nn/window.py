# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What windows that slide over an image have in common."""

from __future__ import annotations

import operator
from typing import Any, TypeAlias

from .._errors import at_line
from .._typing import shown

Pair: TypeAlias = int | tuple[int, int]


def pair(name: str, value: Any) -> tuple[int, int]:
    """Return the numbers for height and width.

    Raises
    ------
    ValueError
        If it is neither an integer nor two of them. The message begins with `name`.
    """
    numbers = value if isinstance(value, tuple | list) else (value, value)
    try:
        height, width = map(operator.index, numbers)
    except (TypeError, ValueError):
        error = ValueError(f"{name} is {shown(value)}, expected an integer or two")
        raise at_line(error) from None
    return int(height), int(width)


def window_count(
    name: str, extent: int, kernel: int, stride: int, padding: int, dilation: int = 1
) -> int:
    """Return how many windows fit into a padded extent.

    Raises
    ------
    ValueError
        If none does, or a number is out of range. The message begins with `name`.
    """
    if kernel < 1 or stride < 1 or dilation < 1 or padding < 0:
        raise at_line(
            ValueError(
                f"{name}: kernel {kernel}, stride {stride}, dilation {dilation} and padding"
                f" {padding}, expected the first three to be positive and the last not to be"
                " negative"
            )
        )
    covered = dilation * (kernel - 1) + 1
    if covered > extent + 2 * padding:
        raise at_line(
            ValueError(
                f"{name}: a kernel that covers {covered} does not fit into an extent of {extent}"
                f" with padding {padding}"
            )
        )
    return (extent + 2 * padding - covered) // stride + 1


def axis_index(window: str, offset: str, stride: int, padding: int, dilation: int = 1) -> str:
    """Return the index expression of a window's element in the image."""
    index = window if stride == 1 else f"{window}*{stride}"
    index += f"+{offset}" if dilation == 1 else f"+{offset}*{dilation}"
    return index if padding == 0 else f"{index}-{padding}"
