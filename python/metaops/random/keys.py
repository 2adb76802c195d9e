# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Keys: random numbers that depend on what they are asked with, and on nothing else.

The generator is that of `metaop.random`, Philox2x32-10 (Salmon et al., "Parallel
random numbers: as easy as 1, 2, 3", SC 2011), as Python for single blocks and as
element-wise operators for tensors. A key that is given to a function which is recorded
once is a tensor there, so that other keys are no other function; the numbers are the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _core
from .._core import Var
from .._errors import at_line
from .._typing import DType, Shape, shown, whole_number

__all__ = ["Key", "Source"]

_WORD = 2**32
_MULTIPLIER = 0xD256D193
_WEYL = 0x9E3779B9
_ROUNDS = 10
# Numbers that tell the uses of a key apart: they are ciphers of other keys.
_OF_SEED, _OF_SPLIT, _OF_FOLD = 0x5EED5EED, 0x5B117000, 0xF01D0000


def _low(x: Any) -> Any:
    """Return the lower 32 bits of a number or a tensor of 64."""
    return x & _constant(_WORD - 1) if isinstance(x, Var) else x % _WORD


def _high(x: Any) -> Any:
    """Return the upper 32 bits of a number or a tensor of 64."""
    return x // _constant(_WORD) if isinstance(x, Var) else x // _WORD


def _block(left: Any, right: Any, key: Any) -> Any:
    """Return the block of a counter, in two words: another number of 64 bits for each."""
    for _ in range(_ROUNDS):
        product = left * _MULTIPLIER
        left, right = _high(product) ^ key ^ right, _low(product)
        key = _low(key + _WEYL)
    return right * _WORD + left


class Key:
    """What random numbers are made of, given to a function as ``key=``.

    The same key gives the same numbers each time, whatever was computed before, so a
    key is for one use. `split` and `fold_in` make further ones of it. An argument of a
    function that `metaops.jit` returned may be another key in each call: it is recorded once.

    Parameters
    ----------
    seed
        An integer of 64 bits. Each makes another key.

    Examples
    --------
    >>> first, second = mo.Key(0).split()
    >>> x = mo.normal((3,), key=first)
    """

    __slots__ = ("_value",)

    def __init__(self, seed: int) -> None:
        number = _integer("Key", "seed", seed)
        self._value: int | Var = _block(_low(number), _high(number), _OF_SEED)

    @classmethod
    def _of(cls, value: int | Var) -> Key:
        key = cls.__new__(cls)
        key._value = value
        return key

    def _child(self, number: int, use: int) -> Key:
        value = self._value
        return Key._of(_block(_low(number), _high(value) ^ _high(number), _low(value) ^ use))

    def _leaf(self) -> Var:
        """Return the key as a tensor, of which `_of` makes a key."""
        value = self._value
        return value if isinstance(value, Var) else _core.array(np.uint64(value))

    def split(self, num: int = 2) -> tuple[Key, ...]:
        """Return several keys that differ from each other and from this one.

        Raises
        ------
        ValueError
            If `num` is negative.
        """
        count = whole_number("Key.split", "num", num)
        return tuple(self._child(number, _OF_SPLIT) for number in range(count))

    def fold_in(self, number: int) -> Key:
        """Return a key for each integer of 64 bits, such as the count of a step."""
        return self._child(_integer("Key.fold_in", "number", number), _OF_FOLD)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Key):
            return False
        own, value = self._value, other._value
        if isinstance(own, Var) or isinstance(value, Var):
            return own is value
        return own == value

    def __hash__(self) -> int:
        return hash(("metaops.Key", self._value))

    def __repr__(self) -> str:
        value = self._value
        return "<Key, recorded>" if isinstance(value, Var) else f"<Key {value:016x}>"


def _integer(what: str, parameter: str, number: object) -> int:
    if isinstance(number, bool) or not hasattr(number, "__index__"):
        raise at_line(TypeError(f"{what}: {parameter} is {shown(number)}, expected an integer"))
    value: int = number.__index__()
    if not -(2**63) <= value < 2**64:
        raise at_line(
            OverflowError(f"{what}: {parameter} is {value}, expected an integer of 64 bits")
        )
    return value % 2**64


def _constant(value: int, dtype: str = "uint64") -> Var:
    """Return a number that is part of the code, so that a division by it is a shift.

    A number beside a Var, and that of `full`, is an argument of the program. What a
    reindex puts outside of its source is none.
    """
    return _core.iota((1,), 0, dtype).reindex((), ("-1",), value)


def _blocks(shape: Shape, key: int | Var, offset: int) -> tuple[Var, Var]:
    """Return the words of consecutive counters, in 64 bits each."""
    position = _core.iota((math.prod(shape),), 0, "uint64") + offset
    word, multiplier = _constant(_WORD), _constant(_MULTIPLIER)
    mask = _constant(_WORD - 1)
    left, right = position & mask, (position // word) ^ _high(key)
    weyl = _low(key)
    for _ in range(_ROUNDS):
        product = left * multiplier
        left, right = (product // word) ^ weyl ^ right, product & mask
        weyl = _low(weyl + _WEYL)
    return left.reshape(shape), right.reshape(shape)


class Source:
    """Where a function takes uniform numbers from: the session, or a key.

    Of a key, each tensor takes the counters behind those of the one before.
    """

    def __init__(self, key: Key | None) -> None:
        if key is not None and not isinstance(key, Key):
            raise at_line(TypeError(f"key is {shown(key)}, expected a mo.Key or None"))
        self._key = None if key is None else key._value
        self._offset = 0

    def uniform(self, shape: Shape, dtype: DType = "float32") -> Var:
        """Return what `metaop.random` gives: floats in [0, 1), or words as uint32."""
        if self._key is None:
            return _core.random(shape, dtype)
        shape = shape_of(shape)
        name = _core.dtype(dtype)
        left, right = _blocks(shape, self._key, self._offset)
        self._offset += math.prod(shape)
        if name == "uint32":
            return left.cast("uint32")
        if name == "float64":
            return (right * _constant(2**21) + left // _constant(2**11)).cast(name) * 2.0**-53
        bits = {"float32": 24, "float16": 11, "bfloat16": 8}.get(name)
        if bits is None:
            raise at_line(TypeError(f"random: given {name}, expected a float type or uint32"))
        return (left // _constant(2 ** (32 - bits))).cast("float32").cast(name) * 2.0**-bits

    def words(self, shape: Shape) -> Var:
        """Return integers of 64 random bits."""
        high, low = self.uniform(shape, "uint32"), self.uniform(shape, "uint32")
        return high.cast("uint64") * _constant(_WORD) + low.cast("uint64")


def multiplied_high(x: Var, y: int) -> Var:
    """Return the upper 64 bits of products of 128 bits."""
    word, mask = _constant(_WORD), _constant(_WORD - 1)
    low, high = y % _WORD, y // _WORD
    x_low, x_high = x & mask, x // word
    middle = x_high * low + (x_low * low) // word
    other = x_low * high + (middle & mask)
    return x_high * high + middle // word + other // word


def shape_of(shape: Sequence[int] | int) -> tuple[int, ...]:
    """Return the extents that a shape stands for.

    Raises
    ------
    TypeError
        If they are no integers.
    ValueError
        If one is negative.
    """
    extents = _core.shape_and_dtype(shape)[0]
    if any(extent < 0 for extent in extents):
        message = f"random: shape {extents} has a negative extent; expected 0 or more"
        raise at_line(ValueError(message))
    return extents
