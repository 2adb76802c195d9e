# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Optimisers of parameters in halves: steps are those of float32, rounded once."""

import pickle

import metaops as mo
import numpy as np
import pytest
from metaops import nn, optim
from util import same

HALVES = ["float16", "bfloat16"]
#: With options whose formulas have more terms.
KINDS = {
    "ASGD": {"t0": 1, "weight_decay": 0.1},
    "Adadelta": {"weight_decay": 0.1},
    "Adafactor": {"weight_decay": 0.1},
    "Adagrad": {"weight_decay": 0.1},
    "Adam": {"weight_decay": 0.1},
    "AdamW": {"weight_decay": 0.1},
    "Adamax": {"weight_decay": 0.1},
    "LAMB": {"weight_decay": 0.1},
    "Lion": {"weight_decay": 0.1},
    "Muon": {},
    "NAdam": {"weight_decay": 0.1},
    "RAdam": {"weight_decay": 0.1},
    "RMSprop": {"centered": True, "momentum": 0.9},
    "Rprop": {},
    "SGD": {"momentum": 0.9, "nesterov": True},
}
#: Sizes of gradients: their squares are 0 and infinite in float16.
SIZES = [1e-4, 1.0, 300.0]
STEPS = 4


def halves(rng, dtype, size=1.0):
    """Return numbers of both signs in a dtype of halves, and a row of zeros."""
    values = size * rng.uniform(0.3, 3, (4, 3)) * rng.choice([-1, 1], (4, 3))
    values[1] = 0.0
    return mo.array(values.astype("float32")).cast(dtype)


def exact(x):
    """Return halves as NumPy's float32."""
    return x.float32().numpy()


def test_all_kinds_are_here():
    kinds = {name for name in optim.__all__ if isinstance(getattr(optim, name), type)}
    # LBFGS steps by closures and has its own tests; SWALR is a schedule.
    assert set(KINDS) == kinds - {"AveragedModel", "LBFGS", "Optimizer", "SWALR"}


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("master", [False, True])
def test_steps_are_those_of_float32(rng, name, dtype, size, master):
    """The last numbers differ by an order of operations at most, which rounding may show."""
    make = getattr(optim, name)
    p = halves(rng, dtype)
    reference = p.float32()
    one = make([p], 0.01, master=master, **KINDS[name])
    other = make([reference], 0.01, **KINDS[name])
    for _ in range(STEPS):
        g = halves(rng, dtype, size)
        one.apply([g])
        other.apply([g.float32()])
        rounded = reference.cast(dtype).float32()
        np.testing.assert_allclose(
            exact(p), rounded.numpy(), rtol=1e-2 if dtype == "bfloat16" else 1e-3, atol=1e-6
        )
        if not master:
            reference.assign(p.float32())
    assert np.isfinite(exact(p)).all()
    kept = [value for value in one.state_dict().values() if isinstance(value, mo.Var)]
    assert {value.dtype for value in kept} <= {mo.float32}


@pytest.mark.parametrize("name", [name for name in KINDS if name != "Muon"])
@pytest.mark.parametrize("dtype", HALVES)
def test_rows_that_no_batch_uses_stay(rng, name, dtype):
    table = nn.Embedding(5, 4).to(dtype)
    before = exact(table.weight)
    optimizer = getattr(optim, name)(table.parameters(), 0.01)
    if optimizer.defaults.get("weight_decay"):
        optimizer.weight_decay = 0.0
    for _ in range(3):
        optimizer.step((table(mo.array([0, 2, 2])) ** 2).sum())
    after = exact(table.weight)
    if name == "ASGD":  # whose parameters decay
        np.testing.assert_allclose(after[[1, 3, 4]], before[[1, 3, 4]], rtol=1e-2)
    else:
        same(after[[1, 3, 4]], before[[1, 3, 4]])
    assert np.isfinite(after).all() and (after != before)[[0, 2]].any()


@pytest.mark.parametrize("dtype", HALVES)
def test_masters_take_small_steps(dtype):
    """A thousand steps of 2^-12 at 1 are lost without a master copy, one by one."""
    ends = []
    for master in (False, True):
        p = mo.ones((3,), dtype)
        optimizer = optim.SGD([p], 2.0**-12, master=master)
        for _ in range(1024):
            optimizer.apply([mo.ones((3,), dtype)])
        ends.append(p.float32().numpy()[0])
    assert ends == [1.0, 0.75]


