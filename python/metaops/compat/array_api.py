# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the array API standard has beside operators: types, devices, inspection.

The package itself is the namespace of the standard, version 2024.12, which
``x.__array_namespace__()`` returns. `docs/ArrayApi.md` says what of it is not met.
"""

from __future__ import annotations

import math
import sys
from types import ModuleType
from typing import Any

import numpy as np

from .. import _core
from .._core import Var
from .._defaults import get_default_dtype
from .._devices import device as _device
from .._devices import devices, on_device
from .._errors import at_line
from .._promotion import is_number, promoted
from .._typing import DType, VarLike, as_var, shown
from ..complex_numbers.dtypes import find_dtype, of_halves

__all__ = [
    "astype",
    "can_cast",
    "conj",
    "imag",
    "isdtype",
    "real",
    "result_type",
]

__array_api_version__ = "2024.12"
_VERSIONS = ("2021.12", "2022.12", "2023.12", __array_api_version__)

e, inf, nan, pi = math.e, math.inf, math.nan, math.pi
newaxis = None

_SIGNED = ("int8", "int16", "int32", "int64")
_UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
_FLOATS = ("float16", "bfloat16", "float32", "float64")
_COMPLEX = ("complex64", "complex128")
#: Types of elements by the standard's names of their kinds.
KINDS: dict[str, tuple[str, ...]] = {
    "bool": ("bool",),
    "signed integer": _SIGNED,
    "unsigned integer": _UNSIGNED,
    "integral": _SIGNED + _UNSIGNED,
    "real floating": _FLOATS,
    "complex floating": _COMPLEX,
    "numeric": _SIGNED + _UNSIGNED + _FLOATS + _COMPLEX,
}


# Types


def astype(x: VarLike, dtype: DType, /, *, copy: bool = True, device: str | None = None) -> Var:
    """Return x with another dtype, as `cast`.

    Parameters
    ----------
    x
        Any tensor.
    dtype
        Of the result.
    copy
        If False, x itself is returned if it has this dtype.
    device
        Where the result is to be; by default where x is.
    """
    if device is not None:
        return on_device(device, lambda: astype(x, dtype, copy=copy))
    x = as_var(x)
    return x if not copy and x.dtype == _core.dtype(dtype) else x.cast(dtype)


def _type_of(given: Any) -> _core.dtype:
    has_type = isinstance(given, Var | np.ndarray | np.generic)
    return _core.dtype(given.dtype if has_type else given)


def result_type(*arrays_and_dtypes: VarLike | DType) -> _core.dtype:
    """Return the dtype that operands are promoted to.

    Parameters
    ----------
    arrays_and_dtypes
        Tensors, dtypes and Python numbers; these take the dtype of the others unless
        it is of a lesser kind.

    Raises
    ------
    TypeError
        If there are neither tensors nor dtypes, or no dtype holds the numbers of all.
    """
    numbers = [given for given in arrays_and_dtypes if is_number(given)]
    dtypes = [_type_of(given) for given in arrays_and_dtypes if not is_number(given)]
    if not dtypes:
        raise at_line(TypeError("result_type: neither a tensor nor a dtype is given"))
    return _core.dtype(promoted(dtypes, numbers))


def can_cast(from_: DType | Var, to: DType, /) -> bool:
    """Tell whether promotion casts a dtype, or that of a tensor, to another one."""
    target = _core.dtype(to)
    try:
        return result_type(_type_of(from_), target) == target
    except TypeError:
        return False


def isdtype(dtype: DType, kind: DType | tuple[DType, ...]) -> bool:
    """Tell whether a dtype is of a kind.

    Parameters
    ----------
    dtype
        A dtype.
    kind
        "bool", "signed integer", "unsigned integer", "integral", "real floating" (to
        which float16 and bfloat16 belong), "complex floating", "numeric", a dtype, or a tuple
        of these.

    Raises
    ------
    TypeError
        If a kind is none of these.
    """
    own = _core.dtype(dtype)
    for given in kind if isinstance(kind, tuple) else (kind,):
        if isinstance(given, str) and given in KINDS:
            if own in KINDS[given]:
                return True
        elif own == _core.dtype(given):
            return True
    return False


# Parts of real numbers; of complex ones they are in the room of these


def real(x: VarLike) -> Var:
    """Return the real parts: of real numbers x. It is a copy, and ``z.real`` the half itself."""
    return +as_var(x)


def imag(x: VarLike) -> Var:
    """Return the imaginary parts: of real numbers zeros. See `real`."""
    x = as_var(x)
    return _core.full(x.shape, 0, x.dtype)


def conj(x: VarLike) -> Var:
    """Return the conjugates: of real numbers x."""
    return +as_var(x)


# Inspection


def _check(name: str | None) -> None:
    """Raise a ``ValueError`` if there is no device of the name."""
    if name is not None:
        _device(name)


class Info:
    """What ``__array_namespace_info__()`` returns: what there is of the standard."""

    def capabilities(self) -> dict[str, bool | int | None]:
        """Return what the standard leaves open."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": None}

    def default_device(self) -> _device:
        """Return the device of new tensors."""
        return _device(_core.current_device())

    def devices(self) -> list[_device]:
        """Return all devices."""
        return devices()

    def default_dtypes(self, *, device: str | None = None) -> dict[str, str]:
        """Return the dtypes of new tensors by kind."""
        _check(device)
        return {
            "real floating": get_default_dtype(),
            "complex floating": of_halves(get_default_dtype()),
            "integral": _core.int64,
            "indexing": _core.int64,
        }

    def dtypes(
        self, *, device: str | None = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, str]:
        """Return the dtypes of the standard by name, of one kind or several, or all."""
        _check(device)
        kinds = ("bool", "numeric") if kind is None else kind
        names: dict[str, None] = {}
        for given in kinds if isinstance(kinds, tuple) else (kinds,):
            if given not in KINDS:
                known = ", ".join(map(repr, KINDS))
                raise at_line(
                    ValueError(f"dtypes: kind is {shown(given)}, expected one of {known}")
                )
            names |= dict.fromkeys(KINDS[given])
        return {
            name: find_dtype(name) or _core.dtype(name)
            for name in names
            if name not in ("float16", "bfloat16")
        }


def __array_namespace_info__() -> Info:  # noqa: N807 (the standard's name)
    """Return what there is of the standard: types, devices, capabilities."""
    return Info()


def array_namespace(self: Var, /, *, api_version: str | None = None) -> ModuleType:
    """Return the package, which has the functions of the array API standard.

    Raises
    ------
    ValueError
        If another version than 2024.12 or an earlier one is asked for.
    """
    if api_version is not None and api_version not in _VERSIONS:
        raise at_line(
            ValueError(
                f"__array_namespace__: api_version is {shown(api_version)}, expected one of"
                f" {', '.join(_VERSIONS)}"
            )
        )
    return sys.modules["metaops"]
