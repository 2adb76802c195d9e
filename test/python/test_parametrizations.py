# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parameters that are computed from others."""

import copy
import pickle

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from metaops.nn.utils import remove_parametrizations, spectral_norm, weight_norm
from util import check_gradient, close, floats, same


def shapes(module):
    return {name: value.shape for name, value in module.state_dict().items()}


def test_weight_norm_keeps_the_weight(rng):
    for layer, dim, norms in [
        (nn.Linear(5, 3), 0, (3, 1)),
        (nn.Linear(5, 3), -1, (1, 5)),
        (nn.Conv1d(4, 6, 3, groups=2), 0, (6, 1, 1)),
        (nn.Linear(5, 3), None, ()),
    ]:
        weight = layer.weight
        x = floats(rng, (2, 4, 5) if isinstance(layer, nn.Conv1d) else (2, 5))
        expected = layer(x).numpy()
        assert weight_norm(layer, dim=dim) is layer
        close(layer.weight, weight.numpy(), rtol=1e-6)
        close(layer(x), expected, rtol=1e-5, atol=1e-6)
        assert shapes(layer) == {
            "bias": layer.bias.shape,
            "parametrizations.weight.original0": norms,
            "parametrizations.weight.original1": weight.shape,
        }
        assert len(layer.parameters()) == 3 and not layer.buffers()


def test_weight_norm_is_the_norm_times_the_direction(rng):
    layer = weight_norm(nn.Linear(5, 3))
    g, v = floats(rng, (3, 1)), floats(rng, (3, 5))
    layer.load_state_dict(
        {
            "bias": np.zeros(3),
            "parametrizations.weight.original0": g,
            "parametrizations.weight.original1": v,
        }
    )
    close(layer.weight, g * v / np.sqrt((v * v).sum(1, keepdims=True)), rtol=1e-5)

    def weight(g, v):
        computed = layer.parametrizations["weight"]
        computed.original0, computed.original1 = g, v
        return layer.weight**2

    check_gradient(weight, floats(rng, (3, 1)), floats(rng, (3, 5)))


def test_training_with_weight_norm(rng):
    layer = weight_norm(nn.Linear(3, 1, bias=False))
    optimizer = mo.optim.SGD(layer.parameters(), 0.1)
    x = mo.array(floats(rng, (32, 3)))
    target = x @ mo.array(np.float32([[1], [-2], [3]]))
    losses = []
    for _ in range(60):
        loss = nn.mse_loss(layer(x), target)
        optimizer.step(loss)
        losses.append(loss.item())
    assert losses[-1] < 0.01 * losses[0]


@pytest.mark.parametrize("kind", ["Linear", "Conv2d", "ConvTranspose2d"])
def test_spectral_norm(rng, kind):
    layer = nn.Linear(4, 6) if kind == "Linear" else getattr(nn, kind)(4, 6, 3)
    weight = layer.weight.numpy()
    spectral_norm(layer, n_power_iterations=3)
    rows, columns = weight.shape[0], weight.size // weight.shape[0]
    if kind == "ConvTranspose2d":
        rows, columns = weight.shape[1], weight.size // weight.shape[1]
    assert shapes(layer) == {
        "bias": (6,),
        "parametrizations.weight.original": weight.shape,
        "parametrizations.weight.0._u": (rows,),
        "parametrizations.weight.0._v": (columns,),
    }
    names = [name for name, _ in layer.named_buffers()]
    assert names == ["parametrizations.weight.0._u", "parametrizations.weight.0._v"]
    assert len(layer.parameters()) == 2
    for _ in range(100):
        value = layer.weight
    matrix = weight.swapaxes(0, 1) if kind == "ConvTranspose2d" else weight
    largest = np.linalg.svd(matrix.reshape(rows, -1).astype("float64"))[1][0]
    close(value, weight / largest, rtol=1e-4, atol=1e-6)


