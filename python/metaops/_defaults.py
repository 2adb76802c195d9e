# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The type of floats that are made where none is given."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from . import _core
from ._errors import at_line, refuse_recorded
from .scopes import Scope

__all__ = [
    "default_dtype",
    "float_type",
    "get_default_dtype",
    "set_default_dtype",
    "shape_and_dtype",
]

#: The default of the process, and those of the scopes that the thread is in.
_of_process = _core.float32
_of_scopes: ContextVar[tuple[_core.dtype, ...]] = ContextVar("default_dtype", default=())


def _checked(name: str, dtype: Any) -> _core.dtype:
    result = _core.dtype(dtype)
    if "float" not in result:
        raise at_line(TypeError(f"{name}: given {result}, expected a type of floats"))
    return result


def get_default_dtype() -> _core.dtype:
    """Return the type of floats that are made where none is given; see `default_dtype`."""
    scopes = _of_scopes.get()
    return scopes[-1] if scopes else _of_process


def set_default_dtype(dtype: Any) -> None:
    """Set the type of floats that are made where none is given, for the whole process.

    A thread that is within a `default_dtype` keeps that one until it leaves it.

    Parameters
    ----------
    dtype
        A type of floats: float32, as at the beginning, float64, float16 or bfloat16.

    Raises
    ------
    TypeError
        If it is another type.
    """
    global _of_process
    refuse_recorded("set_default_dtype is called")
    _of_process = _checked("set_default_dtype", dtype)


class default_dtype(Scope):  # noqa: N801 (used like a function)
    """Make floats of a type where none is given, in a ``with`` block or a function's calls.

    It is the type of what is made: by `zeros`, `ones`, `empty`, `full`, `linspace`, `eye`
    and their kin, by `arange` of Python's floats, by functions of random numbers and of
    windows, of an `array` of Python's floats, and of the parameters of layers. What is
    computed keeps its rules: of integers, and of a Python number that is given to a
    function, it is float32.

    Scopes belong to a thread, as those of `metaops.device` do; `set_default_dtype` is for
    all threads.

    Parameters
    ----------
    dtype
        A type of floats.

    Raises
    ------
    TypeError
        If it is another type.

    Examples
    --------
    >>> with mo.default_dtype("float64"):
    ...     model = mo.nn.Linear(3, 2)
    >>> model.weight.dtype
    metaops.float64
    """

    def __init__(self, dtype: Any) -> None:
        self._dtype = _checked("default_dtype", dtype)

    def _enter(self) -> None:
        _of_scopes.set((*_of_scopes.get(), self._dtype))

    def _leave(self) -> None:
        _of_scopes.set(_of_scopes.get()[:-1])


def float_type(dtype: Any) -> Any:
    """Return a type that is given, or the default one for None."""
    return get_default_dtype() if dtype is None else dtype


def shape_and_dtype(shape: tuple[Any, ...], dtype: Any) -> tuple[tuple[int, ...], _core.dtype]:
    """Return extents, behind which a type may stand, and the type, by default the default."""
    if dtype is None and len(shape) == 2:
        second = shape[1]
        # Classes of numbers have what their instances are integers by.
        if isinstance(second, type) or not hasattr(second, "__index__"):
            return _core.shape_and_dtype(*shape)
    return _core.shape_and_dtype(*shape, dtype=float_type(dtype))
