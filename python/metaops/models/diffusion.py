# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gaussian diffusion: noise is added to images step by step, and taken away again.

Ho, Jain and Abbeel, "Denoising Diffusion Probabilistic Models", 2020, sections 2 and 3.
Steps count from 0 here, and from 1 in the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .. import nn
from .._core import Var, array
from .._domains import POSITIVE_PROBABILITY, check_rising
from .._errors import at_line
from .._typing import as_count
from ..control_flow.loops import fori_loop
from ..gradients import no_grad
from ..ops.create import creation
from ..ops.elementwise.elementwise import where
from ..random.sampling import randint, randn
from .checks import check_vars

__all__ = ["GaussianDiffusion"]

#: Returns the noise in images, given these and their steps.
Model = Callable[[Var, Var], Var]


class GaussianDiffusion:
    """The steps of a diffusion, whose variances rise evenly.

    Parameters
    ----------
    steps
        How many there are.
    first, last
        The variances of the noise that the first and the last one add.

    Attributes
    ----------
    betas : numpy.ndarray
        The variance of each step.
    alphas_cumprod : numpy.ndarray
        The part of the image's square that is left after each.
    """

    def __init__(self, steps: int = 1000, first: float = 1e-4, last: float = 0.02) -> None:
        self.steps = as_count("GaussianDiffusion: steps", steps)
        POSITIVE_PROBABILITY.check("GaussianDiffusion", first=first, last=last)
        check_rising("GaussianDiffusion", first=first, last=last)
        self.betas = np.linspace(first, last, self.steps)
        self.alphas_cumprod = np.cumprod(1.0 - self.betas)

    def _at(self, values: np.ndarray, t: Var, x: Var) -> Var:
        """Return the numbers of steps, to be multiplied with images."""
        return array(values.astype("float32"))[t].cast(x.dtype).reshape(-1, *(1,) * (x.ndim - 1))

    def q_sample(self, x0: Var, t: Var, noise: Var) -> Var:
        """Return images after steps of noise (equation 4).

        Parameters
        ----------
        x0
            Images, ``(N, ...)``.
        t
            A step of each, ``(N,)``.
        noise
            Normal numbers, of the images' shape.
        """
        check_vars("q_sample", x0=x0, t=t, noise=noise)
        left = self.alphas_cumprod
        return self._at(np.sqrt(left), t, x0) * x0 + self._at(np.sqrt(1.0 - left), t, x0) * noise

    def loss(self, model: Model, x0: Var, t: Var | None = None, noise: Var | None = None) -> Var:
        """Return the mean square of what a model's noise differs by from that in images.

        Algorithm 1, equation 14.

        Parameters
        ----------
        model
            Returns the noise in images ``(N, ...)``, given them and their steps ``(N,)``.
        x0
            Images.
        t, noise
            As of `q_sample`; random if not given.
        """
        check_vars("loss", x0=x0)
        t = randint(0, self.steps, (x0.shape[0],)) if t is None else t
        noise = randn(*x0.shape, dtype=x0.dtype) if noise is None else noise
        return nn.mse_loss(model(self.q_sample(x0, t, noise), t), noise)

    def p_sample(self, model: Model, x: Var, t: Var, noise: Var) -> Var:
        """Return images from which the noise of one step has been taken (algorithm 2).

        Parameters
        ----------
        model
            As of `loss`.
        x
            Images after steps `t`, ``(N,)``.
        t
            These steps.
        noise
            Normal numbers, of the images' shape; the last step, 0, takes none.
        """
        check_vars("p_sample", x=x, t=t, noise=noise)
        share = self.betas / np.sqrt(1.0 - self.alphas_cumprod)
        mean = x - self._at(share, t, x) * model(x, t)
        mean = mean * self._at(1.0 / np.sqrt(1.0 - self.betas), t, x)
        deviation = self._at(np.sqrt(self.betas), t, x)
        is_last = (t == 0).reshape(-1, *(1,) * (x.ndim - 1))
        return where(is_last, mean, mean + deviation * noise)

    def sample(self, model: Model, shape: Sequence[int]) -> Var:
        """Return images of a shape that are made of noise, by one loop over all steps.

        Parameters
        ----------
        model
            As of `loss`; a module is to be in `eval`.
        shape
            The images' shape, ``(N, ...)``.
        """
        extents = tuple(shape)
        if not extents:
            raise at_line(ValueError("sample: shape is (), expected (N, ...)"))

        def back(number: Var, x: Var) -> Var:
            t = creation.full(extents[:1], 0, "int64") + (self.steps - 1 - number)
            return self.p_sample(model, x, t, randn(*extents))

        with no_grad():
            return fori_loop(0, self.steps, back, randn(*extents))
