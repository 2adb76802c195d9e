# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Transforms made of others: one after another, some of them, and functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._core import describe
from .._errors import at_line
from .._typing import shown
from .generators import as_generator
from .samples import Sample
from .transform import Sometimes, Transform

__all__ = ["Compose", "Lambda", "RandomApply", "RandomChoice", "RandomOrder"]


def _as_transforms(what: str, transforms: Any) -> list[Transform]:
    """Return transforms, and functions of images as such.

    Raises
    ------
    TypeError
        If they are no sequence of them.
    """
    if not isinstance(transforms, Sequence) or isinstance(transforms, str):
        raise at_line(
            TypeError(f"{what}: transforms is {describe(transforms)}, expected a list of them")
        )
    return [t if isinstance(t, Transform) else Lambda(t) for t in transforms]


class Lambda(Transform):
    """A function of images as a transform: it gets each image alone.

    Behind `FiveCrop` and `TenCrop` it gets the tuple of crops.

    Parameters
    ----------
    function
        Takes an image, and returns what is in its place.
    """

    def __init__(self, function: Callable[[Any], Any]) -> None:
        if not callable(function):
            raise at_line(
                TypeError(f"Lambda: function is {describe(function)}, expected one of an image")
            )
        self.function = function

    def run(self, sample: Sample, rng: np.random.Generator | None) -> None:
        """Call the function for each image; see `Transform.run`."""
        for k, kind in enumerate(sample.kinds):
            if kind == "image":
                sample.values[k] = self.function(sample.values[k])
                sample.are_last[k] = None


class Compose(Transform):
    """Transforms one after another.

    Parameters
    ----------
    transforms
        A list; a function in it gets each image alone, as by `Lambda`.
    """

    def __init__(self, transforms: Sequence[Callable[..., Any]]) -> None:
        self.transforms = _as_transforms("Compose", transforms)

    def run(self, sample: Sample, rng: np.random.Generator | None) -> None:
        """Run one transform after another; see `Transform.run`."""
        for transform in self.transforms:
            transform.run(sample, rng)


class RandomApply(Sometimes):
    """Transforms one after another, with a probability all of them, else none.

    Parameters
    ----------
    transforms
        A list, as of `Compose`.
    p
        The probability.
    """

    def __init__(self, transforms: Sequence[Callable[..., Any]], p: float = 0.5) -> None:
        super().__init__(p)
        self.transforms = _as_transforms("RandomApply", transforms)

    def run_drawn(self, sample: Sample, rng: np.random.Generator) -> None:
        """Run one transform after another."""
        for transform in self.transforms:
            transform.run(sample, rng)


class RandomChoice(Transform):
    """One of several transforms, which is drawn.

    Parameters
    ----------
    transforms
        A list, as of `Compose`.
    p
        How likely each is, in parts of the sum; all alike by default.
    """

    def __init__(
        self, transforms: Sequence[Callable[..., Any]], p: Sequence[float] | None = None
    ) -> None:
        self.transforms = _as_transforms("RandomChoice", transforms)
        if not self.transforms:
            raise at_line(ValueError("RandomChoice: transforms is empty, expected one or more"))
        try:
            weights = np.ones(len(self.transforms)) if p is None else np.asarray(p, "float64")
        except (TypeError, ValueError):
            weights = np.empty(0)
        if (
            weights.shape != (len(self.transforms),)
            or not (weights >= 0).all()
            or not (0 < weights.sum() < np.inf)
        ):
            raise at_line(
                ValueError(
                    f"RandomChoice: p is {shown(p)}, expected {len(self.transforms)} numbers"
                    " of 0 or more, and one above 0"
                )
            )
        self.p = (weights / weights.sum()).tolist()

    def run(self, sample: Sample, rng: np.random.Generator | None) -> None:
        """Draw a transform, and run it; see `Transform.run`."""
        draws = as_generator(rng)
        chosen = draws.choice(len(self.transforms), p=self.p)
        self.transforms[chosen].run(sample, draws)


class RandomOrder(Transform):
    """Transforms one after another, in an order that is drawn.

    Parameters
    ----------
    transforms
        A list, as of `Compose`.
    """

    def __init__(self, transforms: Sequence[Callable[..., Any]]) -> None:
        self.transforms = _as_transforms("RandomOrder", transforms)

    def run(self, sample: Sample, rng: np.random.Generator | None) -> None:
        """Draw an order, and run the transforms in it; see `Transform.run`."""
        draws = as_generator(rng)
        for k in draws.permutation(len(self.transforms)):
            self.transforms[k].run(sample, draws)
