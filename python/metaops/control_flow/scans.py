# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scans: loops over the rows of tensors, which make rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from .. import _core
from .._core import Var
from .._errors import at_line
from .._typing import as_integer, shown
from .bodies import check_callable
from .carries import Carries
from .structures import describe_leaf, find_type, leaves_of, rebuild
from .unrolling import as_unroll

__all__ = ["map", "scan"]

C = TypeVar("C")


class Rows:
    """Tensors that a loop runs over, each with a row for each trip.

    Parameters
    ----------
    what
        The function that makes the loop.
    tree
        Their structure.
    length
        The number of trips, if it is given.
    """

    def __init__(self, what: str, tree: Any, length: int | None) -> None:
        self.tree = tree
        leaves = leaves_of(what, "xs", tree)
        for path, leaf in leaves:
            if not isinstance(leaf, Var) or leaf.ndim == 0:
                raise at_line(
                    TypeError(f"{what}: {path} is {describe_leaf(leaf)}, expected a tensor of rows")
                )
        self.vars: list[Var] = [leaf for _, leaf in leaves]
        if length is None and not leaves:
            raise at_line(ValueError(f"{what}: no rows and no length are given, expected either"))
        trips = leaves[0][1].shape[0] if length is None else as_integer(what, "length", length)
        if trips < 0:
            raise at_line(ValueError(f"{what}: length is {trips}, expected 0 or more"))
        for path, leaf in leaves:
            if leaf.shape[0] != trips:
                other = leaves[0][0] if length is None else "length"
                raise at_line(
                    ValueError(
                        f"{what}: {path} has {leaf.shape[0]} rows, and {other} says {trips};"
                        " expected the same"
                    )
                )
        self.trips: int = trips


def scan(
    f: Callable[[C, Any], tuple[C, Any]],
    init: C,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool | None = None,
) -> tuple[C, Any]:
    """Return what is carried behind a loop over rows, and the rows that it makes.

    As this loop, in one operation whose size does not depend on the number of trips::

        ys = []
        for x in xs:  # or range(length), without rows
            init, y = f(init, x)
            ys.append(y)
        return init, stack(ys)

    Rows are neither sliced nor stacked: trips read and write them where they are. Gradients
    of any order are scans; they run each trip again, from the carry that it began with, but
    for what is dear to compute, as products, which is saved (docs/ControlFlow.md).
    Random numbers are those of the loop above.

    Parameters
    ----------
    f : callable
        Called once, to be recorded, with the carry and a row of each tensor, without its
        first dimension. Returns the next carry, of the same structure, shapes and element
        types, and a structure of tensors, which are rows of the result. It uses tensors
        from outside as they are when `scan` is called; it cannot rebind these, nor ask for
        values.
    init
        The first carry: a structure of tensors, arrays and numbers. A number takes the
        element type of what `f` returns for it.
    xs
        A structure of tensors that have the same first extent. None: `f` is given None.
    length : int, optional
        The number of trips, to be given where there are no rows.
    reverse : bool
        Begin at the last row. Row t of the results belongs to row t all the same.
    unroll : int or bool, optional
        The number of trips that one iteration of the loop makes: True for all of them, so
        that there is no loop, and False for one. By default that is decided by the loop's
        length: one whose trips have 64 operators or less in all is unrolled, unless it
        checks indices. Gradients are as their loop is. Values are the same, to rounding, and random
        numbers to the bit.

    Returns
    -------
    carry, ys
        The last carry, and the structure of rows, with the number of trips as first extent.

    Raises
    ------
    TypeError
        If a leaf of `xs` has no rows, or `f` returns no pair, or another carry.
    ValueError
        If numbers of rows differ, there are neither rows nor a length, it is negative, or
        `unroll` is no number of trips.
    RuntimeError
        If `f` rebinds a tensor from outside, asks for a value, or leaves a tensor in
        something that lives on.

    Examples
    --------
    >>> def step(total, x):
    ...     total = total + x
    ...     return total, total * total
    >>> total, squares = mo.scan(step, 0, mo.arange(4))
    >>> total.item(), squares.tolist()
    (6, [0, 1, 9, 36])
    """
    check_callable("scan", "f", f)
    rows = Rows("scan", xs, length)
    unrolled = as_unroll("scan", unroll, rows.trips)
    return _scan("scan", f, Carries("scan", init), rows, reverse, unrolled)


def _scan(
    what: str,
    function: Callable[..., Any],
    carries: Carries,
    rows: Rows,
    reverse: bool = False,
    unroll: int = 0,
) -> tuple[Any, Any]:
    def trip(carry: Any, row: Any) -> Any:
        result = function(carry, row)
        if not isinstance(result, tuple) or len(result) != 2:
            raise at_line(
                TypeError(
                    f"{what}: the body returns {shown(result)}, expected a pair: the next carry,"
                    " and a row or None"
                )
            )
        return result

    # Messages say that the body was defined there.
    trip.__wrapped__ = function  # type: ignore[attr-defined]
    with carries.record(trip, (rows.tree,), rows.vars, "result[0]", rows=True) as body:
        own = len(carries.vars)
        types = carries.get_types() + [find_type(leaf) for _, leaf in body.leaves[own:]]
        structure = body.structure[1]
        results: list[Any] = []
        if body.leaves:
            made = body.finish(types)
            results = _core.record_scan(
                rows.trips, bool(reverse), unroll, carries.vars, rows.vars, made
            )
    return rebuild(carries.tree, results[:own]), rebuild(structure, results[own:])


def map(f: Callable[[Any], Any], xs: Any) -> Any:
    """Return what a function makes of each row of tensors, as rows.

    As ``stack([f(x) for x in xs])``, in one operation whose size does not depend on the
    number of rows: a `scan` that carries nothing.

    Parameters
    ----------
    f : callable
        Called once, to be recorded, with a row of each tensor, without its first
        dimension. Returns a structure of tensors.
    xs
        A structure of tensors that have the same first extent.

    Returns
    -------
    The structure that `f` returns, with the number of rows as first extent.

    Raises
    ------
    TypeError, ValueError, RuntimeError
        As `scan`.

    Examples
    --------
    >>> mo.map(lambda row: row.sum(), mo.array([[1.0, 2.0], [3.0, 4.0]])).numpy()
    array([3., 7.], dtype=float32)
    """
    check_callable("map", "f", f)

    def trip(_: None, row: Any) -> tuple[None, Any]:
        return None, f(row)

    trip.__wrapped__ = f  # type: ignore[attr-defined]
    return _scan("map", trip, Carries("map", None), Rows("map", xs, None))[1]
