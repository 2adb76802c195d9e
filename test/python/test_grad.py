# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients of every differentiable operator against finite differences."""

import metaops as mo
import numpy as np
import pytest
from util import check_gradient, close, floats, same

UNARY = {
    "neg": (lambda x: -x, (-2, 2)),
    "abs": (abs, (0.3, 2)),
    "abs of negative": (abs, (-2, -0.3)),
    "exp": (mo.exp, (-1, 1)),
    "log": (mo.log, (0.5, 3)),
    "sqrt": (mo.sqrt, (0.5, 3)),
    "sin": (mo.sin, (-3, 3)),
    "cos": (mo.cos, (-3, 3)),
    "tanh": (mo.tanh, (-2, 2)),
    "erf": (mo.erf, (-2, 2)),
    "square": (mo.square, (-2, 2)),
    "cast there and back": (lambda x: (x * x).cast("float64"), (-2, 2)),
    "stop_fuse": (lambda x: mo.stop_fuse(x * x), (-2, 2)),
    "power of a constant": (lambda x: x**3, (0.5, 2)),
    "negative base": (lambda x: x**3, (-2, -0.5)),
    "constant's power": (lambda x: 2.0**x, (-2, 2)),
    "reciprocal": (lambda x: 1 / x, (0.5, 2)),
    "relu": (mo.relu, (0.1, 2)),
    "leaky_relu": (mo.leaky_relu, (-2, -0.1)),
    "elu": (mo.elu, (-2, -0.1)),
    "sigmoid": (mo.sigmoid, (-3, 3)),
    "softplus": (mo.softplus, (-3, 3)),
    "silu": (mo.silu, (-3, 3)),
    "gelu": (mo.gelu, (-2, 2)),
    "gelu with tanh": (lambda x: mo.gelu(x, "tanh"), (-2, 2)),
    "softmax": (mo.softmax, (-2, 2)),
    "log_softmax": (mo.log_softmax, (-2, 2)),
    "logsumexp": (lambda x: mo.logsumexp(x, 0), (-2, 2)),
    "modulo": (lambda x: (x * x) % 1.7, (0.2, 1.2)),
    "where": (lambda x: mo.where(x > 0, x * x, x**3), (0.2, 2)),
}


@pytest.mark.parametrize("name", UNARY)
def test_unary(rng, name):
    f, interval = UNARY[name]
    check_gradient(f, floats(rng, (2, 3), "float64", *interval), order=2)


BINARY = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "pow": lambda x, y: x**y,
    "mod": lambda x, y: (3 * x) % y,
    "max": mo.maximum,
    "min": mo.minimum,
    "select": lambda x, y: mo.where(x > y, x * y, x / y),
}


@pytest.mark.parametrize("name", BINARY)
def test_binary_with_broadcasting(rng, name):
    x, y = floats(rng, (2, 3), "float64", 0.5, 1.5), floats(rng, (3,), "float64", 0.5, 1.5)
    check_gradient(BINARY[name], x, y, order=2)


SHAPING = {
    "broadcast": lambda x: x.broadcast((2, 4, 3), (1,)) ** 2,
    "broadcast of unit extents": lambda x: x[:, :1].broadcast((2, 5)) ** 2,
    "transpose": lambda x: x.transpose(1, 0) ** 2,
    "reshape": lambda x: x.reshape(3, 2) ** 2,
    "slice": lambda x: x[1:, ::-2] ** 2,
    "pad": lambda x: mo.pad(x, [(1, 0), (-1, 2)], value=3.0) ** 2,
    "concat": lambda x: mo.concat([x, x[:, :1] ** 2], 1) ** 2,
    "reindex": lambda x: x.reindex((3, 4), ("i0/2", "i1*2-1"), 2.0) ** 2,
    "reindex with a condition": lambda x: x.reindex((2, 3), ("i0", "i1"), 0, ("i0==i1",)) ** 2,
    "set": lambda x: _with_item(x),
}


def _with_item(x):
    y = x * x
    y[0, 1:] = x[1, :2] ** 3
    return y


@pytest.mark.parametrize("name", SHAPING)
def test_shaping(rng, name):
    check_gradient(SHAPING[name], floats(rng, (2, 3), "float64"), order=2)


