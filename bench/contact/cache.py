# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The second cache, from which all inputs are driven before a call that is timed cold.

What was just copied to the GPU, or used by the call before, is still there, as far as it
fits, and kernels that memory bounds would be timed with some of it. So a kernel reads
other memory, several times as large as the cache, by loads that no assembler leaves out.
It only reads: what is left in the cache need not be written back while others are timed.
PyTorch's inputs stay on the GPU, and it runs before a call; ours are copied there within
the call, so that it runs when the call launches its first kernel, which CUPTI tells of.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .activities import Activity, ActivityError
from .driver import Gpu

if TYPE_CHECKING:
    from workloads.base import Workload

#: Of the memory that is read, in caches; threads of a block, and blocks a multiprocessor.
TIMES, THREADS, BLOCKS = 3, 256, 8
#: CUdevice_attribute.
L2_BYTES, MULTIPROCESSORS = 38, 16
#: Operations for each byte of the inputs below which memory bounds a workload: a GPU does
#: 20 of f32 or more.
BALANCE = 10
#: Rows that triton.testing.do_bench times as well, which frees the cache before each call, too.
CHECKED = (
    ("softmax", "large"),
    ("GELU", "large"),
    ("transpose", "large"),
    ("sum of 2-D, axis 0", "large"),
    ("product 2048", "own"),
    ("convolution 1x1 256>128 at 56, batch 16", "own"),
)
NAME = "metaops_evict"
CODE = b"""\
.version 7.8
.target sm_{chip}
.address_size 64
.visible .entry metaops_evict(.param .u64 begin, .param .u64 bytes)
{
  .reg .pred past;
  .reg .b32 block, threads, thread, word<4>;
  .reg .b64 place, end, step;
  ld.param.u64 place, [begin];
  ld.param.u64 end, [bytes];
  add.u64 end, end, place;
  mov.u32 block, %ctaid.x;
  mov.u32 threads, %ntid.x;
  mov.u32 thread, %tid.x;
  mad.lo.u32 thread, block, threads, thread;
  mul.wide.u32 step, thread, 16;
  add.u64 place, place, step;
  mov.u32 block, %nctaid.x;
  mul.lo.u32 thread, block, threads;
  mul.wide.u32 step, thread, 16;
next:
  setp.ge.u64 past, place, end;
  @past bra done;
  ld.volatile.global.v4.b32 {word0, word1, word2, word3}, [place];
  add.u64 place, place, step;
  bra next;
done:
  ret;
}
"""


def is_timed_cold(workload: Workload, size: str) -> bool:
    """Return whether memory bounds a workload, or triton checks our measure with it.

    Memory does if moving the inputs takes longer than the operations.
    """
    shapes = [getattr(entry, "shape", entry) for entry in workload.shapes[size]]
    few = workload.flops < BALANCE * 4 * sum(math.prod(shape) for shape in shapes)
    return bool(few) or (workload.name, size) in CHECKED


class Eviction:
    """Drives what others have there from the second cache of the first GPU."""

    def __init__(self, gpu: Gpu) -> None:
        self._gpu = gpu
        self.bytes = TIMES * gpu.attribute(L2_BYTES) // 16 * 16
        self._begin = gpu.allocate(self.bytes)
        self._blocks = BLOCKS * gpu.attribute(MULTIPROCESSORS)
        self._kernel = gpu.kernel(CODE, NAME)
        self.evict()
        gpu.wait()

    def evict(self) -> None:
        """Queue the kernel, before all that is queued by default after it."""
        arguments = [ctypes.c_uint64(self._begin), ctypes.c_uint64(self.bytes)]
        self._gpu.launch(self._kernel, self._blocks, THREADS, arguments)


def split_evictions(activities: list[Activity]) -> tuple[list[Activity], list[Activity]]:
    """Return what is not an eviction, and what is."""
    others = [one for one in activities if one.name != NAME]
    return others, [one for one in activities if one.name == NAME]


class _CallbackData(ctypes.Structure):
    _fields_ = (("site", ctypes.c_int), ("function", ctypes.c_char_p))


DRIVER_API, ENTER = 1, 0
MOST_FUNCTIONS = 4000


class FirstLaunch:
    """Has something done when a kernel of this process is launched, once each time."""

    def __init__(self, library: str, action: Callable[[], None]) -> None:
        try:
            self._library = ctypes.CDLL(library)
        except OSError as error:
            raise ActivityError(str(error)) from None
        self._action, self._is_armed, self._trouble = action, False, ""
        domain, word = ctypes.c_int, ctypes.c_uint32
        kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, domain, word, ctypes.c_void_p)
        # CUPTI keeps it.
        self._callback = kind(self._enter)
        subscriber = ctypes.c_void_p()
        self._call("cuptiSubscribe", ctypes.byref(subscriber), self._callback, None)
        launch = self._number(b"cuLaunchKernel")
        self._call("cuptiEnableCallback", word(1), subscriber, DRIVER_API, word(launch))

    def arm(self) -> None:
        """Have it done with the next launch."""
        if self._trouble:
            raise ActivityError(self._trouble)
        self._is_armed = True

    def disarm(self) -> None:
        """Have nothing done, as when nothing was launched."""
        self._is_armed = False

    def _number(self, function: bytes) -> int:
        name = ctypes.c_char_p()
        for number in range(1, MOST_FUNCTIONS):
            error = self._library.cuptiGetCallbackName(DRIVER_API, number, ctypes.byref(name))
            if not error and name.value == function:
                return number
        raise ActivityError(f"CUPTI knows no {function.decode()}")

    def _enter(self, given: Any, domain: int, function: int, data: int) -> None:
        if not self._is_armed or _CallbackData.from_address(data).site != ENTER:
            return
        # What is done may be a launch.
        self._is_armed = False
        try:
            self._action()
        except Exception as error:
            # The caller is not Python.
            self._trouble = str(error)

    def _call(self, function: str, *arguments: object) -> None:
        error = getattr(self._library, function)(*arguments)
        if error:
            raise ActivityError(f"{function} failed with error {error}")
