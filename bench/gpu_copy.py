# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What copying memory takes on a GPU: the ceiling of what moves bytes.

The driver's own copy within its memory, timed by events on the GPU's clock, through
ctypes: nothing of ours is measured.
"""

from __future__ import annotations

import ctypes
from statistics import median

#: As many bytes as the largest workloads have, and more than any cache.
BYTES = 1 << 28


class DriverError(Exception):
    """The driver is not there, or refuses something; the message says what."""


class GpuCopy:
    """Copies from one half of its memory to the other."""

    def __init__(self, library: str = "libcuda.so.1", size: int = BYTES) -> None:
        try:
            self._driver = ctypes.CDLL(library)
        except OSError as error:
            raise DriverError(f"{error} ({library} is a part of NVIDIA's driver)") from None
        self._bytes = size
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self._call("cuInit", 0)
        self._call("cuDeviceGet", ctypes.byref(device), 0)
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self._call("cuCtxPushCurrent_v2", context)
        name = ctypes.create_string_buffer(256)
        self._call("cuDeviceGetName", name, len(name), device)
        #: What the GPU is called.
        self.name = name.value.decode()
        self._memory = ctypes.c_uint64()
        self._call("cuMemAlloc_v2", ctypes.byref(self._memory), ctypes.c_size_t(2 * size))
        self._events = [ctypes.c_void_p(), ctypes.c_void_p()]
        for event in self._events:
            self._call("cuEventCreate", ctypes.byref(event), 0)

    def _call(self, function: str, *arguments: object) -> None:
        error = getattr(self._driver, function)(*arguments)
        if error:
            text = ctypes.c_char_p()
            self._driver.cuGetErrorString(error, ctypes.byref(text))
            raise DriverError(f"{function} failed: {(text.value or b'').decode() or error}")

    def _seconds(self) -> float:
        begin, end = self._events
        half = ctypes.c_uint64(self._memory.value + self._bytes)
        self._call("cuEventRecord", begin, None)
        self._call("cuMemcpyDtoDAsync_v2", half, self._memory, ctypes.c_size_t(self._bytes), None)
        self._call("cuEventRecord", end, None)
        self._call("cuEventSynchronize", end)
        milliseconds = ctypes.c_float()
        self._call("cuEventElapsedTime", ctypes.byref(milliseconds), begin, end)
        return milliseconds.value / 1e3

    def bytes_per_second(self, rounds: int = 11) -> float:
        """Return what is read and written in a second, by the median copy."""
        self._seconds()
        return 2 * self._bytes / median(self._seconds() for _ in range(rounds))
