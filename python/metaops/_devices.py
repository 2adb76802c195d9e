# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Devices: where arrays are, and where what is made of them is computed."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any, TypeVar, cast

from . import _core
from ._core import Var
from ._errors import at_line, renamed
from ._typing import shown
from .scopes import Scope

__all__ = ["device", "devices"]

F = TypeVar("F", bound=Callable[..., Any])


#: GPUs by their numbers, and not by code for one chip.
_GPU = re.compile(r"cuda:(\d+)")


@functools.cache
def why_no_gpu(name: str = "cuda:0") -> str | None:
    """Return why a GPU cannot be used; None if it can, or is no GPU by its number."""
    number = _GPU.fullmatch(name)
    return (_core.why_no_gpu(int(number[1])) or None) if number else None


class device(Scope, str):  # noqa: N801 (used like a function)
    """A device, by its name; in a ``with`` block, the one of arrays that are made.

    An array belongs to the device that is current when it is made: ``cpu:0``, or that
    of the innermost ``with`` block. What is computed of arrays is where they are;
    arrays of two devices cannot be used together before `Var.to` brings one over.
    Python's numbers are of no device. A function of the package that is given an
    array makes its own on the same device.

    ``cuda:0`` is the machine's first GPU. ``cuda:sm_90a`` and its like are it by code for one
    chip, which is compiled, as for `metaops.estimate`, where there is no GPU, too.

    Each device has memory, threads and a queue of its own, and works beside the
    others. The devices of the processor run the same compiled programs.

    Parameters
    ----------
    name
        A kind and a number, as ``"cpu:1"``; the kind alone is its first device.

    Raises
    ------
    ValueError
        If there is no such device. The message lists those that there are.
    RuntimeError
        If it is a GPU of the machine that cannot be used; the message says why.

    Examples
    --------
    >>> with mo.device("cpu:1"):
    ...     x = mo.random((8,))
    >>> (x * 2).device
    device('cpu:1')
    >>> x.to("cpu:0") + mo.ones(8)
    """

    def __new__(cls, name: str) -> device:
        """Return the device of a name."""
        if not isinstance(name, str):
            raise at_line(
                TypeError(f"device: given {shown(name)}, expected a name such as 'cpu:1'")
            )
        found = name if type(name) is cls else _core.find_device(name)
        if why := why_no_gpu(found):
            raise at_line(RuntimeError(why))
        return super().__new__(cls, found)

    def _enter(self) -> None:
        _core.enter_device(self)

    def _leave(self) -> None:
        _core.leave_device()

    @property
    def num_threads(self) -> int:
        """How many threads compute on it."""
        with self:
            return _core.get_num_threads()

    @num_threads.setter
    def num_threads(self, count: int) -> None:
        with self:
            _core.set_num_threads(count)

    @property
    def memory_limit(self) -> int:
        """How many bytes its arrays may take; 0 for as many as there are."""
        with self:
            return int(_core.get_flag("memory_limit"))

    @memory_limit.setter
    def memory_limit(self, size: int) -> None:
        with self:
            _core.set_flag("memory_limit", size)

    def __repr__(self) -> str:
        return f"device({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        """Whether it is the same device, or a name of it."""
        if not isinstance(other, str):
            return NotImplemented
        return str.__eq__(self, other) or str.__eq__(self, f"{other}:0")

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


def devices() -> list[device]:
    """Return the devices that can compute here, those of the processor first."""
    names = _core.list_devices()
    if why_no_gpu():
        names = [name for name in names if not name.startswith("cuda:")]
    return [device(name) for name in names if not why_no_gpu(name)]


def kinds() -> set[str]:
    """Return the kinds of devices, of which no dtype has the name, here or not."""
    return {name.partition(":")[0] for name in _core.list_devices()}


def device_of(x: Var) -> device:
    """Return where a Var's elements are."""
    return device(_core.device_of(x))


def on_device(name: Any, make: Callable[[], Any]) -> Any:
    """Return what `make` makes, a Var, or a list or tuple of them, on a device."""
    place = device(name)
    with place:
        made = make()
    if isinstance(made, list | tuple):
        return type(made)(_core.transfer(x, place) for x in made)
    return _core.transfer(made, place)


def makes_arrays(function: F) -> F:
    """Have a function that makes arrays make them on the device that it is given.

    The function has a parameter ``device`` for its signature, and need not look at it.
    """

    @functools.wraps(function)
    def make(*args: Any, **kwargs: Any) -> Any:
        name = kwargs.pop("device", None)
        try:
            if name is None:
                return function(*args, **kwargs)
            return on_device(name, lambda: function(*args, **kwargs))
        except ValueError as error:
            raise renamed(error, function.__name__) from None

    return cast(F, make)
