# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import copy
import os
import pickle
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
    with pytest.raises(TypeError, match="a layer is 3, expected"):
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
    assert "(0): Conv2d(1, 2, kernel_size=(3, 3)" in text
    assert "(1): ReLU()" in text


def test_repr_of_modules_in_modules():
    class Net(nn.Module):
        def __init__(self):
            self.body = mo.Sequential(nn.ReLU())
            self.drop = nn.Dropout(0.25)

        def extra_repr(self):
            return "kind=3"

    expected = ["Net(", "  kind=3", "  (body): Sequential(", "    (0): ReLU()", "  )"]
    assert repr(nn.Linear(3, 2, False)) == "Linear(in_features=3, out_features=2, bias=False)"
    assert repr(Net()).splitlines() == [*expected, "  (drop): Dropout(p=0.25)", ")"]


# Registered members.


def test_buffers_that_are_not_saved():
    net = Inner()
    net.register_buffer("cache", mo.ones((3,)), persistent=False)
    assert "cache" in dict(net.named_buffers()) and "cache" not in net.state_dict()
    net.load_state_dict(net.state_dict())
    net.cache = mo.zeros((2,))
    assert "cache" not in net.state_dict() and len(net.parameters()) == 1
    net.register_buffer("none", None)
    assert "none" not in dict(net.named_buffers())
    net.none = mo.ones((1,))
    assert "none" in net.state_dict() and len(net.parameters()) == 1


def test_members_by_name():
    net = Outer()
    net.add_module("more", nn.Linear(2, 3))
    net.register_parameter("bias", mo.ones((2,)))
    net.register_parameter("none", None)
    assert "bias" in dict(net.named_parameters()) and net.none is None
    for name, module in net.named_modules():
        assert net.get_submodule(name) is module
    for name, value in net.named_parameters():
        assert net.get_parameter(name) is value
    for name, value in net.named_buffers():
        assert net.get_buffer(name) is value
    for name in ["nothing", "blocks.7", "first.weight.x"]:
        with pytest.raises(AttributeError, match=f"get_submodule: Outer has no '{name}'"):
            net.get_submodule(name)
    with pytest.raises(AttributeError, match="get_submodule: 'free' is a Var"):
        net.get_submodule("free")
    with pytest.raises(AttributeError, match=r"get_parameter: 'first\.scale' is no parameter"):
        net.get_parameter("first.scale")
    with pytest.raises(AttributeError, match=r"get_buffer: 'first\.weight' is no buffer"):
        net.get_buffer("first.weight")


@pytest.mark.parametrize(
    "call, kind, message",
    [
        (lambda m: m.add_module("a.b", nn.ReLU()), KeyError, "add_module: name is 'a.b'"),
        (lambda m: m.add_module("", nn.ReLU()), KeyError, "add_module: name is ''"),
        (lambda m: m.add_module("train", nn.ReLU()), KeyError, "no attribute of Inner"),
        (lambda m: m.add_module(3, nn.ReLU()), TypeError, "name is 3, expected a str"),
        (lambda m: m.add_module("a", 3), TypeError, "'a' is 3, expected a module"),
        (lambda m: m.register_buffer("a", 3), TypeError, "'a' is 3, expected a Var"),
        (lambda m: m.register_buffer("_a", mo.ones(1)), KeyError, "name is '_a', expected"),
        (
            lambda m: m.register_parameter("a", mo.array([1])),
            TypeError,
            "register_parameter: 'a' is int64, expected floats",
        ),
        (lambda m: m.to("int32"), TypeError, "to: dtype is int32, expected a float dtype"),
        (lambda m: m.register_forward_hook(3), TypeError, "a hook is 3, expected a function"),
        (lambda m: m.zero_grad(), AttributeError, "Inner has no zero_grad: .*mo.grad"),
        (lambda m: m.training, AttributeError, "Inner has no training: is_train says"),
        (
            lambda m: m.register_full_backward_hook(print),
            AttributeError,
            "Inner has no register_full_backward_hook: gradients are values",
        ),
    ],
)
def test_errors_of_members(call, kind, message):
    with pytest.raises(kind, match=message):
        call(Inner())


# Hooks.


def test_forward_hooks():
    net, seen = nn.Linear(2, 2), []
    x = mo.ones((1, 2))
    plain = net(x).numpy()
    before = net.register_forward_pre_hook(lambda m, args: seen.append(("before", m, args)))
    after = net.register_forward_hook(lambda m, args, y: seen.append(("after", m, args, y)))
    y = net(x)
    assert seen[0][1] is net and seen[0][2][0] is x
    assert seen[1][2][0] is x and seen[1][3] is y
    before.remove()
    before.remove()
    after.remove()
    net(x)
    assert len(seen) == 2 and "_hooks" not in vars(net)
    # What they return replaces what they were given.
    with net.register_forward_pre_hook(lambda m, args: args[0] * 0):
        same(net(x), np.broadcast_to(net.bias.numpy(), (1, 2)))
    with net.register_forward_hook(lambda m, args, y: y + 1):
        same(net(x), plain + 1)
    order = []
    net.register_forward_hook(lambda *_: order.append(1))
    net.register_forward_hook(lambda *_: order.append(2), prepend=True)
    net(x)
    assert order == [2, 1]


def test_hooks_with_keywords():
    class Scaled(nn.Module):
        def execute(self, x, scale=1):
            return x * scale

    net, seen = Scaled(), []
    net.register_forward_pre_hook(lambda m, a, k: (a, {"scale": 5}), with_kwargs=True)
    net.register_forward_hook(lambda m, a, k, y: seen.append(k), with_kwargs=True)
    same(net(mo.ones(2), scale=3), np.full(2, 5, "float32"))
    assert seen == [{"scale": 5}]
    net.register_forward_pre_hook(lambda m, a, k: a, with_kwargs=True)
    with pytest.raises(TypeError, match=r"a hook returned .*, expected None or \(args, kwargs\)"):
        net(mo.ones(2))


