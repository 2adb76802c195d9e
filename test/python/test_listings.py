# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The listings of the Jittor paper and of its tutorial, with the import line changed.

Slips of the listings that are mended here:

* Listing 2: ``Linear.__init__`` lacks ``self``.
* Listing 4: the loss reads ``labels`` where the loop's variable is ``label``;
  ``user_defined_data`` is the user's.

The tutorial's ``conv`` is ``conv_nhwc`` here, beside Listing 1's.
"""

import metaops as jt
import numpy as np
import pytest
from util import bytes_in_use, close, conv2d_reference, floats


# Listing 1.
def conv(x, p):
    N, C, H, W = x.shape  # noqa: RUF059
    o, i, h, w = p.shape
    xx = x.reindex(
        shape=(N, o, H, W, i, h, w),
        indices=("i0", "i4", "i2-i5", "i3-i6"),
    )
    pp = p.broadcast(xx.shape, dims=(0, 2, 3))
    yy = xx * pp
    y = yy.sum(dims=(4, 5, 6))
    return y


# Listing 2.
class Linear(jt.Module):
    def __init__(self, n_in, n_out):
        self.w = jt.random((n_in, n_out))
        self.b = jt.random((n_out,))

    def execute(self, x):
        return jt.matmul(x, self.w) + self.b


def sigmoid(x):
    return jt.exp(x) / (jt.exp(x) + 1)


# Listing 3.
class Model(jt.Module):
    def __init__(self):
        self.net = jt.Sequential(
            Linear(1, 10),
            sigmoid,
            Linear(10, 1),
        )

    def execute(self, x):
        return self.net(x)


# Listing 5.
def instance_norm(x, eps=1e-5):
    xmean = jt.mean(x, dims=[0, 2, 3], keepdims=True)
    x2mean = jt.mean(x * x, dims=[0, 2, 3], keepdims=True)
    xvar = x2mean - xmean * xmean
    norm_x = (x - xmean) / jt.sqrt(xvar + eps)
    return norm_x


# The tutorial's matrix product.
def matmul(a, b):
    (n, m), k = a.shape, b.shape[-1]
    a = a.broadcast([n, m, k], dims=[2])
    b = b.broadcast([n, m, k], dims=[0])
    return (a * b).sum(dim=1)


# The tutorial's convolution.
def conv_nhwc(x, w):
    N, H, W, C = x.shape
    Kh, Kw, _C, Kc = w.shape
    assert C == _C
    xx = x.reindex([N, H - Kh + 1, W - Kw + 1, Kh, Kw, C, Kc], [
        'i0',  # Nid
        'i1+i3',  # Hid+Khid
        'i2+i4',  # Wid+KWid
        'i5',  # Cid|
    ])  # fmt: skip
    ww = w.broadcast_var(xx)
    yy = xx * ww
    y = yy.sum([3, 4, 5])  # Kh, Kw, c
    return y


def conv_reference(x, p):
    """Compute what Listing 1 does: indices i2 - i5 and i3 - i6 are a flipped kernel."""
    h, w = p.shape[2:]
    flipped = p[:, :, ::-1, ::-1]
    full = conv2d_reference(x, flipped, padding=(h - 1, w - 1))
    return full[:, :, : x.shape[2], : x.shape[3]]


def leaf(array):
    return jt.array(array).sync()


@pytest.fixture
def images(rng):
    """Images, a kernel, and the size of Listing 1's 7-dimensional tensors."""
    x, p = floats(rng, (2, 3, 16, 17)), floats(rng, (8, 3, 3, 3))
    return x, p, 4 * 2 * 8 * 16 * 17 * 3 * 3 * 3


def run_and_measure(values):
    """Compute values; return the program and by how much memory grew at most."""
    jt.reset_peak()
    before = bytes_in_use()
    jt.sync(values)
    return jt.last_program(), jt.stats()["peak_bytes"] - before


def test_listing_1(images):
    x, p, _ = images
    close(conv(jt.array(x), jt.array(p)), conv_reference(x, p), rtol=1e-5, atol=1e-5)


