# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Losses of adversarial networks.

A discriminator, or critic, gives scores to real images and to those that a generator has
made. It is trained with images ``fake.detach()``, the generator with the images themselves.
"""

from __future__ import annotations

from collections.abc import Callable

from .. import nn
from .._core import Var
from .._domains import NOT_NEGATIVE
from .._errors import at_line
from ..gradients import grad
from ..ops.create import creation
from ..random.sampling import rand
from .checks import check_vars

__all__ = [
    "adversarial_loss",
    "gradient_penalty",
    "least_squares_loss",
    "wasserstein_critic_loss",
    "wasserstein_loss",
]


def adversarial_loss(scores: Var, is_real: bool) -> Var:
    """Return the cross entropy of scores, logits, of images that shall be taken for real ones.

    Goodfellow et al., "Generative Adversarial Nets", 2014, section 3: the generator's loss is
    that of its images with `is_real`, which has gradients where the discriminator is sure.

    Parameters
    ----------
    scores
        Of images.
    is_real
        Whether they shall be taken for real ones.
    """
    check_vars("adversarial_loss", scores=scores)
    target = creation.full(scores.shape, float(is_real), scores.dtype)
    return nn.bce_with_logits_loss(scores, target)


def least_squares_loss(scores: Var, is_real: bool) -> Var:
    """Return half of the mean square of what scores lack to 1, or to 0 unless `is_real`.

    Mao et al., "Least Squares Generative Adversarial Networks", 2017, equation 9.

    Parameters
    ----------
    scores
        Of images.
    is_real
        Whether they shall be taken for real ones.
    """
    check_vars("least_squares_loss", scores=scores)
    return 0.5 * ((scores - float(is_real)) ** 2).mean()


def wasserstein_loss(scores: Var) -> Var:
    """Return the generator's loss: what a critic's scores of its images are, negated."""
    check_vars("wasserstein_loss", scores=scores)
    return -scores.mean()


def gradient_penalty(
    critic: Callable[[Var], Var], real: Var, fake: Var, share: Var | None = None
) -> Var:
    """Return the mean square of what a critic's slope between images differs from 1.

    Gulrajani et al., "Improved Training of Wasserstein GANs", 2017, section 4.

    Parameters
    ----------
    critic
        Gives scores (N,) to images.
    real, fake
        Images, (N, ...), of one shape.
    share
        How far from the real image to the other one the slope is taken, (N,); random in
        [0, 1) if not given.

    Raises
    ------
    ValueError
        If shapes are others.
    """
    check_vars("gradient_penalty", real=real, fake=fake)
    if real.ndim < 2 or fake.shape != real.shape:
        raise at_line(
            ValueError(
                f"gradient_penalty: real has shape {real.shape} and fake {fake.shape}, expected"
                " one shape (N, ...)"
            )
        )
    if share is None:
        share = rand(real.shape[0], dtype=real.dtype)
    if share.shape != real.shape[:1]:
        raise at_line(
            ValueError(
                f"gradient_penalty: share has shape {share.shape}, expected {real.shape[:1]}"
            )
        )
    between = real + share.reshape(-1, *(1,) * (real.ndim - 1)) * (fake - real)
    # The norm has a gradient of 0 where a slope is 0, as behind dead activations.
    slope = grad(critic(between).sum(), between).flatten(1)
    return ((slope.norm(dim=1) - 1.0) ** 2).mean()


def wasserstein_critic_loss(
    critic: Callable[[Var], Var],
    real: Var,
    fake: Var,
    weight: float = 10.0,
    share: Var | None = None,
) -> Var:
    """Return the critic's loss: scores of a generator's images less those of real ones.

    To it comes `gradient_penalty` (Gulrajani et al., equation 3).

    Parameters
    ----------
    critic, real, fake, share
        As of `gradient_penalty`.
    weight
        That of the penalty.
    """
    NOT_NEGATIVE.check("wasserstein_critic_loss", weight=weight)
    penalty = gradient_penalty(critic, real, fake, share)
    return critic(fake).mean() - critic(real).mean() + weight * penalty