def test_power_iterations_are_those_of_training(rng):
    layer = spectral_norm(nn.Linear(7, 9))
    state = {name: value.numpy() for name, value in layer.state_dict().items()}
    layer.eval()
    weight = layer.weight.numpy()
    u, v = (state[f"parametrizations.weight.0.{name}"] for name in ("_u", "_v"))
    original = state["parametrizations.weight.original"]
    close(weight, original / (u @ original @ v), rtol=1e-5)
    same(layer.weight, weight)
    for name, value in layer.state_dict().items():
        same(value, state[name])
    layer.train()
    assert layer.weight.shape == weight.shape
    next_u = original @ v / np.linalg.norm(original @ v)
    next_v = next_u @ original / np.linalg.norm(next_u @ original)
    close(layer.parametrizations["weight"]._u, next_u, rtol=1e-5, atol=1e-6)
    close(layer.parametrizations["weight"]._v, next_v, rtol=1e-5, atol=1e-6)


def test_the_gradient_does_not_see_the_iterations(rng):
    """With w for the weight and s for u w v it is that of w / s, u and v being constants."""
    layer = spectral_norm(nn.Linear(4, 3)).eval()
    computed = layer.parametrizations["weight"]
    u, v = computed._u.numpy().astype("float64"), computed._v.numpy().astype("float64")
    w, cotangent = computed.original, floats(rng, (3, 4))
    g = mo.grad((layer.weight * mo.array(cotangent)).sum(), w).numpy()
    w = w.numpy().astype("float64")
    s = u @ w @ v
    close(g, cotangent / s - (cotangent * w).sum() / s**2 * np.outer(u, v), rtol=1e-4, atol=1e-5)


def test_a_vector_is_divided_by_its_norm():
    layer = spectral_norm(nn.Linear(3, 2), "bias")
    b = layer.parametrizations["bias"].original.numpy()
    close(layer.bias, b / np.linalg.norm(b), rtol=1e-5)
    assert "parametrizations.bias.original" in layer.state_dict()


@pytest.mark.parametrize("norm", [weight_norm, spectral_norm])
def test_copies_and_removal(rng, norm):
    net = mo.Sequential(norm(nn.Linear(3, 4)), nn.ReLU(), nn.Linear(4, 2)).eval()
    x = floats(rng, (5, 3))
    expected = net(x).numpy()
    same(copy.deepcopy(net)(x), expected)
    same(pickle.loads(pickle.dumps(net))(x), expected)
    assert "0.parametrizations.weight." in next(k for k in net.state_dict() if "param" in k)
    assert "parametrizations.weight" in repr(net)
    assert remove_parametrizations(net[0]) is net[0]
    assert set(net.state_dict()) == {"0.weight", "0.bias", "2.weight", "2.bias"}
    same(net(x), expected)
    assert len(net.parameters()) == 4


@pytest.mark.parametrize("dtype", ["float16", "float64"])
@pytest.mark.parametrize("norm", [weight_norm, spectral_norm])
def test_types(rng, norm, dtype):
    layer = nn.Linear(3, 4)
    layer.weight = layer.weight.cast(dtype)
    norm(layer)
    assert layer.weight.dtype == dtype
    assert all(p.dtype in (dtype, "float32") for p in layer.parameters())
    assert np.isfinite(layer.weight.cast("float64").numpy()).all()


def test_errors():
    layer = nn.Linear(3, 2, bias=False)
    for function in (weight_norm, spectral_norm):
        name = function.__name__
        with pytest.raises(ValueError, match=rf"{name}: 'bias' of a Linear is None.*test_param"):
            function(layer, "bias")
        with pytest.raises(TypeError, match=f"{name}: given .*, expected a Module"):
            function(mo.zeros(3))
        with pytest.raises(ValueError, match="dimension 2 is out of range"):
            function(layer, dim=2)
    with pytest.raises(ValueError, match="n_power_iterations is 0"):
        spectral_norm(layer, n_power_iterations=0)
    with pytest.raises(ValueError, match="'weight' of a Linear is not computed"):
        remove_parametrizations(layer)
    weight_norm(layer)
    with pytest.raises(ValueError, match="'weight' of a Linear is computed already"):
        spectral_norm(layer)
    with pytest.raises(AttributeError, match=r"Linear: 'weight' is computed.*test_param"):
        layer.weight = mo.zeros((2, 3))
    with pytest.raises(AttributeError, match="'Linear' object has no attribute 'wieght'"):
        layer.wieght


def test_errors_of_properties_are_their_own():
    class Net(nn.Module):
        @property
        def width(self):
            return self.lenght

    with pytest.raises(AttributeError, match="no attribute 'lenght'"):
        Net().width
    assert not hasattr(Net(), "width")
