# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Everything that holds state is copied and pickled, and goes on from there."""

import base64
import copy
import json
import pathlib
import pickle
import subprocess
import sys

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from metaops.optim import lr_scheduler
from public import public_classes
from util import floats, same

COPIES = {
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),
    "oldest pickle": lambda value: pickle.loads(pickle.dumps(value, protocol=2)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}
#: Copies that share nothing with the original.
WHOLE = {name: COPIES[name] for name in ("pickle", "deepcopy")}


@pytest.mark.parametrize("made", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "bfloat16", "float64"])
def test_tensors(rng, made, dtype):
    for shape in [(), (5,), (2, 0, 3), (3, 4)]:
        x = mo.array(floats(rng, shape, low=0, high=3)).cast(dtype)
        for value in (x, x.reshape(shape[::-1])):  # the first one computed by then
            result = made(value)
            assert type(result) is mo.Var and result is not value
            assert result.dtype is value.dtype
            same(result, value.numpy())


@pytest.mark.parametrize("made", COPIES.values(), ids=COPIES)
def test_small_values(made):
    assert made(mo.bfloat16) is mo.bfloat16
    assert made(mo.relu) is mo.relu and made(mo.nn.init.xavier_normal) is mo.nn.init.xavier_normal
    key = mo.Key(3).fold_in(7)
    assert made(key) == key
    same(mo.random((4,), key=made(key)), mo.random((4,), key=key).numpy())
    assert made(mo.finfo(mo.float16)) == mo.finfo(mo.float16)
    assert made(mo.iinfo(mo.int8)) == mo.iinfo(mo.int8)


def layers():
    """Return an instance of each class of layers that is made of a few numbers."""
    found = {}
    for name, cls in public_classes().items():
        if not issubclass(cls, nn.Module) or cls is nn.Module:
            continue
        for arguments in [(), (3,), (3, 3), (4, 2), (3, 3, 3), (4, 2, 2), (2, 0.5)]:
            try:
                found[name] = cls(*arguments)
                break
            except (TypeError, ValueError):
                pass
    return found


@pytest.mark.parametrize("made", WHOLE.values(), ids=WHOLE)
def test_every_layer(made):
    found = layers()
    assert len(found) > 120
    for name, layer in found.items():
        result = made(layer.eval())
        assert type(result) is type(layer) and repr(result) == repr(layer), name
        assert not result.is_train
        state, copied = layer.state_dict(), result.state_dict()
        assert state.keys() == copied.keys()
        for key, value in state.items():
            assert copied[key] is not value
            same(copied[key], value.numpy())


def model():
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2))


OPTIMISERS = [
    name
    for name in sorted(set(mo.optim.__all__) & public_classes().keys())
    if issubclass(getattr(mo.optim, name), mo.optim.Optimizer)
]


@pytest.mark.parametrize("made", WHOLE.values(), ids=WHOLE)
@pytest.mark.parametrize("name", OPTIMISERS)
def test_training_goes_on(rng, made, name):
    """A copy of a model with its optimiser takes the same steps, and none of the other."""
    net = model()
    if name == "Muon":  # of matrices
        net = nn.Sequential(nn.Linear(3, 4, bias=False), nn.ReLU(), nn.Linear(4, 2, bias=False))
    optimizer = getattr(mo.optim, name)(net.parameters(), lr=0.05)
    scheduler = lr_scheduler.StepLR(optimizer, 1, 0.5)
    x = mo.array(floats(rng, (8, 3)))

    def train(net, optimizer, scheduler):
        def loss():
            return (net(x) ** 2).mean()

        optimizer.step(loss if name == "LBFGS" else loss())
        scheduler.step()
        return [value.numpy() for value in net.parameters()]

    train(net, optimizer, scheduler)
    copied = made((net, optimizer, scheduler))
    before = [value.numpy() for value in copied[0].parameters()]
    expected = train(net, optimizer, scheduler)
    for value, old in zip(copied[0].parameters(), before, strict=True):
        same(value, old)
    assert copied[1].lr == pytest.approx(0.025)
    for value, wanted in zip(train(*copied), expected, strict=True):
        np.testing.assert_array_equal(value, wanted)
    assert copied[1].lr == optimizer.lr == pytest.approx(0.0125)


SCHEDULERS = {
    "ConstantLR": (0.5, 3),
    "CosineAnnealingLR": (5,),
    "CosineAnnealingWarmRestarts": (3,),
    "CyclicLR": (0.01, 0.1),
    "ExponentialLR": (0.9,),
    "LinearLR": (0.5, 4),
    "MultiStepLR": ([1, 3],),
    "OneCycleLR": (0.1, 10),
    "PolynomialLR": (5,),
    "StepLR": (2,),
}


