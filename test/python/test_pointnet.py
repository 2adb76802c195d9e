# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PointNet's size, and what does not matter to it; test_models.py has its numbers."""

from __future__ import annotations

import metaops as mo
import numpy as np
import pytest
from metaops import models

pytestmark = pytest.mark.processor


def test_the_size_is_the_papers():
    """3.5 million parameters (Qi et al., Table 6), with both transforms."""
    model = models.PointNet(40, feature_transform=True)
    assert round(sum(p.size for p in model.parameters()) / 1e6, 1) == 3.5
    names = {name for name, _ in model.named_parameters()}
    assert {"feat.stn.fc3.bias", "feat.fstn.conv3.weight", "feat.bn3.weight", "fc3.bias"} < names


def test_the_order_of_points_does_not_matter(rng):
    mo.seed(0)
    model = models.PointNet(5, feature_transform=True).eval()
    points = rng.normal(size=(3, 3, 20)).astype("float32")
    scores, transform, of_features = model(mo.array(points))
    again = model(mo.array(points[:, :, rng.permutation(20)])).scores
    np.testing.assert_allclose(again.numpy(), scores.numpy(), rtol=1e-4, atol=1e-5)
    # A point that comes twice changes no maximum.
    twice = np.concatenate([points, points[:, :, :4]], 2)
    np.testing.assert_allclose(model(mo.array(twice)).scores.numpy(), scores.numpy(), atol=1e-5)
    assert (transform.shape, of_features.shape) == ((3, 3, 3), (3, 64, 64))
    assert models.PointNet(5)(mo.array(points)).feature_transform is None


def test_matrices_turn_points_as_rows(rng):
    model = models.PointNet(5).eval()
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    net = model.feat.stn
    net.fc3.weight.assign(mo.zeros((9, 256)))
    net.fc3.bias.assign(mo.zeros(9))
    points = rng.normal(size=(2, 3, 7)).astype("float32")
    turned = np.einsum("nkl,kj->njl", points, turn).astype("float32")
    expected = model(mo.array(turned)).scores.numpy()
    net.fc3.bias.assign(mo.array((turn - np.eye(3)).reshape(9).astype("float32")))
    output = model(mo.array(points))
    np.testing.assert_allclose(output.transform.numpy()[1], turn, atol=1e-6)
    np.testing.assert_allclose(output.scores.numpy(), expected, rtol=1e-4, atol=1e-5)


def test_the_loss_of_matrices(rng):
    given = rng.normal(size=(4, 3, 3))
    rest = given @ given.transpose(0, 2, 1) - np.eye(3)
    found = models.feature_transform_loss(mo.array(given)).item()
    np.testing.assert_allclose(found, np.sqrt((rest**2).sum((1, 2))).mean())
    turn, _ = np.linalg.qr(given)
    assert models.feature_transform_loss(mo.array(turn)).item() < 1e-12
    with pytest.raises(ValueError, match=r"transform has shape \(4, 3\), expected \(N, k, k\)"):
        models.feature_transform_loss(mo.zeros((4, 3)))
    with pytest.raises(TypeError, match=r"transform is .*, expected a Var"):
        models.feature_transform_loss(given)


def test_bad_input():
    for make, text in [
        (lambda: models.PointNet(0), "PointNet: num_classes is 0"),
        (lambda: models.PointNet(dropout=1.5), "PointNet: dropout is 1.5"),
        (lambda: models.PointNet(2)(mo.zeros((2, 4, 5))), r"points have shape \(2, 4, 5\)"),
        (lambda: models.PointNet(2)(mo.zeros((2, 3, 0))), r"points have shape \(2, 3, 0\)"),
    ]:
        with pytest.raises(ValueError, match=text):
            make()
