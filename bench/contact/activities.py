# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Activities: what the GPU's own clock says of each kernel, copy and fill of a process.

CUPTI, which comes with CUDA and with PyTorch, writes them down, whoever launches them, so
that our kernels and PyTorch's are measured alike, without the time of a launch. Through
ctypes: a process that has no CUPTI is one that is measured by events.
"""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from typing import Any

KERNEL, COPY, FILL = 10, 1, 2
KINDS = {KERNEL: "kernel", 3: "kernel", COPY: "copy", FILL: "fill"}
#: Of CUpti_ActivityKernel and the like, since CUDA 10.
START, END, NAME, GRID, BLOCK, SHARED, REGISTERS, COPY_KIND = 16, 24, 104, 52, 64, 76, 6, 4
WITHIN_GPU = 8
NO_MORE = 12
BUFFER_BYTES = 1 << 22
#: No activity of ours takes an hour.
LONGEST = 3600 * 10**9


@dataclass(frozen=True)
class Activity:
    """A kernel, a copy within the GPU, or a fill, and its nanoseconds."""

    kind: str
    name: str
    start: int
    end: int
    #: Of a kernel: blocks and threads by dimension, bytes of shared memory, registers.
    grid: tuple[int, ...] = ()
    block: tuple[int, ...] = ()
    shared_bytes: int = 0
    registers: int = 0

    @property
    def seconds(self) -> float:
        """What it took."""
        return (self.end - self.start) * 1e-9


class ActivityError(Exception):
    """CUPTI is not there, refuses something, or says what cannot be."""


class Activities:
    """Those of this process, between `begin` and `end`."""

    def __init__(self, library: str) -> None:
        try:
            self._library = ctypes.CDLL(library)
        except OSError as error:
            raise ActivityError(str(error)) from None
        self._memory = os.open("/proc/self/mem", os.O_RDONLY)
        self._buffers: dict[int, Any] = {}
        self._found: list[Activity] = []
        self._trouble = ""
        pointer, size = ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_size_t)
        word = ctypes.c_size_t
        requested = ctypes.CFUNCTYPE(None, pointer, size, size)
        completed = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, word, word, word)
        # CUPTI keeps these.
        self._callbacks = (requested(self._give), completed(self._take))
        self._call("cuptiActivityRegisterCallbacks", *self._callbacks)

    def begin(self) -> None:
        """Have activities written down from now on."""
        for kind in (KERNEL, COPY, FILL):
            self._call("cuptiActivityEnable", kind)

    def end(self) -> None:
        """Have none written down."""
        for kind in (KERNEL, COPY, FILL):
            self._call("cuptiActivityDisable", kind)

    def since(self) -> list[Activity]:
        """Return those that have ended since this was last asked, by their start."""
        self._call("cuptiActivityFlushAll", 1)
        if self._trouble:
            raise ActivityError(self._trouble)
        found, self._found = self._found, []
        return sorted(found, key=lambda activity: activity.start)

    def _call(self, function: str, *arguments: object) -> None:
        error = getattr(self._library, function)(*arguments)
        if error:
            raise ActivityError(f"{function} failed with error {error}")

    def _give(self, buffer: Any, size: Any, most: Any) -> None:
        memory = ctypes.create_string_buffer(BUFFER_BYTES + 8)
        address = (ctypes.addressof(memory) + 7) & -8
        self._buffers[address] = memory
        buffer[0], size[0], most[0] = address, BUFFER_BYTES, 0

    def _take(self, context: Any, stream: int, buffer: int, size: int, valid: int) -> None:
        record = ctypes.c_void_p(0)
        try:
            while valid:
                error = self._library.cuptiActivityGetNextRecord(
                    ctypes.c_size_t(buffer), ctypes.c_size_t(valid), ctypes.byref(record)
                )
                if error == NO_MORE or record.value is None:
                    break
                if error:
                    raise ActivityError(f"reading a record failed with error {error}")
                self._add(record.value)
        except Exception as error:
            # The caller is not Python.
            self._trouble = str(error)
        self._buffers.pop(buffer, None)

    def _add(self, address: int) -> None:
        kind = ctypes.c_uint32.from_address(address).value
        if kind not in KINDS:
            return
        start, end = (ctypes.c_uint64.from_address(address + at).value for at in (START, END))
        if not 0 < start <= end < start + LONGEST:
            raise ActivityError(f"an activity from {start} to {end} cannot be")
        if KINDS[kind] == "kernel":
            grid, block = (
                tuple((ctypes.c_int32 * 3).from_address(address + at)) for at in (GRID, BLOCK)
            )
            shared = sum((ctypes.c_int32 * 2).from_address(address + SHARED))
            registers = ctypes.c_uint16.from_address(address + REGISTERS).value
            name = self._text(ctypes.c_uint64.from_address(address + NAME).value)
            self._found.append(Activity("kernel", name, start, end, grid, block, shared, registers))
        elif kind == FILL or ctypes.c_uint8.from_address(address + COPY_KIND).value == WITHIN_GPU:
            self._found.append(Activity(KINDS[kind], KINDS[kind], start, end))

    def _text(self, address: int) -> str:
        """Return a text that may be somewhere else in another CUPTI."""
        try:
            data = os.pread(self._memory, 200, address)
        except (OSError, OverflowError):
            return ""
        return data.split(b"\0")[0].decode(errors="replace")
