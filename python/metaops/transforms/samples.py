# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Samples: images with their masks, boxes and labels, in tuples and dicts.

The first value of a tuple is an image, and so is a value alone. The values of a dict are
what their keys say: "image", "mask" and "boxes", or "images" and "masks", which may be
lists. All others pass as they are, and so do containers that have none of these.

Where an array has its channels is found when a transform meets it first: an image's by its
shape, a mask's by the size of the image. What transforms make of it keeps its layout.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

import numpy as np

from .._core import Var, describe
from .._errors import at_line
from ..trees import make_like
from .images import is_picture, known_layout, layout_of, size_of

__all__ = ["Sample"]

#: The kinds of values by the keys of dicts.
_KINDS = {
    "image": "image",
    "images": "image",
    "mask": "mask",
    "masks": "mask",
    "boxes": "boxes",
}


class Sample:
    """The values of a sample with their kinds, which transforms put others in place of."""

    __slots__ = ("_given", "_named", "are_last", "kinds", "values")

    def __init__(self, what: str, given: tuple[Any, ...], named: dict[str, Any]) -> None:
        self.kinds: list[str | None] = []
        self.values: list[Any] = []
        #: Of each value, whether arrays have their channels last; None where it is not known.
        self.are_last: list[bool | None] = []
        self._named = bool(named)
        self._given = (*given, named) if named else given[0] if len(given) == 1 else given
        if isinstance(self._given, tuple | list):
            for k, value in enumerate(self._given):
                self._add(value, None if k else "image")
        else:
            self._add(self._given, None if isinstance(self._given, Mapping) else "image")
        self.are_last = [None] * len(self.values)
        if "image" not in self.kinds:
            shown = ", ".join([*map(describe, given), *(f"{key}=..." for key in named)])
            raise at_line(
                TypeError(
                    f"{what}: a sample is ({shown}), expected an image, a tuple that begins with"
                    " one, or a dict or keywords with 'image'"
                )
            )

    @property
    def first(self) -> int:
        """Return the place of the first image."""
        return self.kinds.index("image")

    @property
    def image(self) -> Any:
        """Return the first image, of several crops of it the first one."""
        return _one_of(self.values[self.first])

    def find_layouts(self, what: str, kinds: tuple[str, ...]) -> None:
        """Find where arrays have their channels.

        Parameters
        ----------
        what
            The transform that asks.
        kinds
            The kinds of values that have to be of the first image's size.

        Raises
        ------
        ValueError
            If they are of another one.
        """
        size: tuple[int, int] | None = None
        is_alone = self.kinds.count("image") + self.kinds.count("mask") == 1
        others = (k for k in range(len(self.kinds)) if k != self.first)
        for k in (self.first, *others):
            kind = self.kinds[k]
            value = _one_of(self.values[k])
            if kind not in ("image", "mask") or not _has_pixels(value):
                continue
            guessed = layout_of(value)
            if guessed is None or self.are_last[k] is None:
                self.are_last[k] = guessed
                if kind == "mask" and size is not None and guessed is not None:
                    fits_last, fits_first = value.shape[:2] == size, value.shape[-2:] == size
                    self.are_last[k] = fits_last if fits_last != fits_first else guessed
            if is_alone:
                return
            with known_layout(self.are_last[k]):
                own = size_of(value)
            if k == self.first:
                size = own
            elif size not in (None, own) and kind in kinds:
                raise at_line(
                    ValueError(
                        f"{what}: {kind} is of {own} pixels, expected those of the image, {size}"
                    )
                )

    def close(self) -> Any:
        """Return the sample as it was given, with the values that are there now."""
        values = iter(self.values)
        if isinstance(self._given, tuple | list):
            parts = [
                self._rebuilt(own, values, None if k else "image")
                for k, own in enumerate(self._given)
            ]
            result = make_like(self._given, parts, [])
        else:
            result = self._rebuilt(self._given, values)
        if not self._named:
            return result
        *positional, named = result
        flat = (*positional, *named.values())
        return flat[0] if len(flat) == 1 else flat

    def _add(self, value: Any, kind: str | None) -> None:
        """Add a value, or those of a container."""
        if _has_kinds(value, kind) and isinstance(value, Mapping):
            for key, own in value.items():
                self._add(own, _kind_of(key))
        elif _has_kinds(value, kind) and isinstance(value, tuple | list):
            for own in value:
                self._add(own, kind)
        else:
            self.kinds.append(kind)
            self.values.append(value)

    def _rebuilt(self, value: Any, values: Iterator[Any], kind: str | None = None) -> Any:
        """Return a container like another one with other values, which `_add` has found."""
        if _has_kinds(value, kind) and isinstance(value, Mapping):
            parts = [self._rebuilt(own, values, _kind_of(key)) for key, own in value.items()]
            if not isinstance(value, MutableMapping):
                return make_like(value, parts, [*value])
            # Mappings that are made of more than their values keep the rest.
            result = copy.copy(value)
            for key, own in zip(value, parts, strict=True):
                result[key] = own
            return result
        if _has_kinds(value, kind) and isinstance(value, tuple | list):
            parts = [self._rebuilt(own, values, kind) for own in value]
            return make_like(value, parts, [])
        return next(values)


def _kind_of(key: object) -> str | None:
    """Return the kind of the value that a dict has by a key."""
    return _KINDS.get(key) if isinstance(key, str) else None


def _has_kinds(value: Any, kind: str | None) -> bool:
    """Return whether a value is a container with values that transforms may change."""
    if isinstance(value, Mapping):
        return any(_kind_of(key) or _has_kinds(own, None) for key, own in value.items())
    if not isinstance(value, tuple | list) or kind == "boxes":
        return False
    return kind is not None or any(_has_kinds(own, None) for own in value)


def _one_of(value: Any) -> Any:
    """Return a value, of several crops the first one."""
    return value[0] if type(value) is tuple and value else value


def _has_pixels(value: Any) -> bool:
    """Return whether a value is an image, of any kind."""
    if not isinstance(value, Var | np.ndarray):
        return is_picture(value)
    return value.ndim >= 2 and (value.ndim <= 4 or isinstance(value, Var)) and 0 not in value.shape
