# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attaches to Var the methods that are written in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import activations, elementwise, indexing, linalg, reduction, shaping
from ._core import Var
from .fetching import fetch


def _fetch(self: Var, callback: Callable[..., object]) -> None:
    """Call `callback` with the value as a NumPy array once it is computed.

    Nothing is computed by this call: the value comes with the next program
    that does, at the latest with `metaops.sync_all`.
    """
    fetch(self, callback)


def _rmatmul(self: Var, other: Any) -> Var:
    """Return ``other @ self``."""
    return linalg.matmul(other, self)


_METHODS: dict[str, Callable[..., Any]] = {
    "fetch": _fetch,
    "matmul": linalg.matmul,
    "__matmul__": linalg.matmul,
    "__rmatmul__": _rmatmul,
    "__getitem__": indexing.getitem,
    "__setitem__": indexing.setitem,
    "maximum": elementwise.maximum,
    "minimum": elementwise.minimum,
    "clip": elementwise.clip,
    "square": elementwise.square,
    "sqr": elementwise.square,
    "var": reduction.var,
    "std": reduction.std,
    "argmax": reduction.argmax,
    "argmin": reduction.argmin,
    "norm": reduction.norm,
    "logsumexp": reduction.logsumexp,
    "flatten": shaping.flatten,
    "squeeze": shaping.squeeze,
    "unsqueeze": shaping.unsqueeze,
    "swapaxes": shaping.swapaxes,
    "split": shaping.split,
    "relu": activations.relu,
    "leaky_relu": activations.leaky_relu,
    "sigmoid": activations.sigmoid,
    "softplus": activations.softplus,
    "silu": activations.silu,
    "gelu": activations.gelu,
    "softmax": activations.softmax,
    "log_softmax": activations.log_softmax,
}

for _name, _function in _METHODS.items():
    setattr(Var, _name, _function)
# Reversed dimensions, as in NumPy.
setattr(Var, "T", property(shaping.transpose))  # noqa: B010
