# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops: a function that is recorded once and run many times, in one program."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from .. import _core
from .._core import Var
from .._errors import at_line
from .._typing import as_integer
from .bodies import Body, check_callable
from .carries import Carries
from .structures import describe_leaf, is_integer, make_leaf, rebuild
from .unrolling import as_unroll

__all__ = ["fori_loop", "while_loop"]

T = TypeVar("T")


#: A loop whose gradient would need more rows than that has none.
MOST_TRIPS = 2**31 - 1


def while_loop(
    cond_fun: Callable[[T], Any],
    body_fun: Callable[[T], T],
    init_val: T,
    max_trips: int | None = None,
) -> T:
    """Return what is carried when a condition is no longer true.

    Both functions are called once, to be recorded; the program runs them as often as it
    has to. They use tensors from outside as they are when `while_loop` is called; they
    cannot rebind these, nor ask for values. A loop without end stops by Ctrl-C, and goes
    on when it is asked for again.

    With `max_trips` it has gradients of any order, which cost as many trips as were made,
    and memory for the carries of as many as there may be. Without it, forward mode alone
    (`mo.jvp`).

    Random numbers in it are of a stream of its own, as nobody knows how many are drawn: its
    key is drawn, and the numbers behind the loop do not depend on how long it was.

    Parameters
    ----------
    cond_fun : callable
        Is given the carry, before each trip, and returns a boolean of no dimensions.
    body_fun : callable
        Is given the carry, and returns the next one, of the same structure, shapes and
        element types.
    init_val
        The first carry: a structure of tensors, arrays and numbers. A number takes the
        element type of what the body returns for it.
    max_trips : int, optional
        The most trips that there may be: more are an error, whether or not a gradient is
        asked for.

    Returns
    -------
    The last carry.

    Raises
    ------
    TypeError
        If the condition is no boolean of no dimensions, or the body returns another
        structure.
    ValueError
        If `max_trips` is less than 0, or more than 2,147,483,647.
    IndexError
        When the program runs, if it is to make more than `max_trips` trips.
    RuntimeError
        If a function rebinds a tensor from outside, asks for a value, or leaves a tensor
        in something that lives on.

    Examples
    --------
    >>> def halve(x):
    ...     return x / 2
    >>> mo.while_loop(lambda x: x.sum() > 1, halve, mo.array([3.0, 5.0])).numpy()
    array([0.375, 0.625], dtype=float32)
    """
    check_callable("while_loop", "cond_fun", cond_fun)
    check_callable("while_loop", "body_fun", body_fun)
    most = _as_most("while_loop", max_trips)
    carries = Carries("while_loop", init_val)
    carries.check_any()
    with carries.record(body_fun) as body:
        given = (carries.get_tree(),)
        with Body("while_loop: the condition", cond_fun, given, carries.vars) as condition:
            _check_condition(condition)
            asked = condition.finish([_core.bool])
        made_of = body.finish(carries.get_types())
        results = _core.record_while(carries.vars, asked, made_of, most)
    made: T = rebuild(init_val, results)
    return made


def _as_most(what: str, max_trips: int | None) -> int | None:
    if max_trips is None:
        return None
    most = as_integer(what, "max_trips", max_trips)
    if not 0 <= most <= MOST_TRIPS:
        raise at_line(
            ValueError(f"{what}: max_trips is {most}, expected a number from 0 to {MOST_TRIPS}")
        )
    return most


def _check_condition(condition: Body) -> None:
    leaf = condition.leaves[0][1] if len(condition.leaves) == 1 else None
    is_boolean = (
        leaf.shape == () and leaf.dtype == _core.bool
        if isinstance(leaf, Var)
        else isinstance(leaf, bool)
    )
    if not is_boolean:
        given = describe_leaf(leaf) if leaf is not None else "a structure"
        raise at_line(
            TypeError(
                f"{condition.what}{condition.line} returns {given}, expected a boolean without"
                " dimensions"
            )
        )