@pytest.mark.avx512
def test_listing_1_is_four_meta_operators_and_one_kernel(images, compiled, own_kernels):
    x, p, seven_dimensions = images
    y = conv(leaf(x), leaf(p))
    program, growth = run_and_measure([y])
    assert program.meta_operators == 4
    assert len(program.kernels) == 1
    assert growth < seven_dimensions / 4
    assert y.size * 4 <= growth


def test_listing_1_gradients(images):
    x, p, _ = images
    vx, vp = leaf(x), leaf(p)
    cotangent = floats(np.random.default_rng(5), (2, 8, 16, 17))
    gx, gp = jt.grad((conv(vx, vp) * leaf(cotangent)).sum(), [vx, vp])
    # Both are linear in one operand: <grad, v> is the loss with v in its place.
    for gradient, value, other in [(gx, x, lambda v: (v, p)), (gp, p, lambda v: (x, v))]:
        v = floats(np.random.default_rng(6), value.shape)
        expected = (conv_reference(*other(v)) * cotangent).sum()
        assert abs((gradient.numpy().astype("float64") * v).sum() - expected) < 1e-3


@pytest.mark.avx512
def test_each_gradient_of_listing_1_is_one_kernel(images, compiled, own_kernels):
    x, p, seven_dimensions = images
    vx, vp = leaf(x), leaf(p)
    cotangent = leaf(np.ones((2, 8, 16, 17), "float32"))
    for target in (vx, vp):
        gradient = jt.grad((conv(vx, vp) * cotangent).sum(), target)
        program, growth = run_and_measure([gradient])
        assert len(program.kernels) == 1, str(program)
        assert growth < seven_dimensions / 4


@pytest.mark.parametrize("rules", ["extended", "paper"])
def test_loss_and_gradients_together_make_no_7d_tensor(images, compiled, rules):
    jt.flags.rules = rules
    x, p, seven_dimensions = images
    vx, vp = leaf(x), leaf(p)
    loss = (conv(vx, vp) ** 2).sum()
    gx, gp = jt.grad(loss, [vx, vp])
    _, growth = run_and_measure([loss, gx, gp])
    assert growth < seven_dimensions / 2
    close(loss, (conv_reference(x, p) ** 2).sum(), rtol=1e-5)


def test_listing_2_linear(rng):
    layer = Linear(4, 3)
    x = floats(rng, (5, 4))
    w, b = layer.w.numpy(), layer.b.numpy()
    assert (w >= 0).all() and (w < 1).all()
    close(layer(jt.array(x)), x @ w + b, rtol=1e-5)
    assert [name for name, _ in layer.named_parameters()] == ["w", "b"]


def test_listing_2_sigmoid_is_one_kernel(rng, compiled):
    x = floats(rng, (64, 33))
    y = sigmoid(leaf(x))
    jt.sync([y])
    program = jt.last_program()
    assert len(program.kernels) == 1, str(program)
    close(y, np.exp(x) / (np.exp(x) + 1))


def test_listings_3_and_4(rng, capsys):
    xs = rng.uniform(0, 1, (20, 1, 1)).astype("float32")
    user_defined_data = [(x, x * x) for x in xs]

    learning_rate = 0.1
    model = Model()
    params = model.parameters()
    assert len(params) == 4
    expected = [p.numpy().astype("float64") for p in params]
    for data, label in user_defined_data:
        data, label = jt.array(data), jt.array(label)
        predictions = model(data)
        loss = (predictions - label) ** 2
        loss.fetch(print)
        grads = jt.grad(loss, params)
        for p, g in zip(params, grads, strict=True):
            p.update(p - g * learning_rate)
    jt.sync_all()

    losses = []
    for data, label in user_defined_data:
        expected, loss = descend(expected, data.astype("float64"), label, learning_rate)
        losses.append(loss)
    for p, e in zip(params, expected, strict=True):
        close(p, e, rtol=1e-4, atol=1e-5)
    printed = [float(line.strip("[] ")) for line in capsys.readouterr().out.split("\n") if line]
    np.testing.assert_allclose(printed, losses, rtol=1e-3, atol=1e-5)


