# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Activation functions as layers."""

from __future__ import annotations

from .._core import Var, full
from .._defaults import get_default_dtype
from .._domains import FINITE, NOT_NEGATIVE, NUMBER
from .._typing import VarLike
from ..ops.elementwise import activations, functions
from .module import Module
from .noise import check_slopes, rrelu

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "Mish",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SELU",
    "SiLU",
    "Sigmoid",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
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


class SELU(Module):
    """The layer of `metaops.selu`."""

    def execute(self, x: VarLike) -> Var:
        """Return the scaled `elu` that normalises itself."""
        return activations.selu(x)


class Sigmoid(Module):
    """The layer of `metaops.sigmoid`."""

    def execute(self, x: VarLike) -> Var:
        """Return ``1 / (1 + exp(-x))``."""
        return activations.sigmoid(x)


class LogSigmoid(Module):
    """The layer of `metaops.log_sigmoid`."""

    def execute(self, x: VarLike) -> Var:
        """Return the logarithm of ``sigmoid(x)``."""
        return activations.log_sigmoid(x)


class SiLU(Module):
    """The layer of `metaops.silu`."""

    def execute(self, x: VarLike) -> Var:
        """Return ``x * sigmoid(x)``."""
        return activations.silu(x)


class Mish(Module):
    """The layer of `metaops.mish`."""

    def execute(self, x: VarLike) -> Var:
        """Return ``x * tanh(softplus(x))``."""
        return activations.mish(x)


class Hardsigmoid(Module):
    """The layer of `metaops.hardsigmoid`."""

    def execute(self, x: VarLike) -> Var:
        """Return ``x / 6 + 1 / 2`` moved into [0, 1]."""
        return activations.hardsigmoid(x)


class Hardswish(Module):
    """The layer of `metaops.hardswish`."""

    def execute(self, x: VarLike) -> Var:
        """Return ``x * hardsigmoid(x)``."""
        return activations.hardswish(x)


class Softsign(Module):
    """The layer of `metaops.softsign`."""

    def execute(self, x: VarLike) -> Var:
        """Return ``x / (1 + |x|)``."""
        return activations.softsign(x)


class Tanh(Module):
    """The layer of `metaops.tanh`."""

    def execute(self, x: VarLike) -> Var:
        """Return the hyperbolic tangent of x."""
        return functions.tanh(x)


class Tanhshrink(Module):
    """The layer of `metaops.tanhshrink`."""

    def execute(self, x: VarLike) -> Var:
        """Return ``x - tanh(x)``."""
        return activations.tanhshrink(x)


class LeakyReLU(Module):
    """The layer of `metaops.leaky_relu`."""

    def __init__(self, slope: float = 0.01) -> None:
        FINITE.check("LeakyReLU", slope=slope)
        self.slope = slope

    def execute(self, x: VarLike) -> Var:
        """Return x where it is positive, else ``slope * x``."""
        return activations.leaky_relu(x, self.slope)

    def extra_repr(self) -> str:
        """Return what the layer was made with."""
        return f"negative_slope={self.slope}"


class ELU(Module):
    """The layer of `metaops.elu`."""

    def __init__(self, alpha: float = 1.0) -> None:
        FINITE.check("ELU", alpha=alpha)
        self.alpha = alpha

    def execute(self, x: VarLike) -> Var:
        """Return x where it is positive, else ``alpha * (exp(x) - 1)``."""
        return activations.elu(x, self.alpha)

    def extra_repr(self) -> str:
        """Return what the layer was made with."""
        return f"alpha={self.alpha}"


class CELU(Module):
    """The layer of `metaops.celu`."""

    def __init__(self, alpha: float = 1.0) -> None:
        activations.check_not_zero("CELU", "alpha", alpha)
        self.alpha = alpha

    def execute(self, x: VarLike) -> Var:
        """Return x where it is positive, else ``alpha * (exp(x / alpha) - 1)``."""
        return activations.celu(x, self.alpha)

    def extra_repr(self) -> str:
        """Return what the layer was made with."""
        return f"alpha={self.alpha}"