@pytest.mark.parametrize("dtype", HALVES)
def test_a_parameter_with_another_value_goes_on_from_that(rng, dtype):
    p = halves(rng, dtype)
    optimizer = optim.SGD([p], 2.0**-13, master=True)
    g = mo.ones((4, 3), dtype)
    for _ in range(3):
        optimizer.apply([g])
    other = halves(rng, dtype)
    p.assign(other)
    expected = exact(other)
    for _ in range(3):
        optimizer.apply([g])
        expected = expected - np.float32(2.0**-13)
    same(optimizer.state_dict()["master.0"], expected)
    same(exact(p), exact(mo.array(expected).cast(dtype)))


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("master", [False, True])
@pytest.mark.parametrize("way", ["state", "pickle"])
def test_training_goes_on(rng, dtype, master, way):
    start, gs = halves(rng, dtype), [halves(rng, dtype) for _ in range(6)]
    whole, first = start.clone(), start.clone()
    one, two = (optim.Adam([p], 1e-3, master=master) for p in (whole, first))
    for g in gs:
        one.apply([g])
    for g in gs[:3]:
        two.apply([g])
    if way == "pickle":
        two = pickle.loads(pickle.dumps(two))
    else:
        state = two.state_dict()
        assert ("master.0" in state) == master
        two = optim.Adam([first.clone()], 1.0)
        two.load_state_dict(state)
    for g in gs[3:]:
        two.apply([g])
    same(exact(two.parameters[0]), exact(whole))


@pytest.mark.parametrize("dtype", HALVES)
def test_steps_are_repeated(rng, dtype, recorded):
    """Of gradients that are in memory, none is recorded in line."""
    p, q = halves(rng, dtype), halves(rng, dtype).float32()
    mo.sync([p, q])
    optimizer = optim.Adam([p, q], 0.01, master=True)
    for _ in range(5):
        gradients = [halves(rng, dtype).sync(), halves(rng, dtype).float32().sync()]
        before = mo.stats()["values_recorded"]
        optimizer.apply(gradients)
    assert not recorded
    assert mo.stats()["values_recorded"] == before


def test_masters_of_a_group(rng):
    """Each group says so for its own, at any time."""
    p, q = mo.ones((3,), "float16"), mo.ones((3,), "float16")
    optimizer = optim.SGD([{"params": p, "master": True}, {"params": q}], 2.0**-13)
    g, h = mo.ones((3,), "float16"), mo.ones((3,), "float16")
    for _ in range(8):
        optimizer.apply({p: g, q: h})
    assert set(optimizer.state_dict()) == {"steps", "param_groups", "master.0"}
    optimizer.param_groups[1]["master"] = True
    for _ in range(8):
        optimizer.apply({p: g, q: h})
    assert (p.numpy()[0], q.numpy()[0]) == (1 - 2.0**-9, 1 - 2.0**-10)


def test_parameters_that_become_halves():
    """An optimiser that was made before goes on, with what it has kept."""
    net = nn.Linear(2, 2)
    optimizer = optim.Adam(net.parameters(), 0.01, master=True)
    for dtype in ("float32", "float16", "float16"):
        optimizer.step((net.to(dtype)(mo.ones((3, 2), dtype)) ** 2).sum())
    gradients = [mo.ones(p.shape, "float16") for p in net.parameters()]
    for _ in range(2):
        optimizer.apply(gradients)
    assert {p.dtype for p in net.parameters()} == {"float16"}
    assert {"master.0", "master.1"} <= set(optimizer.state_dict())


@pytest.mark.parametrize("dtype", HALVES)
def test_gradients_of_another_dtype(dtype):
    """Gradients that were added up in float32 move halves; halves are widened first."""
    p, q = mo.ones((2,), dtype), mo.ones((2,))
    optim.Adagrad([p], 0.25).apply([mo.full((2,), 1e5, "float32")])
    optim.Adagrad([q], 0.25).apply([mo.full((2,), 300.0, dtype)])
    same(exact(p), np.full(2, 0.75, "float32"))
    same(q, np.full(2, 0.75, "float32"))


def test_optimisers_that_were_pickled_with_state_in_halves():
    p = mo.ones((2,), "float16")
    optimizer = optim.SGD([p], 0.5, momentum=0.5)
    for group in (optimizer.defaults, *optimizer.param_groups):
        del group["master"]
    optimizer._kept["velocity"][0] = mo.ones((2,), "float16")
    other = pickle.loads(pickle.dumps(optimizer))
    other.apply([mo.ones((2,), "float16")])
    same(other.parameters[0], np.full(2, 0.25, "float16"))
    assert other.state_dict()["velocity.0"].dtype == "float32" and not other.master
