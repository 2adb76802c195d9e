# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What NVIDIA's driver says of a GPU, and what it does itself: launches and copies.

Through ctypes: nothing of ours is asked or measured.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from .child import Record, first_line

#: As many bytes as the largest workloads have, and more than any cache.
COPIED_BYTES = 1 << 28
ROUNDS = 11
#: CUdevice_attribute.
ATTRIBUTES = {
    "multiprocessors": 16,
    "clock kHz": 13,
    "memory clock kHz": 36,
    "memory bus bits": 37,
    "L2 bytes": 38,
    "threads a multiprocessor": 39,
    "shared bytes a block": 8,
    "shared bytes a block with opt-in": 97,
    "shared bytes a multiprocessor": 81,
    "registers a multiprocessor": 82,
    "copy engines": 40,
    "compute mode": 20,
    "ECC": 32,
    "capability major": 75,
    "capability minor": 76,
}
#: Of the driver's module, where it is.
VERSION = Path("/sys/module/nvidia/version")
EMPTY = b""".version 7.8
.target sm_{chip}
.address_size 64
.visible .entry empty() { ret; }
"""
CAPABILITY_MAJOR, CAPABILITY_MINOR, SHARED_WITH_OPT_IN = 75, 76, 97
#: Of a block, as a kernel that fills a multiprocessor has.
MUCH_SHARED = 200_000
CLUSTER_DIMENSION, MAY_HAVE_LARGE_CLUSTERS, MAX_DYNAMIC_SHARED = 4, 14, 8


class DriverError(Exception):
    """The driver is not there, or refuses something; the message says what."""


class _Attribute(ctypes.Structure):
    _fields_ = (("id", ctypes.c_uint), ("pad", ctypes.c_uint), ("value", ctypes.c_uint * 16))


class _LaunchConfig(ctypes.Structure):
    _fields_ = (
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared", ctypes.c_uint),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.POINTER(_Attribute)),
        ("count", ctypes.c_uint),
    )