@pytest.mark.parametrize("made", WHOLE.values(), ids=WHOLE)
@pytest.mark.parametrize("name", SCHEDULERS)
def test_schedules_go_on(made, name):
    optimizer = mo.optim.SGD([mo.ones(3)], lr=0.1, momentum=0.9)
    scheduler = getattr(lr_scheduler, name)(optimizer, *SCHEDULERS[name])
    scheduler.step()
    copied = made(scheduler)
    rates = [[], []]
    for _ in range(5):
        for schedule, seen in zip((scheduler, copied), rates, strict=True):
            schedule.step()
            seen.append(schedule.get_last_lr())
    assert rates[0] == rates[1] and len({tuple(rate) for rate in rates[0]}) > 1


def test_hooks_are_copied():
    net = model()
    net.register_forward_hook(_double)
    net.eval()
    x = mo.ones((2, 3))
    for made in WHOLE.values():
        same(made(net)(x), net(x).numpy())


def _double(module, given, result):
    return result * 2


def test_gradients_flow_through_copies_and_not_through_pickles(rng):
    x = mo.array(floats(rng, (4,)))
    y = x * x
    for made in (copy.copy, copy.deepcopy):
        same(mo.grad(made(y).sum(), x), 2 * x.numpy())
    unpickled = pickle.loads(pickle.dumps(y)).sum()
    same(mo.grad(unpickled, x, allow_unused=True), np.zeros(4, "float32"))


def test_pickles_name_the_package():
    """Classes may move between modules."""
    classes = {name: value for name, value in vars(mo).items() if isinstance(value, type)}
    classes |= {name: getattr(mo, name) for name in ("Key", "Tuning", "finfo", "no_grad")}
    for name, cls in classes.items():
        elsewhere = ("metaops._core", "metaops.nn.module", "metaops.nn.containers")
        assert cls.__module__ == "metaops" or cls.__module__ in elsewhere, name
        assert pickle.loads(pickle.dumps(cls)) is cls


FORMER = json.loads((pathlib.Path(__file__).parent / "data/former_pickles.json").read_text())
LOADING = """
import base64, json, pickle, sys
for name, text in json.load(open(sys.argv[1])).items():
    if name in sys.argv[2:] or not sys.argv[2:]:
        assert pickle.loads(base64.b64decode(text)) is not None, name
"""


def test_pickles_of_before_the_rooms():
    """Written when all modules lay beside each other: `metaops.keys.Key` and its like."""
    found = {name: pickle.loads(base64.b64decode(text)) for name, text in FORMER.items()}
    x = np.float32([3, 1, 2, 1])
    same(found["tensor"], x)
    assert found["half"].dtype is found["dtype"] is mo.bfloat16
    assert found["key"] == mo.Key(3).fold_in(7)
    same(found["sorted"].values, np.float32([3, 2]))
    assert type(found["sorted"]) is type(mo.topk(mo.array(x), 2))
    assert type(found["unique"]) is type(mo.unique_all(mo.array(x)))
    assert found["unique_counts"]._fields == mo.unique_counts(mo.array(x))._fields
    assert found["unique_inverse"]._fields == mo.unique_inverse(mo.array(x))._fields
    assert found["device"] == mo.device("cpu")
    assert found["finfo"] == mo.finfo(mo.float16) and found["iinfo"] == mo.iinfo(mo.int8)
    assert found["relu"] is mo.relu and found["random"] is mo.random
    assert found["normal"] is mo.normal and mo.explain in found["functions"]
    assert {mo.Key, mo.Tuning, mo.ProfileReport, mo.LastProgram} <= {*found["classes"]}
    assert found["layer"](mo.ones((1, 2))).shape == (1, 1)
    assert isinstance(found["holder"][0], mo.MemoryHolder)
    assert all(isinstance(kernel, mo.KernelExplanation) for kernel in found["explained"])
    assert isinstance(found["usage"], mo.cache.CacheUsage)
    with found["no_grad"]:
        assert mo.grad is found["functions"][0]


@pytest.mark.parametrize("names", [[], ["key"], ["sorted"], ["iinfo"], ["holder"], ["random"]])
def test_such_pickles_in_a_process_that_has_imported_nothing(names):
    path = pathlib.Path(__file__).parent / "data/former_pickles.json"
    command = [sys.executable, "-c", LOADING, path, *names]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
