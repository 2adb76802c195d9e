# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the extension's profiler returns. Times are nanoseconds."""

from __future__ import annotations

from typing import TypeAlias, TypedDict


class AccessCountsDict(TypedDict):
    """What the accesses of one operation of a kernel moved."""

    operation: str
    location: str
    is_shared: bool
    requests: int
    bytes: int
    moved: int
    least: int


class LaunchCountsDict(TypedDict):
    """What one call of a kernel moved and executed."""

    accesses: list[AccessCountsDict]
    instructions: dict[str, int]


class CallTimes(TypedDict):
    """What the runs of one kernel call of a program took."""

    name: str
    operators: list[str]
    nodes: list[int]
    lines: list[str]
    bytes_read: int
    bytes_written: int
    flops: int
    predicted_seconds: float
    runs: int
    total: int
    min: int
    max: int
    counts: LaunchCountsDict | None


class ProgramTimes(TypedDict):
    """What the runs of one program took."""

    runs: int
    compilations: int
    compile_seconds: float
    device: str
    meta_operators: int
    arena_bytes: int
    calls: list[CallTimes]


#: The program, whether it was compiled, and (call, begin, end) of each call.
RunTimes: TypeAlias = tuple[int, bool, list[tuple[int, int, int]]]
#: Name, operands, type and line. An operand is a node, or -1 - k for leaf k.
GraphNode: TypeAlias = tuple[str, list[int], str, str]


class ProgramGraph(TypedDict):
    """The operators of a program, each after its operands."""

    leaves: list[str]
    nodes: list[GraphNode]
    outputs: list[int]
