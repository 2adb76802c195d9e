# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pooling of windows at random distances: Graham, "Fractional Max-Pooling", 2014.

With L elements, windows of k and n results there is a step ``a = (L - k) / (n - 1)``;
window i begins at ``floor((i + u) a) - floor(u a)``, with a random u in [0, 1) for each
channel of each image, and the last one at ``L - k``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from .._core import Var, iota
from .._errors import at_line
from .._typing import VarLike, as_var, shown
from ..ops.elementwise.elementwise import where
from ..ops.elementwise.rounding import floor
from ..random import sampling
from .max_pool import flat_places, largest
from .module import Module
from .window import Numbers, as_images, per_dimension

__all__ = [
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "fractional_max_pool2d",
    "fractional_max_pool3d",
]


def fractional_max_pool2d(
    x: VarLike,
    kernel_size: Numbers,
    output_size: Numbers | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: VarLike | None = None,
) -> Var | tuple[Var, Var]:
    """Return the largest elements of windows at random distances.

    Parameters
    ----------
    x
        Images, ``(N, C, H, W)``, or one of them, ``(C, H, W)``.
    kernel_size
        A number or one for each of height and width.
    output_size
        The extents of the result, likewise.
    output_ratio
        Or what they are of the extents of x, between 0 and 1.
    return_indices
        Whether to return also where the largest elements are, as `max_pool2d` does.
    _random_samples
        Numbers in [0, 1) of shape ``(N, C, 2)``, for width and height, in place of random
        ones.

    Returns
    -------
    Var
        ``(N, C, *output_size)`` or ``(C, *output_size)``.
    Var
        If asked for: int64 of this shape.

    Raises
    ------
    ValueError
        If not one of size and ratio is given, a number is out of range, or so many windows
        do not fit.
    """
    numbers = (kernel_size, output_size, output_ratio, return_indices, _random_samples)
    return _fractional("fractional_max_pool2d", 2, x, *numbers)


def fractional_max_pool3d(
    x: VarLike,
    kernel_size: Numbers,
    output_size: Numbers | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: VarLike | None = None,
) -> Var | tuple[Var, Var]:
    """Return the largest elements of parts of ``(N, C, D, H, W)``, as `fractional_max_pool2d`.

    The random numbers are for depth, height and width.
    """
    numbers = (kernel_size, output_size, output_ratio, return_indices, _random_samples)
    return _fractional("fractional_max_pool3d", 3, x, *numbers)


def _fractional(
    name: str,
    rank: int,
    x: VarLike,
    kernel_size: Numbers,
    output_size: Numbers | None,
    output_ratio: float | Sequence[float] | None,
    return_indices: bool,
    samples: VarLike | None,
) -> Var | tuple[Var, Var]:
    """Return the largest elements over images of `rank` dimensions."""
    x = as_images(name, x, rank)
    kernel = per_dimension(f"{name}: kernel_size", kernel_size, rank)
    counts = _counts(name, x.shape[-rank:], kernel, output_size, output_ratio)
    batched = x if x.ndim == rank + 2 else x.reshape(1, *x.shape)
    starts = _starts(name, batched, kernel, counts, samples)
    places = [f"@e{k}(i0, i1, i{2 + k})+i{2 + rank + k}" for k in range(rank)]
    shape = (*batched.shape[:2], *counts, *kernel)
    parts = batched.reindex(shape, ("i0", "i1", *places), extras=starts)
    result = x.shape[:-rank] + counts
    if not return_indices:
        return parts.max(tuple(range(2 + rank, parts.ndim))).reshape(result)
    flat, beyond = flat_places(x.shape[-rank:])
    values, indices = largest(parts, flat.reindex(shape, places, extras=starts), rank, beyond)
    return values.reshape(result), indices.reshape(result)


