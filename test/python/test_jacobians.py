# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Jacobians and Hessians, and modules as functions of their state."""

import re

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from util import close

HERE = re.escape(__file__)
STEP = 1e-6


def leaf(rng, *shape):
    return mo.array(rng.standard_normal(shape))


def differences(function, x):
    """Return the Jacobian of a function of an array, by finite differences."""
    columns = []
    for place in np.ndindex(x.shape):
        direction = np.zeros(x.shape)
        direction[place] = STEP
        columns.append((function(x + direction) - function(x - direction)) / (2 * STEP))
    stacked = np.stack(columns, -1)
    return stacked.reshape(*stacked.shape[:-1], *x.shape)


# Jacobians


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
@pytest.mark.parametrize("size", [None, 4])
@pytest.mark.parametrize("shapes", [((3, 4), (4, 2)), ((5,), (5, 1)), ((2, 2), (2, 8))])
def test_jacobians_against_differences(rng, mode, size, shapes):
    x, w = leaf(rng, *shapes[0]), leaf(rng, *shapes[1])

    def call(x, w):
        return mo.sin(mo.tanh(x @ w) * x.sum())

    by_x = mo.jacobian(call, mode=mode, chunk_size=size)(x, w)
    by_w = mo.jacobian(call, 1, mode, size)(x, w)
    expected = differences(lambda x: call(mo.array(x), w).numpy(), x.numpy())
    np.testing.assert_allclose(by_x.numpy(), expected, rtol=1e-7, atol=1e-8)
    expected = differences(lambda w: call(x, mo.array(w)).numpy(), w.numpy())
    np.testing.assert_allclose(by_w.numpy(), expected, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_structures(rng, mode):
    params, x = {"w": leaf(rng, 3, 2), "b": [leaf(rng, 2)]}, leaf(rng, 3)

    def call(params, x, *, power):
        y = x @ params["w"] + params["b"][0]
        return y**power, {"norm": (y * y).sum(), "same": mo.ones((), dtype="float64")}

    made = mo.jacobian(call, (0, -1), mode)(params, x, power=3)
    first, second = made[0], made[1]["norm"]
    y = x.numpy() @ params["w"].numpy() + params["b"][0].numpy()
    slope = np.diag(3 * y**2)
    close(first[0]["w"], slope[:, None] * x.numpy()[:, None])
    close(first[0]["b"][0], slope)
    close(first[1], slope @ params["w"].numpy().T)
    close(second[0]["b"][0], 2 * y)
    close(second[1], params["w"].numpy() @ (2 * y))
    np.testing.assert_array_equal(made[1]["same"][0]["w"].numpy(), np.zeros((3, 2)))


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_types_and_no_elements(mode):
    x, y = mo.ones(2, dtype="float32"), mo.ones((0, 3), dtype="float64")
    by_x, by_y = mo.jacobian(lambda x, y: (x.sum() * y).cast("float64"), (0, 1), mode)(x, y)
    assert by_x.shape == (0, 3, 2) and by_y.shape == (0, 3, 0, 3)
    assert mo.jacobian(lambda x: x[:0], mode=mode)(x).shape == (0, 2)
    wide = mo.jacobian(lambda x: x.cast("float64") * 2, mode=mode)(x)
    np.testing.assert_array_equal(wide.numpy(), 2 * np.eye(2))


def test_jacobians_in_other_functions(rng):
    x, w = leaf(rng, 4), leaf(rng, 6, 4)
    make = mo.jacobian(lambda x: mo.tanh(w @ x))
    expected = make(x).numpy()
    recorded = mo.jit(make)
    for _ in range(3):
        close(recorded(x), expected)
    several = leaf(rng, 3, 4)
    close(mo.vmap(make)(several), np.stack([make(several[k]).numpy() for k in range(3)]))
    slope = mo.grad((make(x) * w).sum(), [x, w])
    numeric = differences(lambda x: np.array((make(mo.array(x)) * w).sum().numpy()), x.numpy())
    np.testing.assert_allclose(slope[0].numpy(), numeric, rtol=1e-6, atol=1e-8)
    # A tensor from outside that is made of the argument is a constant.
    z = x * 2
    close(mo.jacobian(lambda x: x * z)(x), np.diag(z.numpy()))


def test_random_numbers_are_the_same_for_all_products():
    x = mo.ones(50)
    mo.seed(2)
    made = mo.jacobian(lambda x: nn.dropout(x, 0.5))(x).numpy()
    mo.seed(2)
    np.testing.assert_array_equal(made, np.diag(nn.dropout(x, 0.5).numpy()))


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_random_numbers_are_the_same_by_all_arguments_and_of_all_results(mode):
    def call(x, y):
        noise = mo.uniform((3,))
        return x * noise, y * noise + x

    mo.seed(2)
    noise, behind = mo.uniform((3,)).numpy(), mo.rand(2).numpy()
    mo.seed(2)
    made = mo.jacobian(call, (0, 1), mode)(mo.ones(3), mo.ones(3))
    np.testing.assert_array_equal(mo.rand(2).numpy(), behind)
    for block, expected in [
        (made[0][0], np.diag(noise)),
        (made[0][1], np.zeros((3, 3))),
        (made[1][0], np.eye(3)),
        (made[1][1], np.diag(noise)),
    ]:
        np.testing.assert_array_equal(block.numpy(), expected)


def test_random_numbers_are_the_same_in_a_hessian():
    def call(x, y):
        return (x * y * mo.uniform((3,))).sum()

    mo.seed(2)
    noise = np.diag(mo.uniform((3,)).numpy())
    mo.seed(2)
    made = mo.hessian(call, (0, 1))(mo.ones(3), mo.ones(3))
    np.testing.assert_array_equal(made[0][1].numpy(), noise)
    np.testing.assert_array_equal(made[1][0].numpy(), noise)


@pytest.mark.parametrize("make", [mo.jacobian, mo.hessian])
def test_no_other_random_numbers_in_parts_of_the_products(make):
    def call(x):
        mo.rand(3)
        return (x**2).sum() * mo.uniform(())

    message = rf"the function \({HERE}:\d+\) draws random numbers, .*, or say chunk_size=5"
    kwargs = {"mode": "forward"} if make is mo.jacobian else {}
    with pytest.raises(RuntimeError, match=f"{make.__name__}: {message}"):
        make(call, chunk_size=2, **kwargs)(mo.ones(5))
    assert make(call, chunk_size=5)(mo.ones(5)).shape[-1] == 5
    key = mo.Key(3)
    noise = float(mo.uniform((), key=key))
    made = mo.hessian(lambda x: (x**2).sum() * mo.uniform((), key=key), chunk_size=2)(mo.ones(5))
    np.testing.assert_allclose(made.numpy(), 2 * noise * np.eye(5), rtol=1e-6)


@pytest.mark.parametrize("make", [mo.jacobian, mo.hessian])
def test_the_function_is_called_once_for_all_products(make):
    calls = []

    def call(x, y, z):
        calls.append(1)
        return (x * y * z).sum()

    args = [mo.ones(2)] * 3
    make(call, (0, 1, 2))(*args)
    # Of Jacobians, a call more tells what shapes results have.
    assert len(calls) == (2 if make is mo.jacobian else 1)


def test_an_argument_twice(rng):
    x = leaf(rng, 3)
    for mode in ("forward", "reverse"):
        # Partial derivatives by each argument, though both are one tensor.
        by_both = mo.jacobian(lambda x, y: x * x * y, (0, 1), mode)(x, x)
        close(by_both[0], np.diag(2 * x.numpy() ** 2))
        close(by_both[1], np.diag(x.numpy() ** 2))
        twice = mo.jacobian(lambda x: x * x, (0, 0), mode)(x)
        for made in twice:
            close(made, np.diag(2 * x.numpy()))


# Functions without forward mode


class Square(mo.Function):
    def execute(self, x):
        self.x = x
        return x * x

    def grad(self, gradient):
        return gradient * 2 * self.x


@pytest.mark.parametrize("size", [None, 2])
def test_reverse_mode_where_there_is_no_other(rng, size):
    x = leaf(rng, 3)
    made = mo.hessian(lambda x: Square.apply(Square.apply(x)).sum(), chunk_size=size)(x)
    close(made, np.diag(12 * x.numpy() ** 2))

    def twice(x):
        return mo.concat([Square.apply(x)] * 2, 0)

    expected = np.concatenate([np.diag(2 * x.numpy())] * 2)
    close(mo.jacobian(twice, chunk_size=size)(x), expected)
    with pytest.raises(RuntimeError, match="Square has no jvp"):
        mo.jacobian(twice, mode="forward")(x)


def test_forward_mode_where_there_is_no_other(rng):
    def call(x):
        # As many trips as are needed: they have tangents alone.
        return mo.while_loop(lambda c: c.sum() < 100, lambda c: c * 2, x)

    x = mo.array([1.0, 2.0, 3.0], dtype="float64")
    close(mo.jacobian(call)(x), 32 * np.eye(3))
    with pytest.raises(RuntimeError, match="a loop whose number of trips"):
        mo.jacobian(call, mode="reverse")(x)
    with pytest.raises(RuntimeError, match="a loop whose number of trips"):
        mo.jacobian(lambda x: call(Square.apply(x)))(x)


# Hessians


def test_hessians_of_a_perceptron(rng):
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)).double()
    state, x = model.state_dict(), leaf(rng, 7, 3)

    def loss(state):
        return (mo.functional_call(model, state, x) ** 2).sum()

    for size in (None, 5):
        blocks = mo.hessian(loss, chunk_size=size)(state)
        for name, other in [("0.weight", "0.weight"), ("0.bias", "2.weight")]:

            def slope(array, name=name, other=other):
                given = {**state, other: mo.array(array)}
                return mo.grad(loss(given), given[name]).numpy()

            expected = differences(slope, state[other].numpy())
            np.testing.assert_allclose(blocks[name][other].numpy(), expected, rtol=1e-6, atol=1e-7)
            turned = blocks[other][name].numpy()
            rank = state[name].ndim
            axes = (*range(turned.ndim - rank, turned.ndim), *range(turned.ndim - rank))
            np.testing.assert_allclose(turned.transpose(axes), expected, rtol=1e-6, atol=1e-7)


