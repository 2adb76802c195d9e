# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that make tensors from numbers."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import _core
from ..._core import Var
from ..._defaults import float_type, get_default_dtype, shape_and_dtype
from ..._devices import makes_arrays, on_device
from ..._domains import FINITE, POSITIVE_FINITE
from ..._errors import at_line, renamed
from ..._typing import DType, Shape, VarLike, as_integer, as_integers, as_number, as_var, shown
from ...compat.exchange import made_of

__all__ = [
    "arange",
    "array",
    "empty",
    "empty_like",
    "full",
    "full_like",
    "geomspace",
    "indices",
    "linspace",
    "logspace",
    "meshgrid",
    "one_hot",
    "ones",
    "ones_like",
    "tensor",
    "vander",
    "zeros",
    "zeros_like",
]


def array(
    obj: Any, dtype: DType | None = None, *, copy: bool | None = True, device: str | None = None
) -> Var:
    """Return a Var of numbers, lists or an array, as a copy; see `asarray`.

    Parameters
    ----------
    obj
        A Var, a number, a (nested) list of numbers and tensors, or what NumPy makes an
        array of.
    dtype
        By default that of an array; int64, bool and `default_dtype` of Python's numbers,
        which adopt the type of tensors beside them.
    copy
        True copies an array, None if need be, False never.
    device
        Where it is to be; by default where a Var is, and else the device that is
        current, see `metaops.device`.

    Raises
    ------
    TypeError
        If the elements are not numbers.
    ValueError
        If parts of a list have several shapes.
    OverflowError
        If one is an integer of more than 64 bits, and the dtype none of floats.
    """
    if device is not None:
        return on_device(device, lambda: array(obj, dtype, copy=copy))
    try:
        return made_of(obj, dtype, copy)
    except (OverflowError, TypeError):
        large = _find_large(obj)
        if large is None:
            raise
        if dtype is None or "float" not in _core.dtype(dtype):
            raise at_line(
                OverflowError(f"array: given {large}, expected integers of 64 bits")
            ) from None
        return _core.array(np.asarray(obj, "float64"), dtype)


tensor = array


def _find_large(obj: Any) -> int | None:
    """Return an integer of Python's that no integer type holds, if there is one."""
    try:
        elements = np.asarray(obj, object).flat
    except ValueError:  # lists of several lengths
        return None
    large = (n for n in elements if isinstance(n, int) and not -(2**63) <= n < 2**64)
    return next(large, None)


def _filled(
    make: Callable[..., Var], name: str, shape: tuple[Any, ...], dtype: DType | None
) -> Var:
    """Make a tensor of a shape, behind which a dtype may stand."""
    try:
        return make(*shape_and_dtype(shape, dtype))
    except ValueError as error:
        raise renamed(error, name) from None


def zeros(*shape: Any, dtype: DType | None = None, device: str | None = None) -> Var:
    """Return zeros of a shape, given as integers or as one sequence.

    The type is `default_dtype` by default.

    A dtype may follow the shape by position, too.
    """
    if device is not None:
        return on_device(device, lambda: zeros(*shape, dtype=dtype))
    return _filled(_core.zeros, "zeros", shape, dtype)


def ones(*shape: Any, dtype: DType | None = None, device: str | None = None) -> Var:
    """Return ones of a shape; see `zeros`."""
    if device is not None:
        return on_device(device, lambda: ones(*shape, dtype=dtype))
    return _filled(_core.ones, "ones", shape, dtype)


def empty(*shape: Any, dtype: DType | None = None, device: str | None = None) -> Var:
    """Return a tensor of a shape that is to be assigned to: zeros, which take no memory.

    See `zeros`.
    """
    if device is not None:
        return on_device(device, lambda: empty(*shape, dtype=dtype))
    return _filled(_core.empty, "empty", shape, dtype)


