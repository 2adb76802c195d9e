# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What holds memory, and what a run will need.

`docs/Memory.md` says what is in memory when, and what a limit does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .. import _core, _html
from .._core import Var

__all__ = ["MemoryHolder", "estimate", "memory_holders", "memory_stats", "memory_summary"]


class MemoryHolder(NamedTuple):
    """A value in memory.

    Attributes
    ----------
    bytes : int
        What the allocator set aside for it, which may be a little more than its
        elements take.
    dtype : str
        The type of its elements.
    shape : tuple of int
        Its extents.
    vars : int
        How many Vars hold it.
    line : str
        The Python line that recorded it.
    use : str
        Why it is there: "held" by a Var or a fetch; "pending", as what has been
        recorded and has not run reads it; or for "gradients" of what is held.
    needed_by : str
        The line of a value that somebody holds and that needs it; empty if it is
        held itself.
    """

    bytes: int
    dtype: str
    shape: tuple[int, ...]
    vars: int
    line: str
    use: str
    needed_by: str


def memory_holders() -> list[MemoryHolder]:
    """Return the values in memory, largest first; views count as what they view.

    Examples
    --------
    >>> import metaops as mo
    >>> x = mo.zeros((1024, 1024))
    >>> x.sync()
    >>> mo.memory_holders()[0].shape
    (1024, 1024)
    """
    return [MemoryHolder(*holder) for holder in _core.memory_holders()]


def memory_stats() -> dict[str, int]:
    """Count the bytes that the session has taken.

    Returns
    -------
    dict of str to int
        ``in_use`` and its ``peak`` since `reset_peak`; ``reserved``, which is
        in use or ``cached`` for later; the ``limit``, 0 for none; and the number
        of ``allocations``. Of the bytes in use, ``held`` are values of Vars and
        fetches, ``pending`` what has been recorded and not run reads,
        ``gradients`` is kept for these alone, ``packed`` is what
        programs keep of weights for their next runs, ``scratch`` is memory of
        programs that are running or have just run, and ``other`` is what queued
        runs and arrays outside of the session hold. ``exported`` of them have
        been seen by NumPy or through DLPack without a copy.
    """
    holders = memory_holders()
    counts = _core.memory_counts()
    for use in ("held", "pending", "gradients"):
        counts[use] = sum(holder.bytes for holder in holders if holder.use == use)
    known = sum(counts[use] for use in ("held", "pending", "gradients", "packed", "scratch"))
    counts["other"] = max(counts["in_use"] - known, 0)
    return counts


class MemorySummary(str):
    """The text of `memory_summary`, of which a notebook shows tables.

    Attributes
    ----------
    counts : list of tuple of str
        What is counted, and how many bytes, or allocations.
    values : list of tuple of str
        Of the largest values: bytes, Vars, type and shape, and the line with what it is
        there for.
    """

    counts: list[tuple[str, str]]
    values: list[tuple[str, str, str, str]]

    def __new__(
        cls, counts: list[tuple[str, str]], values: list[tuple[str, str, str, str]]
    ) -> MemorySummary:
        """Return the text of counts and values."""
        lines = [f"{name:<44}{count:>18}" for name, count in counts]
        if values:
            lines += ["", f"{'bytes':>18}  {'vars':>4}  value"]
        for size, holders, value, line in values:
            lines.append(f"{size:>18}  {holders:>4}  {value:<32}  {line}")
        self = super().__new__(cls, "\n".join(line.rstrip() for line in lines))
        self.counts, self.values = counts, values
        return self

    def _repr_html_(self) -> str:
        parts = [_html.table(self.counts)]
        if self.values:
            parts.append(_html.table(self.values, ("bytes", "vars", "value", "line")))
        return _html.page("memory in bytes", *parts)


def memory_summary(most: int = 10) -> MemorySummary:
    """Return a table of what is in memory, and of the largest values.

    Parameters
    ----------
    most
        How many values to list.

    Returns
    -------
    MemorySummary
        A string.
    """
    counts = memory_stats()
    rows = [
        ("in use", "in_use"),
        ("  held by Vars", "held"),
        ("  read by what is pending", "pending"),
        ("  kept for gradients", "gradients"),
        ("  packed for later runs", "packed"),
        ("  scratch memory of programs", "scratch"),
        ("  queued runs, and arrays outside", "other"),
        ("  of these exported", "exported"),
        ("peak", "peak"),
        ("cached for later", "cached"),
        ("reserved", "reserved"),
        ("limit", "limit"),
        ("allocations", "allocations"),
    ]
    texts = {name: f"{count:,}" for name, count in counts.items()}
    if not counts["limit"]:
        texts["limit"] = "none"
    values = []
    for holder in memory_holders()[: max(most, 0)]:
        by = f", needed by {holder.needed_by}" if holder.needed_by else ""
        use = "" if holder.use == "held" else f", {holder.use}{by}"
        value = f"{holder.dtype} {holder.shape}"
        values.append((f"{holder.bytes:,}", str(holder.vars), value, f"{holder.line}{use}"))
    return MemorySummary([(text, texts[name]) for text, name in rows], values)


def estimate(vars: Var | Sequence[Var]) -> int:
    """Return the most memory that will be in use when values are computed.

    Nothing is computed. The programs are compiled, and found again when the
    values are asked for. What is in use already is part of the estimate, so it
    is to be compared with ``memory_stats()["peak"]`` after `reset_peak` and
    `sync`, or with ``flags.memory_limit``. Waits for runs that are in the queue.

    Parameters
    ----------
    vars
        What `sync` would be called with.

    Returns
    -------
    int
        Bytes, as the allocator counts them.

    Examples
    --------
    >>> import metaops as mo
    >>> x = mo.zeros((1024, 1024))
    >>> peak = mo.estimate(x.exp())
    >>> 4 << 20 <= peak
    True
    """
    return _core.estimate(vars)
