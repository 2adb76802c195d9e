# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments of Fourier transforms, and the operators that they are recorded as.

One operator transforms along different axes. Axes that are given twice are transformed twice,
as NumPy does, by an operator each.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from .. import _core
from .._core import Var
from .._defaults import get_default_dtype
from .._errors import at_line
from .._typing import as_integer, as_var, normalised_axis, shown
from ..complex_numbers.halves import is_pair
from ..complex_numbers.operands import as_complex, zeros_beside
from ..complex_numbers.pair import Complex
from ..ops.shape.shaping import flip

__all__ = [
    "Spectrum",
    "as_axis",
    "as_complex_result",
    "as_length",
    "as_spectrum",
    "fitted",
    "real_part",
    "scale_of",
    "to_half",
    "to_real",
    "transformed",
]

_COMPUTED = ("float32", "float64")
_NORMS = ("backward", "ortho", "forward")


class Spectrum(NamedTuple):
    """Numbers to be transformed; real ones have no imaginary parts."""

    real: Var
    imag: Var | None

    def as_pair(self) -> tuple[Var, Var]:
        """Return both parts, with zeros where there is none."""
        return self.real, zeros_beside(self.real) if self.imag is None else self.imag

    def conj(self) -> Spectrum:
        """Return the conjugates."""
        return Spectrum(self.real, None if self.imag is None else -self.imag)


def _as_floats(x: Var) -> Var:
    """Return numbers as float32 or float64: of integers the default float, if it is one."""
    dtype = str(x.dtype)
    if "float" not in dtype:
        dtype = str(get_default_dtype())
    return x.astype(dtype if dtype in _COMPUTED else "float32")


def as_spectrum(x: Any) -> Spectrum:
    """Return an argument as parts in float32 or float64."""
    if is_pair(x):
        z = as_complex(x)
        return Spectrum(z.real, z.imag)
    return Spectrum(_as_floats(as_var(x)), None)


def real_part(what: str, x: Any) -> Var:
    """Return an argument that is real; raise where it is complex."""
    if is_pair(x):
        raise at_line(TypeError(f"{what}: x is {shown(x)}, expected real numbers"))
    return as_spectrum(x).real


def as_axis(what: str, x: Var, dim: int) -> int:
    """Return an axis counted from the start; raise where it is not there or empty."""
    axis = normalised_axis(dim, x.ndim)
    if x.shape[axis] == 0:
        raise at_line(
            ValueError(f"{what}: dimension {axis} of shape {x.shape} has no elements to transform")
        )
    return axis


def as_length(what: str, name: str, n: object) -> int:
    """Return the length of a transform, which is 1 at least."""
    length = as_integer(what, name, n)
    if length < 1:
        raise at_line(ValueError(f"{what}: {name} is {length}, expected 1 or more"))
    return length


def scale_of(what: str, norm: str | None, lengths: Sequence[int], inverse: bool) -> float:
    """Return the factor of a transform, by its norm and by the lengths along its axes."""
    if norm is not None and norm not in _NORMS:
        raise at_line(
            ValueError(
                f"{what}: norm is {shown(norm)}, expected 'backward', 'ortho', 'forward' or None"
            )
        )
    count = math.prod(lengths)
    if norm == "ortho":
        return 1 / math.sqrt(count)
    return 1 / count if (norm == "forward") != inverse else 1.0


def _record(
    real: Var,
    imag: Var | None,
    axes: Sequence[int],
    scale: float,
    *,
    inverse: bool = False,
    length: int | None = None,
) -> list[Var]:
    """Record the operator: of real numbers without `imag`, to such where a length is given.

    The last axis is that of which a half of the results stands for all.
    """
    shape, last = [*real.shape], axes[-1]
    if length is not None:
        shape[last] = length
    elif imag is None:
        shape[last] = shape[last] // 2 + 1
    inputs = [real] if imag is None else [real, imag]
    outputs = [(shape, str(real.dtype))] * (2 if length is None else 1)
    parts = ["real", "imag"]
    return _core.call_routine(
        "fft",
        inputs,
        outputs,
        {"dims": [*axes], "inverse": [int(inverse)], "scale": [scale]},
        parts[: len(inputs)] + parts[: len(outputs)],
        [],
        True,
        True,
    )