def full(
    shape: Shape | int,
    value: VarLike,
    dtype: DType | None = None,
    *,
    device: str | None = None,
) -> Var:
    """Return a tensor of a shape filled with a number.

    Parameters
    ----------
    shape
        Extents, or one of them.
    value
        A number, or a tensor of one.
    dtype
        By default that of the number: bool, int64 or `default_dtype` of those of Python.
    device
        Where it is to be; by default the device that is current, see `metaops.device`.
    """
    if device is not None:
        return on_device(device, lambda: full(shape, value, dtype))
    extents = (shape,) if isinstance(shape, int) else shape
    return _core.full(extents, value, _dtype_of(value) if dtype is None else dtype)


def _dtype_of(value: Any) -> str:
    if isinstance(value, Var | np.ndarray | np.generic):
        return _core.dtype(value.dtype)
    if isinstance(value, int):
        return "bool" if isinstance(value, bool) else "int64"
    return get_default_dtype()


def full_like(
    x: VarLike, value: float, dtype: DType | None = None, *, device: str | None = None
) -> Var:
    """Return a tensor of x's shape, and dtype if none is given, filled with `value`."""
    if device is not None:
        return on_device(device, lambda: full_like(x, value, dtype))
    x = as_var(x)
    return _core.full(x.shape, value, x.dtype if dtype is None else dtype)


def zeros_like(x: VarLike, dtype: DType | None = None, *, device: str | None = None) -> Var:
    """Return zeros of x's shape, and dtype if none is given."""
    return full_like(x, 0, dtype, device=device)


def ones_like(x: VarLike, dtype: DType | None = None, *, device: str | None = None) -> Var:
    """Return ones of x's shape, and dtype if none is given."""
    return full_like(x, 1, dtype, device=device)


def empty_like(x: VarLike, dtype: DType | None = None, *, device: str | None = None) -> Var:
    """Return a tensor to be assigned to, see `empty`, of x's shape and dtype."""
    return full_like(x, 0, dtype, device=device)