REDUCTIONS = {
    "sum": lambda x: x.sum(0) ** 2,
    "sum of all": lambda x: x.sum() ** 2,
    "mean": lambda x: x.mean(1, True) ** 2,
    "max": lambda x: x.max(1) ** 2,
    "min": lambda x: x.min(0) ** 2,
    "prod": lambda x: x.prod(1),
    "var": lambda x: x.var(1),
    "std": lambda x: x.std(1),
    "norm": lambda x: x.norm(dim=1),
    "norm of order 3": lambda x: x.norm(3, dim=1),
    "reindex_reduce add": lambda x: x.reindex_reduce("add", (3,), ("i0+i1-1",)) ** 2,
    "reindex_reduce mul": lambda x: x.reindex_reduce("mul", (2,), ("i1/2",)),
    "reindex_reduce max": lambda x: x.reindex_reduce("max", (2,), ("i1/2",)) ** 2,
    "reindex_reduce min": lambda x: x.reindex_reduce("min", (2,), ("i1%2",)) ** 2,
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(rng, name):
    check_gradient(REDUCTIONS[name], floats(rng, (2, 3), "float64", 0.5, 1.5), order=2)


THIRD = {
    "exp": lambda x: mo.exp(x * x),
    "pow": lambda x: x**2.5,
    "quotient": lambda x: 1 / (1 + x),
    "matmul": lambda x: ((x @ x.T) ** 2).sum(0),
    "convolution": lambda x: mo.nn.conv2d(x.reshape(1, 1, 2, 3), x[:, :2].reshape(1, 1, 2, 2)) ** 2,
    "softmax": mo.softmax,
    "tanh": mo.tanh,
}


@pytest.mark.parametrize("name", THIRD)
def test_third_order(rng, name):
    x = floats(rng, (2, 3), "float64", 0.5, 1.5)
    check_gradient(THIRD[name], x, order=3, rtol=1e-5, atol=1e-6)


MODELS = {
    "matmul": (lambda a, b: mo.matmul(a, b), (2, 3), (3, 2)),
    "batched matmul": (lambda a, b: mo.matmul(a, b) ** 2, (2, 1, 2, 2), (2, 2, 1)),
    "matrix times vector": (lambda a, b: mo.matmul(a, b) ** 2, (2, 3), (3,)),
    "convolution": (
        lambda x, w: mo.nn.conv2d(x, w, stride=2, padding=1),
        (1, 2, 3, 3),
        (2, 2, 2, 2),
    ),
    "dilated groups": (
        lambda x, w: mo.nn.conv2d(x, w, padding=1, dilation=2, groups=2),
        (1, 2, 3, 3),
        (2, 1, 2, 2),
    ),
    "max pool": (lambda x, y: mo.nn.max_pool2d(x * y, 2), (1, 1, 4, 4), (4, 1)),
    "average pool": (
        lambda x, y: mo.nn.avg_pool2d(x * y, 2, 1, 1, count_include_pad=False) ** 2,
        (1, 1, 3, 3),
        (3, 1),
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_models(rng, name):
    f, *shapes = MODELS[name]
    arrays = [floats(rng, shape, "float64", 0.5, 1.5) for shape in shapes]
    check_gradient(f, *arrays, order=2)


def test_batch_norm(rng):
    layer = mo.nn.BatchNorm2d(2)
    x = floats(rng, (2, 2, 2, 1), "float64")
    scale = floats(rng, (2,), "float64", 0.5, 1.5)

    def f(x, scale):
        layer.weight = scale
        layer.bias = scale * scale
        return layer(x)

    check_gradient(f, x, scale, order=2, rtol=1e-5, atol=1e-6)


def test_cross_entropy(rng):
    target = mo.array([2, 0])
    check_gradient(
        lambda x: mo.nn.cross_entropy_loss(x, target), floats(rng, (2, 3), "float64"), order=2
    )


def test_ties_share_the_gradient():
    x = mo.array([1.0, 3.0, 3.0, 2.0])
    same(mo.grad(x.max(), x), np.float32([0, 0.5, 0.5, 0]))
    a, b = mo.array([2.0]), mo.array([2.0])
    for f in (mo.maximum, mo.minimum):
        ga, gb = mo.grad(f(a, b), [a, b])
        assert ga.item() == gb.item() == 0.5


def test_prod_with_zeros():
    x = mo.array([[2.0, 0.0, 3.0], [0.0, 0.0, 5.0], [2.0, 3.0, 4.0]])
    same(mo.grad(x.prod(1).sum(), x), np.float32([[0, 6, 0], [0, 0, 0], [12, 8, 6]]))


def test_gradients_at_the_edge():
    zero = mo.array([0.0, 0.0])
    same(mo.grad(mo.relu(zero), zero), np.zeros(2, "float32"))
    close(mo.grad(mo.sigmoid(zero), zero), np.full(2, 0.25))
    close(mo.grad(mo.softplus(zero), zero), np.full(2, 0.5))
    large = mo.array([-1000.0, 1000.0])
    for f in [
        mo.sigmoid,
        mo.softplus,
        mo.silu,
        mo.elu,
        mo.tanh,
        mo.gelu,
        mo.softmax,
        mo.log_softmax,
    ]:
        y = f(large)
        assert np.isfinite(y.numpy()).all(), f
        assert np.isfinite(mo.grad(y.sum(), large).numpy()).all(), f


def test_what_is_not_connected_gives_zeros():
    x, y = mo.array([1.0, 2.0]), mo.array([[3.0]])
    gx, gy = mo.grad((x * x).sum(), [x, y])
    close(gx, [2, 4])
    same(gy, np.zeros((1, 1), "float32"))


def test_stop_grad():
    x = mo.array([1.0, 2.0])
    close(mo.grad((x * x.detach()).sum(), x), [1, 2])
    close(mo.grad((x * mo.stop_grad(x * x)).sum(), x), [1, 4])
    y = x * 3
    y.stop_grad()
    close(mo.grad((x * y).sum(), x), [3, 6])


def test_no_gradient_through_integers():
    x = mo.array([1.7, 2.2])
    close(mo.grad((x.cast("int32").cast("float32") * x).sum(), x), [1, 2])


def test_a_loss_of_several_elements_is_summed():
    x = mo.array([1.0, 2.0, 3.0])
    close(mo.grad(x * x, x), [2, 4, 6])


def test_one_target_or_several():
    x = mo.array([1.0, 2.0])
    loss = (x * x).sum()
    assert isinstance(mo.grad(loss, x), mo.Var)
    (g,) = mo.grad(loss, [x])
    close(g, [2, 4])
    # An intermediate value, and the loss itself.
    y = x * 3
    z = (y * y).sum()
    gy, gz = mo.grad(z, [y, z])
    close(gy, [6, 12])
    close(gz, 1.0)


def test_a_value_used_often():
    x = mo.array(2.0)
    y = x
    for _ in range(8):
        y = y * x + y
    # y = x (x + 1)^8
    close(mo.grad(y, x), 3**8 + 2 * 8 * 3**7, rtol=1e-5)


def test_gradients_after_the_value_was_asked_for(rng):
    w = mo.array(floats(rng, (3, 3)))
    x = mo.array(floats(rng, (2, 3)))
    y = mo.tanh(x @ w)
    loss = (y * y).mean()
    lazy = mo.grad(loss, w).numpy()
    loss.sync()
    y.sync()
    close(mo.grad(loss, w), lazy)


def test_products_with_jacobian_and_hessian(rng):
    x = mo.array(floats(rng, (3,), "float64"))
    matrix = floats(rng, (2, 3), "float64")
    y = mo.tanh(mo.array(matrix) @ x)
    jacobian = (1 - np.tanh(matrix @ x.numpy()) ** 2)[:, None] * matrix
    t, c = floats(rng, (3,), "float64"), floats(rng, (2,), "float64")
    close(mo.jvp([y], [x], [mo.array(t)])[0], jacobian @ t, rtol=1e-9)
    close(mo.vjp([y], [x], [mo.array(c)])[0], c @ jacobian, rtol=1e-9)
    loss = (x**3).sum() + x[0] * x[1]
    hessian = np.diag(6 * x.numpy())
    hessian[0, 1] = hessian[1, 0] = 1
    close(mo.hessian_vector_product(loss, [x], [mo.array(t)])[0], hessian @ t, rtol=1e-9)


def test_forward_mode_of_inputs_that_are_given_twice_or_depend_on_each_other(rng):
    """The product with all gradients, whatever the inputs have to do with each other."""
    x = mo.array(floats(rng, (3,), "float64"))
    y = mo.sin(x)
    loss = (x * y * y).sum()
    inputs, tangents = [x, y, x], [mo.array(floats(rng, (3,), "float64")) for _ in range(3)]
    products = zip(mo.grad(loss, inputs), tangents, strict=True)
    expected = sum((gradient * tangent).sum() for gradient, tangent in products)
    close(mo.jvp([loss], inputs, tangents)[0], expected.item(), rtol=1e-12)


def test_errors():
    x = mo.array([1, 2])
    with pytest.raises(TypeError, match="int64"):
        mo.grad((x * x).sum(), x)
    with pytest.raises(ValueError, match=r"\(3,\)"):
        y = mo.array([1.0, 2.0])
        mo.vjp([y * y], [y], [mo.zeros((3,))])
    with pytest.raises(TypeError, match=r"allow_unused is .*, expected a bool or None \("):
        mo.grad(y.sum(), y, allow_unused=[])
