# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The fully connected layer."""

from __future__ import annotations

import math

from .._core import Var, matmul
from .._errors import at_line
from .._typing import VarLike, as_var
from . import init
from .module import Module

__all__ = ["Linear"]


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
        result = matmul(x, self.weight.transpose(1, 0))
        return result if self.bias is None else result + self.bias

    def extra_repr(self) -> str:
        """Return the layer's extents."""
        extents = f"in_features={self.in_features}, out_features={self.out_features}"
        return f"{extents}, bias={self.bias is not None}"
