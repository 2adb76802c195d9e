# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks of numbers that several layers are made with."""

from __future__ import annotations

import numbers

from .._errors import at_line
from .._typing import as_integer, shown

#: More layers than any network has: a larger number is a slip, and would take hours.
_MOST_LAYERS = 65536


def check_probability(name: str, p: object) -> None:
    """Raise TypeError unless p is a number, ValueError unless it is in [0, 1]."""
    if not isinstance(p, numbers.Real):
        raise at_line(TypeError(f"{name}: p is {shown(p)}, expected a number"))
    if not 0.0 <= float(p) <= 1.0:
        raise at_line(ValueError(f"{name}: p is {p}, expected a probability in [0, 1]"))


def layer_count(name: str, given: int) -> int:
    """Return a number of layers.

    Raises
    ------
    TypeError, ValueError
        If it is no positive integer, or larger than that of any network.
    """
    count = as_integer(name, "num_layers", given)
    if not 1 <= count <= _MOST_LAYERS:
        raise at_line(ValueError(f"{name}: num_layers is {count}, expected 1 to {_MOST_LAYERS}"))
    return count
