# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bodies of control flow: functions that are recorded once, for all of their runs."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from types import AsyncGeneratorType, CoroutineType, GeneratorType, TracebackType
from typing import Any

from .. import _core
from .._core import Var
from .._errors import at_line
from .._typing import shown
from ..tracing.effects import BodyRecording
from .structures import leaves_of, make_leaf, rebuild

__all__ = ["Body", "check_callable"]


def check_callable(what: str, name: str, function: object) -> None:
    """Raise an error unless an argument is a function."""
    if not callable(function):
        raise at_line(TypeError(f"{what}: {name} is {shown(function)}, expected a function"))


def line_of(function: Callable[..., Any]) -> str:
    """Return where a function was defined, in brackets; '' where that is not known."""
    function = getattr(function, "__wrapped__", function)
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return f" ({code.co_filename}:{code.co_firstlineno})" if code else ""


class Body:
    """A branch, or a part of a loop, while it is recorded.

    In a ``with`` block, so that it is closed whatever happens.

    Parameters
    ----------
    what
        The function that records it, and what the body is there: ``"cond: the branch"``.
    function
        Called once, with structures of tensors that have no values.
    arguments
        Structures like those that it is called with.
    leaves
        The tensors in them, in their order.
    rows
        The number of leaves, the last ones, of which it is given rows.
    """

    _recording: type[BodyRecording] = BodyRecording

    def __init__(
        self,
        what: str,
        function: Callable[..., Any],
        arguments: Sequence[Any],
        leaves: list[Var],
        rows: int = 0,
    ) -> None:
        are_rows = [False] * (len(leaves) - rows) + [True] * rows
        self._record(
            what,
            function,
            _core.begin_body(leaves, are_rows),
            lambda given: (rebuild(tuple(arguments), given), {}),
        )

    def _record(
        self,
        what: str,
        function: Callable[..., Any],
        trace: Any,
        fill: Callable[[list[Var]], tuple[tuple[Any, ...], dict[str, Any]]],
    ) -> None:
        """Call a function in a trace, with what `fill` makes of the trace's arguments."""
        self.what = what
        self.line = line_of(function)
        self._trace = trace
        try:
            value = self._call(function, *fill(trace.arguments))
            with trace:
                #: The leaves of what the function has returned, with their paths.
                self.leaves = leaves_of(f"{what}{self.line}", "result", value)
            #: The structure that it has returned, without the leaves.
            self.structure = rebuild(value, [...] * len(self.leaves))
        except BaseException:
            trace.close()
            raise

    def _call(
        self, function: Callable[..., Any], arguments: tuple[Any, ...], named: dict[str, Any]
    ) -> Any:
        with self._recording(self._trace, self.what):
            value = function(*arguments, **named)
        if isinstance(value, (GeneratorType, CoroutineType, AsyncGeneratorType)):
            raise at_line(
                TypeError(
                    f"{self.what}{self.line} returns {shown(value)}, which runs later; expected"
                    " tensors"
                )
            )
        return value

    def __enter__(self) -> Body:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def bring_first(self, paths: Sequence[str]) -> None:
        """Have the leaves at these paths first, in their order, and all others behind."""
        leaves = dict(self.leaves)
        first = [(path, leaves.pop(path)) for path in paths]
        self.leaves = first + list(leaves.items())

    def close(self) -> None:
        """Let go of the tensors of a body."""
        self._trace.close()
        self.leaves = []

    def finish(self, dtypes: Sequence[str]) -> _core.Body:
        """Return what a region is made of.

        Parameters
        ----------
        dtypes
            The element type of each number that is returned.
        """
        with self._trace:
            outputs = [
                make_leaf(leaf, dtype) for (_, leaf), dtype in zip(self.leaves, dtypes, strict=True)
            ]
        made = self._trace.finish_body(outputs)
        outputs.clear()
        self.leaves = []
        self._check_leaks()
        return made

    def _check_leaks(self) -> None:
        lines = self._trace.held_lines()
        if lines:
            gc.collect()
            lines = self._trace.held_lines()
        if lines:
            raise at_line(
                RuntimeError(
                    f"{self.what}{self.line} leaves a tensor of {lines[0]} in something that lives"
                    " on, where it has no value; return it"
                )
            )
