# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Callbacks with values, and what has to happen before the process forks or ends."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Callable, Iterable
from typing import Any

from . import _core
from ._core import Var
from ._errors import at_line
from .tracing.effects import recording

__all__ = ["fetch"]


class _Courier:
    """The thread that calls callbacks, started by the first fetch."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Make sure that the thread runs."""
        if self._thread is not None:
            return
        with self._lock:
            if self._thread is None:
                # A daemon: `stop` waits for it when the interpreter ends.
                thread = threading.Thread(target=self._serve, name="metaops-fetch", daemon=True)
                thread.start()
                self._thread = thread

    @staticmethod
    def _serve() -> None:
        while (delivery := _core.receive()) is not None:
            callback, arrays = delivery
            failure: BaseException | None = None
            try:
                callback(*arrays)
            except BaseException as error:  # told at the next sync
                failure = error
            del delivery, callback, arrays
            _core.finish_callback(failure)
            del failure

    def stop(self) -> None:
        """Wait for what is on its way; tell of failures that nobody was told of."""
        try:
            _core.stop_delivery()
            if self._thread is not None:
                self._thread.join()
        finally:
            message = _core.shut_down()
            if message is not None:
                print(f"metaops: not told before the end: {message}", file=sys.stderr)


_courier = _Courier()
atexit.register(_courier.stop)
# A child has none of the threads, so no run may be on its way then.
os.register_at_fork(before=_core.drain_queue)


def fetch(*args: Var | Iterable[Var] | Callable[..., Any]) -> None:
    """Have a callback called with the values of Vars, without waiting for them.

    The values are computed with the next program that runs, or by `sync_all`. The
    callback is called once, on a thread of its own, in the order of the fetches. What
    it raises is raised by the next `sync`, `sync_all` or read of a value. In a function
    that is recorded once, each call of that fetches the values that it computes.

    Parameters
    ----------
    *args
        Vars or sequences of Vars, then the callback, which takes one NumPy array
        (a copy) for each Var.

    Raises
    ------
    TypeError
        If the last argument cannot be called, or another one is not a Var.
    RuntimeError
        If an update has overwritten one of the values.
    """
    found = recording()
    if found is None:
        _core.fetch(*args)
        _courier.start()
        return
    given: tuple[Any, ...] = args[:-1]
    callback = args[-1] if args else None
    if not callable(callback):
        raise at_line(TypeError("fetch: the last argument has to be the callback to call"))
    vars: list[Var] = []
    for each in given:
        vars += [each] if isinstance(each, Var) else each
    found.add_fetch(vars, callback)
