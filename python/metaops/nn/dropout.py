# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dropout."""

from __future__ import annotations

from .._core import Var
from .._errors import at_line
from .._typing import VarLike, as_var
from ..elementwise import where
from ..sampling import bernoulli
from .module import Module

__all__ = ["Dropout", "dropout"]


def _check_probability(name: str, p: float) -> None:
    if not 0.0 <= p <= 1.0:
        raise at_line(ValueError(f"{name}: p is {p}, expected a probability in [0, 1]"))


def dropout(x: VarLike, p: float = 0.5, is_train: bool = True) -> Var:
    """Return x with elements zeroed at random and the others scaled up.

    Parameters
    ----------
    x
        Floats of any shape.
    p
        The probability of being zeroed. The rest is divided by ``1 - p``, which
        keeps the mean.
    is_train
        If false, nothing is dropped.

    Raises
    ------
    ValueError
        If `p` is not in [0, 1].
    """
    _check_probability("dropout", p)
    x = as_var(x)
    if not is_train or p == 0.0:
        return +x
    if p == 1.0:
        return x * 0.0
    return where(bernoulli(1.0 - p, x.shape), x / (1.0 - p), 0)


class Dropout(Module):
    """The layer of `dropout`: does nothing unless it is being trained."""

    def __init__(self, p: float = 0.5) -> None:
        _check_probability("Dropout", p)
        self.p = p

    def execute(self, x: VarLike) -> Var:
        """Return x with elements dropped."""
        return dropout(x, self.p, self.is_train)

    def extra_repr(self) -> str:
        """Return the probability."""
        return f"p={self.p}"
