# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory that a worker shares with its loader.

A *slot* is a file of memory without a name, mapped by both. Its pages are allocated when it
is made: where there are none, that is an error, and no signal when they are used. Its
descriptor is closed once it is mapped, so that slots take memory and nothing else. A slot
is free again when the last array in it, and so the last Var, is gone. Where the loader's process
was forked meanwhile, the new one may have arrays in it: then it is not written again, and its
memory is free when both have ended their use.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
from collections import deque
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Lease", "Slot", "WorkerSlots", "make_file"]

Bytes = npt.NDArray[np.uint8]

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_long,
]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_FAILED = ctypes.c_void_p(-1).value


def make_file(size: int) -> int:
    """Return a descriptor of memory that is shared and allocated.

    Raises
    ------
    MemoryError
        If there is not so much.
    """
    descriptor = os.memfd_create("metaops-data", os.MFD_CLOEXEC)
    try:
        os.posix_fallocate(descriptor, 0, size)
    except OSError as error:
        os.close(descriptor)
        reason = errno.errorcode.get(error.errno or 0, "")
        raise MemoryError(f"no {size:,} bytes of shared memory for a batch ({reason})") from None
    return descriptor


class Slot:
    """A file of memory that is mapped, as long as this object lives.

    Parameters
    ----------
    number
        What both sides call it.
    descriptor
        The file, which is closed.
    size
        Its bytes.
    """

    def __init__(self, number: int, descriptor: int, size: int) -> None:
        self.number = number
        self.size = size
        self._owner = os.getpid()
        access = mmap.PROT_READ | mmap.PROT_WRITE
        # Python's own mapping would keep the descriptor.
        self._address = _libc.mmap(None, size, access, mmap.MAP_SHARED, descriptor, 0)
        os.close(descriptor)
        if self._address == _FAILED:
            raise MemoryError(f"{size:,} bytes of a batch cannot be mapped")

    @property
    def __array_interface__(self) -> dict[str, Any]:
        place = {"data": (self._address, False), "typestr": "|u1", "shape": (self.size,)}
        return {**place, "version": 3}

    def __del__(self, getpid: Any = os.getpid, munmap: Any = _libc.munmap) -> None:
        # A forked child has the same objects.
        address = getattr(self, "_address", _FAILED)
        if address != _FAILED and self._owner == getpid():
            munmap(address, self.size)


#: Counts how often this process has been forked.
_forks = 0


def _count_fork() -> None:
    global _forks
    _forks += 1


# A lease that another thread takes meanwhile has either number; one of both is not the last.
os.register_at_fork(before=_count_fork, after_in_parent=_count_fork)


class Lease:
    """The use of a slot by the arrays of one batch, which hold this object.

    Parameters
    ----------
    slot
        The slot.
    freed
        Where its number goes when nobody uses it any more, and whether it is lost: a process
        that was forked in between may still have its arrays.
    """

    __slots__ = ("_forks", "_freed", "_slot")

    def __init__(self, slot: Slot, freed: deque[tuple[int, bool]]) -> None:
        self._slot = slot
        self._freed = freed
        self._forks = _forks

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self._slot.__array_interface__

    def __del__(self) -> None:
        self._freed.append((self._slot.number, self._forks != _forks))


class WorkerSlots:
    """The slots that a worker has made.

    Parameters
    ----------
    kept
        How many free ones are kept.
    """

    def __init__(self, kept: int) -> None:
        self._kept = kept
        self._made = 0
        self._used: dict[int, tuple[Slot, Bytes]] = {}
        self._free: dict[int, tuple[Slot, Bytes]] = {}
        #: Those that are gone, of which the loader has not been told.
        self.dropped: list[int] = []

    def release(self, numbers: list[int], lost: list[int]) -> None:
        """Take back slots that the loader does not use any more; forget those that are lost."""
        for number in lost:
            del self._used[number]
        for number in numbers:
            self._free[number] = self._used.pop(number)
        while len(self._free) > self._kept:
            self._drop(next(iter(self._free)))

    def take(self, size: int) -> tuple[int, Bytes, int | None]:
        """Return a slot of at least so many bytes.

        Returns
        -------
        tuple
            Its number, its memory, and the descriptor of a new one, which is to be closed.
        """
        fitting = [number for number, (slot, _) in self._free.items() if slot.size >= size]
        if fitting:
            number = min(fitting, key=lambda number: self._free[number][0].size)
            self._used[number] = self._free.pop(number)
            return number, self._used[number][1], None
        if self._free:
            self._drop(max(self._free, key=lambda number: self._free[number][0].size))
        # Batches of changing sizes are to find slots that fit.
        step = max(mmap.PAGESIZE, 1 << max(size.bit_length() - 3, 0))
        capacity = -(-size // step) * step
        descriptor = make_file(capacity)
        number = self._made
        self._made += 1
        slot = Slot(number, os.dup(descriptor), capacity)
        self._used[number] = slot, np.asarray(slot)
        return number, self._used[number][1], descriptor

    def _drop(self, number: int) -> None:
        del self._free[number]
        self.dropped.append(number)