def _as_bound(name: str, value: Any) -> Any:
    """Return a bound of a loop as an integer, or as a tensor of int64."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    bound = value if isinstance(value, Var) else _core.array(value)
    if not is_integer(bound):
        raise at_line(
            TypeError(
                f"fori_loop: {name} is {describe_leaf(bound)}, expected an integer without"
                " dimensions"
            )
        )
    return bound.cast(_core.int64)


def fori_loop(
    lower: Any,
    upper: Any,
    body_fun: Callable[[Var, T], T],
    init_val: T,
    max_trips: int | None = None,
    *,
    unroll: int | bool | None = None,
) -> T:
    """Return what is carried behind trips that are counted.

    As ``for i in range(lower, upper): val = body_fun(i, val)``, in one operation whose size
    does not depend on the number of trips. See `while_loop` for what the body may do, and
    for `max_trips`. With integers as bounds there are gradients without it.

    Parameters
    ----------
    lower, upper : int or Var
        The first number, and the one behind the last. Tensors are integers of no
        dimensions, read when the program runs.
    body_fun : callable
        Is given the number of the trip, int64 of no dimensions, and the carry; returns the
        next carry, of the same structure, shapes and element types.
    init_val
        The first carry: a structure of tensors, arrays and numbers.
    max_trips : int, optional
        The most trips that there may be: more are an error.
    unroll : int or bool, optional
        As in `scan`, where the bounds are integers.

    Returns
    -------
    The last carry: the first one where there are no trips.

    Raises
    ------
    TypeError
        If a bound is no integer of no dimensions, or the body returns another structure.
    ValueError
        If `max_trips` is less than 0, more than 2,147,483,647, or less than the number of
        trips that integers say; if `unroll` is no number of trips, or is given where a bound
        is a tensor.
    RuntimeError, IndexError
        As `while_loop`.

    Examples
    --------
    >>> mo.fori_loop(0, 5, lambda i, total: total + i * i, 0).item()
    30
    """
    check_callable("fori_loop", "body_fun", body_fun)
    first, end = _as_bound("lower", lower), _as_bound("upper", upper)
    most = _as_most("fori_loop", max_trips)
    carries = Carries("fori_loop", init_val)
    carries.check_any()
    if unroll is not None and not (isinstance(first, int) and isinstance(end, int)):
        raise at_line(
            ValueError(
                f"fori_loop: unroll is {unroll} where a bound is a tensor; expected bounds that"
                " are integers, or no unroll"
            )
        )
    number = make_leaf(first, _core.int64)

    @wraps(body_fun)
    def trip(value: T, i: Var) -> T:
        return body_fun(i, value)

    with carries.record(trip, (number,), [number]) as body:
        made_of = body.finish(carries.get_types())
        if isinstance(first, int) and isinstance(end, int):
            results = _record_known(first, end, carries, made_of, most, unroll)
        else:
            results = _core.record_counted(_count(first, end), number, carries.vars, made_of, most)
    made: T = rebuild(carries.tree, results)
    return made


def _record_known(
    first: int,
    end: int,
    carries: Carries,
    body: _core.Body,
    most: int | None,
    unroll: int | bool | None,
) -> list[Var]:
    """Return what is carried behind trips that are known: their numbers are rows."""
    trips = max(end - first, 0)
    if most is not None and trips > most:
        raise at_line(ValueError(f"fori_loop: max_trips is {most}, but there are {trips} trips"))
    numbers = _core.iota((trips,), 0, _core.int64)
    # Numbers from 0 on are known to be in range where there are as many rows.
    if first != 0:
        numbers = numbers + first
    unrolled = as_unroll("fori_loop", unroll, trips)
    return _core.record_scan(trips, False, unrolled, carries.vars, [numbers], body)


def _count(first: Any, end: Any) -> Var:
    """Return the number of trips between bounds, one of which is a tensor; 0 or less: none."""
    if isinstance(first, int) and first == 0:
        count: Var = end
        return count
    # A difference may be no int64: the bounds are compared.
    return _core.select(make_leaf(first, _core.int64) < end, end - first, 0)
