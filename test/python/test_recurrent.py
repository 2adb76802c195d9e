# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recurrent networks, against loops over single sequences in NumPy."""

import subprocess
import sys

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from util import AVX512, check_gradient, close, floats, same

INPUTS, HIDDEN = 3, 4


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def step(kind, w, x, state):
    """Return the next state of one sequence, each a vector."""
    given = w["weight_ih"] @ x + w.get("bias_ih", 0)
    recalled = w["weight_hh"] @ state[0] + w.get("bias_hh", 0)
    if kind in ("tanh", "relu"):
        return [np.tanh(given + recalled) if kind == "tanh" else np.maximum(given + recalled, 0)]
    if kind == "GRU":
        (a, b, c), (d, e, f) = np.split(given, 3), np.split(recalled, 3)
        r, z = sigmoid(a + d), sigmoid(b + e)
        n = np.tanh(c + r * f)
        return [(1 - z) * n + z * state[0]]
    i, f, g, o = np.split(given + recalled, 4)
    cell = sigmoid(f) * state[1] + sigmoid(i) * np.tanh(g)
    hidden = sigmoid(o) * np.tanh(cell)
    return [w["weight_hr"] @ hidden if "weight_hr" in w else hidden, cell]


def weights_of(state, ending):
    return {
        name[: -len(ending)]: value.numpy().astype("float64")
        for name, value in state.items()
        if name.endswith(ending)
    }


def reference(kind, net, x, states, lengths):
    """Return outputs ``(T, N, outputs)`` and the last states of x ``(T, N, inputs)``."""
    state_dict = net.state_dict()
    last = [np.array(state, "float64") for state in states]
    x = x.astype("float64")
    for layer in range(net.num_layers):
        sides = []
        for suffix in ("", "_reverse") if net.bidirectional else ("",):
            w = weights_of(state_dict, f"_l{layer}{suffix}")
            place = layer * (1 + net.bidirectional) + (suffix != "")
            outputs = np.zeros((*x.shape[:2], last[0].shape[2]))
            for n, length in enumerate(lengths):
                current = [state[place, n] for state in last]
                for t in range(length)[:: -1 if suffix else 1]:
                    current = step(kind, w, x[t, n], current)
                    outputs[t, n] = current[0]
                for state, value in zip(last, current, strict=True):
                    state[place, n] = value
            sides.append(outputs)
        x = np.concatenate(sides, 2)
    return x, last


def make(kind, **options):
    if kind in ("tanh", "relu"):
        return nn.RNN(INPUTS, HIDDEN, nonlinearity=kind, **options)
    return getattr(nn, kind)(INPUTS, HIDDEN, **options)


def first_states(rng, kind, net, batch):
    count = net.num_layers * (1 + net.bidirectional)
    outputs = getattr(net, "proj_size", 0) or HIDDEN
    sizes = [outputs, HIDDEN] if kind == "LSTM" else [outputs]
    return [floats(rng, (count, batch, size)) for size in sizes]


MANY = {"num_layers": 2, "bidirectional": True}
CASES = [
    ("tanh", {}),
    ("relu", {"bias": False}),
    ("tanh", MANY),
    ("GRU", {}),
    ("GRU", {"bias": False, "batch_first": True, "bidirectional": True}),
    ("LSTM", {}),
    ("LSTM", {"bias": False, "batch_first": True, "bidirectional": True}),
    ("LSTM", {"proj_size": 2, **MANY}),
]


@pytest.mark.parametrize("kind, options", CASES)
def test_networks(rng, kind, options):
    net = make(kind, **options)
    x = floats(rng, (4, 3, INPUTS))
    given = first_states(rng, kind, net, 3)
    batch_first = options.get("batch_first", False)
    own = x.swapaxes(0, 1) if batch_first else x

    def check(result, expected):
        output, last = result
        last = last if kind == "LSTM" else (last,)
        close(output, expected[0].swapaxes(0, 1) if batch_first else expected[0], atol=3e-6)
        assert len(last) == len(expected[1])
        for actual, state in zip(last, expected[1], strict=True):
            close(actual, state, atol=3e-6)

    hx = tuple(given) if kind == "LSTM" else given[0]
    zeros = [np.zeros_like(state) for state in given]
    check(net(own), reference(kind, net, x, zeros, [4] * 3))
    lengths = [2, 4, 0]
    expected = reference(kind, net, x, given, lengths)
    # What is in the padding has no effect.
    for n, length in enumerate(lengths):
        x[length:, n] = np.nan
    check(net(own, hx, lengths), expected)
    check(net(own, hx, lengths=mo.array(lengths).cast("int32")), expected)


@pytest.mark.parametrize("kind", ["tanh", "GRU", "LSTM"])
def test_one_sequence(rng, kind):
    net = make(kind, bidirectional=True, batch_first=True)
    x = floats(rng, (4, INPUTS))
    given = [state[:, 0] for state in first_states(rng, kind, net, 1)]
    expected, last = reference(kind, net, x[:, None], [state[:, None] for state in given], [3])
    output, states = net(x, tuple(given) if kind == "LSTM" else given[0], 3)
    close(output, expected[:, 0], atol=3e-6)
    for actual, state in zip(states if kind == "LSTM" else [states], last, strict=True):
        close(actual, state[:, 0], atol=3e-6)


