# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What context managers that also decorate functions have in common."""

from __future__ import annotations

import functools
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from types import TracebackType
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")


class Scope(ABC):
    """Changes something for a ``with`` block, or for the calls of a function.

    One object may be entered several times, also within itself.
    """

    @abstractmethod
    def _enter(self) -> None: ...

    @abstractmethod
    def _leave(self) -> None: ...

    def __enter__(self) -> None:
        self._enter()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._leave()

    def __call__(self, function: Callable[_P, _R]) -> Callable[_P, _R]:
        """Return the function with each call in a scope of its own.

        Raises
        ------
        TypeError
            If it is not a plain function: the body of a generator or coroutine
            runs after the call has returned.
        """
        name = type(self).__name__
        if not callable(function):
            raise TypeError(f"{name}: given a {type(function).__name__}, expected a function")
        if inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function):
            raise TypeError(
                f"{name} cannot decorate {function.__name__}, whose body runs after the call "
                f"has returned; expected a plain function, or `with` inside of the body"
            )

        @functools.wraps(function)
        def wrapped(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            with self:
                return function(*args, **kwargs)

        return wrapped