def _counts(
    name: str,
    extents: tuple[int, ...],
    kernel: tuple[int, ...],
    output_size: Numbers | None,
    output_ratio: float | Sequence[float] | None,
) -> tuple[int, ...]:
    """Return how many windows each dimension has."""
    rank = len(extents)
    if (output_size is None) == (output_ratio is None):
        raise at_line(
            ValueError(f"{name}: expected one of output_size and output_ratio, not both or none")
        )
    if output_size is not None:
        counts = per_dimension(f"{name}: output_size", output_size, rank)
    else:
        ratios = _ratios(name, output_ratio, rank)
        counts = tuple(int(n * ratio) for n, ratio in zip(extents, ratios, strict=True))
    for extent, size, count in zip(extents, kernel, counts, strict=True):
        if size < 1 or count < 1 or count + size - 1 > extent:
            raise at_line(
                ValueError(
                    f"{name}: {count} windows of {size} do not fit into an extent of {extent},"
                    " expected positive numbers whose sum is at most one more"
                )
            )
    return counts


def _ratios(
    name: str, output_ratio: float | Sequence[float] | None, rank: int
) -> tuple[float, ...]:
    """Return one ratio for each dimension."""
    given = output_ratio if isinstance(output_ratio, tuple | list) else (output_ratio,) * rank
    ratios = tuple(float(r) for r in given if isinstance(r, int | float) and 0 < r < 1)
    if len(ratios) != rank or len(given) != rank:
        raise at_line(
            ValueError(
                f"{name}: output_ratio is {shown(output_ratio)}, expected a number between 0 and 1,"
                f" or {rank} of these"
            )
        )
    return ratios


def _starts(
    name: str, x: Var, kernel: tuple[int, ...], counts: tuple[int, ...], samples: VarLike | None
) -> list[Var]:
    """Return where windows begin: ``(N, C, count)`` for each dimension."""
    rank = len(counts)
    shape = (*x.shape[:2], rank)
    numbers = sampling.random(shape, "float32") if samples is None else as_var(samples)
    if numbers.shape != shape or "float" not in numbers.dtype:
        raise at_line(
            ValueError(
                f"{name}: _random_samples are {numbers.dtype} of shape {numbers.shape}, expected"
                f" floats of {shape}"
            )
        )
    starts = []
    for k, (extent, size, count) in enumerate(zip(x.shape[2:], kernel, counts, strict=True)):
        # Of images the first number is that of the width, of volumes that of the depth.
        column = 1 - k if rank == 2 else k
        u = numbers[:, :, column : column + 1].cast("float32")
        i = iota((count,), 0, "float32")
        step = (extent - size) / max(count - 1, 1)
        start = floor((i + u) * step) - floor(u * step)
        start = where(i == count - 1, extent - size, start).cast("int32")
        # There are few, which the elements of windows would compute again and again.
        starts.append(start.stop_fuse())
    return starts


class _FractionalMaxPool(Module):
    _rank: ClassVar[int]

    def __init__(
        self,
        kernel_size: Numbers,
        output_size: Numbers | None = None,
        output_ratio: float | Sequence[float] | None = None,
        return_indices: bool = False,
        _random_samples: VarLike | None = None,
    ) -> None:
        name, rank = type(self).__name__, self._rank
        self.kernel_size = per_dimension(f"{name}: kernel_size", kernel_size, rank)
        if (output_size is None) == (output_ratio is None):
            raise at_line(
                ValueError(
                    f"{name}: expected one of output_size and output_ratio, not both or none"
                )
            )
        self.output_size = (
            None
            if output_size is None
            else per_dimension(f"{name}: output_size", output_size, rank)
        )
        self.output_ratio = None if output_ratio is None else _ratios(name, output_ratio, rank)
        self.return_indices = return_indices
        self._random_samples = _random_samples

    def execute(self, x: VarLike) -> Var | tuple[Var, Var]:
        """Return the largest element of each window, and its place if asked for."""
        pool = fractional_max_pool2d if self._rank == 2 else fractional_max_pool3d
        return pool(
            x,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            self._random_samples,
        )

    def extra_repr(self) -> str:
        """Return the layer's numbers."""
        extents = (
            f"output_ratio={self.output_ratio}"
            if self.output_size is None
            else f"output_size={self.output_size}"
        )
        return f"kernel_size={self.kernel_size}, {extents}"


class FractionalMaxPool2d(_FractionalMaxPool):
    """The layer of `fractional_max_pool2d`."""

    _rank = 2


class FractionalMaxPool3d(_FractionalMaxPool):
    """The layer of `fractional_max_pool3d`."""

    _rank = 3