def test_hessians_by_several_arguments(rng):
    x, y = leaf(rng, 3), leaf(rng, 2)
    made = mo.hessian(lambda x, y: (x**3).sum() * (y**2).sum(), (0, 1))(x, y)
    close(made[0][0], np.diag(6 * x.numpy()) * (y.numpy() ** 2).sum())
    close(made[0][1], np.outer(3 * x.numpy() ** 2, 2 * y.numpy()))
    close(made[1][1], 2 * np.eye(2) * (x.numpy() ** 3).sum())


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: mo.jacobian(2), TypeError, "jacobian: fn is 2, expected a function"),
        (lambda x: mo.jacobian(mo.sin, mode="both"), ValueError, "jacobian: mode is 'both'"),
        (lambda x: mo.jacobian(mo.sin, "x")(x), TypeError, "jacobian: argnums has 'x'"),
        (
            lambda x: mo.jacobian(mo.sin, 1)(x),
            ValueError,
            "jacobian: argnums has 1, and 1 arguments are given",
        ),
        (
            lambda x: mo.jacobian(mo.sin)(mo.arange(3)),
            TypeError,
            "jacobian: argument is .*, expected a tensor of floats",
        ),
        (
            lambda x: mo.jacobian(lambda x: x > 0)(x),
            TypeError,
            "jacobian: the function.* result is .*, expected a tensor of floats",
        ),
        (
            lambda x: mo.jacobian(lambda x: x > 0, mode="forward")(x),
            TypeError,
            "jacobian: the function.* result is .*, expected a tensor of floats",
        ),
        (
            lambda x: mo.hessian(mo.sin)(x),
            TypeError,
            "hessian: the function returns .*, expected a float without dimensions",
        ),
        (lambda x: mo.jacobian(mo.sin)([]), TypeError, "jacobian: there is no tensor, expected"),
        (
            lambda x: mo.jacobian(lambda x: None, mode="forward")(x),
            TypeError,
            "jacobian: the function: there is no tensor, expected",
        ),
        (lambda x: mo.hessian(None), TypeError, "hessian: fn is None"),
    ],
)
def test_bad_calls(call, error, message):
    with pytest.raises(error, match=message + rf"[^\n]*\({HERE}:\d+\)$"):
        call(mo.ones(3))


