# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Images of another size."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._core import Var
from .._domains import POSITIVE_FINITE
from .._errors import at_line
from .._typing import VarLike, as_count, as_var, shown, widened
from .module import Module
from .resample import (
    Places,
    cubic,
    linear,
    nearest,
    smoothed,
    smoothed_places,
    weighted,
)

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = ["Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d", "interpolate"]

#: The numbers of dimensions of space that a mode takes.
_RANKS = {
    "nearest": (1, 2, 3),
    "nearest-exact": (1, 2, 3),
    "linear": (1,),
    "bilinear": (2,),
    "trilinear": (3,),
    "bicubic": (2,),
    "area": (1, 2, 3),
}
_NEAREST = ("nearest", "nearest-exact")
#: The modes that know `align_corners`.
_SMOOTH = ("linear", "bilinear", "trilinear", "bicubic")
#: The reach of the filters of modes that know `antialias`.
_FILTERED = {"bilinear": 1, "bicubic": 2}
#: Scale factors are fractions of at most this denominator.
_LARGEST_DENOMINATOR = 1_000_000
#: A size that is too large for any dimension.
_ENDLESS = 2**31


def interpolate(
    x: VarLike,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Var:
    """Return signals, images or volumes of another size.

    Halves are computed in float32.

    Parameters
    ----------
    x
        ``(N, C, W)``, ``(N, C, H, W)`` or ``(N, C, D, H, W)``: floats, of the nearest
        modes any type.
    size
        Of the result, a number or one for each dimension of space.
    scale_factor
        Instead of the size, its ratio to that of x; sizes are rounded down.
    mode
        "nearest", "nearest-exact", "linear" (of signals), "bilinear" and "bicubic" (of
        images), "trilinear" (of volumes), or "area", the mean of what an element covers.
        "nearest" takes the element at or before ``o * scale``, "nearest-exact" that in
        which the middle of element o is.
    align_corners
        Whether the middles of the outermost elements stay where they are, else the edges
        of these do; of linear and cubic modes only.
    recompute_scale_factor
        Whether distances are the ratio of the sizes, also where that is not
        `scale_factor` because the size was rounded.
    antialias
        Whether neighbours are weighted by a filter that is as wide as the elements of the
        result are apart, where x shrinks, so that none of its elements is passed over;
        for "bilinear" and "bicubic".

    Returns
    -------
    Var
        ``(N, C, *size)``, of x's dtype.

    Raises
    ------
    TypeError
        If x is of no float type and the mode is none of the nearest ones.
    ValueError
        If x has another number of dimensions than the mode takes, not just one of `size`
        and `scale_factor` is given, or the mode does not know `align_corners` or
        `antialias`.

    Notes
    -----
    "bicubic" is the convolution of Keys (1981) with a = -0.75; with `antialias` it is -0.5,
    and weights are divided by their sum, as in PyTorch. Linear and cubic modes go
    dimension by dimension, those first along which x shrinks.
    """
    x = as_var(x)
    _check_mode(x, mode, align_corners, antialias)
    axes = _axes(x.shape[2:], size, scale_factor, recompute_scale_factor)
    if mode in _NEAREST:
        return nearest(x, [axis.floors(mode == "nearest-exact") for axis in axes])
    if "float" not in x.dtype:
        raise at_line(TypeError(f"interpolate: x is {x.dtype}, expected floats for mode {mode!r}"))
    values, dtype = widened(x)
    for k in _in_order(axes):
        if mode == "area":
            values = _averaged(values, k + 2, axes[k].size)
            continue
        if antialias:
            values = axes[k].smoothed(values, k + 2, mode, bool(align_corners))
            continue
        places = axes[k].middles(bool(align_corners))
        # A size that stays is no change for PyTorch's linear modes, whatever the factor.
        stays = places.extent == places.size and mode != "bicubic"
        if not stays and not places.is_identity:
            own = cubic(places) if mode == "bicubic" else linear(places)
            values = weighted(values, k + 2, places, own)
    return (values if values is not x else +x).cast(dtype)


def _check_mode(x: Var, mode: Any, align_corners: bool | None, antialias: bool) -> None:
    """Raise ValueError unless the arguments agree."""
    if not isinstance(mode, str) or mode not in _RANKS:
        modes = ", ".join(map(repr, _RANKS))
        raise at_line(ValueError(f"interpolate: mode is {shown(mode)}, expected one of {modes}"))
    if x.ndim - 2 not in _RANKS[mode]:
        ranks = " or ".join(str(rank + 2) for rank in _RANKS[mode])
        raise at_line(
            ValueError(
                f"interpolate: x has shape {x.shape}, expected {ranks} dimensions for mode {mode!r}"
            )
        )
    if align_corners is not None and mode not in _SMOOTH:
        raise at_line(
            ValueError(
                f"interpolate: align_corners is given for mode {mode!r}, expected one of the modes"
                f" {', '.join(map(repr, _SMOOTH))}"
            )
        )
    if antialias and mode not in _FILTERED:
        raise at_line(
            ValueError(
                f"interpolate: antialias is True for mode {mode!r}, expected 'bilinear' or"
                " 'bicubic'"
            )
        )


class _Axis(NamedTuple):
    """The extents of x and of the result along a dimension of space."""

    extent: int
    size: int
    #: The distance in x of neighbours of the result.
    scale: Fraction

    def floors(self, half: bool) -> Places:
        """Return ``o * scale``, or ``(o + 0.5) * scale``."""
        step, divisor = self.scale.numerator, self.scale.denominator
        if half:
            return Places(self.extent, self.size, 2 * step, step, 2 * divisor)
        return Places(self.extent, self.size, step, 0, divisor)

    def middles(self, align_corners: bool) -> Places:
        """Return ``(o + 0.5) * scale - 0.5``, or what leaves the outermost elements in place."""
        if align_corners:
            return Places(self.extent, self.size, self.extent - 1, 0, max(self.size - 1, 1))
        step, divisor = self.scale.numerator, self.scale.denominator
        return Places(self.extent, self.size, 2 * step, step - divisor, 2 * divisor)

    def smoothed(self, x: Var, axis: int, mode: str, align_corners: bool) -> Var:
        """Return x with weighted sums of all elements that a filter reaches."""
        scale = self.scale
        if align_corners:
            from fractions import Fraction

            scale = Fraction(self.extent - 1, self.size - 1) if self.size > 1 else Fraction(0)
        # A size that stays is no change for PyTorch, whatever the factor.
        if self.extent == self.size:
            return x
        reach = _FILTERED[mode]
        places = smoothed_places(self.extent, self.size, scale, reach)
        return weighted(x, axis, places, smoothed(places, scale, reach))


def _axes(extents: Sequence[int], size: Any, factor: Any, recompute: bool | None) -> list[_Axis]:
    """Return the dimensions of space for one of a size and a scale factor.

    Raises
    ------
    ValueError
        If both or none are given, or their numbers do not fit.
    """
    if (size is None) == (factor is None):
        which = "neither size nor scale_factor is" if size is None else "both are"
        raise at_line(
            ValueError(f"interpolate: {which} given, expected one of size and scale_factor")
        )
    if recompute and factor is None:
        raise at_line(
            ValueError("interpolate: recompute_scale_factor is given without scale_factor")
        )
    factors = [1.0] * len(extents)
    if factor is None:
        sizes = _numbers("size", size, len(extents), operator.index)
    else:
        factors = _numbers("scale_factor", factor, len(extents), _positive)
        sizes = [int(min(n * r, _ENDLESS)) for n, r in zip(extents, factors, strict=True)]
    if min(*extents, *sizes) < 1 or max(sizes) >= _ENDLESS:
        raise at_line(
            ValueError(
                f"interpolate: {tuple(extents)} made {tuple(sizes)}, expected extents from 1 to"
                " 2**31 - 1"
            )
        )
    from fractions import Fraction

    axes = []
    for n, own, ratio in zip(extents, sizes, factors, strict=True):
        scale = Fraction(n, own)
        if factor is not None and not recompute:
            exact = Fraction(ratio)
            scale = 1 / (exact.limit_denominator(_LARGEST_DENOMINATOR) or exact)
        axes.append(_Axis(n, own, scale))
    return axes


def _positive(value: Any) -> float:
    """Return a finite number above 0, else raise ValueError."""
    ratio = float(value)
    if not 0 < ratio < math.inf:
        raise ValueError
    return ratio


def _numbers(name: str, value: Any, rank: int, convert: Any) -> list[Any]:
    """Return one number for each dimension of space."""
    given = list(value) if isinstance(value, tuple | list) else [value] * rank
    try:
        numbers = [convert(number) for number in given]
    except (TypeError, ValueError, OverflowError):
        numbers = []
    if len(numbers) != rank:
        kind = "an integer" if convert is operator.index else "a positive number"
        raise at_line(
            ValueError(f"interpolate: {name} is {shown(value)}, expected {kind} or {rank} of them")
        )
    return numbers


def _in_order(axes: Sequence[_Axis]) -> list[int]:
    """Return the dimensions in the order of least work: first those that shrink most.

    Along the last one, neighbours are no vectors: it comes where tensors are small.
    """
    from fractions import Fraction

    ratios = [Fraction(axis.size, axis.extent) for axis in axes]
    return sorted(range(len(axes)), key=lambda k: (ratios[k], -k if ratios[k] > 1 else k))


def _averaged(x: Var, axis: int, size: int) -> Var:
    """Return the means of what each of `size` equal parts of a dimension touches."""
    extent = x.shape[axis]
    before, after = x.shape[:axis], x.shape[axis + 1 :]
    if size % extent == 0:
        repeated = x.unsqueeze(axis + 1).broadcast((*before, extent, size // extent, *after))
        return repeated.reshape((*before, size, *after))
    if extent % size == 0:
        return x.reshape((*before, size, extent // size, *after)).mean(axis + 1)
    # From `floor(o extent / size)` up to `ceil((o + 1) extent / size)`.
    parts = np.arange(size)
    counts = -(-(parts + 1) * extent // size) - parts * extent // size
    shape = (*before, size, *after, int(counts.max()))
    own, part = f"i{axis}", f"i{len(shape) - 1}"
    place = f"{own}*{extent}/{size}+{part}"
    expressions = [place if k == axis else f"i{k}" for k in range(x.ndim)]
    beyond = f"{place}>=(({own}+1)*{extent}+{size - 1})/{size}"
    total = x.reindex(shape, expressions, overflow_conditions=[beyond]).sum(-1)
    inverse = (1 / counts).astype(x.dtype).reshape((size,) + (1,) * len(after))
    return total * inverse


class Upsample(Module):
    """The layer of `interpolate`.

    Parameters
    ----------
    size, scale_factor, mode, align_corners, recompute_scale_factor
        As of `interpolate`.
    """

    def __init__(
        self,
        size: int | Sequence[int] | None = None,
        scale_factor: float | Sequence[float] | None = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        name = type(self).__name__
        for number in size if isinstance(size, tuple | list) else [size]:
            if number is not None:
                as_count(f"{name}: size", number)
        if scale_factor is not None:
            POSITIVE_FINITE.check(name, scale_factor=scale_factor)
        self.size = size
        self.scale_factor = scale_factor
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def execute(self, x: VarLike) -> Var:
        """Return x of another size."""
        return interpolate(
            x,
            self.size,
            self.scale_factor,
            self.mode,
            self.align_corners,
            self.recompute_scale_factor,
        )

    def extra_repr(self) -> str:
        """Return the size or the factor, and the mode."""
        given = (
            f"size={self.size}"
            if self.scale_factor is None
            else f"scale_factor={self.scale_factor}"
        )
        return f"{given}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Makes images larger by repeating elements; see `interpolate`."""

    def __init__(
        self,
        size: int | Sequence[int] | None = None,
        scale_factor: float | Sequence[float] | None = None,
    ) -> None:
        super().__init__(size, scale_factor, "nearest")


class UpsamplingBilinear2d(Upsample):
    """Makes images larger by straight lines between elements, with corners aligned."""

    def __init__(
        self,
        size: int | Sequence[int] | None = None,
        scale_factor: float | Sequence[float] | None = None,
    ) -> None:
        super().__init__(size, scale_factor, "bilinear", align_corners=True)
