# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exceptions of workers, as the loader raises them."""

from __future__ import annotations

import contextlib
import pickle
import traceback
from typing import Any, NamedTuple

from .making import tell

__all__ = ["Failure", "WorkerTraceback", "pack_failure"]


class WorkerTraceback(Exception):  # noqa: N818 (it is the cause of an error)
    """The place where a worker was when it raised an exception."""

    def __str__(self) -> str:
        return f"\n\n{self.args[0]}"


class Failure(NamedTuple):
    """An exception of a worker."""

    #: The exception as bytes, if it can be told so.
    pickled: bytes | None
    name: str
    message: str
    traceback: str

    def make(self, where: str) -> tuple[BaseException, WorkerTraceback]:
        """Return the exception, and its cause.

        Parameters
        ----------
        where
            What was being made, by whom.
        """
        error: BaseException = RuntimeError(f"{self.name}: {self.message}")
        if self.pickled is not None:
            # The class may not be here, or take other arguments.
            with contextlib.suppress(Exception):
                error = pickle.loads(self.pickled)
        tell(error, where)
        return error, WorkerTraceback(self.traceback)


def pack_failure(error: BaseException) -> Failure:
    """Return an exception as it is sent."""
    try:
        message = str(error)
    except Exception:
        message = "(its text cannot be made)"
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    return Failure(_pickle(error), type(error).__name__, message, text)


def _pickle(error: BaseException) -> bytes | None:
    # Of those that end programs, none is to end the loader's.
    if not isinstance(error, Exception) or isinstance(error, StopIteration):
        return None
    try:
        pickled = pickle.dumps(error)
        made: Any = pickle.loads(pickled)
    except Exception:  # what its class does is not known
        return None
    return pickled if type(made) is type(error) else None
