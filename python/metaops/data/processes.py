# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Processes of workers: how they are started and end, and what is seen of them from outside."""

from __future__ import annotations

import contextlib
import faulthandler
import fcntl
import gc
import math
import mmap
import os
import pickle
import select
import signal
import socket
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from .channel import Channel, close_inherited, make_channels
from .worker import NO_INDEX, Job, work

__all__ = ["SECONDS", "WorkerProcess"]

#: The time for a worker to end by itself, and for its stack to be written.
SECONDS = 1.0
#: The most seconds that are waited for at once: the system takes them in 31 bits.
_LONGEST = 1e6
#: Names the signal of a descriptor (Linux).
_F_SETSIG = 10


class WorkerProcess:
    """A process, the connection to it, and memory that it writes what it does into.

    Parameters
    ----------
    job
        What it is to know.
    is_spawned
        Whether it is a new one, and no copy of this.
    """

    def __init__(self, job: Job, is_spawned: bool) -> None:
        self.number = job.worker
        self._spawned: Any = None
        #: The way in which it ended, once it is waited for.
        self._end: str | None = None
        with contextlib.ExitStack() as failed, contextlib.ExitStack() as used:
            page = os.memfd_create("metaops-data-page", os.MFD_CLOEXEC)
            used.callback(os.close, page)
            os.truncate(page, mmap.PAGESIZE)
            self._page = mmap.mmap(page, mmap.PAGESIZE)
            self._stack = os.memfd_create("metaops-data-stack", os.MFD_CLOEXEC)
            failed.callback(os.close, self._stack)
            self.channel, theirs = make_channels()
            failed.callback(self.channel.close)
            used.callback(theirs.close)
            self._tie, their_tie = make_channels()
            failed.callback(self._tie.close)
            used.callback(their_tie.close)
            if is_spawned:
                self.pid = self._spawn(job, theirs, their_tie, page)
            else:
                self.pid = self._fork(job, theirs, their_tie)
            failed.callback(self._wait_for_code)
            failed.callback(os.kill, self.pid, signal.SIGKILL)
            self._descriptor = os.pidfd_open(self.pid)
            failed.pop_all()
        self._poll = select.poll()
        self._poll.register(self.channel.fileno(), select.POLLIN)
        self._poll.register(self._descriptor, select.POLLIN)

    def _fork(self, job: Job, theirs: socket.socket, tie: socket.socket) -> int:
        parent = os.pidfd_open(os.getpid())
        # Else what is to be written would be written twice.
        _flush()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            with warnings.catch_warnings():
                # Threads of this package are waited for; of others', locks may be held.
                warnings.simplefilter("ignore", DeprecationWarning)
                pid = os.fork()
            if pid == 0:
                _run_forked(
                    lambda: _serve(theirs, tie, self._page, self._stack, parent, lambda: job)
                )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            os.close(parent)
        return pid

    def _spawn(self, job: Job, theirs: socket.socket, tie: socket.socket, page: int) -> int:
        import multiprocessing
        from multiprocessing.reduction import ForkingPickler

        try:
            pickled = bytes(ForkingPickler.dumps(job))
        except Exception as error:
            raise TypeError(
                f"DataLoader: the data set and the functions of the loader have to be pickled "
                f"for spawned workers: {error}; forked ones take them as they are"
            ) from error
        process = multiprocessing.get_context("spawn").Process(
            target=_run_spawned,
            args=(
                _Descriptors(theirs.fileno(), tie.fileno(), page, self._stack),
                os.getpid(),
                pickled,
            ),
            daemon=True,
        )
        process.start()
        self._spawned = process
        assert process.pid is not None
        return process.pid

    def wait(self, seconds: float | None, *, is_full: bool = False) -> bool | None:
        """Wait for a message, or where the connection `is_full`, for room in it, too.

        Returns
        -------
        bool
            Whether there is one; False if the process has ended. None if the time is over, or
            so much of it that there is no waiting for more at once.
        """
        awaited = select.POLLIN | (select.POLLOUT if is_full else 0)
        self._poll.modify(self.channel.fileno(), awaited)
        events = dict(self._poll.poll(_as_milliseconds(seconds)))
        if not events:
            return None
        return bool(events.get(self.channel.fileno(), 0) & awaited)

    def get_index(self) -> int | None:
        """Return the index of the item that is being made, if it is known."""
        index = int(np.frombuffer(self._page, np.int64, 1)[0])
        return None if index == NO_INDEX else index

    def read_stack(self) -> str:
        """Return where the process is."""
        signal.pidfd_send_signal(self._descriptor, signal.SIGUSR1)
        end, text, known = time.monotonic() + SECONDS, b"", -1
        while time.monotonic() < end and (len(text) > known or not text):
            known = len(text)
            time.sleep(0.05)
            text = os.pread(self._stack, 1 << 16, 0)
        return text.decode(errors="replace") or "its stack cannot be read"

    def wait_for_end(self, seconds: float) -> bool:
        """Wait for the end of the process, and return whether it has come."""
        if self._end is not None:
            return True
        poll = select.poll()
        poll.register(self._descriptor, select.POLLIN)
        return bool(poll.poll(_as_milliseconds(seconds)))

    def kill(self) -> None:
        """Have the process end now."""
        if self._end is None:
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(self._descriptor, signal.SIGKILL)

    def reap(self) -> str:
        """Return how the process ended; one that has not is killed."""
        if self._end is None:
            has_ended = self.wait_for_end(0)
            self.kill()
            how = _tell_code(self._wait_for_code())
            self._end = how if has_ended else "has closed its connection to the loader"
            self.channel.close()
            self._tie.close()
            os.close(self._descriptor)
            os.close(self._stack)
        return self._end

    def _wait_for_code(self) -> int | None:
        """Return the process's code when it has ended; None if somebody else has got it."""
        if self._spawned is not None:
            self._spawned.join()
            code: int | None = self._spawned.exitcode
            return code
        with contextlib.suppress(ChildProcessError):
            return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return None


