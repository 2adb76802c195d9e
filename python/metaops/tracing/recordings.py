# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recordings of a function, by the keys of its calls, and how many are kept.

Keys that differ in extents alone are a *family*. A function may be recorded for many lengths
of a batch or of a text, which count as one beside its other keys; and what was found of one
length, that two calls record the same, holds of another where both recordings differ in
extents alone.
"""

from __future__ import annotations

import heapq
import itertools
import threading
from collections import deque
from typing import Any
from weakref import WeakSet, ref

from .._core import Var, call_key
from .recorder import Entry

__all__ = ["Recordings", "find_family", "tick"]

#: The most families of a function, recordings of a family, and recordings of all functions.
_MOST_FAMILIES = 64
_MOST_OF_FAMILY = 256
_MOST = 1024
#: The most recordings that a key has.
_MOST_OF_KEY = 8
#: The recordings of a family that another one is compared with, those that were used last.
_MOST_KIN = 4

#: Returns the time of a use, by which the oldest is known.
tick = itertools.count(1).__next__
_tables: WeakSet[Recordings] = WeakSet()


def find_family(key: Any, leaves: list[Var]) -> Any:
    """Return what is equal for keys that differ in extents alone."""
    return (key[0], call_key(leaves, extents=False), *key[2:])


class Recordings:
    """What is kept of one function."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        #: Those that were preferred last come first.
        self.by_key: dict[Any, list[Entry]] = {}
        #: Keys of which an object has died.
        self._dead: deque[Any] = deque()
        _tables.add(self)

    def find(self, key: Any) -> list[Entry]:
        """Return the recordings of a key."""
        with self._lock:
            self._drop_dead()
            return self.by_key.get(key, [])[:]

    def list_all(self) -> list[Entry]:
        """Return all recordings."""
        with self._lock:
            self._drop_dead()
            return [entry for kept in self.by_key.values() for entry in kept]

    def get_last(self) -> Entry | None:
        """Return the recording that was used last."""
        return max(self.list_all(), key=lambda entry: entry.used, default=None)

    def add(self, key: Any, made: Entry, kept: list[Any]) -> None:
        """Keep a recording of a key, as long as the objects live that the key knows by identity.

        What was used longest ago goes where there are too many.
        """
        made.used = tick()
        with self._lock:
            self._drop_dead()
            entries = self.by_key.setdefault(key, [])
            entries.insert(0, made)
            del entries[_MOST_OF_KEY:]
        self._watch_lives(key, made, kept)
        self._drop_surplus(made.family)
        _drop_surplus_of_all()

    def use(self, key: Any, entry: Entry) -> None:
        """Have a recording be the first of its key, and the last that was used."""
        entry.used = tick()
        with self._lock:
            entries = self.by_key.get(key, [])
            if entry in entries:
                entries.remove(entry)
                entries.insert(0, entry)

    def list_kin(self, entry: Entry) -> list[Entry]:
        """Return the recordings of an entry's family, but for itself."""
        return [kin for kin in self.list_all() if kin.family == entry.family and kin is not entry]

    def find_kin(self, made: Entry, confirmed: bool = False) -> Entry | None:
        """Return a recording that differs from another in extents alone.

        One that is confirmed has been recorded again, and was the same.
        """
        known = [
            kin
            for kin in self.list_kin(made)
            if not kin.differs and (kin.is_confirmed or not confirmed)
        ]
        for kin in heapq.nlargest(_MOST_KIN, known, key=lambda kin: kin.used):
            if kin.function.difference(made.function, extents=False) == "":
                return kin
        return None

    def _watch_lives(self, key: Any, made: Entry, kept: list[Any]) -> None:
        """Drop a key when an object dies whose identity is part of it."""
        table = ref(self)

        def end(_: object) -> None:
            # The collector may run anywhere, also where the table is written.
            found = table()
            if found is not None:
                for entry in found.by_key.get(key, ()):
                    entry.bind = _bind_nothing
                found._dead.append(key)

        for value in kept:
            try:
                # It goes with the recording, if that goes first.
                made.kept.append(ref(value, end))
            except TypeError:
                # Without weak references, the recordings keep it.
                made.kept.append(value)

    def _drop_surplus(self, family: Any) -> None:
        """Drop what is more than a family, and a function, may have."""
        ages: dict[Any, list[int]] = {}
        for entry in self.list_all():
            ages.setdefault(entry.family, []).append(entry.used)
        surplus = len(ages.get(family, ())) - _MOST_OF_FAMILY
        if surplus > 0:
            self._drop(set(sorted(ages[family])[:surplus]))
        if len(ages) > _MOST_FAMILIES:
            self._drop(set(min(ages.values(), key=max)))

    def drop_oldest(self) -> None:
        """Drop the recording that was used longest ago."""
        self._drop({min((entry.used for entry in self.list_all()), default=0)})

    def _drop(self, used: set[int]) -> None:
        """Drop recordings by the times at which they were used last."""
        with self._lock:
            for key, entries in [*self.by_key.items()]:
                left = [entry for entry in entries if entry.used not in used]
                if not left:
                    self.by_key.pop(key, None)
                elif len(left) < len(entries):
                    self.by_key[key] = left

    def _drop_dead(self) -> None:
        """Drop keys of which an object has died; the lock is held."""
        while self._dead:
            self.by_key.pop(self._dead.popleft(), None)


def _bind_nothing(arguments: list[Var]) -> list[Var] | None:
    """Stand for `bind` of a recording that cannot be used any more."""
    return None


def _drop_surplus_of_all() -> None:
    """Drop what all functions together have too many of, the oldest first."""
    tables = [*_tables]
    count = sum(len(table.list_all()) for table in tables)
    while count > _MOST:
        ages = [
            (min(entry.used for entry in entries), table)
            for table in tables
            if (entries := table.list_all())
        ]
        min(ages, key=lambda pair: pair[0])[1].drop_oldest()
        count -= 1
