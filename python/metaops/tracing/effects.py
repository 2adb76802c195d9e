# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Side effects of recorded functions: what a step advances in Python.

What has state in Python, such as the count of an optimiser's steps, registers an effect
while it is recorded. A recording itself has none: what was advanced is taken back at its
end. A call of the recorded function advances its effects in the order of recording, each
with its owner locked, and what they return are numbers that the function is given, as
tensors of no dimensions.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any, NoReturn, TypeAlias
from weakref import finalize, ref

from .. import _core
from .._core import StepOutcome, Var
from .._errors import at_line, refuse_recorded

__all__ = [
    "BodyRecording",
    "Callback",
    "CheckpointRecording",
    "Effect",
    "ExampleRecording",
    "NotRecordedError",
    "Recording",
    "advance",
    "are_bodies",
    "are_recorded",
    "call_with_effects",
    "forbid",
    "note_read",
    "outside",
    "perform",
    "recording",
]


#: A function that is given arrays.
Callback: TypeAlias = Callable[..., object]


#: The outcome of a step, and how many numbers it has in each dtype.
Step: TypeAlias = tuple[StepOutcome, int]


class Effect(ABC):
    """A part of a step that is done in Python, and can be taken back.

    Parameters
    ----------
    owner
        The object whose lock is held from the advance to the launch. Recordings keep the
        effect, so it holds what it changes weakly.
    """

    def __init__(self, owner: object) -> None:
        self._owner = ref(owner)

    @property
    def owner(self) -> Any:
        """The owner; None when it is gone."""
        return self._owner()

    @abstractmethod
    def advance(self) -> list[float] | None:
        """Do what the step does, and return the numbers of this call in their order.

        None says that nothing was done, since the step is not what was recorded.
        """

    @abstractmethod
    def take_back(self) -> None:
        """Undo the last advance."""

    def get_step(self, numbers: list[float]) -> Step | None:
        """Return what is to be told whether the call's updates are made, if anything.

        Parameters
        ----------
        numbers
            What `advance` has returned.
        """
        return None

    def finish(self) -> None:
        """Take note that the call's updates are recorded. May be called again."""
        return


class NotRecordedError(RuntimeError):
    """An effect is not what was recorded; nothing has been done."""


class Registered:
    """An effect of a recorded function, and the types of its numbers."""

    __slots__ = ("dtypes", "effect", "lock")

    def __init__(self, effect: Effect, dtypes: tuple[str, ...]) -> None:
        self.effect = effect
        self.dtypes = dtypes
        #: The lock of its owner, found by the first call.
        self.lock: Any = None


class Recording:
    """A function that is being recorded: its trace and the effects that it has."""

    __slots__ = ("effects", "fetches", "outer", "trace")

    def __init__(self, trace: Any) -> None:
        self.trace = trace
        self.effects: list[Registered] = []
        #: Tensors whose values callbacks are given by each call.
        self.fetches: list[tuple[list[Var], Callback]] = []
        #: The one that this thread was in before.
        self.outer: Recording | None = None

    def add_effect(
        self, effect: Effect, numbers: Sequence[float], dtypes: Sequence[Any]
    ) -> list[Var]:
        """Register an effect, and return tensors that stand for its numbers.

        Parameters
        ----------
        effect
            It has been advanced, and is taken back when the recording ends.
        numbers
            What `advance` has returned. Other calls have others.
        dtypes
            The type of each.
        """
        names = tuple(str(_core.dtype(dtype)) for _, dtype in zip(numbers, dtypes, strict=True))
        made = [self.trace.number(name) for name in names]
        self.effects.append(Registered(effect, names))
        return made

    def add_fetch(self, vars: list[Var], callback: Callback) -> None:
        """Have each call give values to a callback."""
        self.fetches.append((vars, callback))

    def __enter__(self) -> Recording:
        self.outer = recording()
        _of_thread.recording = self
        self.trace.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        try:
            for each in reversed(self.effects):
                each.effect.take_back()
        finally:
            self.trace.__exit__(*exception)
            _of_thread.recording = self.outer


class BodyRecording(Recording):
    """A body of control flow that is being recorded: it may run many times, or never.

    Parameters
    ----------
    trace
        Of the body.
    what
        The body, in messages.
    """

    __slots__ = ("_what",)
    _why = "which it may run many times, or never"

    def __init__(self, trace: Any, what: str) -> None:
        super().__init__(trace)
        self._what = what

    def forbid(self, does: str) -> NoReturn:
        """Raise an error: a body cannot do what is done in Python once a run."""
        raise at_line(RuntimeError(f"{self._what} {does}, {self._why}; do so behind"))

    def add_effect(
        self, effect: Effect, numbers: Sequence[float], dtypes: Sequence[Any]
    ) -> list[Var]:
        """Hand on to the function around the body what is read, and refuse all else."""
        if not isinstance(effect, Reading):
            self.forbid("advances what is counted in Python")
        outer = self.outer
        return [] if outer is None else outer.add_effect(effect, numbers, dtypes)

    def add_fetch(self, vars: list[Var], callback: Callback) -> None:
        """Refuse callbacks."""
        self.forbid("fetches values")


class CheckpointRecording(BodyRecording):
    """A part that is being recorded to be computed again: its updates are made once.

    Parameters
    ----------
    trace, what
        As of any body.
    names
        Names of values that are not computed again.
    """

    __slots__ = ("_names", "kept")
    _why = "which its gradient could not do again"

    def __init__(self, trace: Any, what: str, names: tuple[str, ...] = ()) -> None:
        super().__init__(trace, what)
        self._names = names
        #: The values of these names, each once.
        self.kept: list[Var] = []

    def name(self, x: Var, name: str) -> None:
        """Keep a value if it is of this part and has one of the names."""
        if name in self._names and self.trace.owns(x) and all(x is not each for each in self.kept):
            self.kept.append(x)


