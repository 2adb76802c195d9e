# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recordings: a function is called once with tensors that have no values."""

from __future__ import annotations

import gc
from collections.abc import Callable
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import Any
from weakref import ref

from .. import _core
from .._core import Var
from .._errors import at_line
from .._typing import shown
from ..fetching import fetch
from .arguments import Result, rebuild_call
from .donating import check_apart, find_donated
from .effects import Callback, Recording, Registered, call_with_effects
from .guards import Guards, make_captures, make_guards
from .leaks import Snapshot, find_holder
from .watching import Watch

__all__ = ["Entry", "record"]


class Entry:
    """A recording that is kept: what it computes, and when it may be used."""

    __slots__ = (
        "bind",
        "calls",
        "compared",
        "differs",
        "effects",
        "family",
        "fetches",
        "function",
        "guards",
        "is_confirmed",
        "items",
        "kept",
        "next_check",
        "result",
        "used",
    )

    def __init__(
        self,
        function: Any,
        guards: Guards,
        result: Result,
        effects: list[Registered],
        fetches: list[tuple[int, Callback]],
    ) -> None:
        self.function = function
        self.guards = guards
        self.bind = guards.bind
        self.result = result
        self.effects = effects
        #: The number of tensors that each callback is given, which are the last results.
        self.fetches = fetches
        #: The parts of the key, as text.
        self.items: list[tuple[str, str]] = []
        self.kept: list[Any] = []
        #: The last call, the one that is compared next, and the one that was last.
        self.calls = 1
        self.next_check = 2
        self.compared = 1
        #: Set once another recording was the same, but for extents.
        self.is_confirmed = False
        #: Its key but for extents.
        self.family: Any = None
        #: Set once a later recording was another one.
        self.differs = False
        self.used = 0

    def call(self, bound: list[Var], leaves: list[Var]) -> Any:
        """Launch what was recorded, given what `bind` returned, and return its result."""
        if self.effects:
            results = call_with_effects(self.function, bound, self.effects)
        else:
            results = self.function.call(bound, [], [])
        if self.fetches:
            results = _fetch(results, self.fetches)
        return self.result.build(results, leaves)


def _fetch(results: list[Var], fetches: list[tuple[int, Callback]]) -> list[Var]:
    """Fetch the last results for callbacks, and return the others."""
    own = place = len(results) - sum(count for count, _ in fetches)
    for count, callback in fetches:
        fetch(*results[place : place + count], callback)
        place += count
    return results[:own]


def _find_first(leaves: list[Var]) -> list[int]:
    """Return for each leaf the place at which the same Var is first."""
    first: dict[int, int] = {}
    return [first.setdefault(id(leaf), place) for place, leaf in enumerate(leaves)]


class _Attempt:
    """A function that is being recorded."""

    def __init__(self, function: Any, name: str, leaves: list[Var]) -> None:
        self.function = function
        self.name = name
        #: Of each leaf the place at which the same Var is first.
        self.first = first = _find_first(leaves)
        #: The leaves that are arguments of the trace: each Var once.
        self.given = [place for place, own in enumerate(first) if own == place]
        self.trace: Any = _core.begin_trace([leaves[place] for place in self.given])
        made = dict(zip(self.given, self.trace.arguments, strict=True))
        #: Tensors that the function is given in the place of the leaves.
        self.stand_ins = [made[own] for own in first]
        self.watch = Watch()
        self.recording = Recording(self.trace)

    def run(self, args: Any, kwargs: Any, names: list[str], snapshot: Snapshot) -> Any:
        """Call the function, and return what it returned."""
        new_args, new_kwargs, given = rebuild_call(args, kwargs, self.stand_ins, names)
        try:
            with self.recording, self.watch.scope:
                value = self.function(*new_args, **new_kwargs)
            self.watch.finish()
            self._check_result(value)
            changed = given.find_changed()
            if changed is not None:
                raise at_line(
                    ValueError(
                        f"jit: {self.name} changes {changed}, a container that it is given, which"
                        " a call that is not recorded would not do; return what is to be in it"
                    )
                )
        except BaseException:
            snapshot.restore()
            raise
        return value

    def _check_result(self, value: Any) -> None:
        if isinstance(value, (GeneratorType, CoroutineType, AsyncGeneratorType)):
            raise at_line(
                TypeError(
                    f"jit: {self.name} returns {shown(value)}, whose body runs after the call"
                    " has returned; expected tensors"
                )
            )


def _check_leaks(trace: Any, name: str, watch: Watch, snapshot: Snapshot) -> None:
    """Raise an error where a tensor of a recording is held after it."""
    lines = trace.held_lines()
    if lines:
        gc.collect()
        lines = trace.held_lines()
    if not lines:
        return
    holder = snapshot.find_holder() or find_holder(variables for _, variables in watch.codes)
    snapshot.restore()
    raise at_line(
        RuntimeError(
            f"jit: {name} leaves a tensor of {lines[0]} in {holder}, which has no value after the"
            " call; return it, or update a Var there that was made before (a cache is made"
            " before the first call)"
        )
    )


def record(
    function: Callable[..., Any],
    name: str,
    names: list[str],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    leaves: list[Var],
    objects: list[Any],
    donate: tuple[str, ...] = (),
    *,
    is_kept: bool,
) -> Entry:
    """Return a recording of a function with its arguments; nothing is computed.

    Parameters
    ----------
    function, name, names
        What is called, what it is called in messages, and its parameters.
    args, kwargs
        What it is called with.
    leaves
        The tensors of the arguments, in the order of `flatten`.
    objects
        Objects in the arguments that are compared by identity.
    donate
        The parameters whose tensors calls may write over.
    is_kept
        Whether later calls may use it: otherwise it has no guards.
    """
    snapshot = Snapshot(function, objects)
    attempt = _Attempt(function, name, leaves)
    trace, watch, given = attempt.trace, attempt.watch, attempt.given
    effects, fetches = attempt.recording.effects, attempt.recording.fetches
    try:
        value = attempt.run(args, kwargs, names, snapshot)
        captured, aliased = trace.captured(), {given[i] for i in trace.aliases()}
        donated = find_donated(donate, args, kwargs, names)
        check_apart(donated, attempt.first, aliased, leaves)
        result = Result(value, attempt.stand_ins, ref, donated)
        result.outputs += [each for vars, _ in fetches for each in vars]
        recorded = trace.finish(result.outputs)
        recorded.donate([given.index(place) for place in donated])
    finally:
        trace.close()
    callbacks = [(len(vars), callback) for vars, callback in fetches]
    result.outputs.clear()
    fetches.clear()
    del value, attempt
    _check_leaks(trace, name, watch, snapshot)
    arguments = [(place, leaves[place] if place in aliased else None) for place in given]
    if is_kept:
        guards = make_guards(function, watch, objects, captured, arguments)
    else:
        guards = make_captures(captured, arguments)
    return Entry(recorded, guards, result, effects, callbacks)
