# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that are recorded once: methods and modules."""

from __future__ import annotations

import copy
import gc
import inspect
import pickle

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from recorded_functions import hits, leaf, recorded

# A warning that no test expects is an error.
pytestmark = pytest.mark.filterwarnings("error")


class Scaler:
    """A class with a method that is recorded."""

    def __init__(self, by: float) -> None:
        self.by = by

    @mo.jit
    def scale(self, x: mo.Var) -> mo.Var:
        """Return x times a number."""
        return x * self.by


def test_methods() -> None:
    two, three = Scaler(2), Scaler(3)
    for _ in range(4):
        assert two.scale(leaf(1)).numpy().tolist() == [2]
        assert three.scale(leaf(1)).numpy().tolist() == [3]
    assert recorded(two.scale) == 2
    two.by = 5
    assert two.scale(leaf(1)).numpy().tolist() == [5]
    bound = mo.jit(Scaler(4).scale)
    assert bound(leaf(1)).numpy().tolist() == [4]


def test_modules() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    jitted = mo.jit(model)
    assert isinstance(jitted, nn.Sequential)
    assert repr(jitted) == repr(model)
    assert jitted.state_dict().keys() == model.state_dict().keys()
    assert inspect.signature(jitted) == inspect.signature(model)
    for i in range(5):
        assert np.allclose(jitted(leaf(1, i, 3)).numpy(), model(leaf(1, i, 3)).numpy())
    assert recorded(jitted) == 1
    jitted.fresh = 3
    assert model.fresh == 3
    model[0].weight.assign(model[0].weight * 2)
    assert np.allclose(jitted(leaf(1, 2, 3)).numpy(), model(leaf(1, 2, 3)).numpy())
    assert recorded(jitted) == 1
    other = copy.deepcopy(jitted)
    other[0].weight.assign(other[0].weight * 0)
    assert not np.allclose(other(leaf(1, 2, 3)).numpy(), model(leaf(1, 2, 3)).numpy())
    assert np.allclose(jitted(leaf(1, 2, 3)).numpy(), model(leaf(1, 2, 3)).numpy())


def test_modules_in_modules() -> None:
    inner = mo.jit(nn.Linear(3, 3))
    model = nn.Sequential(inner, nn.ReLU())
    assert len(list(model.parameters())) == 2
    for _ in range(3):
        model(leaf(1, 2, 3))
    assert hits(inner) == 1


def test_modules_as_arguments_are_held_weakly() -> None:
    def f(model: nn.Module, x: mo.Var) -> mo.Var:
        return model(x)

    jitted = mo.jit(f)
    models = [nn.Linear(2, 1) for _ in range(3)]
    for _ in range(3):
        for model in models:
            assert np.allclose(jitted(model, leaf(1, 2)).numpy(), model(leaf(1, 2)).numpy())
    assert mo.jit_info(jitted).keys == 3
    del model
    models.clear()
    gc.collect()
    assert mo.jit_info(jitted).keys == 0


def test_training_of_statistics() -> None:
    layer, other = nn.BatchNorm1d(3), nn.BatchNorm1d(3)
    jitted = mo.jit(layer)
    generator = np.random.default_rng(0)
    for _ in range(6):
        x = generator.normal(size=(8, 3)).astype("float32")
        assert np.allclose(jitted(x).numpy(), other(mo.array(x)).numpy(), atol=1e-6)
    for name, var in other.state_dict().items():
        assert np.allclose(layer.state_dict()[name].numpy(), var.numpy(), atol=1e-6)


def test_modules_are_pickled_as_they_were() -> None:
    model = mo.jit(nn.Linear(2, 1))
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again(leaf(1, 2)).numpy(), model(leaf(1, 2)).numpy())
    assert mo.jit_info(again).calls == 1


def test_constants_that_a_call_captures_are_computed_once() -> None:
    """Running statistics of a layer that nobody has trained are no parameters."""
    model = nn.Sequential(nn.Linear(6, 4), nn.BatchNorm1d(4)).eval()
    mo.sync(model.parameters())
    step = mo.jit(model)
    x = mo.array(np.random.default_rng(0).normal(size=(3, 6)).astype("float32")).sync()
    with mo.no_grad():
        expected = model(x).numpy()
        for _ in range(6):
            np.testing.assert_allclose(step(x).numpy(), expected, rtol=1e-6)
        before = mo.stats()["values_recorded"]
        for _ in range(8):
            step(x)
        assert mo.stats()["values_recorded"] - before <= 8
