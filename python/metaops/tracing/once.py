# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of the library that are recorded once for the calls that are alike.

A recurrent layer records what the shapes, types and devices that it is given ask for, and
nothing else. So its second call of a kind is recorded as a function, and those behind it
record what that function has, without Python. So do calls in bodies of control flow, which
are recorded anew in each call of the loop.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Sequence

from .. import _core, _flags
from .._core import RecordedFunction, Var
from .effects import are_bodies

__all__ = ["Recordings"]


class Recordings:
    """Recordings of a function of tensors, by the kind of its calls.

    Copies of one, as of the layer that has it, begin without recordings.
    """

    #: The number of kinds that are kept, those that were called last.
    most = 16

    def __init__(self) -> None:
        #: None where there was one call; what was called last is last. Threads may call
        #: one layer, so each access stands alone.
        self._functions: dict[Hashable, RecordedFunction | None] = {}

    def __reduce__(self) -> tuple[type[Recordings], tuple[()]]:
        return Recordings, ()

    def call(
        self, kind: Hashable, function: Callable[..., Sequence[Var]], tensors: list[Var]
    ) -> Sequence[Var]:
        """Return what a function makes of tensors.

        Parameters
        ----------
        kind
            All that it depends on besides the tensors' shapes, types and devices.
        function
            It updates nothing, asks for no value, draws no numbers, and uses no other
            tensors.
        tensors
            What it is called with.
        """
        # A function around it is recorded once itself; where each operator runs at once,
        # nothing is.
        is_inside = _core.is_tracing() and not are_bodies()
        if is_inside or not _core.get_flag("lazy_execution"):
            return function(*tensors)
        # Recordings are of one session.
        key = (kind, _core.call_key(tensors), os.getpid(), _flags.recording_kind)
        results = self._replay(key, function, tensors)
        for oldest in list(self._functions)[: -self.most]:
            self._functions.pop(oldest, None)
        return function(*tensors) if results is None else results

    def _replay(
        self, key: Hashable, function: Callable[..., Sequence[Var]], tensors: list[Var]
    ) -> list[Var] | None:
        """Return what a recording makes of the tensors, or None without one."""
        is_first = key not in self._functions
        recorded = self._functions.pop(key, None)
        if recorded is None and not is_first:
            recorded = self._record(function, tensors)
        self._functions[key] = recorded
        return recorded.record(tensors) if recorded else None

    @staticmethod
    def _record(
        function: Callable[..., Sequence[Var]], tensors: list[Var]
    ) -> RecordedFunction | None:
        trace = _core.begin_trace(tensors)
        try:
            with trace:
                outputs = list(function(*trace.arguments))
            return trace.finish(outputs)
        except Exception:
            # The call itself says what is wrong, in its own words.
            return None
        finally:
            trace.close()
