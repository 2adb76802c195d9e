# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Activation functions as layers."""

from __future__ import annotations

from .. import activations, functions
from .._core import Var
from .._typing import VarLike
from .module import Module

__all__ = [
    "ELU",
    "GELU",
    "LeakyReLU",
    "LogSoftmax",
    "ReLU",
    "ReLU6",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softplus",
    "Tanh",
]


class ReLU(Module):
    """The layer of `metaops.relu`."""

    def execute(self, x: VarLike) -> Var:
        """Return x where it is positive, else 0."""
        return activations.relu(x)


class ReLU6(Module):
    """The layer of `metaops.relu6`."""

    def execute(self, x: VarLike) -> Var:
        """Return x moved into [0, 6]."""
        return activations.relu6(x)


class LeakyReLU(Module):
    """The layer of `metaops.leaky_relu`."""

    def __init__(self, slope: float = 0.01) -> None:
        self.slope = slope

    def execute(self, x: VarLike) -> Var:
        """Return x where it is positive, else ``slope * x``."""
        return activations.leaky_relu(x, self.slope)


class ELU(Module):
    """The layer of `metaops.elu`."""

    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = alpha

    def execute(self, x: VarLike) -> Var:
        """Return x where it is positive, else ``alpha * (exp(x) - 1)``."""
        return activations.elu(x, self.alpha)


class Sigmoid(Module):
    """The layer of `metaops.sigmoid`."""

    def execute(self, x: VarLike) -> Var:
        """Return ``1 / (1 + exp(-x))``."""
        return activations.sigmoid(x)


class Softplus(Module):
    """The layer of `metaops.softplus`."""

    def execute(self, x: VarLike) -> Var:
        """Return ``log(1 + exp(x))``."""
        return activations.softplus(x)


class SiLU(Module):
    """The layer of `metaops.silu`."""

    def execute(self, x: VarLike) -> Var:
        """Return ``x * sigmoid(x)``."""
        return activations.silu(x)


class Tanh(Module):
    """The layer of `metaops.tanh`."""

    def execute(self, x: VarLike) -> Var:
        """Return the hyperbolic tangent of x."""
        return functions.tanh(x)


class GELU(Module):
    """The layer of `metaops.gelu`."""

    def __init__(self, approximate: bool = False) -> None:
        self.approximate = approximate

    def execute(self, x: VarLike) -> Var:
        """Return x times the normal distribution's cumulative function."""
        return activations.gelu(x, self.approximate)


class Softmax(Module):
    """The layer of `metaops.softmax`."""

    def __init__(self, dim: int = -1) -> None:
        self.dim = dim

    def execute(self, x: VarLike) -> Var:
        """Return ``exp(x) / sum(exp(x))`` along the dimension."""
        return activations.softmax(x, self.dim)


class LogSoftmax(Module):
    """The layer of `metaops.log_softmax`."""

    def __init__(self, dim: int = -1) -> None:
        self.dim = dim

    def execute(self, x: VarLike) -> Var:
        """Return the logarithm of the softmax along the dimension."""
        return activations.log_softmax(x, self.dim)
