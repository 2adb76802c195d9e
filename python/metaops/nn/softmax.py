# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Activation functions along a dimension, as layers."""

from __future__ import annotations

from .._core import Var
from .._errors import at_line
from .._typing import VarLike, as_var
from ..ops.elementwise import activations
from .module import Module

__all__ = ["GLU", "LogSoftmax", "Softmax", "Softmax2d", "Softmin"]


class GLU(Module):
    """The layer of `metaops.glu`."""

    def __init__(self, dim: int = -1) -> None:
        self.dim = dim

    def execute(self, x: VarLike) -> Var:
        """Return the first half along the dimension times the second's `sigmoid`."""
        return activations.glu(x, self.dim)

    def extra_repr(self) -> str:
        """Return what the layer was made with."""
        return f"dim={self.dim}"


class LogSoftmax(Module):
    """The layer of `metaops.log_softmax`."""

    def __init__(self, dim: int = -1) -> None:
        self.dim = dim

    def execute(self, x: VarLike) -> Var:
        """Return the logarithm of the softmax along the dimension."""
        return activations.log_softmax(x, self.dim)

    def extra_repr(self) -> str:
        """Return what the layer was made with."""
        return f"dim={self.dim}"


class Softmax(Module):
    """The layer of `metaops.softmax`."""

    def __init__(self, dim: int = -1) -> None:
        self.dim = dim

    def execute(self, x: VarLike) -> Var:
        """Return ``exp(x) / sum(exp(x))`` along the dimension."""
        return activations.softmax(x, self.dim)

    def extra_repr(self) -> str:
        """Return what the layer was made with."""
        return f"dim={self.dim}"


class Softmax2d(Module):
    """The softmax over the channels of ``(N, C, H, W)`` or ``(C, H, W)``."""

    def execute(self, x: VarLike) -> Var:
        """Return the softmax over the channels at each place."""
        x = as_var(x)
        if x.ndim not in (3, 4):
            raise at_line(
                ValueError(
                    f"Softmax2d: input has shape {x.shape}, expected (N, C, H, W) or (C, H, W)"
                )
            )
        return activations.softmax(x, -3)


class Softmin(Module):
    """The layer of `metaops.softmin`."""

    def __init__(self, dim: int = -1) -> None:
        self.dim = dim

    def execute(self, x: VarLike) -> Var:
        """Return the softmax of -x along the dimension."""
        return activations.softmin(x, self.dim)

    def extra_repr(self) -> str:
        """Return what the layer was made with."""
        return f"dim={self.dim}"