class Hardtanh(Module):
    """The layer of `metaops.hardtanh`."""

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0) -> None:
        activations.check_bounds("Hardtanh", min_val, max_val)
        self.min_val = min_val
        self.max_val = max_val

    def execute(self, x: VarLike) -> Var:
        """Return x moved into ``[min_val, max_val]``."""
        return activations.hardtanh(x, self.min_val, self.max_val)

    def extra_repr(self) -> str:
        """Return what the layer was made with."""
        return f"min_val={self.min_val}, max_val={self.max_val}"


class Hardshrink(Module):
    """The layer of `metaops.hardshrink`."""

    def __init__(self, lambd: float = 0.5) -> None:
        NOT_NEGATIVE.check("Hardshrink", lambd=lambd)
        self.lambd = lambd

    def execute(self, x: VarLike) -> Var:
        """Return x where its magnitude is above `lambd`, else 0."""
        return activations.hardshrink(x, self.lambd)

    def extra_repr(self) -> str:
        """Return what the layer was made with."""
        return f"{self.lambd}"


class Softshrink(Module):
    """The layer of `metaops.softshrink`."""

    def __init__(self, lambd: float = 0.5) -> None:
        NOT_NEGATIVE.check("Softshrink", lambd=lambd)
        self.lambd = lambd

    def execute(self, x: VarLike) -> Var:
        """Return x moved by `lambd` towards 0."""
        return activations.softshrink(x, self.lambd)

    def extra_repr(self) -> str:
        """Return what the layer was made with."""
        return f"{self.lambd}"


class Threshold(Module):
    """The layer of `metaops.threshold`."""

    def __init__(self, threshold: float, value: float) -> None:
        NUMBER.check("Threshold", threshold=threshold)
        self.threshold = threshold
        self.value = value

    def execute(self, x: VarLike) -> Var:
        """Return x where it is above the threshold, else `value`."""
        return activations.threshold(x, self.threshold, self.value)

    def extra_repr(self) -> str:
        """Return what the layer was made with."""
        return f"threshold={self.threshold}, value={self.value}"


class Softplus(Module):
    """The layer of `metaops.softplus`."""

    def __init__(self, beta: float = 1.0, threshold: float | None = 20.0) -> None:
        activations.check_not_zero("Softplus", "beta", beta)
        if threshold is not None:
            NUMBER.check("Softplus", threshold=threshold)
        self.beta = beta
        self.threshold = threshold

    def execute(self, x: VarLike) -> Var:
        """Return ``log(1 + exp(beta * x)) / beta``."""
        return activations.softplus(x, self.beta, self.threshold)

    def extra_repr(self) -> str:
        """Return what the layer was made with."""
        return f"beta={self.beta}, threshold={self.threshold}"


class GELU(Module):
    """The layer of `metaops.gelu`."""

    def __init__(self, approximate: str = "none") -> None:
        activations.check_approximate("GELU", approximate)
        self.approximate = approximate

    def execute(self, x: VarLike) -> Var:
        """Return x times the normal distribution's cumulative function."""
        return activations.gelu(x, self.approximate)

    def extra_repr(self) -> str:
        """Return what the layer was made with."""
        return f"approximate={self.approximate!r}"


class PReLU(Module):
    """The layer of `metaops.prelu`, whose slopes are trained.

    Parameters
    ----------
    num_parameters
        1, or the number of channels.
    init
        The first value of the slopes.

    Attributes
    ----------
    weight : Var
        ``(num_parameters,)``.
    """

    def __init__(self, num_parameters: int = 1, init: float = 0.25) -> None:
        FINITE.check("PReLU", init=init)
        self.num_parameters = num_parameters
        self.weight = full((num_parameters,), init, get_default_dtype())

    def execute(self, x: VarLike) -> Var:
        """Return x where it is positive, else ``weight * x``."""
        return activations.prelu(x, self.weight)

    def extra_repr(self) -> str:
        """Return the number of slopes."""
        return f"num_parameters={self.num_parameters}"


class RReLU(Module):
    """The layer of `rrelu`: the slopes are random while it is being trained."""

    def __init__(self, lower: float = 1.0 / 8.0, upper: float = 1.0 / 3.0) -> None:
        check_slopes("RReLU", lower, upper)
        self.lower = lower
        self.upper = upper

    def execute(self, x: VarLike) -> Var:
        """Return x where it is positive, else a random slope times x."""
        return rrelu(x, self.lower, self.upper, self.is_train)

    def extra_repr(self) -> str:
        """Return the bounds of the slopes."""
        return f"lower={self.lower}, upper={self.upper}"
