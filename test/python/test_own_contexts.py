# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions with derivatives of their own, written by static methods of a context."""

import re
from typing import Any, ClassVar

import metaops as mo
import numpy as np
import pytest


def leaf(seed, *shape):
    return mo.array(np.random.default_rng(seed).standard_normal(shape or (4,)))


class Softplus(mo.ContextFunction):
    @staticmethod
    def forward(ctx, x, scale):
        y = mo.log(1 + mo.exp(x)) * scale
        ctx.save_for_backward(x, None)
        ctx.scale = scale
        return y

    @staticmethod
    def backward(ctx, gradient):
        x, nothing = ctx.saved_tensors
        assert nothing is None
        assert ctx.needs_input_grad == (True, False)
        return gradient * mo.sigmoid(x) * ctx.scale, None

    @staticmethod
    def jvp(ctx, tangent, _):
        (x, _) = ctx.saved_tensors
        return tangent * mo.sigmoid(x) * ctx.scale


class WithSetup(mo.ContextFunction):
    @staticmethod
    def forward(x, y):
        return x * y, x + y

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs, output[0])

    @staticmethod
    def backward(ctx, of_product, of_sum):
        x, y, _ = ctx.saved_tensors
        return of_product * y + of_sum, of_product * x + of_sum


def plain_softplus(x, scale):
    return mo.log(1 + mo.exp(x)) * scale


@pytest.mark.parametrize(
    "wrap",
    [lambda fn: fn, mo.jit, mo.checkpoint, lambda fn: lambda x: mo.vmap(fn)(x[None])[0]],
    ids=["eager", "jit", "checkpoint", "vmap"],
)
def test_derivatives_of_both_orders(wrap):
    x, t = leaf(0), leaf(1)
    results = []
    for function in (Softplus.apply, plain_softplus):
        y = wrap(lambda x, function=function: function(x, 3.0))(x)
        (gradient,) = mo.grad((y * y).sum(), [x])
        results.append([y, gradient, mo.grad((gradient * t).sum(), x), *mo.jvp([y], [x], [t])])
    for own, plain in zip(*results, strict=True):
        np.testing.assert_allclose(own.numpy(), plain.numpy(), rtol=1e-10)


def test_a_context_that_is_set_up_behind():
    x, y = leaf(2), leaf(3)
    product, total = WithSetup.apply(x, y)
    by_x, by_y = mo.grad((product * total).sum(), [x, y])
    x, y = x.numpy(), y.numpy()
    np.testing.assert_allclose(by_x.numpy(), y * (x + y) + x * y)
    np.testing.assert_allclose(by_y.numpy(), x * (x + y) + x * y)


class Seen(mo.ContextFunction):
    given: ClassVar[list[Any]] = []

    @staticmethod
    def forward(ctx, x, materializes):
        ctx.set_materialize_grads(materializes)
        return x * 2, x[:2], x.argmax(), None

    @staticmethod
    def backward(ctx, *gradients):
        Seen.given.append(gradients)
        return gradients[0] * 2, None


def test_gradients_that_are_missing_are_zeros_or_none():
    x = leaf(4)
    Seen.given.clear()
    for materializes in (True, False):
        result = Seen.apply(x, materializes)
        assert result[3] is None
        np.testing.assert_allclose(mo.grad(result[0].sum(), x).numpy(), 2)
    zeros, nothing = Seen.given
    assert zeros[0].shape == (4,)
    np.testing.assert_array_equal(zeros[1].numpy(), [0, 0])
    assert zeros[1].dtype == "float64"
    assert zeros[2].item() == 0
    assert zeros[3] is None
    assert nothing[1:] == (None, None, None)


