# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The generator that transforms draw from."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core import describe
from .._errors import at_line, refuse_recorded
from ..data.randomness import is_loading
from ..data.randomness import rng as current_generator

__all__ = ["as_generator"]


def as_generator(rng: Any) -> np.random.Generator:
    """Return the generator that is given, or else that of the current item of a data set.

    Raises
    ------
    TypeError
        If something else is given.
    RuntimeError
        If a function is being recorded, outside of an item: it would draw once.
    """
    if isinstance(rng, np.random.Generator):
        if not is_loading():
            refuse_recorded("a transform draws from rng")
        return rng
    if rng is not None:
        raise at_line(
            TypeError(f"rng is {describe(rng)}, expected a numpy.random.Generator or None")
        )
    return current_generator()
