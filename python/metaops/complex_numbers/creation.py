# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""New tensors of complex numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _core
from .._core import Var
from .._devices import device_of, on_device
from .._errors import at_line
from .._typing import as_var, shown
from ..ops.create import creation
from .dtypes import find_dtype, half_of
from .halves import is_pair, kept_all
from .operands import as_complex, is_complex, zeros_beside
from .pair import Complex

__all__ = ["cast", "drawn", "drawn_like", "filled", "filled_like", "made", "made_real"]


def _made_on(device: Any, make: Callable[[], Complex]) -> Complex:
    """Return what a function makes, on a device."""

    def halves() -> list[Var]:
        z = make()
        return [z.real, z.imag]

    return Complex._of(*on_device(device, halves))


def made(obj: Any, dtype: Any = None, *, copy: Any = None, device: Any = None) -> Complex:
    """Return a Complex of numbers, lists or arrays, as `array` returns a Var."""
    if device is not None:
        return _made_on(device, lambda: made(obj, dtype, copy=copy))
    if copy is False:
        if isinstance(obj, Complex) and (dtype is None or obj.dtype == find_dtype(dtype)):
            return obj
        raise at_line(ValueError(f"array: {shown(obj)} is copied, and copy is False"))
    if dtype is None:
        return as_complex(obj)
    return cast(obj, dtype)


def cast(x: Any, dtype: Any) -> Complex:
    """Return numbers with another complex type.

    Raises
    ------
    TypeError
        If the type is real, for which imaginary parts would be lost.
    """
    found = find_dtype(dtype)
    if found is None:
        raise at_line(
            TypeError(
                f"cast: given complex numbers and dtype {shown(dtype)}, expected complex64 or"
                " complex128; z.real has the real parts"
            )
        )
    return as_complex(x, half_of(found))


def made_real(function: Callable[..., Var], *args: Any, **kwargs: Any) -> Complex:
    """Return what a function makes of real numbers, as complex ones.

    A type among the arguments, as behind a shape, is that of the halves.
    """
    given, named = kept_all(function, args, kwargs)
    real = function(*given, **named)
    place = device_of(real)
    return Complex._of(real, _core.transfer(zeros_beside(real), place))


def drawn(
    function: Callable[..., Var], scale: float, *args: Any, key: Any = None, **kwargs: Any
) -> Complex:
    """Return random numbers whose halves a function draws, which are scaled."""
    given, named = kept_all(function, args, kwargs)
    keys = (None, None) if key is None else key.split(2)
    re, im = (function(*given, **named, key=own) for own in keys)
    return Complex._of(re * scale, im * scale)


def drawn_like(
    function: Callable[..., Var], scale: float, x: Any, dtype: Any = None, **options: Any
) -> Complex | Var:
    """Return random numbers as `drawn` of x's shape, and type if none is given."""
    given = as_complex(x).dtype if dtype is None else dtype
    shape = as_complex(x).shape
    if find_dtype(given) is None:
        return function(shape, dtype=given, **options)
    return drawn(function, scale, shape, dtype=given, **options)


def filled(shape: Any, value: Any, dtype: Any = None, *, device: Any = None) -> Complex:
    """Return a tensor of a shape filled with a complex number."""
    if device is not None:
        return _made_on(device, lambda: filled(shape, value, dtype))
    z = as_complex(value) if dtype is None else cast(value, dtype)
    extents = (shape,) if isinstance(shape, int) else shape
    return Complex._of(
        _core.full(extents, z.real, z.real.dtype), _core.full(extents, z.imag, z.real.dtype)
    )


def filled_like(x: Any, value: Any, dtype: Any = None, *, device: Any = None) -> Complex | Var:
    """Return a tensor of x's shape, and type if none is given, filled with a number."""
    shape = x.shape if isinstance(x, Complex) else as_complex(x).shape
    if dtype is None and is_pair(x):
        dtype = as_complex(x).dtype
    if dtype is None:
        raise at_line(
            TypeError(
                f"full_like: given {shown(value)} for a tensor of {as_var(x).dtype}, expected a"
                " real number, or a complex dtype"
            )
        )
    if find_dtype(dtype) is None and not is_complex(value):
        return creation.full(shape, value, dtype, device=device)
    return filled(shape, value, dtype, device=device)
