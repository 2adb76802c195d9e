# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors that name the user's line, as those of the session do."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

__all__ = ["at_line", "refuse_recorded", "renamed", "users_line", "working_for"]

E = TypeVar("E", bound=Exception)

#: The user's line that a thread of the package works for.
_works_for = threading.local()

_PACKAGE = os.path.dirname(__file__) + os.sep


def at_line(error: E) -> E:
    """Return the error, its message followed by the line that called the package.

    That is the innermost one outside of the package, as in the messages of
    errors that come from recording an operator.
    """
    where = users_line()
    return type(error)(f"{error.args[0]} ({where})") if where else error


def users_line() -> str:
    """Return the innermost line outside of the package, or nothing."""
    if line := getattr(_works_for, "line", None):
        return str(line)
    frame = sys._getframe(1)
    while frame.f_code.co_filename.startswith(_PACKAGE):
        if frame.f_back is None:
            return ""
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


@contextmanager
def working_for(line: str) -> Iterator[None]:
    """Have errors of this thread, which the package has made, name a line of the user's."""
    _works_for.line = line
    try:
        yield
    finally:
        _works_for.line = None


def refuse_recorded(what: str) -> None:
    """Raise an error where a function is recorded that does what no recording can do.

    Raises
    ------
    RuntimeError
        With what the function does, such as "export is called".
    """
    from ._core import is_tracing

    if is_tracing():
        raise at_line(
            RuntimeError(f"{what} while a function is recorded; do so before the function")
        )


def renamed(error: E, name: str) -> E:
    """Return an error of a shape as one of the function that was called with it.

    The message begins with the name of a function within the package. Other errors are
    returned as they are.
    """
    _, separator, rest = str(error).partition(": shape (")
    return type(error)(f"{name}{separator}{rest}") if separator else error
