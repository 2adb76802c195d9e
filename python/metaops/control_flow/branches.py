# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Branches: one of several functions, chosen by a value when the program runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any, TypeVar

from .. import _core
from .._core import Var
from .._errors import at_line
from .bodies import Body, check_callable
from .structures import describe_leaf, find_type, is_integer, leaves_of, listed, make_leaf, rebuild

__all__ = ["cond", "switch"]

R = TypeVar("R")


def _check_same(first: Body, other: Body) -> None:
    """Raise an error unless two branches return structures of the same tensors.

    Keys of dicts may be in another order: the first branch's is that of both.
    """

    def fail(problem: str) -> None:
        raise at_line(
            TypeError(
                f"{first.what}{first.line} and {other.what.partition(': ')[2]}{other.line}"
                f" {problem}; expected the same of both"
            )
        )

    paths = [path for path, _ in first.leaves], [path for path, _ in other.leaves]
    if set(paths[0]) != set(paths[1]):
        fail(f"return other structures, with tensors at {listed(paths[0])} and {listed(paths[1])}")
    other.bring_first(paths[0])
    for (path, mine), (_, its) in zip(first.leaves, other.leaves, strict=True):
        shapes = [leaf.shape if isinstance(leaf, Var) else () for leaf in (mine, its)]
        both = isinstance(mine, Var) and isinstance(its, Var)
        if shapes[0] != shapes[1] or (both and mine.dtype != its.dtype):
            fail(f"return {describe_leaf(mine)} and {describe_leaf(its)} as {path}")


def _record(condition: Var, branches: Sequence[Body], operands: list[Var]) -> list[Var]:
    types = [
        find_type(*(leaf for _, leaf in pair))
        for pair in zip(*(body.leaves for body in branches), strict=True)
    ]
    on_true, on_false = (body.finish(types) for body in branches)
    return _core.record_if(condition, on_true, on_false, operands)


def _check_condition(what: str, name: str, value: Any) -> Any:
    """Return a condition as a tensor, or as a Python value where it is one."""
    if isinstance(value, bool):
        return value
    if not isinstance(value, Var):
        value = _core.array(value)
    if value.shape != () or value.dtype != _core.bool:
        raise at_line(
            TypeError(
                f"{what}: {name} is {describe_leaf(value)}, expected a boolean without dimensions"
            )
        )
    return value


def cond(
    pred: Any,
    true_fun: Callable[..., R],
    false_fun: Callable[..., R],
    *operands: Any,
) -> R:
    """Return what one of two functions returns, chosen by a value when the program runs.

    Both functions are called once, to be recorded, and the program runs one of them. A
    gradient runs the same one again: what the other one would divide by, or read, plays no
    part. Functions use tensors from outside as they are when `cond` is called; they cannot
    rebind these, nor ask for values.

    Random numbers of both begin where they would without the branch; those behind it begin
    where the longer one ends.

    Parameters
    ----------
    pred : Var, array or bool
        Boolean, of no dimensions. A Python bool chooses at once.
    true_fun, false_fun : callable
        Each is given the operands. What they return has the same structure, shapes and
        element types: lists, tuples, dicts and None within each other, of tensors, arrays
        and numbers. A number takes the element type of the other one's tensor.
    *operands
        Structures of tensors, arrays and numbers.

    Returns
    -------
    The structure that the functions return.

    Raises
    ------
    TypeError
        If the condition is no boolean of no dimensions, or the functions return other
        structures.
    RuntimeError
        If a function rebinds a tensor from outside, asks for a value, or leaves a tensor
        in something that lives on.

    Examples
    --------
    >>> x = mo.array([3.0, 4.0])
    >>> mo.cond(x.sum() > 0, lambda x: x / x.sum(), mo.zeros_like, x).numpy()
    array([0.42857143, 0.5714286 ], dtype=float32)
    """
    check_callable("cond", "true_fun", true_fun)
    check_callable("cond", "false_fun", false_fun)
    chosen = _check_condition("cond", "pred", pred)
    if isinstance(chosen, bool):
        return (true_fun if chosen else false_fun)(*operands)
    return _choose(
        "cond", chosen, ("the first function", true_fun), ("the second", false_fun), operands
    )


def _choose(
    what: str,
    condition: Var,
    on_true: tuple[str, Callable[..., Any]],
    on_false: tuple[str, Callable[..., Any]],
    operands: Sequence[Any],
) -> Any:
    leaves = [make_leaf(leaf, find_type(leaf)) for _, leaf in leaves_of(what, "operands", operands)]
    given = rebuild(tuple(operands), leaves)
    with ExitStack() as stack:
        bodies = [
            stack.enter_context(Body(f"{what}: {name}", function, given, leaves))
            for name, function in (on_true, on_false)
        ]
        _check_same(*bodies)
        structure = bodies[0].structure
        # A structure of no tensors is the same either way.
        results = _record(condition, bodies, leaves) if bodies[0].leaves else []
    return rebuild(structure, results)


def switch(index: Any, branches: Sequence[Callable[..., R]], *operands: Any) -> R:
    """Return what one of several functions returns, chosen by a number when the program runs.

    As `cond`, for any number of functions.

    Parameters
    ----------
    index : Var, array or int
        Integer, of no dimensions. One below 0 chooses the first function, one past the end
        the last.
    branches : sequence of callables
        One at least, each of which is given the operands.
    *operands
        Structures of tensors, arrays and numbers.

    Returns
    -------
    The structure that the functions return.

    Raises
    ------
    TypeError
        If the index is no integer of no dimensions, or the functions return other
        structures.
    ValueError
        If there is no function.

    Examples
    --------
    >>> x = mo.array([3.0, 4.0])
    >>> mo.switch(mo.array(2), [mo.zeros_like, mo.exp, lambda x: x * x], x).numpy()
    array([ 9., 16.], dtype=float32)
    """
    functions = list(branches)
    if not functions:
        raise at_line(ValueError("switch: no functions are given, expected one at least"))
    for place, function in enumerate(functions):
        check_callable("switch", f"branches[{place}]", function)
    if isinstance(index, int) and not isinstance(index, bool):
        return functions[min(max(index, 0), len(functions) - 1)](*operands)
    number: Any = index if isinstance(index, Var) else _core.array(index)
    if not is_integer(number):
        raise at_line(
            TypeError(
                f"switch: index is {describe_leaf(number)}, expected an integer without dimensions"
            )
        )
    chosen: R = _one_of(functions, number.cast(_core.int64), 0, len(functions) - 1)[1](*operands)
    return chosen


def _one_of(
    functions: Sequence[Callable[..., Any]], number: Var, first: int, last: int
) -> tuple[str, Callable[..., Any]]:
    """Return those functions from the first to the last as one, which a number chooses from.

    The name of it is for messages.
    """
    if first == last:
        return f"branches[{first}]", functions[first]
    middle = (first + last) // 2

    def call(*given: Any) -> Any:
        lower = _one_of(functions, number, first, middle)
        upper = _one_of(functions, number, middle + 1, last)
        return _choose("switch", number <= middle, lower, upper, given)

    return f"branches[{first}] to [{last}]", call
