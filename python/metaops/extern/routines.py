# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Routines of libraries as operators."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import _core
from .._errors import at_line
from .._typing import DType, VarLike, as_vars, shown
from .calls import take_outputs

__all__ = ["load_routines", "routine"]

#: The kinds of parameters, and what NumPy's numbers become.
_KINDS = ((int, (int, np.integer)), (float, (int, float, np.integer, np.floating)), (str, str))


def routine(
    name: str,
    shapes: Sequence[Any],
    dtypes: DType | Sequence[DType],
    *args: VarLike,
    parameters: Mapping[str, Any] | None = None,
    roles: Sequence[str] = (),
    over: Sequence[int] = (),
    batched: bool = False,
    total: bool = False,
) -> Any:
    """Return what a routine of a library computes, as a step of a program.

    Routines are known by their names, from the runtime itself and from plugins
    (`load_routines`). A routine is a function of its arguments and parameters alone: equal
    calls are merged, and one that nobody reads is not made.

    Parameters
    ----------
    name : str
        Of the routine.
    shapes : sequence of int, or of such
        The shape of the result, or of each.
    dtypes : dtype or sequence of dtypes
        Of the result, or of each.
    *args : tensors
        What the routine is given.
    parameters : mapping of str to int, float or str, or to sequences of one of these
        Its further arguments, which are known before it runs.
    roles : sequence of str
        What each argument, and then each result, is to the routine; what there is to say is
        in the description of the routine.
    over : sequence of int
        For each result the number of the argument in whose memory it may be made, where
        nobody reads that any more, or -1. They have the same shape and dtype.
    batched : bool
        Whether all arguments and results may have further dimensions in front, as `vmap`
        has the routine compute all examples at once. Otherwise it is called for each.
    total : bool
        Whether the routine never fails, so that arguments of the program may be written over
        before it.

    Returns
    -------
    Var or tuple of Vars
        They have no derivatives; a `mo.Function` around the call may give them some.

    Raises
    ------
    TypeError
        If `name` or a role is no text, or a parameter is of another kind.
    ValueError
        If shapes and dtypes do not go together, an extent is negative, there are roles for
        some tensors only, or a result is over an argument that is not like it.
    RuntimeError
        Where values are asked for: if nobody computes such a routine, or it fails.

    Examples
    --------
    >>> x = mo.array([3.0, 1.0, 2.0])
    >>> mo.routine("sort", x.shape, x.dtype, x, parameters={"dim": 0, "descending": 0},
    ...            roles=["source", "values"], total=True)
    Var([1, 2, 3], dtype=float32)
    """
    if not isinstance(name, str) or not name:
        raise at_line(TypeError(f"routine: name is {shown(name)}, expected a text"))
    given = as_vars("routine", args)
    outputs, is_single = take_outputs("routine", shapes, dtypes)
    if any(output.is_bounded for output in outputs):
        raise at_line(ValueError("routine: an extent is negative; expected 0 or more"))
    _check_roles(roles, len(given) + len(outputs))
    results = _core.call_routine(
        name,
        given,
        [(output.shape, output.dtype) for output in outputs],
        {key: _as_list(key, value) for key, value in (parameters or {}).items()},
        list(roles),
        _take_over(over, given, outputs),
        bool(batched),
        bool(total),
    )
    return results[0] if is_single else tuple(results)


def _check_roles(roles: Sequence[str], count: int) -> None:
    """Raise unless there is a role for each tensor, or for none."""
    if isinstance(roles, str) or not all(isinstance(role, str) for role in roles):
        raise at_line(TypeError(f"routine: roles are {shown(roles)}, expected texts"))
    if roles and len(roles) != count:
        raise at_line(
            ValueError(
                f"routine: {len(roles)} roles, expected one for each of {count} arguments and "
                "results, or none"
            )
        )


def _take_over(over: Sequence[int], given: Sequence[Any], outputs: Sequence[Any]) -> list[int]:
    """Return the numbers of arguments, which are like the results that are over them."""
    numbers = [int(number) for number in over]
    if not numbers:
        return []
    taken = [number for number in numbers if number != -1]
    if len(numbers) != len(outputs) or len(set(taken)) != len(taken):
        raise at_line(
            ValueError(
                f"routine: over is {numbers}, expected a number for each of {len(outputs)} "
                "results, no two the same but -1"
            )
        )
    for number, output in zip(numbers, outputs, strict=True):
        if number == -1:
            continue
        is_like = 0 <= number < len(given) and (
            tuple(given[number].shape) == tuple(output.shape)
            and str(given[number].dtype) == str(output.dtype)
        )
        if not is_like:
            raise at_line(
                ValueError(
                    f"routine: a result of shape {tuple(output.shape)} and dtype "
                    f"{output.dtype} is over argument {number}, which is not like it"
                )
            )
    return numbers


def _as_list(name: str, value: Any) -> list[Any]:
    """Return a parameter as a list of integers, floats or texts."""
    is_list = isinstance(value, Sequence | np.ndarray) and not isinstance(value, str)
    values = list(value) if is_list else [value]
    for made, kinds in _KINDS:
        if all(isinstance(each, kinds) and not isinstance(each, bool) for each in values):
            return [made(each) for each in values]
    raise at_line(
        TypeError(
            f"routine: the parameter {name!r} is {shown(value)}, expected an int, a float or a "
            "str, or a sequence of one of these"
        )
    )


def load_routines(path: str | os.PathLike[str]) -> list[str]:
    """Add the routines of a plugin to the session.

    A plugin is a shared library that is made with ``metaops-c/routine.h``. It stays loaded as
    long as the process. Its routines come before others of their names, in what is compiled
    from then on.

    Parameters
    ----------
    path : str or path
        The library. A name without a slash is looked for where the system looks.

    Returns
    -------
    list of str
        The names of its routines, for `routine`.

    Raises
    ------
    ValueError
        If there is no such library, or it is no plugin of this version.
    """
    return _core.load_routines(os.fspath(path))
