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
from .bodies import Body, check_callable
from .carries import Carries
from .structures import describe_leaf, is_integer, make_leaf, rebuild

__all__ = ["fori_loop", "while_loop"]

T = TypeVar("T")


def while_loop(cond_fun: Callable[[T], Any], body_fun: Callable[[T], T], init_val: T) -> T:
    """Return what is carried when a condition is no longer true.

    Both functions are called once, to be recorded; the program runs them as often as it
    has to. They use tensors from outside as they are when `while_loop` is called; they
    cannot rebind these, nor ask for values. A loop without end stops by Ctrl-C, and goes
    on when it is asked for again.

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

    Returns
    -------
    The last carry.

    Raises
    ------
    TypeError
        If the condition is no boolean of no dimensions, or the body returns another
        structure.
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
    carries = Carries("while_loop", init_val)
    carries.check_any()
    with carries.record(body_fun, lambda tree: (tree,)) as body:
        given = (carries.get_tree(),)
        with Body("while_loop: the condition", cond_fun, given, carries.vars) as condition:
            _check_condition(condition)
            asked = condition.finish([_core.bool])
        results = _core.record_while(carries.vars, asked, body.finish(carries.get_types()))
    made: T = rebuild(init_val, results)
    return made


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


def fori_loop(lower: Any, upper: Any, body_fun: Callable[[Var, T], T], init_val: T) -> T:
    """Return what is carried behind trips that are counted.

    As ``for i in range(lower, upper): val = body_fun(i, val)``, in one operation whose size
    does not depend on the number of trips. See `while_loop` for what the body may do.

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

    Returns
    -------
    The last carry: the first one where there are no trips.

    Raises
    ------
    TypeError
        If a bound is no integer of no dimensions, or the body returns another structure.
    RuntimeError
        As `while_loop`.

    Examples
    --------
    >>> mo.fori_loop(0, 5, lambda i, total: total + i * i, 0).item()
    30
    """
    check_callable("fori_loop", "body_fun", body_fun)
    first, end = _as_bound("lower", lower), _as_bound("upper", upper)
    carries = Carries("fori_loop", init_val)
    carries.check_any()
    if isinstance(first, int) and isinstance(end, int):
        return _count_known(first, end, body_fun, carries)
    number = make_leaf(first, _core.int64)
    with carries.record(body_fun, lambda tree: (number, tree)):
        # The carries alone decide on types.
        start = (number, carries.get_tree())
    _, result = while_loop(
        lambda carry: carry[0] < end,
        lambda carry: (carry[0] + 1, body_fun(*carry)),
        start,
    )
    made: T = result
    return made


def _count_known(first: int, end: int, body_fun: Callable[[Var, T], T], carries: Carries) -> T:
    """Return what is carried behind a loop whose trips are known, which has gradients."""
    trips = max(end - first, 0)
    # The numbers of the trips are rows.
    numbers = _core.iota((trips,), 0, _core.int64) + first
    number = make_leaf(first, _core.int64)

    @wraps(body_fun)
    def trip(value: T, i: Var) -> T:
        return body_fun(i, value)

    with carries.record(trip, lambda tree: (tree, number)) as body:
        results = _core.record_scan(
            trips, False, carries.vars, [numbers], body.finish(carries.get_types())
        )
    made: T = rebuild(carries.tree, results)
    return made