# Modules


class Shared(nn.Module):
    """Has a tensor in a list, one by two names, and a module twice."""

    def __init__(self):
        self.tensors = [mo.ones(2), {"deep": mo.ones(2) * 2}]
        self.again = self.tensors[0]
        self.layer = nn.Linear(2, 2)
        self.layers = [self.layer, nn.BatchNorm1d(2)]
        self.calls = []

    def execute(self, x):
        self.calls.append(1)
        x = x * self.tensors[0] + self.tensors[1]["deep"] + self.again
        return self.layers[1](self.layer(x))


def test_calls_with_other_tensors(rng):
    module = Shared()
    before = {name: value.numpy() for name, value in module.state_dict().items()}
    state = {name: mo.array(rng.random(x.shape), dtype="float32") for name, x in before.items()}
    same = state["again"] = state["tensors.0"] = mo.ones(2) * 3
    for name in [name for name in state if name.startswith("layers.0")]:
        state[name] = state[name.replace("layers.0", "layer")]
    x = mo.array(rng.random((5, 2)), dtype="float32")
    made = mo.functional_call(module, state, x).numpy()
    assert module.calls == [1] and same.tolist() == [3, 3]
    for name, value in module.state_dict().items():
        np.testing.assert_array_equal(value.numpy(), before[name])
    fresh = Shared()
    initial = {**state, "layers.1.running_mean": mo.zeros(2), "layers.1.running_var": mo.ones(2)}
    fresh.load_state_dict({k: v for k, v in initial.items() if k in fresh.state_dict()})
    np.testing.assert_allclose(made, fresh(x).numpy(), rtol=1e-5, atol=1e-6)
    # The call updates the tensors that it is given.
    assert not np.allclose(state["layers.1.running_mean"].numpy(), before["layers.1.running_mean"])


