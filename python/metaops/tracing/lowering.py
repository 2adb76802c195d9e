# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of recorded functions, to be looked at before they are run."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import TYPE_CHECKING, Any

from .. import _core
from .._devices import device_of
from .._errors import refuse_recorded
from ..tools.explaining import Explanation

if TYPE_CHECKING:
    from .._core import Var
    from .recorder import Entry

__all__ = ["estimate_call", "explain_call", "record_anew"]


def record_anew(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Entry, list[Var]]:
    """Return a recording of a function that is not kept, and what a call binds.

    Parameters
    ----------
    function
        One that `metaops.jit` has made, or that it could be given.
    args, kwargs
        What it would be called with.
    """
    from .functions import _take_apart, find_jitted, jit

    refuse_recorded("summary is called with a step")
    made: Any = jit(function) if find_jitted(function) is None else function
    jitted = find_jitted(made)
    assert jitted is not None
    if made is not jitted:
        args = (made.__self__ if isinstance(made, MethodType) else made, *args)
    _, leaves, kept = _take_apart(args, kwargs)
    entry = jitted._record(args, kwargs, leaves, kept)
    return entry, entry.guards.gather(leaves)


def explain_call(entry: Entry, bound: list[Var]) -> Explanation:
    """Return what the kernels of a call do; nothing is run, and no effect advanced.

    Parameters
    ----------
    entry
        The recording that the call would use.
    bound
        Its arguments and captured tensors, as the guards gather them.
    """
    return Explanation(_core.plan_call(entry.function, bound))


def estimate_call(entry: Entry, bound: list[Var]) -> int | None:
    """Return the most memory that a call will have in use; see `metaops.estimate`.

    Parameters
    ----------
    entry, bound
        As of `explain_call`. The call is planned and not run, on tensors like those that it
        updates, which have memory for as long. Where there is no room for these, None.
    """
    updated = {place for place, _ in _core.find_rebinds(entry.function)}
    like: dict[int, Var] = {}
    before = _core.memory_counts()["in_use"]
    try:
        for place in updated:
            if _core.are_in_memory([bound[place]]):
                like[place] = _like(bound[place])
        # The copies are in use, which a call would not have.
        copied = _core.memory_counts()["in_use"] - before
        for place, var in enumerate(bound):
            if not _core.are_in_memory([var]):
                like[place] = _like(var)
    except MemoryError:
        return None
    return _estimate(entry, [like.get(place, var) for place, var in enumerate(bound)]) - copied


def _estimate(entry: Entry, arguments: list[Var]) -> int:
    """Return the most memory of a call that updates tensors which nobody else has."""
    dtypes = [dtype for each in entry.effects for dtype in each.dtypes]
    numbers = [number for dtype in dtypes for number in _core.scalars([0.0], dtype)]
    seed, drawn = _core.random_state()
    try:
        results = entry.function.record([*arguments, *numbers])
        return _core.estimate([*(results or []), *arguments])
    finally:
        # Numbers that another thread has drawn since would come again.
        if _core.random_state() == (seed, drawn + _core.num_drawn(entry.function)):
            _core.set_random_state(seed, drawn)


def _like(var: Var) -> Var:
    """Return a tensor in memory whose value does not matter."""
    with device_of(var):
        return _core.empty(var.shape, dtype=var.dtype).sync()