def _fitted(x: Var, axes: Sequence[int], lengths: Sequence[int]) -> Var:
    missing = [0] * x.ndim
    for axis, length in zip(axes, lengths, strict=True):
        missing[axis] = length - x.shape[axis]
    return _core.pad(x, [0] * x.ndim, missing, 0) if any(missing) else x


def fitted(given: Spectrum, axes: Sequence[int], lengths: Sequence[int]) -> Spectrum:
    """Return numbers of which those behind the lengths are cut, and missing ones are zeros."""
    imag = None if given.imag is None else _fitted(given.imag, axes, lengths)
    return Spectrum(_fitted(given.real, axes, lengths), imag)


def _mirrored(half: Var, axis: int, length: int, sign: int) -> Var:
    """Return all results of a transform of real numbers, of which the others are conjugates."""
    if length < 3:
        return half
    places = [slice(None)] * half.ndim
    places[axis] = slice(1, (length + 1) // 2)
    others = flip(half[tuple(places)], axis)
    return _core.concat([half, others if sign > 0 else -others], axis)


def _transformed_once(
    given: Spectrum, axes: Sequence[int], inverse: bool, scale: float
) -> Spectrum:
    """Return the transform along different axes."""
    real, imag = given
    if imag is not None:
        return Spectrum(*_record(real, imag, axes, scale, inverse=inverse))
    # The inverse is the conjugate here; others than the last axis come behind.
    *others, last = axes
    length = real.shape[last]
    half_real, half_imag = _record(real, None, [last], scale)
    result = Spectrum(_mirrored(half_real, last, length, 1), _mirrored(half_imag, last, length, -1))
    result = result.conj() if inverse else result
    return _transformed_once(result, others, inverse, 1.0) if others else result


def transformed(
    given: Spectrum, axes: Sequence[int], lengths: Sequence[int], inverse: bool, scale: float
) -> Spectrum:
    """Return the transforms along axes, which may repeat, of numbers fitted to the lengths."""
    if len(set(axes)) == len(axes):
        given = fitted(given, axes, lengths)
        return _transformed_once(given, axes, inverse, scale) if axes else given
    for axis, length in zip(axes[::-1], lengths[::-1], strict=True):
        given = fitted(given, [axis], [length])
        given = _transformed_once(given, [axis], inverse, scale)
        scale = 1.0
    return given


def to_half(x: Var, axes: Sequence[int], lengths: Sequence[int], scale: float) -> Spectrum:
    """Return the transforms of real numbers, a half of them along the last axis."""
    if len(set(axes)) == len(axes):
        return Spectrum(*_record(_fitted(x, axes, lengths), None, axes, scale))
    x = _fitted(x, axes[-1:], lengths[-1:])
    half = Spectrum(*_record(x, None, axes[-1:], scale))
    return transformed(half, axes[:-1], lengths[:-1], False, 1.0)


def to_real(given: Spectrum, axes: Sequence[int], lengths: Sequence[int], scale: float) -> Var:
    """Return the real numbers whose transforms are given, by a half of them; the inverse.

    Imaginary parts of what is its own conjugate are not read.
    """
    half = lengths[-1] // 2 + 1
    if len(set(axes)) != len(axes):
        # NumPy has these in order.
        given = transformed(given, axes[-2::-1], lengths[-2::-1], True, 1.0)
        axes, lengths = axes[-1:], lengths[-1:]
    real, imag = fitted(given, axes, [*lengths[:-1], half]).as_pair()
    (result,) = _record(real, imag, axes, scale, inverse=True, length=lengths[-1])
    return result


def as_complex_result(result: Spectrum) -> Complex:
    """Return numbers that are complex."""
    return Complex._of(*result.as_pair())
