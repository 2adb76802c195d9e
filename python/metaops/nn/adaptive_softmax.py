# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A softmax over many classes, of which the rare ones are told apart in clusters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from .. import _core
from .._core import Var
from .._errors import at_line
from .._typing import VarLike, as_count, as_integers, as_var, shown, widened
from ..ops.elementwise.activations import log_softmax
from ..ops.elementwise.elementwise import where
from ..ops.index.gathering import gather
from ..ops.reduce.reduction import argmax
from ..ops.shape.stacking import concat
from .containers import ModuleList, Sequential
from .linear import Linear
from .module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss", "AdaptiveSoftmaxOutput"]


class AdaptiveSoftmaxOutput(NamedTuple):
    """The logarithm of each target's probability, ``(N,)``, and the mean of their negatives."""

    output: Var
    loss: Var


class AdaptiveLogSoftmaxWithLoss(Module):
    """The adaptive softmax (Grave et al., 2017), and the loss of a target by it.

    Classes are sorted by falling frequency. The first of them and one for each cluster of
    the others have scores of their own; a cluster's classes have scores from fewer
    features. All clusters are computed for all examples, so the program is one, whatever
    the targets are.

    Parameters
    ----------
    in_features
        The extent of an example.
    n_classes
        How many classes there are.
    cutoffs
        The first class of each cluster: rising integers in ``[1, n_classes)``.
    div_value
        Cluster k, counted from 0, has ``in_features // div_value ** (k + 1)`` features.
    head_bias
        Whether the scores of the first classes and of the clusters have a bias.

    Attributes
    ----------
    head : Linear
        Of the first classes and the clusters.
    tail : ModuleList
        Of each cluster: `Linear` to its features, and from them to its classes.

    Raises
    ------
    ValueError
        If there are no cutoffs, or they do not rise or are out of range.
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
    ) -> None:
        name = type(self).__name__
        ends = as_integers(name, "cutoffs", cutoffs)
        as_count(f"{name}: in_features", in_features)
        rises = all(a < b for a, b in zip([0, *ends], [*ends, n_classes], strict=True))
        if not ends or not rises:
            raise at_line(
                ValueError(
                    f"{name}: cutoffs are {shown(tuple(ends))}, expected rising integers in"
                    f" [1, {n_classes})"
                )
            )
        if not 0 < div_value < math.inf:
            raise at_line(
                ValueError(f"{name}: div_value is {shown(div_value)}, expected more than 0")
            )
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*ends, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = ends[0]
        self.n_clusters = len(ends)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias)
        self.tail = ModuleList(map(self._cluster, range(self.n_clusters)))

    def _cluster(self, k: int) -> Sequential:
        features = max(int(self.in_features // self.div_value ** (k + 1)), 1)
        classes = self.cutoffs[k + 1] - self.cutoffs[k]
        return Sequential(
            Linear(self.in_features, features, bias=False), Linear(features, classes, bias=False)
        )

    def _checked(self, x: VarLike) -> Var:
        x = as_var(x)
        if x.ndim not in (1, 2) or x.shape[-1] != self.in_features:
            raise at_line(
                ValueError(
                    f"{type(self).__name__}: input has shape {x.shape}, expected"
                    f" (N, {self.in_features}) or ({self.in_features},)"
                )
            )
        return x

    def execute(self, x: VarLike, target: VarLike) -> AdaptiveSoftmaxOutput:
        """Return the logarithms of the targets' probabilities, and the loss.

        Parameters
        ----------
        x
            ``(N, in_features)``, or one example.
        target
            Classes, ``(N,)`` or ``()``. One that is out of range fails the program.

        Raises
        ------
        TypeError
            If the targets are no integers.
        ValueError
            If the shapes do not fit.
        """
        x, target = self._checked(x), as_var(target)
        name = type(self).__name__
        if "int" not in target.dtype:
            raise at_line(TypeError(f"{name}: targets are {target.dtype}, expected integers"))
        if target.shape != x.shape[:-1]:
            raise at_line(
                ValueError(f"{name}: targets have shape {target.shape}, expected {x.shape[:-1]}")
            )
        rows = x.unsqueeze(0) if x.ndim == 1 else x
        label = _core.check_labels(target, self.n_classes, None).cast("int64")
        label = label.reshape((rows.shape[0], 1))
        scores, dtype = widened(self.head(rows))
        head = log_softmax(scores, 1)
        result = gather(head, 1, where(label < self.shortlist_size, label, 0))
        for k, cluster in enumerate(self.tail):
            first, end = self.cutoffs[k : k + 2]
            is_here = (label >= first) & (label < end)
            scores, _ = widened(cluster(rows))
            among = gather(log_softmax(scores, 1), 1, where(is_here, label - first, 0))
            place = self.shortlist_size + k
            result = where(is_here, head[:, place : place + 1] + among, result)
        result = result.reshape(x.shape[:-1])
        return AdaptiveSoftmaxOutput(result.cast(dtype), (-result.mean()).cast(dtype))

    def log_prob(self, x: VarLike) -> Var:
        """Return the logarithms of all classes' probabilities, ``(N, n_classes)``."""
        x = self._checked(x)
        scores, dtype = widened(self.head(x))
        head = log_softmax(scores, -1)
        parts = [head[..., : self.shortlist_size]]
        for k, cluster in enumerate(self.tail):
            place = self.shortlist_size + k
            scores, _ = widened(cluster(x))
            parts.append(head[..., place : place + 1] + log_softmax(scores, -1))
        return concat(parts, -1).cast(dtype)

    def predict(self, x: VarLike) -> Var:
        """Return the most probable class of each example, ``(N,)``, int64."""
        return argmax(self.log_prob(x), -1)