# Types, copies, what is trained.


def test_types_of_elements():
    net = Outer()
    weight, count = net.first.weight, net.first.count
    for convert, dtype in [
        (net.half, "float16"),
        (net.bfloat16, "bfloat16"),
        (net.double, "float64"),
        (net.float, "float32"),
        (lambda: net.to(mo.float64), "float64"),
    ]:
        assert convert() is net
        assert {p.dtype for p in net.parameters()} == {dtype}
        assert net.first.scale.dtype == dtype and count.dtype == "int64"
    assert net.first.weight is weight
    same(weight, np.ones((2, 2)))


def test_what_is_not_trained(rng):
    net = mo.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    state = set(net.state_dict())
    assert net[0].requires_grad_(False) is net[0]
    assert [name for name, _ in net.named_parameters()] == ["1.weight", "1.bias"]
    assert [name for name, _ in net.named_buffers()] == ["0.weight", "0.bias"]
    assert set(net.state_dict()) == state
    before = net[0].weight.numpy()
    mo.optim.SGD(net.parameters(), 0.1).step((net(mo.ones((3, 2))) ** 2).sum())
    same(net[0].weight, before)
    assert len(net.requires_grad_().parameters()) == 4


def test_copies(rng):
    net = Outer()
    net.register_forward_hook(np.add)
    net.register_buffer("scale", mo.ones(3), persistent=False)
    net.load_state_dict(random_state(rng, net))
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert list(other.state_dict()) == list(net.state_dict())
        assert other.shared is other.first is not net.first
        for name, value in net.state_dict().items():
            own = other.state_dict()[name]
            assert own is not value
            same(own, value.numpy())
        assert len(other.parameters()) == 4 and "scale" not in other.state_dict()
        # The copy is no function of the original.
        loss = sum(p.sum() for p in other.parameters())
        assert not any(g.numpy().any() for g in mo.grad(loss, net.parameters(), allow_unused=True))
        other.first.weight.update(other.first.weight * 0 + 9)
        assert (net.first.weight.numpy() != 9).all()


def test_skipped_names(rng):
    net = nn.Linear(2, 3)
    found = net.load_state_dict({"weight": net.weight, "extra": net.bias}, strict=False)
    assert found.missing_keys == ["bias"] and found.unexpected_keys == ["extra"]
    assert net.load_state_dict(net.state_dict()) == ([], [])


# Containers.


def test_lists_of_modules():
    a, b, c, d = (nn.Linear(2, 2) for _ in range(4))
    net = mo.Sequential(a, b, c)
    assert isinstance(net[1:], mo.Sequential) and list(net[::2]) == [a, c]
    assert net[-1] is c and b in net and d not in net
    net.insert(1, d)
    assert list(net) == [a, d, b, c]
    assert net.pop(1) is d and list(net) == [a, b, c]
    net += [d]
    assert isinstance(net, mo.Sequential) and list(net) == [a, b, c, d]
    del net[0]
    net[0] = a
    assert list(net) == [a, c, d] and list(net[:1].__add__([b])) == [a, b]
    assert [name for name, _ in net.named_children()] == ["0", "1", "2"]
    same(net[:2](mo.ones((1, 2))), c(a(mo.ones((1, 2)))).numpy())
    for wrong in (lambda: net.insert(0, 3), lambda: net.extend([a, 3]), lambda: net.append(3)):
        with pytest.raises(TypeError, match="a layer is 3, expected a module or a function"):
            wrong()
    assert len(net) == 3
    with pytest.raises(IndexError):
        net[7]


def test_dictionaries_of_modules():
    a, b = nn.Linear(2, 2), nn.ReLU()
    net = nn.ModuleDict({"a": a})
    net["relu"] = b
    assert list(net) == list(net.keys()) == ["a", "relu"] and net["a"] is a and len(net) == 2
    assert list(net.state_dict()) == ["a.weight", "a.bias"] and "a" in net
    assert list(net.items()) == [("a", a), ("relu", b)] and list(net.values()) == [a, b]
    assert net.pop("relu") is b
    net.update([("b", b)])
    del net["a"]
    assert repr(net) == "ModuleDict(\n  (b): ReLU()\n)"
    net.clear()
    assert len(net) == 0
    for key, value, kind in [("a.b", a, KeyError), (1, a, TypeError), ("a", 1, TypeError)]:
        with pytest.raises(kind, match=r"ModuleDict: a (key|value) is "):
            net[key] = value


def test_containers_of_parameters():
    values = [mo.ones((k,)) for k in range(1, 4)]

    class Net(nn.Module):
        def __init__(self):
            self.several = nn.ParameterList(values[:2])
            self.named = nn.ParameterDict({"a": values[2]})

    net = Net()
    assert list(net.state_dict()) == ["several.0", "several.1", "named.a"]
    assert [p.shape for p in net.parameters()] == [(1,), (2,), (3,)]
    net.several += [mo.zeros((4,))]
    net.several[0] = mo.zeros((5,))
    assert [p.shape for p in net.several] == [(5,), (2,), (4,)] and len(net.several[1:]) == 2
    assert net.named["a"] is values[2]
    with pytest.raises(TypeError, match="ParameterList: a value is 3, expected a Var"):
        net.several.append(3)
    with pytest.raises(TypeError, match="ParameterDict: a value is 3, expected a Var"):
        net.named["b"] = 3
