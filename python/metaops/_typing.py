# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Types that the package's signatures share."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias, Union

import numpy as np
import numpy.typing as npt
from numpy.exceptions import AxisError

from ._core import Var, array, describe
from ._errors import at_line
from ._nested import read_sequence

#: A name ("float32"), one of `metaops.dtype`, a NumPy dtype or a Python type.
DType: TypeAlias = Union[str, type, "np.dtype[Any]"]
#: Operand beside a Var. A Python scalar adopts the Var's dtype.
VarLike: TypeAlias = Union[
    Var, bool, int, float, "npt.NDArray[Any]", np.generic, list[Any], tuple[Any, ...]
]
#: One dimension, several, or None for all; negative ones count from the end.
Axes: TypeAlias = int | Sequence[int] | None
Shape: TypeAlias = Sequence[int]
#: Where all tensors are.


def as_var(x: VarLike) -> Var:
    """Return `x` itself if it is a Var, else a Var with its value."""
    if isinstance(x, Var):
        return x
    return read_sequence(x) if isinstance(x, list | tuple) else array(x)


def as_vars(what: str, tensors: object) -> list[Var]:
    """Return a sequence of tensors as Vars.

    Raises
    ------
    TypeError
        If it is no sequence.
    """
    if not isinstance(tensors, Iterable) or isinstance(tensors, (str, bytes)):
        raise at_line(
            TypeError(f"{what}: tensors is {describe(tensors)}, expected a sequence of tensors")
        )
    return [as_var(x) for x in tensors]


def _is_weak(x: VarLike) -> bool:
    """Tell whether x is a Python number, which adopts the type of what is beside it."""
    return isinstance(x, int | float) and not isinstance(x, np.generic)


def beside(x: VarLike, other: Var) -> Var:
    """Return x as a Var; a Python number adopts the type of floats beside it."""
    return array(x, other.dtype) if _is_weak(x) and "float" in other.dtype else as_var(x)


def paired(x: VarLike, y: VarLike) -> tuple[Var, Var]:
    """Return two operands as Vars, each `beside` the other."""
    first, second = as_var(x), as_var(y)
    return beside(x, second), beside(y, first)


#: Types that float32 holds with digits to spare, so that sums and squares fit, too. Longer integers
#: are computed in float64.
_SHORT = frozenset(["bool", "int8", "uint8"])


def float_among(dtypes: Iterable[str]) -> str | None:
    """Return the type to which the floats among several types are promoted, if there are any."""
    floats = {dtype for dtype in dtypes if "float" in dtype}
    if len(floats) < 2:
        return floats.pop() if floats else None
    return "float64" if "float64" in floats else "float32"


def _wide(dtypes: Iterable[str], dtype: str | None) -> str:
    """Return the type in which operands are computed, of which `dtype` is the float's."""
    if dtype is None:
        return "float32" if _SHORT.issuperset(dtypes) else "float64"
    return "float64" if dtype == "float64" else "float32"


def widened(x: VarLike) -> tuple[Var, str]:
    """Return x as floats in which squares and sums fit, and the dtype of a result.

    Halves are computed in float32, and what is computed of them is rounded once, at the
    end. The result for integers is float32; those of 8 bits are computed in it, longer ones
    in float64.
    """
    x = as_var(x)
    dtype = x.dtype
    if dtype in ("float32", "float64"):
        return x, dtype
    own = float_among([dtype])
    return x.cast(_wide([dtype], own)), own or "float32"


def widened_together(*operands: VarLike) -> tuple[list[Var], str]:
    """Return operands as floats of one type, and the dtype of a result, as `widened` of one.

    The result has the type to which they are promoted: that of the floats among them.
    Python numbers adopt that of the others.
    """
    given = [x if _is_weak(x) else as_var(x) for x in operands]
    types = [x.dtype for x in given if isinstance(x, Var)] or [as_var(x).dtype for x in given]
    dtype = float_among(types)
    wide = _wide(types, dtype)
    tensors = [
        (x if x.dtype == wide else x.cast(wide)) if isinstance(x, Var) else array(x, wide)
        for x in given
    ]
    return tensors, dtype or "float32"


def in_float64(*operands: VarLike) -> tuple[list[Var], str]:
    """Return operands in float64, and the dtype of a result, as `widened_together` does."""
    tensors, dtype = widened_together(*operands)
    return [x.cast("float64") for x in tensors], dtype


def unrounded(x: Var) -> Var:
    """Return halves as float32, and all others as they are."""
    return x.cast("float32") if x.dtype in ("float16", "bfloat16") else x


def lengthened(*tensors: Var) -> list[Var]:
    """Return integers and booleans with the 64 bits of their sums; beside floats as they are."""
    types = [x.dtype for x in tensors]
    is_unsigned = all("uint" in dtype for dtype in types)
    if float_among(types) or ("uint64" in types and not is_unsigned):
        # No integers hold those of uint64 and of another type: what is done with them says so.
        return [*tensors]
    return [x.cast("uint64" if is_unsigned else "int64") for x in tensors]


def shown(value: object) -> str:
    """Return what a message says of an argument; no tensor is computed for it."""
    if value is None or isinstance(value, (bool, int, float, str, os.PathLike)):
        text = repr(value)
    elif isinstance(value, (tuple, list)) and len(value) <= 8:
        text = f"({', '.join(map(shown, value))})"
    else:
        text = describe(value)
    return text if len(text) <= 80 else f"{text[:80]}..."