@pytest.mark.parametrize("kind", ["tanh", "relu", "GRU", "LSTM"])
@pytest.mark.parametrize("bias", [True, False])
def test_cells(rng, kind, bias):
    if kind in ("tanh", "relu"):
        cell = nn.RNNCell(INPUTS, HIDDEN, bias, kind)
    else:
        cell = getattr(nn, f"{kind}Cell")(INPUTS, HIDDEN, bias)
    w = {name: value.numpy().astype("float64") for name, value in cell.state_dict().items()}
    assert len(w) == (4 if bias else 2)
    x = floats(rng, (3, INPUTS))
    given = [floats(rng, (3, HIDDEN)) for _ in range(2 if kind == "LSTM" else 1)]

    def check(result, expected):
        for actual, value in zip(result if kind == "LSTM" else [result], expected, strict=True):
            close(actual, value, atol=3e-6)

    rows = [step(kind, w, x[n], [state[n] for state in given]) for n in range(3)]
    check(
        cell(x, tuple(given) if kind == "LSTM" else given[0]),
        map(np.stack, zip(*rows, strict=True)),
    )
    first = [state[0] for state in given]
    check(cell(x[0], tuple(first) if kind == "LSTM" else first[0]), rows[0])
    check(cell(x[0]), step(kind, w, x[0], [np.zeros(HIDDEN)] * len(given)))


def test_names_and_shapes():
    net = nn.LSTM(3, 4, num_layers=2, bidirectional=True, proj_size=2)
    shapes = {name: value.shape for name, value in net.state_dict().items()}
    for layer, inputs in ((0, 3), (1, 4)):
        for suffix in ("", "_reverse"):
            ending = f"_l{layer}{suffix}"
            assert shapes.pop(f"weight_ih{ending}") == (16, inputs)
            assert shapes.pop(f"weight_hh{ending}") == (16, 2)
            assert shapes.pop(f"bias_ih{ending}") == shapes.pop(f"bias_hh{ending}") == (16,)
            assert shapes.pop(f"weight_hr{ending}") == (2, 4)
    assert not shapes
    assert list(nn.GRU(3, 4).state_dict()) == [
        "weight_ih_l0",
        "weight_hh_l0",
        "bias_ih_l0",
        "bias_hh_l0",
    ]
    assert nn.GRU(3, 4).weight_ih_l0.shape == (12, 3)
    values = np.concatenate([p.numpy().ravel() for p in nn.RNN(50, 25).parameters()])
    assert abs(values).max() < 0.2 and values.std() == pytest.approx(0.2 / 3**0.5, rel=0.05)
    assert repr(net) == "LSTM(3, 4, num_layers=2, bidirectional=True, proj_size=2)"
    assert repr(nn.GRUCell(3, 4)) == "GRUCell(3, 4, bias=True)"


@pytest.mark.parametrize("cls", [nn.RNN, nn.GRU, nn.LSTM])
def test_gradients(rng, cls):
    net = cls(2, 2)
    names = list(net.state_dict())

    def run(x, h, *parameters):
        for name, parameter in zip(names, parameters, strict=True):
            setattr(net, name, parameter)
        output, _ = net(x, (h, h * 0.5) if cls is nn.LSTM else h, lengths=[2, 1])
        return output

    arrays = [floats(rng, value.shape, "float64", -0.5, 0.5) for value in net.parameters()]
    x, h = floats(rng, (2, 2, 2), "float64"), floats(rng, (1, 2, 2), "float64")
    check_gradient(run, x, h, *arrays, order=2 if cls is nn.RNN else 1, rtol=1e-5)


def test_padding_has_no_part_in_gradients(rng):
    net = nn.RNN(INPUTS, HIDDEN, bidirectional=True)
    x = floats(rng, (4, 2, INPUTS))
    clean = np.where(np.arange(4)[:, None, None] < np.array([4, 1])[:, None], x, 0)
    dirty = np.where(clean == 0, np.nan, clean).astype("float32")

    def gradients(data):
        data = mo.array(data)
        output, h = net(data, lengths=[4, 1])
        return mo.grad((output * output).sum() + (h * h * h).sum(), [data, *net.parameters()])

    for one, other in zip(gradients(clean), gradients(dirty), strict=True):
        same(other, one.numpy())


@pytest.mark.usefixtures("own_kernels")
def test_dropout_is_between_layers(rng):
    x = floats(rng, (3, 2, INPUTS))
    one = nn.RNN(INPUTS, HIDDEN, dropout=1.0)
    expected = one.eval()(x)[0].numpy()
    same(one.train()(x)[0], expected)
    two = nn.RNN(INPUTS, HIDDEN, 2, dropout=1.0)
    dropped, plain = two(x)[0].numpy(), two.eval()(x)[0].numpy()
    assert abs(dropped - plain).max() > 1e-3
    # All that the second layer has got is zeros.
    same(dropped[:, 0], dropped[:, 1])


