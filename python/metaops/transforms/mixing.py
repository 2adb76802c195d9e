# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Batches whose examples are mixed with each other: mixup and CutMix.

H. Zhang et al., "mixup: Beyond Empirical Risk Minimization", 2018; S. Yun et al., "CutMix:
Regularization Strategy to Train Strong Classifiers with Localizable Features", 2019. Each
example is mixed with the one before it, the first one with the last.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._core import Var, array, describe
from .._domains import POSITIVE_FINITE, SHARE
from .._errors import at_line
from .._typing import as_count, as_integers, as_number, shown
from .generators import as_generator
from .images import Planes, is_floating, namespace_of

__all__ = ["CutMix", "MixUp", "cutmix", "mixup"]


def _rolled(x: Any) -> Any:
    return namespace_of(x).roll(x, 1, 0)


def _check_batch(what: str, images: Any, labels: Any, num_classes: int | None) -> None:
    """Raise an error unless images and labels are a batch.

    Raises
    ------
    TypeError, ValueError
        If they are of other kinds, shapes or types.
    """
    for name, given in (("images", images), ("labels", labels)):
        if not isinstance(given, Var | np.ndarray):
            raise at_line(
                TypeError(f"{what}: {name} is {describe(given)}, expected an array or a Var")
            )
    if images.ndim != 4 or not is_floating(images):
        raise at_line(
            ValueError(
                f"{what}: images have shape {images.shape} and dtype {images.dtype}, expected"
                " floats (N, C, H, W)"
            )
        )
    if labels.ndim not in (1, 2) or labels.shape[0] != images.shape[0]:
        raise at_line(
            ValueError(
                f"{what}: labels have shape {labels.shape}, expected ({images.shape[0]},) or"
                f" ({images.shape[0]}, classes)"
            )
        )
    if labels.ndim == 1:
        _check_classes(what, labels, num_classes)


def _check_classes(what: str, labels: Any, num_classes: int | None) -> None:
    """Raise an error unless labels are numbers of classes; those of Vars are not looked at."""
    if num_classes is None:
        raise at_line(
            ValueError(
                f"{what}: num_classes is None, expected a number for labels of one dimension"
            )
        )
    count = as_count(f"{what}: num_classes", num_classes)
    if "int" not in str(labels.dtype):
        raise at_line(
            TypeError(f"{what}: labels are {labels.dtype} of one dimension, expected integers")
        )
    if isinstance(labels, Var):
        return
    outside = labels[(labels < 0) | (labels >= count)]
    if outside.size:
        raise at_line(
            ValueError(f"{what}: a label is {outside[0]}, expected one of {count} classes, from 0")
        )


def _mixed_labels(labels: Any, share: float, num_classes: Any) -> Any:
    """Return the shares that each example has of the classes, float32 of integers."""
    if labels.ndim == 1:
        places = np.arange(num_classes)
        own = array(places) if isinstance(labels, Var) else places
        labels = labels.reshape((-1, 1)) == own
    values = labels if is_floating(labels) else labels.astype("float32")
    return values * share + _rolled(values) * (1 - share)


def mixup(
    images: Planes, labels: Planes, share: float, num_classes: int | None = None
) -> tuple[Any, Any]:
    """Return a batch of means of neighbours, and their labels.

    Parameters
    ----------
    images
        ``(N, C, H, W)``, floats.
    labels
        ``(N,)``, integers, or ``(N, classes)``, shares.
    share
        What an example has of itself, from 0 to 1.
    num_classes
        The number of classes, where labels are integers.

    Returns
    -------
    images, labels
        The labels are ``(N, classes)``, float32 of integers.

    Raises
    ------
    TypeError, ValueError
        If an argument is none of these.
    """
    _check_batch("mixup", images, labels, num_classes)
    SHARE.check("mixup", share=as_number("mixup", "share", share))
    mixed = images * share + _rolled(images) * (1 - share)
    return mixed, _mixed_labels(labels, share, num_classes)


