# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which numbers a parameter may be, and the error of one that it may not."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _core
from ._core import Var
from ._errors import at_line
from ._typing import as_number, shown

__all__ = [
    "DEVIATION",
    "FINITE",
    "NOT_NEGATIVE",
    "NUMBER",
    "PERCENTAGE",
    "POSITIVE",
    "POSITIVE_FINITE",
    "POSITIVE_PROBABILITY",
    "PROBABILITY",
    "SHARE",
    "Domain",
    "check_rising",
]


class Domain(NamedTuple):
    """The numbers from a lowest to a highest one, and what a message says of them."""

    lowest: float
    highest: float
    text: str

    def check(self, what: str, **parameters: Any) -> None:
        """Raise an error that names a function's parameter if one is out of the domain.

        Each is a number, or several in an array or a sequence. Those of a Var are looked at
        if they are few and given as data; others may not be computed yet.

        Raises
        ------
        ValueError
            If a number is out of the domain.
        TypeError
            If a parameter is no number.
        """
        for name, given in parameters.items():
            if isinstance(given, int | float):
                if self.lowest <= given <= self.highest:
                    continue
            else:
                if isinstance(given, Var):
                    number = _core.find_outside(given, self.lowest, self.highest)
                else:
                    number = self._first_outside(what, name, given)
                if number is None:
                    continue
                given = number
            raise at_line(ValueError(f"{what}: {name} is {shown(given)}, expected {self.text}"))

    def _first_outside(self, what: str, name: str, given: Any) -> float | None:
        """Return the first of several numbers that is out of the domain, if one is.

        Raises
        ------
        TypeError
            If there is something else than numbers.
        """
        try:
            found = np.asarray(given)
            # NumPy reads numbers of texts.
            if any(isinstance(each, str | bytes) for each in _objects_of(found)):
                raise TypeError
            if found.dtype.kind == "c":
                raise TypeError
            numbers = found.astype("float64")
        except (TypeError, ValueError):
            numbers = np.asarray(as_number(what, name, given), "float64")
        outside = numbers[~((self.lowest <= numbers) & (numbers <= self.highest))]
        # NumPy makes NaN of None.
        if outside.size and any(each is None for each in _objects_of(found)):
            raise at_line(TypeError(f"{what}: {name} is {shown(given)}, expected {self.text}"))
        return float(outside[0]) if outside.size else None


def _objects_of(numbers: npt.NDArray[Any]) -> Iterable[object]:
    """Return the elements of an array if these may be other than numbers."""
    return numbers.flat if numbers.dtype.kind in "OSU" else ()


_LEAST, _MOST = 5e-324, sys.float_info.max

NUMBER = Domain(-math.inf, math.inf, "a number")
FINITE = Domain(-_MOST, _MOST, "a finite number")
NOT_NEGATIVE = Domain(0.0, math.inf, "a number of 0 or more")
DEVIATION = Domain(0.0, _MOST, "0 or more, and finite")
POSITIVE = Domain(_LEAST, math.inf, "a positive number")
POSITIVE_FINITE = Domain(_LEAST, _MOST, "a positive number that is finite")
SHARE = Domain(0.0, 1.0, "it in [0, 1]")
PERCENTAGE = Domain(0.0, 100.0, "it in [0, 100]")
PROBABILITY = Domain(0.0, 1.0, "one in [0, 1]")
POSITIVE_PROBABILITY = Domain(_LEAST, 1.0, "one in (0, 1]")


def check_rising(what: str, **parameters: Any) -> None:
    """Raise ValueError if numbers fall from one parameter to the next, unless in a Var."""
    known = {name: given for name, given in parameters.items() if not isinstance(given, Var)}
    names = list(known)
    for first, second in itertools.pairwise(names):
        if np.any(np.asarray(known[first]) > np.asarray(known[second])):
            raise at_line(
                ValueError(
                    f"{what}: {first} is {shown(known[first])}, above {second}, which is"
                    f" {shown(known[second])}"
                )
            )