def descend(parameters, x, label, rate):
    """Take one step of Listing 4 in NumPy; return the parameters and the loss."""
    w1, b1, w2, b2 = parameters
    hidden = 1 / (1 + np.exp(-(x @ w1 + b1)))
    difference = hidden @ w2 + b2 - label
    back = 2 * difference
    inner = (back @ w2.T) * hidden * (1 - hidden)
    gradients = [x.T @ inner, inner.sum(0), hidden.T @ back, back.sum(0)]
    moved = [p - rate * g for p, g in zip(parameters, gradients, strict=True)]
    return moved, (difference**2).item()


def test_listing_5(rng):
    x = floats(rng, (3, 4, 5, 6))
    mean = x.mean((0, 2, 3), keepdims=True, dtype="float64")
    variance = x.var((0, 2, 3), keepdims=True, dtype="float64")
    close(instance_norm(jt.array(x)), (x - mean) / np.sqrt(variance + 1e-5), rtol=1e-4, atol=1e-5)


def test_listing_5_reads_x_twice_as_listing_6_does(rng, compiled):
    """Both means are one kernel, the rest is another."""
    y = instance_norm(leaf(floats(rng, (3, 4, 5, 6))))
    jt.sync([y])
    assert len(jt.last_program().kernels) <= 2, str(jt.last_program())


def test_tutorial_matmul(rng, compiled):
    a, b = floats(rng, (30, 40)), floats(rng, (40, 50))
    c = matmul(leaf(a), leaf(b))
    program, growth = run_and_measure([c])
    assert len(program.kernels) == 1
    assert growth < 4 * 30 * 40 * 50 / 4
    close(c, a.astype("float64") @ b, rtol=1e-5, atol=1e-5)


def test_tutorial_convolution(rng):
    x, w = floats(rng, (2, 9, 8, 3)), floats(rng, (3, 2, 3, 4))
    expected = conv2d_reference(x.transpose(0, 3, 1, 2), w.transpose(3, 2, 0, 1))
    jy = conv_nhwc(jt.array(x), jt.array(w)).fetch_sync()
    close(jy, expected.transpose(0, 2, 3, 1), rtol=1e-5, atol=1e-5)


class Block(jt.Module):
    """Figure 9: a block of ResNet34."""

    def __init__(self, channels):
        self.conv1 = jt.nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn1 = jt.nn.BatchNorm2d(channels)
        self.conv2 = jt.nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn2 = jt.nn.BatchNorm2d(channels)

    def execute(self, x):
        y = jt.nn.ReLU()(self.bn1(self.conv1(x)))
        return jt.nn.ReLU()(self.bn2(self.conv2(y)) + x)


@pytest.mark.parametrize("rules, kernels", [("extended", 4), ("paper", 6)])
def test_figure_9(rng, compiled, rules, kernels):
    block = Block(8).eval()
    state = {
        name: floats(rng, tensor.shape, low=0.5, high=1.5)
        for name, tensor in block.state_dict().items()
    }
    block.load_state_dict(state)
    x = floats(rng, (2, 8, 7, 7))
    jt.flags.rules = rules
    y = block(leaf(x))
    jt.sync([y])
    program = jt.last_program()
    if rules == "paper":
        assert len(program.kernels) == kernels, str(program)
    else:
        assert len(program.kernels) <= kernels, str(program)

    def normalised(value, name):
        mean, variance, weight, bias = (
            state[f"{name}.{key}"].reshape(1, -1, 1, 1)
            for key in ["running_mean", "running_var", "weight", "bias"]
        )
        return (value - mean) / np.sqrt(variance + 1e-5) * weight + bias

    inner = conv2d_reference(x, state["conv1.weight"], padding=(1, 1))
    inner = np.maximum(normalised(inner, "bn1"), 0)
    outer = conv2d_reference(inner, state["conv2.weight"], padding=(1, 1))
    close(y, np.maximum(normalised(outer, "bn2") + x, 0), rtol=1e-4, atol=1e-4)
