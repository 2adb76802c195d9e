# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random categories and choices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._core import Var
from .._devices import makes_arrays
from .._errors import at_line
from .._typing import Shape, VarLike, as_var, whole_number, widened
from ..ops.elementwise.elementwise import where
from ..ops.elementwise.functions import log
from ..ops.index.gathering import take
from ..ops.reduce.reduction import argmax
from ..ops.sort.sorting import argsort
from ._tables import searched
from .distributions import standard_exponential
from .keys import Key, Source, shape_of
from .sampling import randint

__all__ = ["categorical", "choice", "multinomial", "permutation"]


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
    its probability. The probabilities are right to 1e-6 of them, in float64, in which
    integers of 16 bits and more are taken, to 1e-15.
    """
    scores, _ = widened(logits)
    if scores.ndim == 0 or scores.shape[-1] == 0:
        raise at_line(
            ValueError(f"categorical: logits has shape {scores.shape}, expected (..., classes)")
        )
    extents = (*shape_of(shape), *scores.shape)
    numbers = standard_exponential(Source(key), extents, scores.dtype)
    return argmax(scores.detach() - log(numbers), -1)


def _shares(name: str, p: VarLike) -> npt.NDArray[Any]:
    """Return probabilities, computed now, whose sum is 1."""
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
    result: npt.NDArray[Any] = shares / total
    return result


def _function(shares: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the distribution function of probabilities."""
    function: npt.NDArray[Any] = np.cumsum(shares)
    # What comes last with no probability is not reached by rounding, either.
    function[np.flatnonzero(shares)[-1] :] = np.inf
    return function


@makes_arrays
def multinomial(
    n: int, p: VarLike, shape: Shape = (), *, key: Key | None = None, device: str | None = None
) -> Var:
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
    function = _function(_shares("multinomial", p))
    drawn = searched(Source(key), (*extents, count), function)
    names = [f"i{axis}" for axis in range(len(extents))]
    place = f"@e0({', '.join([*names, f'i{len(extents)}'])})"
    ones = _core.full(drawn.shape, 1, "int64")
    return ones.reindex_reduce("add", (*extents, len(function)), [*names, place], extras=[drawn])


def _elements(name: str, x: VarLike) -> tuple[Var, int]:
    """Return x as a tensor and the number of elements along its first dimension."""
    values = as_var(x)
    if values.ndim:
        return values, values.shape[0]
    # A number has one where a function is recorded, too.
    number = x if isinstance(x, int) else values.item()
    return values, whole_number(name, "x", number)


@makes_arrays
def permutation(x: VarLike, *, key: Key | None = None, device: str | None = None) -> Var:
    """Return the elements of x along its first dimension in a random order.

    By sorting numbers of 53 random bits, of which two are equal with a probability of
    ``n**2 / 2**54``; those keep their order.

    Parameters
    ----------
    x
        A tensor, or a number n for ``arange(n)``.
    key
        What the numbers depend on.
    """
    values, count = _elements("permutation", x)
    places = argsort(Source(key).uniform((count,), "float64"))
    return take(values, places, 0) if values.ndim else places


@makes_arrays
def choice(
    x: VarLike,
    shape: Shape = (),
    replace: bool = True,
    p: VarLike | None = None,
    *,
    key: Key | None = None,
    device: str | None = None,
) -> Var:
    """Return elements of x that are chosen at random.

    Parameters
    ----------
    x
        A tensor, along whose first dimension is chosen, or a number n for those of
        ``arange(n)``.
    shape
        How many.
    replace
        Whether an element may be chosen again. If not, each is chosen with its share of
        the probability of those that are left (Efraimidis and Spirakis, 2006).
    p
        The elements' probabilities, which are computed at once; equal by default.
    key
        What the numbers depend on.

    Raises
    ------
    ValueError
        If x has no elements, or too few that may be chosen, or p another extent or sum.
    """
    extents = shape_of(shape)
    values, count = _elements("choice", x)
    if count == 0:
        raise at_line(ValueError("choice: x has no elements"))
    shares = None if p is None else _shares("choice", p)
    if shares is not None and len(shares) != count:
        raise at_line(ValueError(f"choice: p has {len(shares)} elements, expected {count}"))
    if not replace:
        places = _distinct(count, extents, shares, key)
    elif shares is None:
        places = randint(0, count, extents, key=key)
    else:
        places = searched(Source(key), extents, _function(shares)).cast("int64")
    return take(values, places, 0) if values.ndim else places


def _distinct(
    count: int, extents: tuple[int, ...], shares: npt.NDArray[Any] | None, key: Key | None
) -> Var:
    """Return places of which no two are equal: the first of exponential waiting times."""
    chosen = math.prod(extents)
    possible = count if shares is None else int(np.count_nonzero(shares))
    if chosen > possible:
        raise at_line(
            ValueError(f"choice: {chosen} of {possible} elements asked for, each once at most")
        )
    times = standard_exponential(Source(key), (count,), "float64")
    if shares is not None:
        with np.errstate(divide="ignore"):
            times = times * (1.0 / shares)
        # What is never chosen waits for ever, also if its number is 0.
        times = where(_core.array(shares) == 0, math.inf, times)
    return argsort(times)[:chosen].reshape(extents)
