# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers that normalise over the last dimensions, over groups and around channels."""

from __future__ import annotations

from collections.abc import Sequence

from .._core import Var
from .._domains import DEVIATION, FINITE
from .._errors import at_line
from .._typing import VarLike, as_count, as_var
from ..ops.create import creation
from .module import Module
from .norm import (
    as_normalized_shape,
    group_normalised,
    layer_normalised,
    local_response_norm,
    rms_normalised,
)

__all__ = ["GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]


class LayerNorm(Module):
    """Normalises over the last dimensions, see `layer_norm`.

    Ba, Kiros and Hinton, "Layer Normalization", 2016.

    Parameters
    ----------
    normalized_shape
        The extents of these dimensions, a number if it is one.
    eps
        Added to the variance.
    elementwise_affine
        Whether the result is scaled by `weight` and moved by `bias`, both of
        these extents.
    bias
        Whether there is a bias then.
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
    ) -> None:
        self.normalized_shape = as_normalized_shape("LayerNorm", normalized_shape)
        DEVIATION.check("LayerNorm", eps=eps)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        has_bias = elementwise_affine and bias
        self.weight = creation.ones(self.normalized_shape) if elementwise_affine else None
        self.bias = creation.zeros(self.normalized_shape) if has_bias else None

    def execute(self, x: VarLike) -> Var:
        """Return the normalised x.

        Raises
        ------
        ValueError
            If x does not end with the extents of the layer.
        """
        return layer_normalised(
            "LayerNorm", x, self.normalized_shape, self.weight, self.bias, self.eps
        )

    def extra_repr(self) -> str:
        """Return the layer's numbers."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )


class RMSNorm(Module):
    """Divides by the root of the mean square over the last dimensions, see `rms_norm`.

    Parameters
    ----------
    normalized_shape
        The extents of these dimensions, a number if it is one.
    eps
        Added to the mean square; by default the distance between 1 and the next larger
        number of the input's dtype.
    elementwise_affine
        Whether the result is scaled by `weight`, of these extents.
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
    ) -> None:
        self.normalized_shape = as_normalized_shape("RMSNorm", normalized_shape)
        if eps is not None:
            DEVIATION.check("RMSNorm", eps=eps)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self.weight = creation.ones(self.normalized_shape) if elementwise_affine else None

    def execute(self, x: VarLike) -> Var:
        """Return x divided by the root of its mean square.

        Raises
        ------
        ValueError
            If x does not end with the extents of the layer.
        """
        return rms_normalised("RMSNorm", x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        """Return the layer's numbers."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )


class GroupNorm(Module):
    """Normalises groups of channels of each image together, see `group_norm`.

    Parameters
    ----------
    num_groups
        Into how many groups the channels are cut.
    num_channels
        C of the input ``(N, C, ...)``.
    eps
        Added to the variance.
    affine
        Whether the result is scaled by `weight` and moved by `bias`, both ``(C,)``.

    Raises
    ------
    ValueError
        If the channels cannot be cut into so many groups.
    """

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True
    ) -> None:
        DEVIATION.check("GroupNorm", eps=eps)
        self.num_groups = as_count("GroupNorm: num_groups", num_groups)
        self.num_channels = as_count("GroupNorm: num_channels", num_channels, 0)
        if num_channels % num_groups:
            raise at_line(
                ValueError(
                    f"GroupNorm: {num_channels} channels are not divisible into {num_groups} groups"
                )
            )
        self.eps = eps
        self.affine = affine
        self.weight = creation.ones((num_channels,)) if affine else None
        self.bias = creation.zeros((num_channels,)) if affine else None

    def execute(self, x: VarLike) -> Var:
        """Return the normalised x.

        Raises
        ------
        ValueError
            If x has another number of channels.
        """
        x = as_var(x)
        if x.ndim < 2 or x.shape[1] != self.num_channels:
            raise at_line(
                ValueError(
                    f"GroupNorm: input has shape {x.shape}, expected (N, {self.num_channels}, ...)"
                )
            )
        return group_normalised("GroupNorm", x, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Return the layer's numbers."""
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}"


class LocalResponseNorm(Module):
    """The layer of `local_response_norm`."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        self.size = as_count("LocalResponseNorm: size", size)
        FINITE.check("LocalResponseNorm", alpha=alpha, beta=beta, k=k)
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def execute(self, x: VarLike) -> Var:
        """Return x divided by a power of the squares around each channel."""
        return local_response_norm(x, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        """Return the layer's numbers."""
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
