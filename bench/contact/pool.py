# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Children that share a queue of items, each with a deadline.

A child that is silent for too long is killed with all that it started, and a new one goes
on behind the item that it had. Such an item has a result that says what happened.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import IO

from .child import Record

#: Seconds after which a wait looks whether all is to end.
GLANCE = 0.3
#: A worker whose children do not start gives up after so many.
STARTS = 2

Report = Callable[[Record, Record], None]


@dataclass(frozen=True)
class Job:
    """How children are made, how many there are, and how long they may take."""

    command: Sequence[str]
    environment: dict[str, str]
    workers: int
    #: For an item, and for a child's start.
    item_seconds: float
    start_seconds: float = 60.0


class ChildError(Exception):
    """A child gave no answer; the message says why."""


class StartError(ChildError):
    """A child did not start: no item is to blame."""


class OverError(ChildError):
    """The time is over."""


class Child:
    """A process that answers items."""

    def __init__(self, job: Job, log: IO[bytes], stop: threading.Event) -> None:
        self._stop = stop
        self._rest = b""
        self._process = subprocess.Popen(
            job.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env=job.environment,
            start_new_session=True,
        )
        try:
            self._read(time.monotonic() + job.start_seconds)
        except ChildError as error:
            self.kill()
            raise StartError(f"no child starts: {error}") from None

    def ask(self, item: Record, until: float, report: Report) -> bool:
        """Report the results of an item; return whether the child goes on."""
        assert self._process.stdin
        try:
            self._process.stdin.write(json.dumps(item).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise ChildError(self._end()) from None
        while True:
            record = self._read(until)
            if record.get("done"):
                return bool(record["goes_on"])
            report(item, record)

    def _read(self, until: float) -> Record:
        """Return the next record."""
        assert self._process.stdout
        pipe = self._process.stdout.fileno()
        begin = time.monotonic()
        while b"\n" not in self._rest:
            if self._stop.is_set():
                raise OverError("not finished when the time was over")
            if time.monotonic() > until:
                raise ChildError(f"no answer in {time.monotonic() - begin:.0f} s")
            if select.select([pipe], [], [], GLANCE)[0]:
                data = os.read(pipe, 1 << 16)
                if not data:
                    raise ChildError(self._end())
                self._rest += data
        line, self._rest = self._rest.split(b"\n", 1)
        record: Record = json.loads(line)
        return record

    def _end(self) -> str:
        try:
            code = self._process.wait(5)
        except subprocess.TimeoutExpired:
            return "closed its output"
        if code >= 0:
            return f"ended with exit status {code}"
        return f"ended by {signal.Signals(-code).name}"

    def kill(self) -> None:
        """End it, and what it has started."""
        with contextlib.suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)
        # One that hangs in the driver is left behind.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)


class Pool:
    """Has items answered by children, each by one."""

    def __init__(self, job: Job, log: IO[bytes], report: Report) -> None:
        self._job, self._log, self._report = job, log, report
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._items: deque[Record] = deque()
        self._threads: list[threading.Thread] = []

    def start(self, items: Sequence[Record]) -> None:
        """Begin."""
        self._items.extend(items)
        for _ in range(min(self._job.workers, len(items))):
            thread = threading.Thread(target=self._work, daemon=True)
            thread.start()
            self._threads.append(thread)

    def is_busy(self) -> bool:
        """Return whether there is something to wait for."""
        return any(thread.is_alive() for thread in self._threads)

    def stop(self) -> int:
        """End all children; return how many items nobody has begun."""
        self._stop.set()
        for thread in self._threads:
            thread.join(6)
        return len(self._items)

    def _next(self) -> Record | None:
        with self._lock:
            return None if self._stop.is_set() or not self._items else self._items.popleft()

    def _work(self) -> None:
        child: Child | None = None
        while (item := self._next()) is not None:
            try:
                child = child or self._start()
                until = time.monotonic() + item.get("seconds", self._job.item_seconds)
                goes_on = child.ask(item, until, self._report)
            except StartError as error:
                self._items.appendleft(item)
                self._report({}, {"error": str(error)})
                return
            except OverError:
                self._report(item, {"unfinished": True})
                break
            except (ChildError, OSError, ValueError) as error:
                self._report(item, {"error": str(error), "lost": True})
                goes_on = False
            if not goes_on and child:
                child.kill()
                child = None
        if child:
            child.kill()

    def _start(self) -> Child:
        """Return a child, if need be after some that do not start."""
        for _ in range(STARTS - 1):
            with contextlib.suppress(StartError):
                return Child(self._job, self._log, self._stop)
        return Child(self._job, self._log, self._stop)