class Bound(nn.Module):
    """Has its own methods, and those of a module within, in attributes."""

    def __init__(self):
        self.weight = mo.ones(2)
        self.inner = nn.Linear(2, 2)
        self.steps = [self.scale, self.inner.execute]
        self.act = self.scale
        self.read = lambda: self.weight

    def scale(self, x):
        return x * self.weight

    def execute(self, x):
        for step in self.steps:
            x = step(x)
        return self.act(x)


def test_methods_in_attributes_are_those_of_the_copy(rng):
    module = Bound()
    before = {name: value.numpy() for name, value in module.state_dict().items()}
    state = {name: mo.array(rng.random(x.shape), dtype="float32") for name, x in before.items()}
    x = mo.array(rng.random((5, 2)), dtype="float32")
    made = mo.functional_call(module, state, x).numpy()
    own = {name: value.numpy() for name, value in state.items()}
    expected = (x.numpy() * own["weight"]) @ own["inner.weight"].T + own["inner.bias"]
    np.testing.assert_allclose(made, expected * own["weight"], rtol=1e-5)
    # The module's own methods are still its own.
    assert module.act.__self__ is module and module.steps[1].__self__ is module.inner
    blocks = mo.hessian(lambda state: mo.functional_call(module, state, x).sum())(state)
    total, weight, one = x.numpy().sum(0), own["weight"], np.eye(2)
    expected = np.einsum("j,kj,i->kij", total, one, weight)
    expected += np.einsum("j,ki,j->kij", total, one, weight)
    np.testing.assert_allclose(blocks["weight"]["inner.weight"].numpy(), expected, rtol=1e-5)