def arange(
    start: float,
    stop: float | None = None,
    step: float = 1,
    dtype: DType | None = None,
    *,
    device: str | None = None,
) -> Var:
    """Return evenly spaced numbers ``start, start + step, ...`` before `stop`.

    Parameters
    ----------
    start, stop
        The half-open interval; ``arange(n)`` is ``arange(0, n)``.
    step
        The distance, not 0.
    dtype
        By default "int64" if all numbers are Python integers, else `default_dtype`.
    device
        Where it is to be; by default the device that is current, see `metaops.device`.

    Returns
    -------
    Var
        Shape ``(max(0, ceil((stop - start) / step)),)``.

    Raises
    ------
    ValueError
        If `step` is 0.
    """
    if device is not None:
        return on_device(device, lambda: arange(start, stop, step, dtype))
    if stop is None:
        start, stop = 0, start
    start = as_number("arange", "start", start)
    stop = as_number("arange", "stop", stop)
    step = as_number("arange", "step", step)
    if any(isinstance(n, float) and not math.isfinite(n) for n in (start, stop, step)):
        raise at_line(
            ValueError(f"arange: given {start}, {stop} and {step}, expected finite numbers")
        )
    if step == 0:
        raise at_line(ValueError("arange: step is 0, expected another number"))
    integral = all(isinstance(number, int) for number in (start, stop, step))
    if dtype is None:
        dtype = "int64" if integral else get_default_dtype()
    # Floats would round large integers.
    steps = -((start - stop) // step) if integral else math.ceil((stop - start) / step)
    count = max(0, int(steps))
    # Positions as float64 keep every number that a smaller dtype can hold.
    numbers = _core.iota((count,), 0, "int64" if integral else "float64") * step + start
    return numbers.cast(dtype)


def _positions(name: str, num: int, endpoint: bool) -> Var:
    """Return `num` numbers in float64 that rise evenly from 0 to, or towards, 1."""
    num = as_integer(name, "num", num)
    if num < 0:
        raise at_line(ValueError(f"{name}: num is {num}, expected 0 or more"))
    return _core.iota((num,), 0, "float64") / max(num - 1 if endpoint else num, 1)


def _between(name: str, start: float, stop: float, position: Var) -> Var:
    start, stop = as_number(name, "start", start), as_number(name, "stop", stop)
    FINITE.check(name, start=start, stop=stop)
    # Weighting both ends meets `stop` exactly.
    return start * (1.0 - position) + stop * position


def linspace(
    start: float,
    stop: float,
    num: int = 50,
    dtype: DType | None = None,
    *,
    endpoint: bool = True,
    device: str | None = None,
) -> Var:
    """Return `num` evenly spaced numbers from `start` to `stop`, of `default_dtype`.

    `stop` is the last, or without `endpoint` what would come next. `device` is as in `full`.

    Raises
    ------
    ValueError
        If `num` is negative, or an end is not finite.
    """
    if device is not None:
        return on_device(device, lambda: linspace(start, stop, num, dtype, endpoint=endpoint))
    numbers = _between("linspace", start, stop, _positions("linspace", num, endpoint))
    return numbers.cast(float_type(dtype))


@makes_arrays
def logspace(
    start: float,
    stop: float,
    num: int = 50,
    base: float = 10.0,
    dtype: DType | None = None,
    *,
    endpoint: bool = True,
    device: str | None = None,
) -> Var:
    """Return `num` numbers evenly spaced on a logarithmic scale, powers of `base`.

    The first is ``base**start`` and the last ``base**stop``, or without `endpoint` what
    would come next.

    Raises
    ------
    ValueError
        If `num` is negative, an end is not finite, or `base` not positive.
    """
    powers = _between("logspace", start, stop, _positions("logspace", num, endpoint))
    POSITIVE_FINITE.check("logspace", base=base)
    factor = _core.full((), as_number("logspace", "base", base), "float64")
    return _core.binary("pow", factor, powers).cast(float_type(dtype))


@makes_arrays
def geomspace(
    start: float,
    stop: float,
    num: int = 50,
    dtype: DType | None = None,
    *,
    endpoint: bool = True,
    device: str | None = None,
) -> Var:
    """Return `num` numbers from `start` to `stop` of which each is the same multiple of the last.

    `stop` is the last, or without `endpoint` what would come next. Both ends are exact.

    Raises
    ------
    ValueError
        If `num` is negative, an end is 0, or the ends have different signs.
    """
    start = as_number("geomspace", "start", start)
    stop = as_number("geomspace", "stop", stop)
    FINITE.check("geomspace", start=start, stop=stop)
    if not (start > 0 < stop or start < 0 > stop):
        raise at_line(
            ValueError(
                f"geomspace: start is {start} and stop is {stop}, expected numbers other than 0"
                " of one sign"
            )
        )
    position = _positions("geomspace", num, endpoint)
    powers = _between("geomspace", math.log(abs(start)), math.log(abs(stop)), position)
    inner = _core.unary("exp", powers) * math.copysign(1.0, start)
    ends = _core.select(
        position == 0, float(start), _core.select(position == 1, float(stop), inner)
    )
    return ends.cast(float_type(dtype))


def meshgrid(*tensors: VarLike, indexing: str = "xy") -> list[Var]:
    """Return the coordinates of a grid's points, one tensor for each vector of coordinates.

    Parameters
    ----------
    tensors
        Vectors, or numbers, of coordinates.
    indexing
        "ij": dimension k is that of vector k; "xy", as of a picture: the first two
        dimensions are exchanged.

    Raises
    ------
    ValueError
        If one has more dimensions, or `indexing` is another.
    """
    if indexing not in ("xy", "ij"):
        raise at_line(ValueError(f"meshgrid: indexing is {shown(indexing)}, expected 'xy' or 'ij'"))
    vectors = [as_var(x) for x in tensors]
    places = list(range(len(vectors)))
    if indexing == "xy":
        places[:2] = places[1::-1] if len(places) > 1 else places
    shape = [1] * len(vectors)
    for place, x in zip(places, vectors, strict=True):
        if x.ndim > 1:
            raise at_line(ValueError(f"meshgrid: given shape {x.shape}, expected vectors"))
        shape[place] = x.size
    absent = [[k for k in range(len(shape)) if k != place] for place in places]
    return [
        x.reshape((-1,)).broadcast(shape, dims) for x, dims in zip(vectors, absent, strict=True)
    ]


@makes_arrays
def indices(dimensions: Sequence[int], dtype: DType = "int64", *, device: str | None = None) -> Var:
    """Return the indices of each element of a tensor of a shape.

    ``indices((m, n))[0]`` are the rows and ``indices((m, n))[1]`` the columns.

    Returns
    -------
    Var
        Shape ``(len(dimensions), *dimensions)``.
    """
    shape = as_integers("indices", "dimensions", dimensions)
    if not shape:
        return _core.zeros((0,), dtype)
    return _core.stack([_core.iota(shape, k, dtype) for k in range(len(shape))])


def vander(x: VarLike, n: int | None = None, increasing: bool = False) -> Var:
    """Return the Vandermonde matrix, whose columns are powers of a vector.

    Parameters
    ----------
    x
        A vector.
    n
        The number of columns; by default as many as rows.
    increasing
        Whether the powers begin with 0, instead of ending with it.

    Raises
    ------
    ValueError
        If x is no vector or `n` is negative.

    Notes
    -----
    Powers are products, so those of integers are exact and wrap. As NumPy's they have 64
    bits, int64 but for uint64.
    """
    x = as_var(x)
    if x.ndim != 1:
        raise at_line(ValueError(f"vander: given shape {x.shape}, expected a vector"))
    columns = x.size if n is None else as_integer("vander", "n", n)
    if columns < 0:
        raise at_line(ValueError(f"vander: n is {n}, expected 0 or more"))
    if "float" not in x.dtype and x.dtype != "uint64":
        x = x.cast("int64")
    shape = (x.size, columns, max(columns - 1, 0))
    column, factor = (_core.iota(shape, axis, "int32") for axis in (1, 2))
    taken = factor < (column if increasing else columns - 1 - column)
    dtype = x.dtype
    factors = _core.select(taken, x.broadcast(shape, (1, 2)), _core.full((), 1, dtype))
    return factors.prod(2).cast(dtype)


def one_hot(labels: VarLike, num_classes: int = -1, dtype: DType | None = None) -> Var:
    """Return 1 where the last dimension's index is the label, else 0.

    Parameters
    ----------
    labels
        Integers of any shape in ``[0, num_classes)``.
    num_classes
        The extent of the new last dimension. By default, -1, one more than the largest
        label: the labels are computed at once then, since the shape depends on them.
    dtype
        Of the result; by default `default_dtype`.

    Returns
    -------
    Var
        Shape ``labels.shape + (num_classes,)``.

    Raises
    ------
    IndexError
        When the result is waited for, if a label is out of range.
    TypeError
        If the labels are not integers.
    ValueError
        If `num_classes` is less than -1, or -1 though there are no labels.
    """
    labels = as_var(labels)
    if not labels.dtype.startswith(("int", "uint")):
        raise at_line(TypeError(f"one_hot: labels are {labels.dtype}, expected integers"))
    try:
        num_classes = operator.index(num_classes)
    except TypeError:
        given = shown(num_classes)
        error = TypeError(f"one_hot: num_classes is {given}, expected an integer")
        raise at_line(error) from None
    if num_classes == -1 and labels.size:
        num_classes = max(labels.max().item(), -1) + 1
    elif num_classes < 0:
        expected = "expected 0 or more" + (" of no labels" if num_classes == -1 else "")
        raise at_line(ValueError(f"one_hot: num_classes is {num_classes}, {expected}"))
    labels = _core.check_labels(labels, num_classes, None)
    shape = (*labels.shape, num_classes)
    classes = _core.iota(shape, labels.ndim, labels.dtype)
    return (labels.broadcast(shape, (-1,)) == classes).cast(float_type(dtype))