class Gpu:
    """The first GPU, in its primary context."""

    def __init__(self, library: str = "libcuda.so.1") -> None:
        try:
            self._driver = ctypes.CDLL(library)
        except OSError as error:
            raise DriverError(f"{error} ({library} is a part of NVIDIA's driver)") from None
        self._device, context = ctypes.c_int(), ctypes.c_void_p()
        self._call("cuInit", 0)
        self._call("cuDeviceGet", ctypes.byref(self._device), 0)
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), self._device)
        self._call("cuCtxPushCurrent_v2", context)
        self._events = [ctypes.c_void_p(), ctypes.c_void_p()]
        for event in self._events:
            self._call("cuEventCreate", ctypes.byref(event), 0)

    def describe(self) -> Record:
        """Return what it is called, and what it has."""
        name, version = ctypes.create_string_buffer(256), ctypes.c_int()
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self._call("cuDeviceGetName", name, len(name), self._device)
        self._call("cuDriverGetVersion", ctypes.byref(version))
        self._call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        found: Record = {"gpu": name.value.decode()}
        if VERSION.exists():
            found["driver"] = VERSION.read_text().strip()
        found["driver CUDA"] = version.value
        found |= {"memory bytes": total.value, "memory free bytes": free.value}
        return found | {title: self.attribute(number) for title, number in ATTRIBUTES.items()}

    def launch_seconds(self) -> Record:
        """Return what an empty kernel takes between two events, and many one after another."""
        function = self.kernel(EMPTY, "empty")
        count = 1000

        def many() -> None:
            for _ in range(count):
                self.launch(function, 1, 32)

        return {
            "empty launch seconds": self._median(lambda: self.launch(function, 1, 32)),
            "launch seconds, of many": self._median(many) / count,
        }

    def largest_clusters(self) -> Record:
        """Return how many clusters of each size run at a time, each block with much memory."""
        if self.attribute(CAPABILITY_MAJOR) < 9:
            return {"clusters": "none"}
        function = self.kernel(EMPTY, "empty")
        shared = min(MUCH_SHARED, self.attribute(SHARED_WITH_OPT_IN))
        self._call("cuFuncSetAttribute", function, MAY_HAVE_LARGE_CLUSTERS, 1)
        self._call("cuFuncSetAttribute", function, MAX_DYNAMIC_SHARED, shared)
        found = {}
        for size in (1, 2, 4, 8, 16):
            attribute = _Attribute(CLUSTER_DIMENSION)
            attribute.value[:3] = size, 1, 1
            config = _LaunchConfig((size * 100, 1, 1), (256, 1, 1), shared, None)
            config.attributes, config.count = ctypes.pointer(attribute), 1
            number = ctypes.c_int()
            # A slice of a GPU refuses a size that it has no multiprocessors for.
            with contextlib.suppress(DriverError):
                self._call(
                    "cuOccupancyMaxActiveClusters",
                    ctypes.byref(number),
                    function,
                    ctypes.byref(config),
                )
            found[f"clusters of {size}"] = number.value
        return found

    def copy_rate(self) -> Record:
        """Return the bytes that are read and written in a second, by the median copy."""
        memory = ctypes.c_uint64(self.allocate(2 * COPIED_BYTES))
        half = ctypes.c_uint64(memory.value + COPIED_BYTES)
        size = ctypes.c_size_t(COPIED_BYTES)
        seconds = self._median(lambda: self._call("cuMemcpyDtoDAsync_v2", half, memory, size, None))
        self._call("cuMemFree_v2", memory)
        return {"copy bytes per second": 2 * COPIED_BYTES / seconds}

    # Launches of others

    def attribute(self, number: int) -> int:
        """Return an attribute of the GPU by its CUdevice_attribute."""
        value = ctypes.c_int()
        self._call("cuDeviceGetAttribute", ctypes.byref(value), number, self._device)
        return value.value

    def allocate(self, size: int) -> int:
        """Return the address of so many bytes."""
        memory = ctypes.c_uint64()
        self._call("cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t(size))
        return memory.value

    def kernel(self, text: bytes, name: str) -> ctypes.c_void_p:
        """Return a kernel of a text of PTX, whose target is `sm_{chip}`."""
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        chip = min(10 * self.attribute(CAPABILITY_MAJOR) + self.attribute(CAPABILITY_MINOR), 90)
        code = ctypes.c_char_p(text.replace(b"{chip}", b"%d" % chip))
        self._call("cuModuleLoadData", ctypes.byref(module), code)
        self._call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        return function

    def launch(
        self, function: ctypes.c_void_p, blocks: int, threads: int, arguments: Sequence[Any] = ()
    ) -> None:
        """Queue a kernel on the default stream."""
        places = (ctypes.c_void_p * len(arguments))(*map(ctypes.addressof, arguments))
        given = places if arguments else None
        grid = (blocks, 1, 1, threads, 1, 1)
        self._call("cuLaunchKernel", function, *grid, 0, None, given, None)

    def wait(self) -> None:
        """Wait until all that is queued is done."""
        self._call("cuCtxSynchronize")

    def _median(self, run: Callable[[], None]) -> float:
        self._seconds(run)
        return median(self._seconds(run) for _ in range(ROUNDS))

    def _seconds(self, run: Callable[[], None]) -> float:
        begin, end = self._events
        self._call("cuEventRecord", begin, None)
        run()
        self._call("cuEventRecord", end, None)
        self._call("cuEventSynchronize", end)
        milliseconds = ctypes.c_float()
        self._call("cuEventElapsedTime", ctypes.byref(milliseconds), begin, end)
        return milliseconds.value / 1e3

    def _call(self, function: str, *arguments: object) -> None:
        try:
            error = getattr(self._driver, function)(*arguments)
        except AttributeError:
            raise DriverError(f"the driver has no {function}") from None
        if error:
            text = ctypes.c_char_p()
            self._driver.cuGetErrorString(error, ctypes.byref(text))
            raise DriverError(f"{function} failed: {(text.value or b'').decode() or error}")


def describe() -> Iterator[Record]:
    """Return what can be learnt of the GPU, one after another."""
    try:
        gpu = Gpu()
    except DriverError as error:
        yield {"error": str(error), "has no gpu": True}
        return
    for part in (gpu.describe, gpu.copy_rate, gpu.launch_seconds, gpu.largest_clusters):
        try:
            yield {"device": part()}
        except DriverError as error:
            yield {"error": first_line(error)}