def test_another_function_in_an_attribute_sees_the_module_itself():
    module = Bound()
    module.steps = [lambda x: x * module.read()]
    given = {"weight": mo.ones(2) * 3}
    assert mo.functional_call(module, given, mo.ones(2)).tolist() == [3, 3]


class Tied(nn.Module):
    """Has one tensor by two names."""

    def __init__(self):
        self.into = nn.Linear(3, 3, bias=False).double()
        self.back = nn.Linear(3, 3, bias=False).double()
        self.back.weight = self.into.weight

    def execute(self, x):
        return self.back(mo.tanh(self.into(x)))


def test_derivatives_by_a_tensor_of_two_names(rng):
    module, x = Tied(), leaf(rng, 4, 3)

    def loss(state):
        return (mo.functional_call(module, state, x) ** 2).sum()

    state = dict(module.named_parameters())
    assert list(state) == ["into.weight"] and len(module.state_dict()) == 2

    def slope(array):
        given = mo.array(array)
        return mo.grad(loss({"into.weight": given}), given).numpy()

    made = mo.hessian(loss)(state)["into.weight"]["into.weight"].numpy()
    expected = differences(slope, state["into.weight"].numpy())
    np.testing.assert_allclose(made, expected, rtol=1e-6, atol=1e-7)
    with pytest.raises(ValueError, match="one of the names alone, as named_parameters has it"):
        mo.hessian(loss)(module.state_dict())


def test_gradients_by_given_tensors(rng):
    layer, x = nn.Linear(3, 2), mo.ones((4, 3))
    weight = mo.array(rng.random((2, 3)), dtype="float32")
    y = mo.functional_call(layer, {"weight": weight}, x)
    np.testing.assert_allclose(mo.grad(y.sum(), weight).numpy(), np.full((2, 3), 4.0))
    with pytest.raises(ValueError, match="grad"):
        mo.grad(y.sum(), layer.weight)
    step = mo.jit(lambda weight: mo.functional_call(layer, {"weight": weight}, x).sum())
    for k in range(1, 5):
        expected = float(mo.functional_call(layer, {"weight": weight * k}, x).sum())
        np.testing.assert_allclose(float(step(weight * k)), expected, rtol=1e-6)
    assert mo.jit_info(step).keys == 1


@pytest.mark.parametrize(
    ("state", "error", "message"),
    [
        ({"wieght": mo.ones((1, 2))}, KeyError, "Linear has no 'wieght' .*weight"),
        ({"weight": mo.ones(3)}, ValueError, r"weight has shape \(3,\), expected \(1, 2\)"),
        ((1,), TypeError, r"state is .*, expected tensors by names"),
    ],
)
def test_bad_states(state, error, message):
    with pytest.raises(error, match="functional_call: " + message):
        mo.functional_call(nn.Linear(2, 1), state, mo.ones((1, 2)))


def test_more_bad_states():
    with pytest.raises(TypeError, match=r"functional_call: module is .*, expected a Module"):
        mo.functional_call(mo.sin, {}, mo.ones(1))
    module = Shared()
    given = {"again": mo.ones(2), "tensors.0": mo.zeros(2)}
    with pytest.raises(ValueError, match="both are one in the module"):
        mo.functional_call(module, given, mo.ones((3, 2)))