def test_nothing(rng):
    for net in (nn.RNN(3, 4), nn.GRU(3, 4), nn.LSTM(3, 4)):
        output, last = net(mo.zeros((5, 0, 3)))
        assert output.numpy().shape == (5, 0, 4)
        h = floats(rng, (1, 2, 4))
        output, last = net(mo.zeros((0, 2, 3)), (h, h) if isinstance(net, nn.LSTM) else h)
        assert output.numpy().shape == (0, 2, 4)
        for state in last if isinstance(net, nn.LSTM) else [last]:
            same(state, h)
    assert nn.GRU(0, 2)(mo.zeros((3, 1, 0)))[0].numpy().shape == (3, 1, 2)


SHARED = """
import metaops as mo
from metaops import nn
mo.seed(1)
net = nn.{}(8, 64)
mo.sync(net.parameters())
for steps in (12, 96, 192):
    output, _ = net(mo.randn((steps, 4, 8)).sync())
    mo.sync(output)
    print(len(mo.last_program().kernels), mo.last_program().distinct_kernels)
"""


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
def test_steps_share_kernels(name):
    """The number of kernels and of their calls does not grow with time.

    In a process of its own: values that others have left are computed along.
    """
    done = subprocess.run(
        [sys.executable, "-c", SHARED.format(name)], capture_output=True, text=True, check=True
    )
    rows = [line.split() for line in done.stdout.splitlines()]
    assert rows[1] == rows[2]
    assert int(rows[1][1]) <= (8 if AVX512 else 10)


ERRORS = {
    "rank": (
        lambda net: net(mo.zeros(3)),
        ValueError,
        r"input has shape \(3,\), expected \(T, N, 3",
    ),
    "size": (lambda net: net(mo.zeros((2, 2, 4))), ValueError, r"expected \(T, N, 3\) or \(T, 3\)"),
    "h": (
        lambda net: net(mo.zeros((2, 2, 3)), (mo.zeros((1, 2, 5)), mo.zeros((1, 2, 4)))),
        ValueError,
        r"LSTM: the state h has shape \(1, 2, 5\), expected \(1, 2, 4\)",
    ),
    "c": (
        lambda net: net(mo.zeros((2, 3)), (mo.zeros((1, 4)), mo.zeros((1, 1, 4)))),
        ValueError,
        r"the state c has shape \(1, 1, 4\), expected \(1, 4\)",
    ),
    "pair": (
        lambda net: net(mo.zeros((2, 3)), mo.zeros((1, 4))),
        TypeError,
        r"LSTM: hx is a Var of shape \(1, 4\).*, expected a pair \(h, c\)",
    ),
    "lengths": (
        lambda net: net(mo.zeros((2, 2, 3)), lengths=[1, 3]),
        ValueError,
        "LSTM: a length is 3, expected 0 to 2",
    ),
    "negative": (
        lambda net: net(mo.zeros((2, 2, 3)), lengths=[1, -1]),
        ValueError,
        "LSTM: a length is -1, expected 0 to 2",
    ),
    "computed": (
        lambda net: net(mo.zeros((2, 2, 3)), lengths=mo.array([1, 2]) + 1)[0].numpy(),
        IndexError,
        "index 3 is out of range",
    ),
    "how many": (
        lambda net: net(mo.zeros((2, 2, 3)), lengths=[1]),
        ValueError,
        r"lengths have shape \(1,\), expected \(2,\)",
    ),
    "floats": (
        lambda net: net(mo.zeros((2, 2, 3)), lengths=[1.0, 2.0]),
        TypeError,
        "lengths are float32, expected integers",
    ),
    "layers": (lambda net: nn.GRU(3, 4, 0), ValueError, "GRU: num_layers is 0, expected 1 to"),
    "many": (lambda net: nn.GRU(3, 4, 2**70), ValueError, "expected 1 to 65536"),
    "half": (lambda net: nn.GRU(3, 4, 1.5), TypeError, "num_layers is 1.5, expected an integer"),
    "dropout": (lambda net: nn.GRU(3, 4, dropout=2), ValueError, "GRU: dropout: p is 2, expected"),
    "proj": (lambda net: nn.LSTM(3, 4, proj_size=4), ValueError, "proj_size is 4, .*less than"),
    "function": (
        lambda net: nn.RNN(3, 4, nonlinearity="sin"),
        ValueError,
        "RNN: nonlinearity is 'sin', expected 'tanh' or 'relu'",
    ),
    "cell": (
        lambda net: nn.GRUCell(3, 4)(mo.zeros((2, 4))),
        ValueError,
        r"GRUCell: input has shape \(2, 4\), expected \(N, 3\) or \(3,\)",
    ),
    "cell state": (
        lambda net: nn.RNNCell(3, 4)(mo.zeros((2, 3)), mo.zeros(4)),
        ValueError,
        r"RNNCell: the state h has shape \(4,\), expected \(2, 4\)",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    action, error, message = ERRORS[name]
    with pytest.raises(error, match=message) as raised:
        action(nn.LSTM(3, 4))
    assert "test_recurrent.py" in str(raised.value)
