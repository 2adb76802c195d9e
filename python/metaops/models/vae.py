# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A variational autoencoder: images by a few numbers whose distribution is known.

Kingma and Welling, "Auto-Encoding Variational Bayes", 2014, appendix C. Names of parameters
are those of PyTorch's example.
"""

from __future__ import annotations

from typing import NamedTuple

from .. import nn
from .._core import Var
from .._errors import at_line
from .._typing import shown
from ..ops.elementwise.activations import relu
from ..ops.elementwise.functions import exp
from ..random.sampling import randn
from .checks import check_counts, check_vars

__all__ = ["VAE", "VAEOutput", "vae_loss"]


class VAEOutput(NamedTuple):
    """What `VAE` returns."""

    #: Of each pixel the logit of its being 1, ``(N, inputs)``.
    logits: Var
    #: The mean of an image's numbers, ``(N, latent)``.
    mean: Var
    #: The logarithm of their variance.
    log_variance: Var


class VAE(nn.Module):
    """Two linear layers to a mean and a variance, and two back to an image.

    Parameters
    ----------
    inputs
        How many pixels an image has.
    hidden
        The width of the layers between.
    latent
        How many numbers stand for an image.
    """

    def __init__(self, inputs: int = 784, hidden: int = 400, latent: int = 20) -> None:
        check_counts("VAE", inputs=inputs, hidden=hidden, latent=latent)
        self.fc1 = nn.Linear(inputs, hidden)
        self.fc21 = nn.Linear(hidden, latent)
        self.fc22 = nn.Linear(hidden, latent)
        self.fc3 = nn.Linear(latent, hidden)
        self.fc4 = nn.Linear(hidden, inputs)

    def execute(self, x: Var, noise: Var | None = None) -> VAEOutput:
        """Return what images (N, inputs) are made to.

        Parameters
        ----------
        x
            Images, in [0, 1].
        noise
            What the numbers differ by from their mean, in deviations, ``(N, latent)``;
            random if not given.
        """
        hidden = relu(self.fc1(x))
        mean, log_variance = self.fc21(hidden), self.fc22(hidden)
        if noise is None:
            noise = randn(*mean.shape, dtype=mean.dtype)
        return VAEOutput(self.decode(mean + noise * exp(0.5 * log_variance)), mean, log_variance)

    def decode(self, z: Var) -> Var:
        """Return the logits of images of numbers, ``(N, latent)``."""
        return self.fc4(relu(self.fc3(z)))


def vae_loss(output: VAEOutput, x: Var) -> Var:
    """Return what an image's description costs, in nats, the mean of images.

    The cross entropy of its pixels, and the divergence of its numbers from normal ones
    (Kingma and Welling, appendix B).

    Parameters
    ----------
    output
        What a `VAE` returns of the images.
    x
        The images.

    Raises
    ------
    TypeError
        If one is something else.
    """
    if not isinstance(output, VAEOutput):
        raise at_line(
            TypeError(f"vae_loss: output is {shown(output)}, expected what a VAE returns")
        )
    check_vars("vae_loss", x=x)
    mean, log_variance = output.mean, output.log_variance
    pixels = nn.bce_with_logits_loss(output.logits, x, reduction="sum")
    divergence = -0.5 * (1.0 + log_variance - mean**2 - exp(log_variance)).sum()
    return (pixels + divergence) / x.shape[0]
