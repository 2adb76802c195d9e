# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The fully connected layers, of one input and of two."""

from __future__ import annotations

import math

from .._core import Var, matmul
from .._errors import at_line
from .._precision import computed
from .._typing import VarLike, as_var
from . import init
from .module import Module

__all__ = ["Bilinear", "Linear", "linear"]


@computed("low")
def linear(x: Var, weight: Var, bias: Var | None) -> Var:
    """Return ``x @ weight.T + bias``."""
    result = matmul(x, weight.transpose(1, 0))
    return result if bias is None else result + bias


@computed("low")
def _bilinear(x: Var, y: Var, weight: Var, bias: Var | None) -> Var:
    """Return ``x @ weight[k] @ y + bias[k]`` for each k."""
    outputs, first, second = weight.shape
    rows = weight.reshape((outputs * first, second))
    by_output = matmul(y, rows.transpose(1, 0)).reshape((*x.shape[:-1], outputs, first))
    result = (by_output * x.unsqueeze(-2)).sum(-1)
    return result if bias is None else result + bias


class Linear(Module):
    """``x @ weight.T + bias``.

    Parameters
    ----------
    in_features, out_features
        The last extent of the input and of the result.
    bias
        Whether there is one.

    Attributes
    ----------
    weight : Var
        ``(out_features, in_features)``, float32, uniform within
        ``1 / sqrt(in_features)`` of 0.
    bias : Var or None
        ``(out_features,)``, likewise.
    """

    def __init__(self, in_features: int, out_features: int, bias: bool = True) -> None:
        self.in_features = in_features
        self.out_features = out_features
        bound = 1.0 / math.sqrt(max(in_features, 1))
        self.weight = init.uniform((out_features, in_features), -bound, bound)
        self.bias = init.uniform((out_features,), -bound, bound) if bias else None

    def execute(self, x: VarLike) -> Var:
        """Return the result for x of shape ``(..., in_features)``.

        Raises
        ------
        ValueError
            If the last extent is another one.
        """
        x = as_var(x)
        if x.ndim == 0 or x.shape[-1] != self.in_features:
            raise at_line(
                ValueError(
                    f"Linear({self.extra_repr()}): input has shape {x.shape},"
                    f" expected (..., {self.in_features})"
                )
            )
        return linear(x, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Return the layer's extents."""
        extents = f"in_features={self.in_features}, out_features={self.out_features}"
        return f"{extents}, bias={self.bias is not None}"


class Bilinear(Module):
    """``x @ weight[k] @ y`` for each k, ``+ bias``.

    Parameters
    ----------
    in1_features, in2_features, out_features
        The last extents of the inputs and of the result.
    bias
        Whether there is one.

    Attributes
    ----------
    weight : Var
        ``(out_features, in1_features, in2_features)``, float32, uniform within
        ``1 / sqrt(in1_features)`` of 0.
    bias : Var or None
        ``(out_features,)``, likewise.
    """

    def __init__(
        self, in1_features: int, in2_features: int, out_features: int, bias: bool = True
    ) -> None:
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        bound = 1.0 / math.sqrt(max(in1_features, 1))
        self.weight = init.uniform((out_features, in1_features, in2_features), -bound, bound)
        self.bias = init.uniform((out_features,), -bound, bound) if bias else None

    def execute(self, input1: VarLike, input2: VarLike) -> Var:
        """Return the result for ``(..., in1_features)`` and ``(..., in2_features)``.

        Raises
        ------
        ValueError
            If a last extent is another one, or the others differ.
        """
        x, y = as_var(input1), as_var(input2)
        extents = (self.in1_features, self.in2_features)
        given = (*x.shape[-1:], *y.shape[-1:])
        if given != extents or x.shape[:-1] != y.shape[:-1]:
            raise at_line(
                ValueError(
                    f"Bilinear({self.extra_repr()}): inputs have shapes {x.shape} and {y.shape},"
                    f" expected (..., {extents[0]}) and (..., {extents[1]})"
                )
            )
        return _bilinear(x, y, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Return the layer's extents."""
        return (
            f"{self.in1_features}, {self.in2_features}, {self.out_features},"
            f" bias={self.bias is not None}"
        )
