# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The state of the session's generator, to go on later with the numbers that would come."""

from __future__ import annotations

from collections.abc import Mapping

from .. import _core
from .._errors import at_line, refuse_recorded
from .._typing import shown

__all__ = ["get_rng_state", "set_rng_state"]

_KEYS = ("seed", "drawn")
_LEAST, _MOST = -(2**63), 2**63


def get_rng_state() -> dict[str, int]:
    """Return what the session's next random numbers follow from.

    That is what `metaops.seed` was last given, and how many numbers have been drawn since. A
    state can be saved by `metaops.save`.

    Returns
    -------
    dict
        What `set_rng_state` takes.

    Raises
    ------
    RuntimeError
        If a function is being recorded.

    Examples
    --------
    >>> import metaops as mo
    >>> state = mo.get_rng_state()
    >>> x = mo.rand(3)
    >>> mo.set_rng_state(state)
    >>> bool(mo.array_equal(mo.rand(3), x))
    True
    """
    refuse_recorded("get_rng_state is called")
    return dict(zip(_KEYS, _core.random_state(), strict=True))


def set_rng_state(state: Mapping[str, int]) -> None:
    """Have the session's random numbers go on where a state was taken.

    Parameters
    ----------
    state
        What `get_rng_state` has returned.

    Raises
    ------
    TypeError
        If that is no state.
    ValueError
        If a number of it has more than 64 bits.
    RuntimeError
        If a function is being recorded.
    """
    refuse_recorded("set_rng_state is called")
    numbers = [state.get(key) for key in _KEYS] if isinstance(state, Mapping) else []
    integers = [number for number in numbers if type(number) is int]
    if len(integers) != len(_KEYS):
        raise at_line(
            TypeError(
                f"set_rng_state: given {shown(state)}, expected a dict with the integers "
                "'seed' and 'drawn', which get_rng_state returns"
            )
        )
    for key, number in zip(_KEYS, integers, strict=True):
        if not _LEAST <= number < _MOST:
            raise at_line(
                ValueError(f"set_rng_state: {key} is {number}, expected an integer of 64 bits")
            )
    _core.set_random_state(*integers)
