# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parts of complex numbers by a key: ``z[key]``, ``z[key] = w`` and ``z.at[key]``."""

from __future__ import annotations

from typing import Any

from .operands import as_complex, called_beside
from .pair import Complex

__all__ = ["ComplexAt", "ComplexParts", "at", "getitem", "setitem"]


class ComplexAt:
    """The part ``z.at[key]`` of a Complex, from which another one is made; see `Var.at`."""

    def __init__(self, z: Complex, key: Any) -> None:
        self._z, self._key = z, key

    def _updated(self, value: Any, kind: str) -> Complex:
        z = self._z
        given = called_beside(z.real, as_complex, (value, z.real.dtype), {})
        return Complex._of(
            getattr(z.real.at[self._key], kind)(given.real),
            getattr(z.imag.at[self._key], kind)(given.imag),
        )

    def get(self) -> Complex:
        """Return the part, as ``z[key]``."""
        return getitem(self._z, self._key)

    def set(self, value: Any) -> Complex:
        """Return z with the part replaced; of values that meet, the last stays."""
        return self._updated(value, "set")

    def add(self, value: Any) -> Complex:
        """Return z with values added to the part, all of those that meet."""
        return self._updated(value, "add")

    def subtract(self, value: Any) -> Complex:
        """Return z with values subtracted from the part, all of those that meet."""
        return self._updated(value, "subtract")


class ComplexParts:
    """The attribute `at` of a Complex: ``z.at[key]`` is a part of it."""

    def __init__(self, z: Complex) -> None:
        self._z = z

    def __getitem__(self, key: Any) -> ComplexAt:
        return ComplexAt(self._z, key)


def at(self: Complex) -> ComplexParts:
    """Return what is indexed by a key to make a tensor with other values there."""
    return ComplexParts(self)


def getitem(self: Complex, key: Any) -> Complex:
    """Return a part; see `Var`."""
    return Complex._of(self.real[key], self.imag[key])


def setitem(self: Complex, key: Any, value: Any) -> None:
    """Give a part other values; both halves are the tensors that they were."""
    given = self._written(value, self.real.dtype)
    self.real[key] = given.real
    self.imag[key] = given.imag