def test_no_gradient_flows_through_results_that_are_marked():
    class Marks(mo.ContextFunction):
        @staticmethod
        def forward(ctx, x):
            y, z = x * 2, x * 3
            ctx.mark_non_differentiable(z)
            return y, z

        @staticmethod
        def backward(ctx, of_y, of_z):
            np.testing.assert_array_equal(of_z.numpy(), 0)
            return of_y * 2

    x = leaf(5)
    y, z = Marks.apply(x)
    np.testing.assert_allclose(mo.grad((y * z).sum(), x).numpy(), 2 * z.numpy())
    with pytest.raises(ValueError, match="does not depend on any of the targets"):
        mo.grad(z.sum(), x)


def test_more_gradients_than_arguments_are_none():
    class Long(mo.ContextFunction):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 2, None, None

    x = leaf(6)
    np.testing.assert_allclose(mo.grad(Long.apply(x).sum(), x).numpy(), 2)


def test_what_backward_assigns_is_forgotten():
    class Assigns(mo.ContextFunction):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, gradient):
            assert not hasattr(ctx, "gradient")
            ctx.gradient = gradient
            return 2 * ctx.saved_tensors[0] * gradient

    x = leaf(7)
    counts = []
    for _ in range(60):
        y = Assigns.apply(x)
        mo.grad((y * y).sum(), x).numpy()
        mo.grad((y * y).sum(), x).numpy()
        del y
        mo.sync_all()
        counts.append(mo.stats()["ops_in_block"])
    assert counts[-1] <= counts[10]


def test_other_attributes_that_backward_assigns_stay():
    """As PyTorch's do; a tensor is forgotten, and what it took the place of is there again."""
    contexts = []

    class Counts(mo.ContextFunction):
        @staticmethod
        def forward(ctx, x):
            contexts.append(ctx)
            ctx.kept = "forward"
            return x * x

        @staticmethod
        def backward(ctx, gradient):
            ctx.calls = getattr(ctx, "calls", 0) + 1
            ctx.sizes = {"gradient": gradient.shape}
            ctx.kept = [gradient]
            return gradient * ctx.calls

    x = leaf(7)
    y = Counts.apply(x)
    for calls in (1, 2, 3):
        np.testing.assert_allclose(mo.grad(y.sum(), x).numpy(), calls)
    (ctx,) = contexts
    assert (ctx.calls, ctx.sizes, ctx.kept) == (3, {"gradient": x.shape}, "forward")
    contexts.clear()


def test_mistakes():
    class Few(mo.ContextFunction):
        @staticmethod
        def forward(ctx, x, y):
            return x * y

        @staticmethod
        def backward(ctx, gradient):
            return gradient

    class Saves(mo.ContextFunction):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(3)

    class Dirty(mo.ContextFunction):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)

    class Nothing(mo.ContextFunction):
        pass

    class NoBackward(mo.ContextFunction):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    x, y = leaf(8), leaf(9)

    class Text(mo.ContextFunction):
        @staticmethod
        def forward(ctx, x):
            return "result"

    class Changes(mo.ContextFunction):
        @staticmethod
        def forward(ctx, x):
            x += 1
            return x * 2

    with pytest.raises(TypeError, match=r"Text\.forward has returned a str, expected a Var"):
        Text.apply(x)
    with pytest.raises(RuntimeError, match=r"Changes\.forward changes tensor 0 of its arguments"):
        Changes.apply(x)
    with pytest.raises(ValueError, match=r"Few\.backward has returned 1 derivative, expected 2"):
        mo.grad(Few.apply(x, y).sum(), x)
    with pytest.raises(TypeError, match="save_for_backward: argument 0 is 3, expected a tensor"):
        Saves.apply(x)
    with pytest.raises(RuntimeError, match="mark_dirty: a function may not change its arguments"):
        Dirty.apply(x)
    with pytest.raises(NotImplementedError, match="a ContextFunction has no forward"):
        Nothing.apply(x)
    result = NoBackward.apply(x)
    with pytest.raises(NotImplementedError, match="NoBackward has no grad"):
        mo.grad(result.sum(), x)
    with pytest.raises(RuntimeError, match=re.escape("NoBackward has no jvp")):
        mo.jvp([result], [x], [y])
