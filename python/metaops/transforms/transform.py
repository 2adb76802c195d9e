# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Transforms: what is drawn once for a sample, and done to each of its values."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from .checks import check_probability
from .generators import as_generator
from .images import Image, check_image, known_layout, size_of
from .samples import Sample

__all__ = ["Sometimes", "Transform"]


class Transform:
    """A function of samples: images, with masks, boxes and others.

    ``transform(image)`` returns an image, ``transform(image, label)`` a tuple,
    ``transform(sample)`` a tuple or a dict like the one that is given, and
    ``transform(image, mask=mask, boxes=boxes)`` a tuple of what is given. Masks are moved as
    the image is, by whole pixels; boxes are arrays ``(N, 4)`` of left, top, right and bottom.
    All follow from one draw, from the generator ``rng=`` or else from `metaops.data.rng`.

    Transforms of your own override `make_params`, if they draw something, and what they do
    to each kind of value.

    Examples
    --------
    >>> class Shifted(mo.transforms.Transform):
    ...     def make_params(self, image, rng):
    ...         return float(rng.uniform(-0.1, 0.1))
    ...     def transform_image(self, image, params):
    ...         return image + params
    """

    #: True where arrays have their channels first afterwards. Of the package's transforms, the
    #: others keep their layout; what functions and classes of one's own make has its own.
    _makes_planes: ClassVar[bool] = False

    def __call__(self, *sample: Any, rng: np.random.Generator | None = None, **named: Any) -> Any:
        """Return a sample that is transformed."""
        values = Sample(type(self).__name__, sample, named)
        self.run(values, rng)
        return values.close()

    def run(self, sample: Sample, rng: np.random.Generator | None) -> None:
        """Draw, and transform the values of a sample in place.

        Parameters
        ----------
        sample
            The values, and what each is.
        rng
            What is drawn from; None is the current item's generator.
        """
        own = type(self)
        is_known = own.__module__.startswith(f"{__package__}.")
        draws = own.make_params is not Transform.make_params
        moves = own.transform_mask is not Transform.transform_mask and not self._makes_planes
        if is_known:
            # Draws of places are for one size.
            kinds = ("mask", "image") if draws else ("mask",)
            sample.find_layouts(own.__name__, kinds if moves else ())
        else:
            sample.are_last = [None] * len(sample.values)
        if is_known and (draws or "boxes" in sample.kinds):
            check_image(own.__name__, sample.image)
        with known_layout(sample.are_last[sample.first]):
            params = self.make_params(sample.image, as_generator(rng)) if draws else None
            size = size_of(sample.image) if "boxes" in sample.kinds else (0, 0)
        for k, kind in enumerate(sample.kinds):
            with known_layout(sample.are_last[k]):
                sample.values[k] = self._changed(kind, sample.values[k], size, params)
            if self._makes_planes and kind in ("image", "mask"):
                sample.are_last[k] = False

    def _changed(self, kind: str | None, value: Any, size: tuple[int, int], params: Any) -> Any:
        """Return what becomes of a value of a kind."""
        if kind == "image":
            return self._each(self.transform_image, value, params)
        if kind == "mask":
            return self._each(self.transform_mask, value, params)
        return self.transform_boxes(value, size, params) if kind == "boxes" else value

    @staticmethod
    def _each(change: Any, value: Any, params: Any) -> Any:
        """Return a value that is changed, of several crops each."""
        if type(value) is tuple:
            return tuple(change(own, params) for own in value)
        return change(value, params)

    def make_params(self, image: Image, rng: np.random.Generator) -> Any:
        """Return what is drawn for a sample; nothing by default.

        Parameters
        ----------
        image
            The sample's first image.
        rng
            What is drawn from.
        """
        return None

    def transform_image(self, image: Any, params: Any) -> Any:
        """Return an image that is transformed; by default as it is.

        Parameters
        ----------
        image
            Any kind.
        params
            What `make_params` has returned.
        """
        return image

    def transform_mask(self, mask: Any, params: Any) -> Any:
        """Return a mask that is transformed; by default as it is.

        Parameters
        ----------
        mask
            Any kind of image, whose pixels are not to be mixed.
        params
            What `make_params` has returned.
        """
        return mask

    def transform_boxes(self, boxes: Any, size: tuple[int, int], params: Any) -> Any:
        """Return boxes that are transformed; by default as they are.

        Parameters
        ----------
        boxes
            ``(N, 4)``: left, top, right, bottom.
        size
            The height and the width of the image that they are in.
        params
            What `make_params` has returned.
        """
        return boxes

    def __repr__(self) -> str:
        own = (f"{k}={v!r}" for k, v in vars(self).items() if not k.startswith("_"))
        return f"{type(self).__name__}({', '.join(own)})"


class Sometimes(Transform):
    """A transform that is applied with a probability, else samples stay.

    Parameters
    ----------
    p
        The probability.
    """

    def __init__(self, p: float = 0.5) -> None:
        check_probability(type(self).__name__, p)
        self.p = p

    def run(self, sample: Sample, rng: np.random.Generator | None) -> None:
        """Draw whether to transform, and do so; see `Transform.run`."""
        draws = as_generator(rng)
        if draws.random() < self.p:
            self.run_drawn(sample, draws)

    def run_drawn(self, sample: Sample, rng: np.random.Generator) -> None:
        """Transform a sample that has been drawn; see `Transform.run`."""
        super().run(sample, rng)
