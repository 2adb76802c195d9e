# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Work on files that goes on beside the program, one after another."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from .._core import Var
from .._errors import users_line, working_for

__all__ = ["Saving", "begin", "finish_all", "held"]


class Saving:
    """A file that is being written.

    The program does not end before it is. What goes wrong is raised by `wait`.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._error: BaseException | None = None
        self._is_done = threading.Event()

    def __repr__(self) -> str:
        state = "being written" if not self.done() else "failed" if self._error else "written"
        return f"<{self.path}, {state}>"

    def finish(self, error: BaseException | None = None) -> None:
        """Take note that the file is written, or what went wrong."""
        self._error = error
        self._is_done.set()

    def done(self) -> bool:
        """Return whether the file is written, or cannot be."""
        return self._is_done.is_set()

    def wait(self, timeout: float | None = None) -> None:
        """Wait until the file is written.

        Parameters
        ----------
        timeout
            The most seconds to wait; None for as long as it takes.

        Raises
        ------
        TimeoutError
            If it takes longer; it goes on.
        Exception
            As of `metaops.save`, each time.
        """
        if not self._is_done.wait(timeout):
            raise TimeoutError(f"{self.path} is not written after {timeout} s")
        if self._error is not None:
            # Lines of an earlier call are none of this one.
            raise self._error.with_traceback(None)


#: A file, what writes it, and the user's line that asked for it.
Work: TypeAlias = tuple[Saving, Callable[[], None], str]

#: The files that may wait, whose tensors stay in memory.
_MOST_WAITING = 8


class Writer:
    """Writes files on a thread, one after another, which ends when there is none."""

    def __init__(self) -> None:
        self._begin_anew()
        # A child has none of the threads, and would wait for a lock that one of them had.
        os.register_at_fork(
            before=self._begin_fork, after_in_parent=self._end_fork, after_in_child=self._begin_anew
        )

    def _begin_anew(self) -> None:
        #: Held while these change, and when the process forks.
        self._changed = threading.Condition()
        self._waiting: deque[Work] = deque()
        self._thread: threading.Thread | None = None

    def begin(self, path: str, work: Callable[[], None]) -> Saving:
        """Begin to write a file behind all others; wait first where there are many."""
        saving = Saving(path)
        item = saving, work, users_line()
        if not threading.main_thread().is_alive():
            # The program is ending, and would not wait for a thread that is begun now.
            self.finish_all()
            _do(item)
            return saving
        with self._changed:
            self._changed.wait_for(lambda: len(self._waiting) < _MOST_WAITING)
            self._waiting.append(item)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="metaops-save")
                self._thread.start()
        return saving

    def finish_all(self) -> None:
        """Wait until all that have begun are written, or cannot be."""
        with self._changed:
            self._changed.wait_for(lambda: self._thread is None)

    def _run(self) -> None:
        while True:
            with self._changed:
                item = self._waiting.popleft() if self._waiting else None
                if item is None:
                    self._thread = None
                self._changed.notify_all()
            if item is None:
                return
            _do(item)
            del item

    def _begin_fork(self) -> None:
        self._changed.acquire()
        self._changed.wait_for(lambda: self._thread is None)

    def _end_fork(self) -> None:
        self._changed.release()


def _do(item: Work) -> None:
    saving, work, line = item
    try:
        with working_for(line):
            work()
    except BaseException as error:
        # The frames have the tensors that were to be written.
        _forget_frames(error)
        saving.finish(error)
    else:
        saving.finish()


def _forget_frames(error: BaseException | None) -> None:
    """Forget the frames of an error, and of those that have led to it."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        error.__traceback__ = None
        error = error.__cause__ or error.__context__


_writer = Writer()
begin, finish_all = _writer.begin, _writer.finish_all


def held(value: Any, made: dict[int, Any] | None = None) -> Any:
    """Return a value with the tensors that it has now, whatever becomes of them.

    Vars that are one stay one. Arrays are copied.
    """
    made = {} if made is None else made
    if id(value) in made:
        return made[id(value)][1]
    result = value
    if isinstance(value, Var):
        result = +value
    elif isinstance(value, np.ndarray):
        result = value.copy()
    elif isinstance(value, Mapping):
        # A dict that contains itself, or is deep, is an error of whoever writes it.
        made[id(value)] = value, (result := {})
        result.update((key, held(item, made)) for key, item in value.items())
    elif type(value) is list:
        made[id(value)] = value, (result := [])
        result.extend(held(item, made) for item in value)
    elif type(value) is tuple:
        result = tuple(held(item, made) for item in value)
    made[id(value)] = value, result
    return result
