# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NumPy functions as steps of programs."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._core import ExternCode
from .._errors import at_line
from .._typing import DType, VarLike, as_vars, shown
from .calls import take_outputs

__all__ = ["host_call"]

_Array = npt.NDArray[Any]

#: Functions that have been called, by what they are given and return. The session, which
#: may call any of them again, lives as long as the process.
_known: dict[Any, ExternCode] = {}


def host_call(
    fn: Callable[..., Any],
    shapes: Sequence[Any],
    dtypes: DType | Sequence[DType],
    *args: VarLike,
    vectorized: bool = False,
) -> Any:
    """Return what a NumPy function computes, as a step of a program.

    The function is called when the values are computed: with arrays of its own, which are
    read-only, on some thread, and while no other step of the program runs. It must be a
    function of its arguments alone: equal calls are merged, and one that nobody reads is not
    made. It cannot use the package.

    Parameters
    ----------
    fn : callable
        Called with an array for each of `args`; returns an array, or a tuple of them. It is
        kept as long as the process: give the same function again rather than a new one.
    shapes : sequence of int, or of such
        The shape of the result, or of each.
    dtypes : dtype or sequence of dtypes
        Of the result, or of each. Arrays of other sizes of the same kind are converted;
        a bfloat16 is a float32 in NumPy.
    *args : tensors
        What the function is given.
    vectorized : bool
        Whether all arguments and results may have further dimensions in front, as `vmap`
        has the function compute all examples at once. Otherwise `vmap` refuses it.

    Returns
    -------
    Var or tuple of Vars
        They have no derivatives; a `mo.Function` around the call may give them some.

    Raises
    ------
    TypeError
        If `fn` is no function, or an argument none of these.
    ValueError
        If shapes and dtypes do not go together, or an extent is negative.
    RuntimeError
        Where values are asked for: if the function raises, or returns what has another shape
        or kind of dtype.

    Examples
    --------
    >>> x = mo.array([3.0, 1.0, 2.0])
    >>> mo.host_call(np.sort, x.shape, x.dtype, x) * 10
    Var([10, 20, 30], dtype=float32)
    """
    if not callable(fn):
        raise at_line(TypeError(f"host_call: fn is {shown(fn)}, expected a function"))
    given = as_vars("host_call", args)
    outputs, is_single = take_outputs("host_call", shapes, dtypes)
    for output in outputs:
        if output.is_bounded:
            raise at_line(ValueError("host_call: an extent is negative; expected 0 or more"))
    tensors = [(str(x.dtype), x.ndim) for x in given]
    tensors += [(output.dtype, len(output.shape)) for output in outputs]
    results = _core.call_extern(
        _find(fn, tuple(tensors), len(given), is_single),
        given,
        [(output.shape, output.dtype) for output in outputs],
        0,
        bool(vectorized),
    )
    return results[0] if is_single else results


def _find(
    fn: Callable[..., Any], tensors: tuple[tuple[str, int], ...], count: int, is_single: bool
) -> ExternCode:
    """Return the code of a function, the same for the same one."""
    try:
        key: Any = (fn, tensors, count, is_single)
        hash(key)
    except TypeError:
        key = (id(fn), tensors, count, is_single)
    found = _known.get(key)
    if found is None:
        call = _HostFunction(fn, [dtype for dtype, _ in tensors[count:]], is_single)
        # Of another process it is another one.
        name = f"host_call.{os.urandom(16).hex()}"
        found = _known[key] = _core.make_host_function(name, call, tensors)
    return found


class _HostFunction:
    """Calls a function, and sees to it that what it returns is what was said."""

    def __init__(self, fn: Callable[..., Any], dtypes: Sequence[str], is_single: bool) -> None:
        self.fn = fn
        self.name = getattr(fn, "__name__", type(fn).__name__)
        self.dtypes = dtypes
        self.is_single = is_single

    def __call__(
        self, arrays: tuple[_Array, ...], shapes: Sequence[tuple[int, ...]]
    ) -> tuple[_Array, ...]:
        """Return the results for the arguments, of the shapes that they have to have."""
        try:
            returned = self.fn(*arrays)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # also SystemExit, which ends no thread
            raise RuntimeError(self._describe(error)) from None
        results = (returned,) if self.is_single else returned
        if not isinstance(results, tuple | list) or len(results) != len(shapes):
            raise RuntimeError(
                f"host_call: {self.name} has returned {_told(returned)}, expected a tuple of "
                f"{len(shapes)} arrays"
            )
        return tuple(
            self._take(number, result, shape)
            for number, (result, shape) in enumerate(zip(results, shapes, strict=True))
        )

    def _describe(self, error: BaseException) -> str:
        try:
            words = str(error)
        except Exception as another:
            words = f"without words, as its __str__ raises {type(another).__name__}"
        text = f"host_call: {self.name} has raised {type(error).__name__}: {words}"
        # Behind the frame here is that of the function, if it is one of Python's.
        frame = error.__traceback__ and error.__traceback__.tb_next
        if frame is None:
            return text
        return f"{text} ({frame.tb_frame.f_code.co_filename}:{frame.tb_lineno})"

    def _take(self, number: int, result: object, shape: tuple[int, ...]) -> _Array:
        array = np.asarray(result)
        dtype = self.dtypes[number]
        stored = np.dtype("float32" if dtype == "bfloat16" else dtype)
        if array.shape != tuple(shape):
            raise RuntimeError(
                f"host_call: {self.name} has returned {_told(result)}, expected shape {shape}"
            )
        if not np.can_cast(array.dtype, stored, "same_kind"):
            raise RuntimeError(
                f"host_call: {self.name} has returned {_told(result)}, expected dtype {dtype}"
            )
        return np.ascontiguousarray(array, stored).reshape(shape)


def _told(value: object) -> str:
    if isinstance(value, np.ndarray | np.generic):
        return f"an array of shape {value.shape} and dtype {value.dtype}"
    return shown(value)
