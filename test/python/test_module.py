# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import stat

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from util import close, floats, same


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = mo.ones((2, 2))
        self.count = mo.array(3)
        self.register_buffer("scale", mo.full((2,), 0.5))
        self._hidden = mo.zeros((9,))

    def forward(self, x):
        return x @ self.weight * self.scale


class Outer(nn.Module):
    def __init__(self):
        self.first = Inner()
        self.blocks = [Inner(), nn.ReLU()]
        self.named = {"a": Inner()}
        self.shared = self.first
        self.free = mo.zeros((4,))
        self.name = "outer"

    def execute(self, x):
        return self.blocks[1](self.blocks[0](self.first(x)))


def test_names():
    net = Outer()
    parameters = ["free", "first.weight", "blocks.0.weight", "named.a.weight"]
    assert [name for name, _ in net.named_parameters()] == parameters
    assert len(net.parameters()) == 4
    buffers = [f"{m}.{n}" for m in ["first", "blocks.0", "named.a"] for n in ["count", "scale"]]
    assert [name for name, _ in net.named_buffers()] == buffers
    # The state has the names of what is shared as well.
    shared = ["shared.weight", "shared.count", "shared.scale"]
    assert set(net.state_dict()) == {*parameters, *buffers, *shared}
    assert net.state_dict()["shared.weight"] is net.first.weight
    assert net.state_dict()["first.weight"] is net.first.weight
    names = ["", "first", "blocks.0", "blocks.1", "named.a"]
    assert [name for name, _ in net.named_modules()] == names
    assert len(net.modules()) == 5
    assert [name for name, _ in net.named_children()][:2] == ["first", "blocks.0"]
    assert net.children()[0] is net.first


def test_call():
    x = np.array([[1.0, -2.0]], "float32")
    net = Outer()
    same(net(mo.array(x)), np.maximum(x.sum() * 0.5 * np.ones((1, 2), "float32"), 0))


def test_training_or_not():
    net = Outer()
    assert net.is_training() and net.first.is_train
    assert net.eval() is net
    assert not any(module.is_training() for module in net.modules())
    net.train()
    assert all(module.is_training() for module in net.modules())


def test_apply():
    seen = []
    net = Outer()
    assert net.apply(lambda module: seen.append(type(module).__name__)) is net
    assert seen == ["Outer", "Inner", "Inner", "ReLU", "Inner"]


def test_sequential(rng):
    net = mo.Sequential(nn.Linear(3, 4), mo.tanh, nn.Linear(4, 2, bias=False))
    assert [name for name, _ in net.named_parameters()] == ["0.weight", "0.bias", "2.weight"]
    assert len(net) == 3 and net[1] is mo.tanh and len(list(net)) == 3
    x = floats(rng, (5, 3))
    w0, b0, w2 = (p.numpy() for p in net.parameters())
    close(net(mo.array(x)), np.tanh(x @ w0.T + b0) @ w2.T, rtol=1e-5)
    net.append(lambda y: y + 1)
    close(net(mo.array(x)), np.tanh(x @ w0.T + b0) @ w2.T + 1, rtol=1e-5)
    assert len(mo.Sequential([nn.ReLU(), nn.ReLU()])) == 2
    with pytest.raises(TypeError, match="int"):
        mo.Sequential(nn.ReLU(), 3)


def test_module_list():
    layers = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2)])
    assert len(layers.parameters()) == 4
    assert layers[1:][0] is layers[1]


def random_state(rng, net):
    """Return a state, in which the names of one tensor have one value."""
    values = {id(t): floats(rng, t.shape).astype(t.dtype) for t in net.state_dict().values()}
    return {name: values[id(t)] for name, t in net.state_dict().items()}


def test_load_state_dict(rng):
    a, b = Outer(), Outer()
    state = random_state(rng, a)
    a.load_state_dict(state)
    weight = a.first.weight
    b.load_state_dict(a.state_dict())
    assert a.first.weight is weight
    for name, tensor in b.state_dict().items():
        same(tensor, state[name])
    # No aliasing: changing one leaves the other.
    a.first.weight.update(a.first.weight * 2)
    mo.sync([a.first.weight])
    same(b.first.weight, state["first.weight"])
    # Another dtype is converted.
    b.load_state_dict({name: value.astype("float64") for name, value in state.items()})
    assert b.first.weight.dtype == "float32" and b.first.count.dtype == "int64"


