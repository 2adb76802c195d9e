# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random categories and choices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._core import Var
from ._errors import at_line
from ._tables import searched
from ._typing import Shape, VarLike, as_var, whole_number
from .distributions import standard_exponential
from .elementwise import log
from .indexing import take
from .keys import Key, Source, shape_of
from .reduction import argmax
from .sampling import randint

__all__ = ["categorical", "choice", "multinomial"]


def categorical(logits: VarLike, shape: Shape = (), *, key: Key | None = None) -> Var:
    """Return categories, int64, by logarithms of their probabilities.

    Parameters
    ----------
    logits
        Shape ``(..., classes)``; a constant may be added to each row.
    shape
        How many draws of each row: new first dimensions.
    key
        What the numbers depend on.

    Returns
    -------
    Var
        Shape ``(*shape, ...)``.

    Raises
    ------
    ValueError
        If there is no class.

    Notes
    -----
    The largest logit with a Gumbel number of its own added wins, which it does with
    its probability. The probabilities are right to 1e-6 of them, in float64 to 1e-15.
    """
    scores = as_var(logits)
    wide = "float64" if scores.dtype == "float64" else "float32"
    if scores.ndim == 0 or scores.shape[-1] == 0:
        raise at_line(
            ValueError(f"categorical: logits has shape {scores.shape}, expected (..., classes)")
        )
    extents = (*shape_of(shape), *scores.shape)
    numbers = standard_exponential(Source(key), extents, wide)
    return argmax(scores.cast(wide).detach() - log(numbers), -1)


def _shares(name: str, p: VarLike) -> npt.NDArray[Any]:
    """Return the function of probabilities that are computed now."""
    values = as_var(p).cast("float64")
    shares = values.numpy()
    if shares.ndim != 1 or shares.size == 0:
        raise at_line(
            ValueError(f"{name}: p has shape {shares.shape}, expected one dimension and elements")
        )
    total = shares.sum()
    if not (shares >= 0).all() or not math.isclose(total, 1.0, rel_tol=0, abs_tol=1e-6):
        raise at_line(
            ValueError(f"{name}: p has the sum {total}, expected probabilities that add up to 1")
        )
    function: npt.NDArray[Any] = np.cumsum(shares)
    # What comes last with no probability is not reached by rounding, either.
    function[np.flatnonzero(shares)[-1] :] = np.inf
    return function / total


def multinomial(n: int, p: VarLike, shape: Shape = (), *, key: Key | None = None) -> Var:
    """Return how many of n draws fall on each category, int64.

    Parameters
    ----------
    n
        How many draws, which are made one by one.
    p
        Probabilities that add up to 1, of one dimension; they are computed at once.
    shape
        How many results: first dimensions.
    key
        What the numbers depend on.

    Returns
    -------
    Var
        Shape ``(*shape, len(p))``.

    Raises
    ------
    ValueError
        If n is negative, or p has another rank or sum.
    """
    extents, count = shape_of(shape), whole_number("multinomial", "n", n)
    function = _shares("multinomial", p)
    drawn = searched(Source(key), (*extents, count), function)
    names = [f"i{axis}" for axis in range(len(extents))]
    place = f"@e0({', '.join([*names, f'i{len(extents)}'])})"
    ones = _core.full(drawn.shape, 1, "int64")
    return ones.reindex_reduce("add", (*extents, len(function)), [*names, place], extras=[drawn])


def choice(
    x: VarLike,
    shape: Shape = (),
    replace: bool = True,
    p: VarLike | None = None,
    *,
    key: Key | None = None,
) -> Var:
    """Return elements of x that are chosen at random, each independently.

    Parameters
    ----------
    x
        A tensor, along whose first dimension is chosen, or a number n for those of
        ``arange(n)``.
    shape
        How many.
    replace
        True: an element may be chosen again. Choices without it need a sort, which is
        not there.
    p
        The elements' probabilities, which are computed at once; equal by default.
    key
        What the numbers depend on.

    Raises
    ------
    ValueError
        If x has no elements, p another extent or sum, or `replace` is False.
    """
    if not replace:
        raise at_line(ValueError("choice: replace is False, which needs a sort; expected True"))
    extents = shape_of(shape)
    values = as_var(x)
    count = values.shape[0] if values.ndim else whole_number("choice", "x", values.item())
    if count == 0:
        raise at_line(ValueError("choice: x has no elements"))
    if p is None:
        places = randint(0, count, extents, key=key)
    else:
        function = _shares("choice", p)
        if len(function) != count:
            raise at_line(ValueError(f"choice: p has {len(function)} elements, expected {count}"))
        places = searched(Source(key), extents, function).cast("int64")
    return take(values, places, 0) if values.ndim else places
