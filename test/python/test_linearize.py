# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions at one place: `linearize` gives what forward mode does, and computes no more."""

import metaops as mo
import numpy as np
import pytest


def leaf(seed, *shape):
    return mo.array(np.random.default_rng(seed).standard_normal(shape or (4,)))


W = leaf(0, 4, 4)


class Cube(mo.Function):
    def execute(self, x):
        self.x = x
        return x * x * x

    def grad(self, gradient):
        return 3 * self.x**2 * gradient

    def jvp(self, tangent):
        return 3 * self.x**2 * tangent


def loop(x):
    return mo.scan(lambda h, row: (mo.tanh(h @ W + row), h * 2), x, leaf(1, 70, 4))


def in_place(x):
    y = x * 2
    y += mo.sin(y)
    return y


#: Functions of one tensor.
FUNCTIONS = {
    "operators": lambda x: mo.tanh(x @ W) * mo.exp(-x) + 1.0,
    "a sum": lambda x: (x * x).sum(),
    "linear": lambda x: x @ W - x[::-1],
    "the argument": lambda x: x,
    "a constant": lambda x: mo.ones(3, "float64"),
    "a part that is constant": lambda x: [x * 2, W * 1],
    "twice": lambda x: (lambda y: (y, y))(mo.sin(x)),
    "random numbers": lambda x: x * mo.random.normal(shape=(4,), dtype="float64") * x,
    "sorted": lambda x: mo.sort(x) * mo.argsort(x),
    "a branch": lambda x: mo.cond(x.sum() > 0, mo.sin, mo.exp, x),
    "a loop": loop,
    "a loop of unknown trips": lambda x: mo.while_loop(lambda h: (h * h).sum() < 99, mo.exp, x),
    "a function": Cube.apply,
    "a checkpoint": mo.checkpoint(lambda x: mo.sin(x) * mo.exp(x)),
    "a gradient": lambda x: mo.grad((mo.sin(x) * x).sum(), x),
    "in place": in_place,
    "an index": lambda x: x.at[1].set(x[0] * 3)[mo.array([1, 1, 0])],
}


def leaves(result):
    return mo.tree_leaves(result)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_tangents_are_those_of_forward_mode(name):
    fn, x = FUNCTIONS[name], leaf(2)
    mo.seed(1)
    expected = fn(x)
    mo.seed(1)
    result, moves = mo.linearize(fn, x)
    assert type(result) is type(expected)
    for one, other in zip(leaves(result), leaves(expected), strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-12)
    for seed in (3, 4, 5):
        t = leaf(seed)
        moved, plain = moves(t), mo.jvp(leaves(expected), [x], [t])
        assert type(moved) is type(expected)
        for one, other in zip(leaves(moved), plain, strict=True):
            np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-10, atol=1e-12)


def test_structures():
    def fn(pair, y):
        return {"a": pair["x"] * y, "b": [mo.exp(pair["z"][0])]}

    given = ({"x": leaf(6), "z": [leaf(7)]}, leaf(8))
    result, moves = mo.linearize(fn, *given)
    moved = moves({"x": leaf(9), "z": [leaf(10)]}, leaf(11))
    x, z, y = given[0]["x"], given[0]["z"][0], given[1]
    np.testing.assert_allclose(result["a"].numpy(), (x * y).numpy())
    np.testing.assert_allclose(moved["a"].numpy(), (leaf(9) * y + x * leaf(11)).numpy(), rtol=1e-12)
    np.testing.assert_allclose(moved["b"][0].numpy(), (mo.exp(z) * leaf(10)).numpy(), rtol=1e-12)


def test_it_may_be_differentiated():
    x, t = leaf(12), leaf(13)

    def run(linearize):
        y, moves = linearize(lambda x: mo.sin(x @ W) * x, x)
        moved = moves(t)
        return mo.grad((y * moved).sum(), [x, t, W])

    def plain(fn, x):
        y = fn(x)
        return y, lambda t: mo.jvp([y], [x], [t])[0]

    for one, other in zip(run(mo.linearize), run(plain), strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-10)


def test_in_maps_recorded_functions_and_itself():
    fn, x, ts = FUNCTIONS["operators"], leaf(14), leaf(15, 5, 4)
    _, moves = mo.linearize(fn, x)
    one_by_one = np.stack([moves(ts[k]).numpy() for k in range(5)])
    np.testing.assert_allclose(mo.vmap(moves)(ts).numpy(), one_by_one, rtol=1e-12)
    jitted = mo.jit(lambda x, t: mo.linearize(fn, x)[1](t))
    for _ in range(4):
        np.testing.assert_allclose(jitted(x, ts[0]).numpy(), one_by_one[0], rtol=1e-12)
    again, linear = mo.linearize(moves, ts[1])
    np.testing.assert_allclose(again.numpy(), one_by_one[1], rtol=1e-12)
    np.testing.assert_allclose(linear(ts[2]).numpy(), one_by_one[2], rtol=1e-12)
    scanned = mo.scan(lambda c, t: (c, moves(t)), 0, ts)[1]
    np.testing.assert_allclose(scanned.numpy(), one_by_one, rtol=1e-12)


@pytest.mark.processor
def test_calls_compute_nothing_of_the_function_again():
    calls = []

    def fn(x):
        calls.append(1)
        return mo.tanh(mo.exp(x @ W) @ W)

    x = leaf(16, 3, 4)
    y, moves = mo.linearize(fn, x)
    y.numpy()
    moves(leaf(17, 3, 4)).numpy()
    moves(leaf(18, 3, 4)).numpy()
    text = mo.last_program().ir("graph")
    assert "exp" not in text
    assert "tanh" not in text
    assert calls == [1]


def test_mistakes():
    x = leaf(19)
    with pytest.raises(TypeError, match="linearize: fn is 3, expected a function"):
        mo.linearize(3, x)
    with pytest.raises(TypeError, match=r"linearize: args\[0\] is .*, expected a tensor of floats"):
        mo.linearize(mo.sin, mo.array([1, 2]))
    with pytest.raises(TypeError, match=r"returns .* as result, expected tensors of floats"):
        mo.linearize(lambda x: x > 0, x)
    with pytest.raises(RuntimeError, match="rebinds a Var from outside"):
        mo.linearize(lambda y: x.update(y), x)
    with pytest.raises(RuntimeError, match="this needs numbers"):
        mo.linearize(lambda y: float(y.sum()) * y, x)
    kept = []
    with pytest.raises(RuntimeError, match="leaves a tensor of"):
        mo.linearize(lambda y: [kept.append(y * 2), y * 3][1], x)
    _, moves = mo.linearize(lambda x: x * 2, x)
    with pytest.raises(ValueError, match=r"tangents\[0\] has shape \(3,\), expected that of the"):
        moves(mo.ones(3, "float64"))
    with pytest.raises(TypeError, match=r"tangents\[0\] is float32, expected the argument's flo"):
        moves(mo.ones(4))
    with pytest.raises(TypeError, match="linearize: 2 tangents are given, in other places"):
        moves(x, x)