def cutmix(
    images: Planes, labels: Planes, box: Sequence[int], num_classes: int | None = None
) -> tuple[Any, Any]:
    """Return a batch in which a part of each image is its neighbour's, and its labels.

    Parameters
    ----------
    images
        ``(N, C, H, W)``, floats.
    labels
        ``(N,)``, integers, or ``(N, classes)``, shares.
    box
        The part: left, top, right and bottom.
    num_classes
        The number of classes, where labels are integers.

    Returns
    -------
    images, labels
        The labels are mixed by the box's share of the image.

    Raises
    ------
    TypeError, ValueError
        If an argument is none of these.
    """
    what = "cutmix"
    _check_batch(what, images, labels, num_classes)
    places = as_integers(what, "box", box)
    height, width = images.shape[-2:]
    if len(places) != 4 or not (
        0 <= places[0] <= places[2] <= width and 0 <= places[1] <= places[3] <= height
    ):
        raise at_line(
            ValueError(
                f"{what}: box is {shown(box)}, expected (left, top, right, bottom) within {width}"
                f" by {height} pixels"
            )
        )
    left, top, right, bottom = places
    xp = namespace_of(images)
    rows, columns = xp.arange(height).reshape((height, 1)), xp.arange(width)
    is_inside = (rows >= top) & (rows < bottom) & (columns >= left) & (columns < right)
    mixed = xp.where(is_inside, _rolled(images), images)
    share = 1 - (right - left) * (bottom - top) / (width * height)
    return mixed, _mixed_labels(labels, share, num_classes)


class _Mix:
    """A transform of batches by a share that has a beta distribution.

    Parameters
    ----------
    alpha
        Both parameters of the distribution.
    num_classes
        The number of classes, where labels are integers.
    """

    def __init__(self, alpha: float = 1.0, num_classes: int | None = None) -> None:
        name = type(self).__name__
        POSITIVE_FINITE.check(name, alpha=as_number(name, "alpha", alpha))
        if num_classes is not None:
            as_count(f"{name}: num_classes", num_classes)
        self.alpha = alpha
        self.num_classes = num_classes

    def __call__(
        self, images: Any, labels: Any = None, *, rng: np.random.Generator | None = None
    ) -> tuple[Any, Any]:
        """Return a batch that is mixed; it may be given as one tuple."""
        if labels is None and isinstance(images, tuple | list) and len(images) == 2:
            images, labels = images
        _check_batch(type(self).__name__, images, labels, self.num_classes)
        draws = as_generator(rng)
        share = float(draws.beta(self.alpha, self.alpha))
        return self._mix(images, labels, share, draws)

    def _mix(self, images: Any, labels: Any, share: float, rng: Any) -> tuple[Any, Any]:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}(alpha={self.alpha!r}, num_classes={self.num_classes!r})"


class MixUp(_Mix):
    """Means of neighbours in a batch, by one share that is drawn; see `functional.mixup`.

    ``transform(images, labels)`` returns both.

    Parameters
    ----------
    alpha
        Both parameters of the beta distribution that the share has.
    num_classes
        The number of classes, where labels are integers.
    """

    def _mix(self, images: Any, labels: Any, share: float, rng: Any) -> tuple[Any, Any]:
        return mixup(images, labels, share, self.num_classes)


class CutMix(_Mix):
    """Parts of neighbours in a batch, of a size and at a place that are drawn.

    ``transform(images, labels)`` returns both; see `functional.cutmix`.

    Parameters
    ----------
    alpha
        Both parameters of the beta distribution that the share has which is kept.
    num_classes
        The number of classes, where labels are integers.
    """

    def _mix(self, images: Any, labels: Any, share: float, rng: Any) -> tuple[Any, Any]:
        height, width = images.shape[-2:]
        half = 0.5 * math.sqrt(1 - share)
        x, y = int(rng.integers(width)), int(rng.integers(height))
        reach_x, reach_y = int(half * width), int(half * height)
        box = (
            max(x - reach_x, 0),
            max(y - reach_y, 0),
            min(x + reach_x, width),
            min(y + reach_y, height),
        )
        return cutmix(images, labels, box, self.num_classes)