def as_integer(what: str, name: str, given: object) -> int:
    """Return a parameter of a function as an integer.

    Raises
    ------
    TypeError
        If it is none.
    """
    try:
        return operator.index(given)  # type: ignore[arg-type]
    except TypeError:
        raise at_line(TypeError(f"{what}: {name} is {shown(given)}, expected an integer")) from None


def as_flag(what: str, name: str, given: object) -> bool:
    """Return a parameter of a function that is True or False.

    Raises
    ------
    TypeError
        If it is neither.
    """
    if isinstance(given, bool | np.bool_):
        return bool(given)
    raise at_line(TypeError(f"{what}: {name} is {shown(given)}, expected a bool"))


def as_number(what: str, name: str, given: object) -> int | float:
    """Return a parameter of a function, a number of Python or a tensor of one, as a number.

    Raises
    ------
    TypeError
        If it is none.
    """
    if isinstance(given, Var | np.ndarray | np.generic) and given.ndim == 0:
        given = given.item()
    if isinstance(given, int | float):
        return given
    try:
        return operator.index(given)  # type: ignore[arg-type]
    except TypeError:
        raise at_line(TypeError(f"{what}: {name} is {shown(given)}, expected a number")) from None


def as_integers(what: str, name: str, given: object) -> list[int]:
    """Return a parameter of a function, one integer or a sequence of them, as a list.

    Raises
    ------
    TypeError
        If it is neither.
    """
    try:
        if isinstance(given, Iterable) and not isinstance(given, Var):
            return [operator.index(number) for number in given]
        return [operator.index(given)]  # type: ignore[arg-type]
    except TypeError:
        raise at_line(
            TypeError(f"{what}: {name} is {shown(given)}, expected one or several integers")
        ) from None


def as_count(name: str, value: Any, least: int = 1) -> int:
    """Return an integer that is not smaller than another one.

    Raises
    ------
    ValueError
        If it is smaller, or something else. The message begins with `name`.
    """
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if number < least:
        error = ValueError(f"{name} is {shown(value)}, expected an integer of at least {least}")
        raise at_line(error)
    return number


def whole_number(what: str, parameter: str, number: object) -> int:
    """Return an integer that is not negative.

    Raises
    ------
    TypeError
        If it is no integer.
    ValueError
        If it is negative.
    """
    count = as_integer(what, parameter, number)
    if count < 0:
        raise at_line(ValueError(f"{what}: {parameter} is {count}, expected 0 or more"))
    return count


def refuse_out(what: str, out: object) -> None:
    """Raise a ``TypeError`` if a function is to write its result into a tensor."""
    if out is not None:
        raise at_line(
            TypeError(
                f"{what}: out is {describe(out)}, expected None: a result is a tensor of its own,"
                " which y.assign(result) makes the value of y"
            )
        )


def normalised_axis(dim: int, ndim: int, least: int = 0) -> int:
    """Return `dim` counted from the start.

    A `least` of 1 takes the dimensions 0 and -1 of a 0-d tensor, too; see `as_line`.

    Raises
    ------
    numpy.exceptions.AxisError
        If it is not in ``[-ndim, ndim)``: a ValueError, and an IndexError.
    TypeError
        If it is no integer.
    """
    try:
        dim = operator.index(dim)
    except TypeError:
        raise at_line(TypeError(f"a dimension is {describe(dim)}, expected an integer")) from None
    count = max(ndim, least)
    if not -count <= dim < count:
        raise at_line(
            AxisError(f"dimension {dim} is out of range for a tensor of {ndim} dimensions")
        )
    return dim % count


def as_line(x: VarLike, dim: int) -> tuple[Var, int]:
    """Return x, a 0-d tensor as a line of one element, and a dimension of it.

    That is PyTorch's rule, which NumPy has in part: what reduces a dimension, goes along
    it, or indexes it takes 0 and -1 of a 0-d tensor, and returns one for it. What cuts,
    joins or makes longer needs a dimension that is there.

    Raises
    ------
    numpy.exceptions.AxisError, TypeError
        As of `normalised_axis`.
    """
    x = as_var(x)
    axis = normalised_axis(dim, x.ndim, 1)
    return x if x.ndim else x.reshape((1,)), axis


def normalised_axes(dims: Axes, ndim: int) -> tuple[int, ...]:
    """Return `dims` as rising numbers counted from the start; None is all.

    0 and -1 of a 0-d tensor stand for none, since it has one element; see `as_line`.

    Raises
    ------
    ValueError
        If one is out of range or given twice.
    """
    if dims is None:
        return tuple(range(ndim))
    if type(dims) is int:
        axis = normalised_axis(dims, ndim, 1)
        return (axis,) if ndim else ()
    given: Any = dims
    if isinstance(given, Var) or not isinstance(given, Iterable):
        given = (given,)
    result = sorted(normalised_axis(dim, ndim, 1) for dim in given)
    if len(set(result)) != len(result):
        raise at_line(ValueError(f"a dimension is given twice in {tuple(given)}"))
    return tuple(result) if ndim else ()
