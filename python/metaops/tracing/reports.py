# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reports on functions that are recorded once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from .._errors import at_line
from .._typing import shown
from .functions import Jitted, find_jitted, list_functions

__all__ = ["jit_info"]


class JitRecord(NamedTuple):
    """A recording of a function, and why there was none that could be used."""

    #: The number of the call, from 1.
    call: int
    #: The argument or the part of Python that was new; "" of the first recording.
    new: str
    #: Its value in the recording that is nearest, and in this call.
    before: str
    after: str

    def __str__(self) -> str:
        if not self.new:
            return f"call {self.call}: the first"
        return f"call {self.call}: {self.new} was {self.before}, and is {self.after}"


class JitInfo(NamedTuple):
    """A report on the calls of a function; see `jit_info`."""

    #: The function's name.
    name: str
    #: The recordings that are kept.
    keys: int
    #: Calls that used a recording as it was.
    hits: int
    #: All calls.
    calls: int
    #: Rows of guards that the recording which was used last compares.
    guards: int
    #: The recordings that were made, the last 256 at most.
    records: list[JitRecord]

    def __str__(self) -> str:
        head = (
            f"{self.name}: {self.calls} calls, {self.hits} of them without recording;"
            f" {self.keys} recordings kept, {self.guards} guards"
        )
        return "\n".join([head, *(f"  {record}" for record in self.records)])


def jit_info(fn: Callable[..., Any]) -> JitInfo:
    """Return what became of the calls of a function that `jit` returned.

    Parameters
    ----------
    fn
        A function or a module that `jit` returned, or a method of a class whose function it
        decorates.

    Raises
    ------
    TypeError
        If it is something else.

    Examples
    --------
    >>> import metaops as mo
    >>> double = mo.jit(lambda x: 2 * x)
    >>> for _ in range(4):
    ...     y = double(mo.ones(3))
    >>> mo.jit_info(double).hits
    2
    """
    found = find_jitted(fn)
    if found is None:
        raise at_line(TypeError(f"jit_info: given {shown(fn)}, expected what jit has returned"))
    return _describe(found)


def _describe(function: Jitted[..., Any], calls: int = 0, hits: int = 0) -> JitInfo:
    """Return a report on the calls that came after so many."""
    entry = function.get_last()
    records = [JitRecord(*record) for record in function.records]
    return JitInfo(
        name=function.name,
        keys=len(function.list_entries()),
        hits=function.hits - hits,
        calls=function.calls - calls,
        guards=0 if entry is None else len(entry.guards),
        records=[record for record in records if record.call > calls],
    )


class CallCounts:
    """The calls of all recorded functions from here on."""

    def __init__(self) -> None:
        self._before: WeakKeyDictionary[Jitted[..., Any], tuple[int, int]] = WeakKeyDictionary()
        for function in list_functions():
            self._before[function] = (function.calls, function.hits)

    def list_called(self) -> list[JitInfo]:
        """Return reports on the functions that were called and live, the busiest first."""
        infos = [
            _describe(function, *self._before.get(function, (0, 0)))
            for function in list_functions()
        ]
        called = [info for info in infos if info.calls]
        return sorted(called, key=lambda info: (-info.calls, info.name))
