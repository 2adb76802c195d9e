# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checkpoints: parts of which a gradient computes again what lies between."""

from __future__ import annotations

import functools
import gc
import itertools
from collections.abc import Callable, Iterable, Sequence
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import Any, TypeVar, overload

from .. import _core
from .._errors import at_line
from .._typing import as_count, shown
from ..control_flow.bodies import check_callable, line_of
from ..tracing.arguments import Result
from ..tracing.effects import CheckpointRecording

__all__ = ["checkpoint"]

R = TypeVar("R")


@overload
def checkpoint(fn: Callable[..., R]) -> Callable[..., R]: ...


@overload
def checkpoint(fn: Sequence[Callable[..., Any]], segments: int) -> Callable[[Any], Any]: ...


def checkpoint(fn: Any, segments: int | None = None) -> Callable[..., Any]:
    """Return a function of which gradients keep the arguments and the results alone.

    What lies between is computed again when a gradient is due: a step takes a third longer
    at most, and less memory. Values, random numbers and gradients are those of the function.
    It may be called in recorded functions and loops, and in other checkpoints. Without a
    gradient nothing is computed again.

    Parameters
    ----------
    fn : callable or sequence of callables
        Called once in each call, to be recorded, and may use and update tensors from
        outside; it cannot ask for values. With `segments`, functions each of which is given
        what the one before has returned, as in an `nn.Sequential`.
    segments : int, optional
        How many checkpoints to make of these functions.

    Returns
    -------
    callable

    Raises
    ------
    TypeError
        If an argument is no function, or no sequence of them where there are segments.
    ValueError
        If `segments` is no number from 1 to that of the functions.
    RuntimeError
        By calls, if the function asks for a value, does what is counted in Python, or leaves a
        tensor in something that lives on.

    Examples
    --------
    >>> w = mo.ones((4, 4))
    >>> layer = mo.checkpoint(lambda x: mo.tanh(x @ w).sum())
    >>> mo.grad(layer(mo.zeros((2, 4))), w).shape
    (4, 4)
    """
    if segments is None:
        check_callable("checkpoint", "fn", fn)
        return functools.wraps(fn, updated=())(lambda *args, **kwargs: _call(fn, args, kwargs))
    parts = [_call_in_turn(functions) for functions in _split(fn, segments)]

    def call(value: Any) -> Any:
        for part in parts:
            value = _call(part, (value,), {})
        return value

    return call


def _split(fn: Any, segments: int) -> list[list[Callable[..., Any]]]:
    """Return functions in segments, whose lengths differ by one at most."""
    if not isinstance(fn, Iterable):
        raise at_line(
            TypeError(
                f"checkpoint: fn is {shown(fn)}, expected a sequence of functions for segments;"
                " arguments are given to what is returned, mo.checkpoint(fn)(x)"
            )
        )
    count = as_count("checkpoint: segments", segments)
    functions = list(fn)
    for place, function in enumerate(functions):
        check_callable("checkpoint", f"fn[{place}]", function)
    if count > len(functions):
        raise at_line(
            ValueError(
                f"checkpoint: segments is {count}, and fn has {len(functions)} functions; expected"
                " one at least for each"
            )
        )
    ends = [len(functions) * number // count for number in range(count + 1)]
    return [functions[begin:end] for begin, end in itertools.pairwise(ends)]


def _call_in_turn(functions: list[Callable[..., Any]]) -> Callable[[Any], Any]:
    def call(value: Any) -> Any:
        for function in functions:
            value = function(value)
        return value

    return functools.wraps(functions[0], updated=())(call)


def _call(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    # Nothing is kept for a gradient that cannot be.
    if not _core.is_grad_enabled():
        return fn(*args, **kwargs)
    what = f"checkpoint: the function{line_of(fn)}"
    trace = _core.begin_checkpoint()
    try:
        with CheckpointRecording(trace, what):
            value = fn(*args, **kwargs)
        if isinstance(value, GeneratorType | CoroutineType | AsyncGeneratorType):
            raise at_line(
                TypeError(f"{what} returns {shown(value)}, which runs later; expected tensors")
            )
        result = Result(value, [], lambda var: lambda: var)
        recorded = trace.finish_checkpoint(result.outputs)
    finally:
        trace.close()
    del value
    result.outputs.clear()
    _check_leaks(trace, what)
    return result.build(recorded.record(), [])


def _check_leaks(trace: Any, what: str) -> None:
    lines = trace.held_lines()
    if lines:
        gc.collect()
        lines = trace.held_lines()
    if lines:
        raise at_line(
            RuntimeError(
                f"{what} leaves a tensor of {lines[0]} in something that lives on, where it has no"
                " value; return it"
            )
        )
