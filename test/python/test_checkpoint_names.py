# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values that checkpoints keep by their names."""

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from util import bytes_in_use


def leaf(seed, *shape):
    return mo.array(np.random.default_rng(seed).standard_normal(shape or (4,)))


W, U = leaf(0, 16, 16), leaf(1, 16, 16)


def layer(x):
    product = mo.checkpoint_name(x @ W, "product")
    order = mo.checkpoint_name(mo.argsort(product), "order")
    h = mo.checkpoint_name(mo.tanh(mo.exp(mo.sin(product) * 0.1) @ U), "hidden")
    return mo.take_along_axis(h, order, 1) * product, h.sum()


def gradients(wrap, looks=False):
    x = leaf(2, 16, 16)
    y, total = wrap(layer)(x)
    loss = (y * y).sum() * total
    if looks:
        loss.item()
    first = mo.grad(loss, [x, W, U])
    return [loss, *first, mo.grad((first[0] * first[0]).sum(), x)]


@pytest.mark.parametrize("looks", [False, True])
@pytest.mark.parametrize("keep", ["product", ["hidden"], ("product", "order", "hidden"), "other"])
def test_gradients_of_both_orders(keep, looks):
    plain = gradients(lambda fn: fn)
    for wrap in (
        lambda fn: mo.checkpoint(fn, keep=keep),
        lambda fn: mo.jit(mo.checkpoint(fn, keep=keep)),
        lambda fn: mo.checkpoint(lambda x: mo.checkpoint(fn, keep=keep)(x), keep=keep),
        lambda fn: lambda x: [each[0] for each in mo.vmap(mo.checkpoint(fn, keep=keep))(x[None])],
    ):
        for one, other in zip(gradients(wrap, looks), plain, strict=True):
            np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-9, atol=1e-9)


def graph_of_gradient(keep):
    x = leaf(3, 16, 16)
    y, total = mo.checkpoint(layer, keep=keep)(x)
    gradient = mo.grad((y * y).sum() * total, x)
    gradient.numpy()
    return mo.last_program().ir("graph")


def test_what_is_kept_is_not_computed_again():
    # Once in the function, and again in its gradient.
    text = graph_of_gradient(())
    assert text.count("metaop.tanh") == text.count("metaop.exp ") == 2
    assert text.count("metaop.argsort") + text.count("metaop.sort") == 2
    text = graph_of_gradient("hidden")
    assert text.count("metaop.tanh") == 1
    text = graph_of_gradient(("product", "order", "hidden"))
    assert text.count("metaop.argsort") + text.count("metaop.sort") == 1


@pytest.mark.processor
def test_a_loss_that_is_looked_at_first_keeps_them():
    def kept(keep):
        x, w = leaf(4, 64, 64), leaf(5, 64, 64)

        def deep(x):
            for number in range(6):
                x = mo.tanh(x @ w)
                if number == 2:
                    x = mo.checkpoint_name(x, "middle")
            return x.sum()

        mo.sync([x, w])
        before = bytes_in_use()
        loss = mo.checkpoint(deep, keep=keep)(x)
        loss.item()
        held = bytes_in_use() - before
        gradient = mo.grad(loss, x)
        gradient.numpy()
        return held, mo.last_program().ir("graph").count("metaop.tanh")

    nothing, middle = kept(()), kept("middle")
    one = 64 * 64 * 8
    assert nothing[0] < one <= middle[0] < 2 * one
    assert middle[1] == nothing[1] - 1


def test_modules_and_segments():
    class Layer(nn.Module):
        def __init__(self):
            self.linear = nn.Linear(16, 16)

        def execute(self, x):
            return mo.tanh(mo.checkpoint_name(self.linear(x), "linear"))

    model = nn.Sequential(Layer(), Layer(), Layer())
    x = leaf(6, 3, 16).cast("float32")
    plain = mo.grad((model(x) ** 2).sum(), model.parameters())
    for module in (
        nn.Checkpoint(model, keep="linear"),
        nn.Checkpoint(model, segments=2, keep=["linear"]),
    ):
        got = mo.grad((module(x) ** 2).sum(), model.parameters())
        for one, other in zip(got, plain, strict=True):
            np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-5)


def test_names_outside_and_mistakes():
    x = leaf(7)
    assert mo.checkpoint_name(x, "a") is x
    with pytest.raises(TypeError, match="checkpoint_name: x is 3, expected a tensor"):
        mo.checkpoint_name(3, "a")
    with pytest.raises(TypeError, match="checkpoint_name: name is 3, expected a text"):
        mo.checkpoint_name(x, 3)
    for keep in (3, [3]):
        with pytest.raises(TypeError, match=r"checkpoint: keep is .*3.*, expected a name, or na"):
            mo.checkpoint(mo.sin, keep=keep)
    with pytest.raises(TypeError, match="keep is a dict, expected a name, or names of values"):
        mo.checkpoint(mo.sin, keep={"a": 1})
    # Of what a loop in it names, nothing can be kept; nor of what is no value of it.
    w = leaf(8)

    def fn(x):
        mo.checkpoint_name(w, "a")
        mo.checkpoint_name(x, "a")
        return mo.scan(lambda h, _: (mo.checkpoint_name(mo.sin(h), "a"), 0), x, None, length=70)[0]

    np.testing.assert_allclose(
        mo.grad(mo.checkpoint(fn, keep="a")(x).sum(), x).numpy(), mo.grad(fn(x).sum(), x).numpy()
    )
