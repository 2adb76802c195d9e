# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attributes of modules that this thread sets for a while, and takes back."""

from __future__ import annotations

import threading
from typing import Any

__all__ = ["AttributesTakenBack", "note_attribute"]

_MISSING = object()


class AttributesTakenBack:
    """A scope in which this thread sets no attribute of a module for good.

    What other threads set stays, also an attribute that this one has set before them.
    """

    def __init__(self) -> None:
        #: Of each attribute the module, its name, and its values before and now.
        self._set: dict[tuple[int, str], tuple[Any, str, Any, Any]] = {}
        self._outer: AttributesTakenBack | None = None

    def note(self, module: Any, name: str, value: object) -> None:
        """Note that an attribute is about to be set, or deleted where there is no value."""
        key = id(module), name
        before = self._set[key][2] if key in self._set else vars(module).get(name, _MISSING)
        self._set[key] = module, name, before, value

    def __enter__(self) -> AttributesTakenBack:
        self._outer, _of_thread.scope = _of_thread.scope, self
        return self

    def __exit__(self, *exception: object) -> None:
        _of_thread.scope = self._outer
        for module, name, before, value in self._set.values():
            attributes = vars(module)
            if attributes.get(name, _MISSING) is not value:
                continue
            if before is _MISSING:
                attributes.pop(name, None)
            else:
                attributes[name] = before
        self._set.clear()


class _OfThread(threading.local):
    scope: AttributesTakenBack | None = None


_of_thread = _OfThread()


def note_attribute(module: Any, name: str, value: object = _MISSING) -> None:
    """Note that an attribute is about to be set, or deleted where no value is given."""
    if _of_thread.scope is not None:
        _of_thread.scope.note(module, name, value)
