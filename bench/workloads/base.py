# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How a workload is described."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

#: The sizes that are measured. All tensors of a small one fit into 1 MB of cache
#: together, those of a large one take 256 MB and more. Contractions have extents of
#: their `own` instead, which their names tell; sorts and the like have a `million`
#: elements. Everyone has `odd` ones for tests.
SIZES = ("small", "million", "large", "own")

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Integers:
    """An input of random integers in [0, high)."""

    shape: Shape
    high: int


@dataclass(frozen=True)
class Positive:
    """An input of random numbers in [0.5, 1.5)."""

    shape: Shape


@dataclass(frozen=True)
class Ones:
    """An input of ones, as the cotangent of a loss is."""

    shape: Shape


@dataclass(frozen=True)
class Untied:
    """An input of normal numbers, no two alike in a window of images.

    Where several are largest, libraries disagree on whose the gradient is. The low
    bits of a number tell its place among 3 x 3 neighbours, so those differ.
    """

    shape: Shape


@dataclass(frozen=True)
class Distinct:
    """An input of at most 2**24 numbers, no two alike: sorts that are not stable agree."""

    shape: Shape


Input = Shape | Integers | Positive | Ones | Untied | Distinct


@dataclass(frozen=True)
class Workload:
    """A function of tensors, and their shapes.

    Attributes
    ----------
    name : str
        The row's title.
    group : str
        The part of the table that it belongs to.
    body : callable
        Takes an `ops.base.Ops` and the inputs, returns one tensor or several.
    shapes : mapping
        The inputs for every size; a tuple is a tensor of normal numbers. With
        `gradients`, cotangents of the results follow the inputs.
    gradients : tuple of int
        The inputs that the results are differentiated by.
    mode : str
        forward: the results; backward: the gradients; both: the two.
    state : callable or None
        Returns, for the number of inputs, which of them the results replace.
    random : bool
        Whether results are random, so that their moments are compared only.
    tolerance : float
        How far results may differ, relative to the largest.
    traffic : callable or None
        Returns the bytes that have to move, from inputs and results; by default
        the sizes of all of them.
    flops : int
        The multiplications and additions of a contraction at its own size.
    kind : str
        What contractions have in common that differ in extents only: tests of odd
        extents take one of each.
    """

    name: str
    group: str
    body: Callable[..., Any]
    shapes: Mapping[str, Sequence[Input]]
    gradients: tuple[int, ...] = ()
    mode: str = "forward"
    state: Callable[[int], tuple[int, ...]] | None = None
    random: bool = False
    tolerance: float = 1e-4
    cotangents: int = 1
    traffic: Callable[[Sequence[np.ndarray], Sequence[np.ndarray]], int] | None = None
    flops: int = 0
    kind: str = ""

    def arrays(self, size: str) -> list[np.ndarray]:
        """Return random inputs, the same ones whenever asked.

        They start where each library's own tensors would.
        """
        rng = np.random.default_rng(0)
        return [_aligned(_random(rng, entry)) for entry in self.shapes[size]]

    def replaced(self, count: int) -> tuple[int, ...]:
        """Return which of so many inputs the results replace."""
        return () if self.state is None else self.state(count)

    def divide(self, tensors: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Return the inputs and the cotangents."""
        count = self.cotangents if self.gradients else 0
        place = len(tensors) - count
        return list(tensors[:place]), list(tensors[place:])

    def bytes(self, arrays: Sequence[np.ndarray], results: Sequence[np.ndarray]) -> int:
        """Return the bytes that have to move: each input once, each result once."""
        if self.traffic is not None:
            return self.traffic(arrays, results)
        return sum(a.nbytes for a in arrays) + sum(r.nbytes for r in results)


#: Alignment of tensors in MetaOps, PyTorch and JAX, in bytes: a cache line. NumPy's arrays start a
#: quarter of it behind, so that each vector read in place is in two lines.
ALIGNMENT = 64


def _aligned(array: np.ndarray) -> np.ndarray:
    memory = np.empty(array.nbytes + ALIGNMENT, "uint8")
    start = -memory.ctypes.data % ALIGNMENT
    copy = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def _random(rng: np.random.Generator, entry: Input) -> np.ndarray:
    if isinstance(entry, Integers):
        return rng.integers(0, entry.high, entry.shape).astype("int32")
    if isinstance(entry, Positive):
        return rng.random(entry.shape, "float32") + np.float32(0.5)
    if isinstance(entry, Ones):
        return np.ones(entry.shape, "float32")
    if isinstance(entry, Untied):
        return _without_ties(rng.standard_normal(entry.shape, "float32"))
    if isinstance(entry, Distinct):
        count = math.prod(entry.shape)
        return (rng.permutation(count) - count // 2).astype("float32").reshape(entry.shape)
    return rng.standard_normal(entry, "float32")


def _without_ties(x: np.ndarray) -> np.ndarray:
    """Put (row % 3) * 3 + column % 3 into the four lowest bits of all numbers."""
    row, column = (np.arange(extent, dtype="uint32") % 3 for extent in x.shape[-2:])
    bits = x.view("uint32")
    bits &= np.uint32(0xFFFFFFF0)
    bits |= row[:, None] * np.uint32(3) + column
    return x


def with_backward(
    forward: Workload,
    cotangents: Mapping[str, Sequence[Input]],
    gradients: tuple[int, ...] = (0,),
    is_linear: bool = False,
) -> list[Workload]:
    """Return a workload, its backward pass, and both as one program.

    `cotangents` has one entry for each of the workload's results, for every size.
    The backward pass of a linear function has no need of the inputs.
    """
    shapes = {size: (*entries, *cotangents[size]) for size, entries in forward.shapes.items()}
    count = len(cotangents["odd"])
    more = replace(forward, shapes=shapes, gradients=gradients, cotangents=count)

    def without_inputs(arrays: Sequence[np.ndarray], results: Sequence[np.ndarray]) -> int:
        return sum(a.nbytes for a in (*arrays[-count:], *results))

    return [
        forward,
        replace(
            more,
            name=f"{forward.name} backward",
            mode="backward",
            traffic=without_inputs if is_linear else None,
        ),
        replace(more, name=f"{forward.name} both", mode="both"),
    ]
