# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checkpoints: parts of which a gradient computes again what lies between."""

from __future__ import annotations

import functools
import gc
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import Any, TypeVar, overload

from .. import _core
from .._core import Var
from .._errors import at_line
from .._typing import as_count, shown
from ..control_flow.bodies import check_callable, line_of
from ..tracing.arguments import Result
from ..tracing.effects import CheckpointRecording, recording

__all__ = ["checkpoint", "checkpoint_name"]

R = TypeVar("R")


@overload
def checkpoint(fn: Callable[..., R], *, keep: str | Sequence[str] = ()) -> Callable[..., R]: ...


@overload
def checkpoint(
    fn: Sequence[Callable[..., Any]], segments: int, keep: str | Sequence[str] = ()
) -> Callable[[Any], Any]: ...


def checkpoint(
    fn: Any, segments: int | None = None, keep: str | Sequence[str] = ()
) -> Callable[..., Any]:
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
    keep : str or sequence of str
        Names of values that are kept as well, given to them in the function by
        `checkpoint_name`.

    Returns
    -------
    callable

    Raises
    ------
    TypeError
        If an argument is no function, or no sequence of them where there are segments, or
        `keep` no texts.
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
    names = _names(keep)
    if segments is None:
        check_callable("checkpoint", "fn", fn)
        return functools.wraps(fn, updated=())(
            lambda *args, **kwargs: _call(fn, args, kwargs, names)
        )
    parts = [_call_in_turn(functions) for functions in _split(fn, segments)]

    def call(value: Any) -> Any:
        for part in parts:
            value = _call(part, (value,), {}, names)
        return value

    return call


def checkpoint_name(x: Var, name: str) -> Var:
    """Give a value in a checkpoint a name, by which the checkpoint may keep it.

    Parameters
    ----------
    x
        Any tensor.
    name
        The name: several values may have it.

    Returns
    -------
    Var
        The tensor itself. Outside of checkpoints, and in those that do not keep the name,
        nothing is done.

    Raises
    ------
    TypeError
        If an argument is no tensor, or no text.

    Examples
    --------
    >>> def layer(x):
    ...     h = mo.checkpoint_name(x @ x, "product")
    ...     return mo.tanh(mo.exp(h))
    >>> x = mo.ones((2, 2))
    >>> mo.grad(mo.checkpoint(layer, keep="product")(x), x).shape
    (2, 2)
    """
    if not isinstance(x, Var):
        raise at_line(TypeError(f"checkpoint_name: x is {shown(x)}, expected a tensor"))
    if not isinstance(name, str):
        raise at_line(TypeError(f"checkpoint_name: name is {shown(name)}, expected a text"))
    inner = recording()
    if isinstance(inner, CheckpointRecording):
        inner.name(x, name)
    return x


def _names(keep: Any) -> tuple[str, ...]:
    """Return the names of values that are kept."""
    is_list = isinstance(keep, Iterable) and not isinstance(keep, str | Mapping)
    names = tuple(keep) if is_list else (keep,)
    if not all(isinstance(name, str) for name in names):
        raise at_line(
            TypeError(f"checkpoint: keep is {shown(keep)}, expected a name, or names of values")
        )
    return names


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


def _call(
    fn: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    names: tuple[str, ...],
) -> Any:
    # Nothing is kept for a gradient that cannot be.
    if not _core.is_grad_enabled():
        return fn(*args, **kwargs)
    what = f"checkpoint: the function{line_of(fn)}"
    trace = _core.begin_checkpoint()
    inner = CheckpointRecording(trace, what, names)
    try:
        with inner:
            value = fn(*args, **kwargs)
        if isinstance(value, GeneratorType | CoroutineType | AsyncGeneratorType):
            raise at_line(
                TypeError(f"{what} returns {shown(value)}, which runs later; expected tensors")
            )
        result = Result(value, [], lambda var: lambda: var, is_computed=trace.owns)
        recorded = trace.finish_checkpoint(result.outputs, inner.kept)
        inner.kept.clear()
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