def test_load_state_dict_errors(rng):
    net = nn.Linear(2, 3)
    before = net.weight.numpy()
    good = {"weight": np.zeros((3, 2), "float32"), "bias": np.zeros(3, "float32")}
    with pytest.raises(KeyError, match="bias"):
        net.load_state_dict({"weight": good["weight"]})
    with pytest.raises(KeyError, match="extra"):
        net.load_state_dict({**good, "extra": good["bias"]})
    with pytest.raises(ValueError, match=r"\(2, 3\).*\(3, 2\)"):
        net.load_state_dict({"bias": good["bias"], "weight": np.zeros((2, 3), "float32")})
    same(net.weight, before)
    net.load_state_dict({"weight": good["weight"], "extra": good["bias"]}, strict=False)
    same(net.weight, good["weight"])


class Tied(nn.Module):
    def __init__(self):
        self.first = nn.Linear(3, 3, bias=False)
        self.second = nn.Linear(3, 3, bias=False)
        self.second.weight = self.first.weight


def test_tied_weights(rng, tmp_path):
    net, w = Tied(), floats(rng, (3, 3))
    assert list(net.state_dict()) == ["first.weight", "second.weight"]
    assert [name for name, _ in net.named_parameters()] == ["first.weight"]
    both = {"first.weight": w, "second.weight": w.copy()}
    for state in [both, {"first.weight": w}, {"second.weight": mo.array(w)}]:
        net = Tied()
        weight = net.first.weight
        net.load_state_dict(state)
        same(net.first.weight, w)
        assert net.first.weight is weight is net.second.weight
    with pytest.raises(KeyError, match=r"missing names \['first.weight', 'second.weight'\]"):
        net.load_state_dict({})
    net.save(tmp_path / "file")
    other = Tied()
    other.load(tmp_path / "file")
    same(other.second.weight, w)


def test_tied_weights_that_conflict(rng):
    net = Tied()
    before, w = net.first.weight.numpy(), floats(rng, (3, 3))
    other = w.copy()
    other[2, 2] = np.nextafter(other[2, 2], np.float32(9))
    with pytest.raises(ValueError, match=r"'first.weight' and 'second.weight' are one tensor"):
        net.load_state_dict({"first.weight": w, "second.weight": other})
    same(net.first.weight, before)
    # NaN is what it is.
    w[0, 0] = other[2, 2] = np.nan
    net.load_state_dict({"first.weight": w, "second.weight": w.copy()})
    same(net.second.weight, w)


def test_modules_that_hold_each_other():
    outer, inner = Inner(), Inner()
    outer.inner, inner.outer = inner, outer
    names = set(outer.state_dict())
    assert names == {f"{m}{n}" for m in ["", "inner."] for n in ["weight", "count", "scale"]}
    # Their tensors would live until the next garbage collection.
    del inner.outer


def test_save_and_load(rng, tmp_path):
    path = tmp_path / "model.npz"
    a, b = Outer(), Outer()
    a.load_state_dict(random_state(rng, a))
    a.save(path)
    b.load(path)
    for name, tensor in a.state_dict().items():
        same(b.state_dict()[name], tensor.numpy())
    with np.load(path) as archive:
        # What is there under two names is written once.
        shared = {"shared.weight", "shared.count", "shared.scale"}
        assert set(archive.files) == {*a.state_dict(), "metaops.json"} - shared
        same(archive["first.weight"], a.first.weight.numpy())
    # As private as any new file, and no leftovers.
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask
    assert os.listdir(tmp_path) == ["model.npz"]


def test_repr():
    text = repr(mo.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU()))
    assert "0: Conv2d(1, 2, kernel_size=(3, 3)" in text
    assert "1: ReLU()" in text