def _tell_code(code: int | None) -> str:
    """Return what messages say of how a process has ended."""
    if code is None:
        return "has ended"
    if code >= 0:
        return f"has ended with code {code}"
    name = signal.Signals(-code).name
    return f"was killed by {name}" + (
        " (by the system, if memory was short)" if code == -signal.SIGKILL else ""
    )


def _as_milliseconds(seconds: float | None) -> int | None:
    """Return a time as one to wait for at once."""
    if seconds is None:
        return None
    return math.ceil(1000 * min(max(seconds, 0), _LONGEST))


def _flush() -> None:
    """Have what was printed be written, as far as it can be."""
    for stream in (sys.stdout, sys.stderr):
        # A program may have none.
        with contextlib.suppress(Exception):
            stream.flush()


class _Descriptors:
    """Descriptors, which a spawned process gets copies of."""

    def __init__(self, *numbers: int) -> None:
        self.numbers = numbers

    def __reduce__(self) -> tuple[Any, ...]:
        from multiprocessing.reduction import DupFd

        return (_detach, tuple(DupFd(number) for number in self.numbers))


def _detach(*copies: Any) -> list[int]:
    return [copy.detach() for copy in copies]


def _run_forked(serve: Callable[[], None]) -> None:
    """Serve in a forked process, and end it."""
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        # Objects of the parent stay: the collector is not to write to their pages.
        gc.freeze()
        close_inherited()
        serve()
        code = 0
    except BaseException:  # the process has a copy of its parent's stack
        sys.excepthook(*sys.exc_info())
    finally:
        _flush()
        os._exit(code)


def _run_spawned(descriptors: list[int], parent: int, job: bytes) -> None:
    """Serve in a spawned process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    theirs, tie, page, stack = descriptors
    try:
        process = os.pidfd_open(parent)
    except ProcessLookupError:
        return
    shared = mmap.mmap(page, mmap.PAGESIZE)
    os.close(page)
    sockets = socket.socket(fileno=theirs), socket.socket(fileno=tie)
    _serve(*sockets, shared, stack, process, lambda: pickle.loads(job))


def _serve(
    theirs: socket.socket,
    tie: socket.socket,
    page: mmap.mmap,
    stack: int,
    parent: int,
    load: Callable[[], Job],
) -> None:
    # The end of the loader's process closes its end of the tie. It is told by a signal that no
    # code holds up, as what holds the interpreter's lock does a thread that waits for it.
    fcntl.fcntl(tie, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(tie, _F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(tie, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    # A signal has the stack written, even where Python does not get to it.
    faulthandler.register(signal.SIGUSR1, stack, all_threads=False)
    work(Channel(theirs), page, parent, load)
