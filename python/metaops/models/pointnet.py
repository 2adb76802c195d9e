# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PointNet: classes of sets of points, in whatever order these come.

Qi et al., "PointNet: Deep Learning on Point Sets for 3D Classification and Segmentation",
2017, section 4.2 and Figure 2. Names of parameters are those of fxia22's pointnet.pytorch.
"""

from __future__ import annotations

from typing import NamedTuple

from .. import nn
from .._core import Var
from .._domains import PROBABILITY
from .._errors import at_line
from ..ops.elementwise.activations import relu
from ..ops.shape.diagonals import eye
from .checks import check_counts, check_vars

__all__ = ["PointNet", "PointNetOutput", "feature_transform_loss"]


class TNet(nn.Module):
    """A matrix of what is seen in all points, by which each of them is turned.

    Parameters
    ----------
    k
        The numbers of a point.
    """

    def __init__(self, k: int) -> None:
        self.k = k
        self.conv1 = nn.Conv1d(k, 64, 1)
        self.conv2 = nn.Conv1d(64, 128, 1)
        self.conv3 = nn.Conv1d(128, 1024, 1)
        self.fc1 = nn.Linear(1024, 512)
        self.fc2 = nn.Linear(512, 256)
        self.fc3 = nn.Linear(256, k * k)
        self.bn1 = nn.BatchNorm1d(64)
        self.bn2 = nn.BatchNorm1d(128)
        self.bn3 = nn.BatchNorm1d(1024)
        self.bn4 = nn.BatchNorm1d(512)
        self.bn5 = nn.BatchNorm1d(256)

    def execute(self, x: Var) -> Var:
        """Return matrices ``(N, k, k)`` of points ``(N, k, L)``; they begin near the identity."""
        y = relu(self.bn1(self.conv1(x)))
        y = relu(self.bn2(self.conv2(y)))
        y = relu(self.bn3(self.conv3(y))).max(2)
        y = relu(self.bn4(self.fc1(y)))
        y = relu(self.bn5(self.fc2(y)))
        return self.fc3(y).reshape(-1, self.k, self.k) + eye(self.k, dtype=x.dtype)


def _turned(x: Var, matrices: Var) -> Var:
    """Return points ``(N, k, L)``, each as a row multiplied by its set's matrix."""
    return matrices.transpose(0, 2, 1) @ x


class PointNetFeatures(nn.Module):
    """1024 numbers of a set of points: the largest of what each of them is made to."""

    def __init__(self, feature_transform: bool) -> None:
        self.stn = TNet(3)
        self.conv1 = nn.Conv1d(3, 64, 1)
        self.conv2 = nn.Conv1d(64, 128, 1)
        self.conv3 = nn.Conv1d(128, 1024, 1)
        self.bn1 = nn.BatchNorm1d(64)
        self.bn2 = nn.BatchNorm1d(128)
        self.bn3 = nn.BatchNorm1d(1024)
        self.fstn = TNet(64) if feature_transform else None

    def execute(self, x: Var) -> tuple[Var, Var, Var | None]:
        """Return the numbers of sets, and the matrices that turn points and features."""
        of_points = self.stn(x)
        x = relu(self.bn1(self.conv1(_turned(x, of_points))))
        of_features = None
        if self.fstn is not None:
            of_features = self.fstn(x)
            x = _turned(x, of_features)
        x = relu(self.bn2(self.conv2(x)))
        return self.bn3(self.conv3(x)).max(2), of_points, of_features


class PointNetOutput(NamedTuple):
    """Results of `PointNet`."""

    #: The scores of sets, ``(N, num_classes)``.
    scores: Var
    #: The matrices that have turned points, ``(N, 3, 3)``.
    transform: Var
    #: Those that have turned features, ``(N, 64, 64)``, if there are any.
    feature_transform: Var | None


class PointNet(nn.Module):
    """Points to scores; the order of points does not matter.

    Parameters
    ----------
    num_classes
        How many scores a set gets.
    feature_transform
        Whether the features of points are turned, too, as the paper does with
        `feature_transform_loss`.
    dropout
        The part of the last hidden layer that is dropped.
    """

    def __init__(
        self, num_classes: int = 40, feature_transform: bool = False, dropout: float = 0.3
    ) -> None:
        check_counts("PointNet", num_classes=num_classes)
        PROBABILITY.check("PointNet", dropout=dropout)
        self.feat = PointNetFeatures(feature_transform)
        self.fc1 = nn.Linear(1024, 512)
        self.fc2 = nn.Linear(512, 256)
        self.fc3 = nn.Linear(256, num_classes)
        self.dropout = nn.Dropout(dropout)
        self.bn1 = nn.BatchNorm1d(512)
        self.bn2 = nn.BatchNorm1d(256)

    def execute(self, x: Var) -> PointNetOutput:
        """Return the scores of sets of points, ``(N, 3, L)``.

        Raises
        ------
        ValueError
            If they have another shape.
        """
        if x.ndim != 3 or x.shape[1] != 3 or not x.shape[2]:
            raise at_line(ValueError(f"PointNet: points have shape {x.shape}, expected (N, 3, L)"))
        y, of_points, of_features = self.feat(x)
        y = relu(self.bn1(self.fc1(y)))
        y = relu(self.bn2(self.dropout(self.fc2(y))))
        return PointNetOutput(self.fc3(y), of_points, of_features)


def feature_transform_loss(transform: Var) -> Var:
    """Return how far matrices are from being orthogonal, the mean of their distances.

    Qi et al., equation 2, but for the square, as in fxia22's; it weighs 0.001 there.

    Parameters
    ----------
    transform
        Matrices, ``(N, k, k)``.
    """
    check_vars("feature_transform_loss", transform=transform)
    if transform.ndim != 3 or transform.shape[1] != transform.shape[2]:
        raise at_line(
            ValueError(
                f"feature_transform_loss: transform has shape {transform.shape}, expected (N, k, k)"
            )
        )
    square = transform @ transform.transpose(0, 2, 1)
    rest = square - eye(transform.shape[1], dtype=transform.dtype)
    return rest.flatten(1).norm(dim=1).mean()