class ExampleRecording(BodyRecording):
    """A function of one example that is being recorded: it runs once for all of them."""

    __slots__ = ()
    _why = "which would be done once for all examples"


_of_thread = threading.local()

#: Locks of owners, by their `id`; each goes with its owner.
_locks: dict[int, Any] = {}


def _find_lock(owner: object) -> Any:
    """Return the lock of an owner, which need not have a hash."""
    number = id(owner)
    lock = _locks.get(number)
    if lock is None:
        lock = _locks.setdefault(number, threading.RLock())
        finalize(owner, _locks.pop, number, None).atexit = False
    return lock


def recording() -> Recording | None:
    """Return the innermost function that this thread records, or None."""
    return getattr(_of_thread, "recording", None)


def are_bodies() -> bool:
    """Return whether all that this thread records are bodies, which no function is around."""
    found = recording()
    if found is None:
        return False
    while isinstance(found, BodyRecording):
        found = found.outer
    return found is None


@contextmanager
def _unregistered() -> Iterator[None]:
    """Have this thread register no effects, as in a call."""
    inner = recording()
    _of_thread.recording = None
    try:
        yield
    finally:
        _of_thread.recording = inner


def advance(effect: Effect) -> list[float] | None:
    """Advance an effect as a call does, also while a function is recorded."""
    found = recording()
    if isinstance(found, BodyRecording):
        found.forbid("advances what is counted in Python")
    with _unregistered():
        return effect.advance()


def perform(effect: Effect) -> None:
    """Advance an effect that has no numbers, now and in each call of what is recorded."""
    advance(effect)
    found = recording()
    if found is not None:
        found.add_effect(effect, (), ())


class Reading(Effect):
    """A value of Python that is a constant of the function that read it."""

    def __init__(self, of: Any, owner: object, read: Callable[[Any], object]) -> None:
        super().__init__(owner)
        self._of = ref(of)
        self._read = read
        self._value = read(of)

    def advance(self) -> list[float] | None:
        """Return no numbers if the value is the one that was read."""
        return [] if self._read(self._of()) == self._value else None

    def take_back(self) -> None:
        """Do nothing."""


def note_read(of: Any, read: Callable[[Any], object], owner: object = None) -> None:
    """Note that a function that is recorded, if any, reads a value of an object.

    Parameters
    ----------
    of
        The object.
    read
        Returns the value, given the object.
    owner
        The object by whose effects the value changes, if that is another one.
    """
    found = recording()
    if found is not None:
        with _unregistered():
            reading = Reading(of, of if owner is None else owner, read)
        found.add_effect(reading, (), ())


@contextmanager
def outside() -> Iterator[None]:
    """Have this thread record on the session, as if no function were recorded."""
    with _unregistered():
        _core.enter_session()
        try:
            yield
        finally:
            _core.leave_session()


def forbid(what: str) -> None:
    """Raise an error where a function is recorded; see `metaops._errors.refuse_recorded`."""
    refuse_recorded(what)


@contextmanager
def _all_held(effects: Sequence[Registered]) -> Iterator[None]:
    locks = {}
    for each in effects:
        owner = each.effect.owner
        locks[id(owner)] = each.lock = _find_lock(owner)
    with ExitStack() as stack:
        for number in sorted(locks):
            stack.enter_context(locks[number])
        yield


def _held(effects: Sequence[Registered]) -> AbstractContextManager[Any]:
    """Lock the owners of effects, each once and in the order that all calls take."""
    lock = effects[0].lock if effects else None
    # As a rule they have one.
    if lock is not None and all([each.lock is lock for each in effects]):
        held: AbstractContextManager[Any] = lock
        return held
    return _all_held(effects)


def are_recorded(effects: Sequence[Registered]) -> bool:
    """Return whether a call would advance effects as they were recorded; none is advanced."""
    advanced: list[Registered] = []
    with _held(effects):
        try:
            for each in effects:
                if each.effect.advance() is None:
                    return False
                advanced.append(each)
            return True
        finally:
            for each in reversed(advanced):
                each.effect.take_back()


def call_with_effects(function: Any, arguments: list[Var], effects: list[Registered]) -> list[Var]:
    """Advance effects and call a recorded function with their numbers.

    An exception takes the advances back, the last one first, unless the call counts.

    Raises
    ------
    NotRecordedError
        If an effect is not what was recorded.
    """
    advanced: list[Registered] = []
    given: list[float] = []
    steps: list[tuple[StepOutcome, int, int, int]] = []
    with _held(effects):
        function.begin_call()
        try:
            for each in effects:
                numbers = each.effect.advance()
                if numbers is None:
                    raise NotRecordedError("jit: an effect is not what was just recorded")
                advanced.append(each)
                step = each.effect.get_step(numbers)
                if step is not None:
                    steps.append((step[0], len(given), len(numbers), step[1]))
                given += numbers
            results: list[Var] = function.call(arguments, given, steps)
            _finish(effects)
        except BaseException:
            # Ctrl-C may come when the call is made, and before its results are here.
            if function.counts():
                _finish(effects)
            else:
                for each in reversed(advanced):
                    each.effect.take_back()
            raise
    return results


def _finish(effects: list[Registered]) -> None:
    for each in effects:
        each.effect.finish()
