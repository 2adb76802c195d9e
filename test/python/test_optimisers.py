# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Optimisers of all kinds against their formulas in NumPy, groups, clipping."""

import math

import metaops as mo
import numpy as np
import pytest
from metaops import nn, optim
from util import close, floats, same

STEPS = 7


def programs():
    """Return how many programs were made, or taken from the folder of compiled ones."""
    stats = mo.stats()
    return stats["programs_compiled"] + stats["programs_loaded"]


def decayed(p, g, o):
    return g + o.get("weight_decay", 0) * p


def sgd(p, g, t, s, o):
    g, m = decayed(p, g, o), o.get("momentum", 0)
    if not m:
        return p - o["lr"] * g
    s["v"] = g if t == 1 else m * s["v"] + (1 - o.get("dampening", 0)) * g
    return p - o["lr"] * (g + m * s["v"] if o.get("nesterov") else s["v"])


def rmsprop(p, g, t, s, o):
    g, alpha = decayed(p, g, o), o.get("alpha", 0.99)
    s["v"] = alpha * s.get("v", 0) + (1 - alpha) * g * g
    s["m"] = alpha * s.get("m", 0) + (1 - alpha) * g
    variance = s["v"] - s["m"] ** 2 if o.get("centered") else s["v"]
    s["b"] = o.get("momentum", 0) * s.get("b", 0) + g / (np.sqrt(variance) + 1e-8)
    return p - o["lr"] * s["b"]


def adagrad(p, g, t, s, o):
    g = decayed(p, g, o)
    s["v"] = s.get("v", o.get("initial_accumulator_value", 0)) + g * g
    return p - o["lr"] / (1 + (t - 1) * o.get("lr_decay", 0)) * g / (np.sqrt(s["v"]) + 1e-10)


def adadelta(p, g, t, s, o):
    g, rho = decayed(p, g, o), o.get("rho", 0.9)
    s["v"] = rho * s.get("v", 0) + (1 - rho) * g * g
    step = np.sqrt(s.get("d", 0) + 1e-6) / np.sqrt(s["v"] + 1e-6) * g
    s["d"] = rho * s.get("d", 0) + (1 - rho) * step * step
    return p - o["lr"] * step


def moments(g, s, o):
    b1, b2 = o.get("betas", (0.9, 0.999))
    s["m"] = b1 * s.get("m", 0) + (1 - b1) * g
    s["v"] = b2 * s.get("v", 0) + (1 - b2) * g * g
    return b1, b2


def adam(p, g, t, s, o):
    b1, b2 = moments(decayed(p, g, o), s, o)
    s["largest"] = np.maximum(s.get("largest", 0), s["v"])
    root = np.sqrt((s["largest"] if o.get("amsgrad") else s["v"]) / (1 - b2**t))
    return p - o["lr"] / (1 - b1**t) * s["m"] / (root + 1e-8)


def adamw(p, g, t, s, o):
    return adam(p * (1 - o["lr"] * o["weight_decay"]), g, t, s, {**o, "weight_decay": 0})


def adamax(p, g, t, s, o):
    g = decayed(p, g, o)
    b1, b2 = o.get("betas", (0.9, 0.999))
    s["m"] = b1 * s.get("m", 0) + (1 - b1) * g
    s["u"] = np.maximum(b2 * s.get("u", 0), abs(g) + 1e-8)
    return p - o["lr"] / (1 - b1**t) * s["m"] / s["u"]


def decoupled(p, g, o):
    if o.get("decoupled_weight_decay"):
        return p * (1 - o["lr"] * o["weight_decay"]), g
    return p, decayed(p, g, o)


def nadam(p, g, t, s, o):
    p, g = decoupled(p, g, o)
    b1, b2 = moments(g, s, o)
    now, later = (b1 * (1 - 0.5 * 0.96 ** (k * 4e-3)) for k in (t, t + 1))
    s["product"] = s.get("product", 1) * now
    root = np.sqrt(s["v"] / (1 - b2**t)) + 1e-8
    p = p - o["lr"] * (1 - now) / (1 - s["product"]) * g / root
    return p - o["lr"] * later / (1 - s["product"] * later) * s["m"] / root


def radam(p, g, t, s, o):
    p, g = decoupled(p, g, o)
    b1, b2 = moments(g, s, o)
    mean = s["m"] / (1 - b1**t)
    end = 2 / (1 - b2) - 1
    length = end - 2 * t * b2**t / (1 - b2**t)
    if length <= 5:
        return p - o["lr"] * mean
    r = math.sqrt((length - 4) * (length - 2) * end / ((end - 4) * (end - 2) * length))
    return p - o["lr"] * mean * r * math.sqrt(1 - b2**t) / (np.sqrt(s["v"]) + 1e-8)


KINDS = {
    "SGD": (optim.SGD, sgd, {}),
    "SGD dampened": (optim.SGD, sgd, {"momentum": 0.9, "dampening": 0.3, "weight_decay": 0.1}),
    "Nesterov": (optim.SGD, sgd, {"momentum": 0.9, "nesterov": True}),
    "RMSprop": (optim.RMSprop, rmsprop, {"weight_decay": 0.1}),
    "RMSprop centered": (
        optim.RMSprop,
        rmsprop,
        {"centered": True, "momentum": 0.8, "alpha": 0.7},
    ),
    "Adagrad": (
        optim.Adagrad,
        adagrad,
        {"lr_decay": 0.1, "initial_accumulator_value": 0.5, "weight_decay": 0.1},
    ),
    "Adadelta": (optim.Adadelta, adadelta, {"rho": 0.8, "weight_decay": 0.1}),
    "Adam": (optim.Adam, adam, {"weight_decay": 0.1}),
    "AMSGrad": (
        optim.Adam,
        adam,
        {"weight_decay": 0.1, "amsgrad": True, "betas": (0.5, 0.3)},
    ),
    "AdamW with AMSGrad": (
        optim.AdamW,
        adamw,
        {"weight_decay": 0.1, "amsgrad": True, "betas": (0.5, 0.3)},
    ),
    "Adamax": (optim.Adamax, adamax, {"weight_decay": 0.1}),
    "NAdam": (optim.NAdam, nadam, {"weight_decay": 0.1}),
    "NAdam decoupled": (
        optim.NAdam,
        nadam,
        {"weight_decay": 0.1, "decoupled_weight_decay": True, "betas": (0.8, 0.9)},
    ),
    "RAdam": (optim.RAdam, radam, {"weight_decay": 0.1}),
    "RAdam of short means": (
        optim.RAdam,
        radam,
        {"betas": (0.9, 0.95), "weight_decay": 0.1, "decoupled_weight_decay": True},
    ),
}


@pytest.mark.parametrize("name", KINDS)
def test_formulas(rng, name, compiled):
    """Rates change at each step; no step after the second compiles anything."""
    kind, formula, options = KINDS[name]
    start = floats(rng, (4, 3), "float64")
    p, expected, state = mo.array(start), start.copy(), {}
    optimizer = kind([p], **options)
    counts = []
    for t in range(1, STEPS + 1):
        rate, g = 0.1 / t, floats(rng, (4, 3), "float64")
        optimizer.lr = rate
        optimizer.apply([mo.array(g)])
        expected = formula(expected, g, t, state, {**options, "lr": rate})
        p.sync()
        counts.append(programs())
    close(p, expected, rtol=1e-11)
    assert counts[1] == counts[-1]
    assert len(mo.last_program().kernels) <= 2


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("is_told", [True, False])
def test_state(rng, name, is_told):
    """Training goes on from a saved state as if it had not been interrupted.

    The state has the options, so the other optimiser need not be told them.
    """
    kind, _, options = KINDS[name]
    start, gs = floats(rng, (4, 3), "float64"), floats(rng, (6, 4, 3), "float64")
    whole, first = mo.array(start), mo.array(start)
    one, two = kind([whole], 0.05, **options), kind([first], 0.05, **options)
    for g in gs:
        one.apply([mo.array(g)])
    for g in gs[:3]:
        two.apply([mo.array(g)])
    second = mo.array(first.numpy())
    resumed = kind([second], 1.0, **(options if is_told else {}))
    resumed.load_state_dict(two.state_dict())
    assert resumed.lr == 0.05 and resumed.steps == 3
    for g in gs[3:]:
        resumed.apply([mo.array(g)])
    same(second, whole.numpy())


def test_a_state_without_what_its_options_ask_for():
    """Nothing is changed by a call that raises."""
    p = mo.ones((2,))
    state = optim.SGD([p], 0.5, momentum=0.9).state_dict()
    optimizer = optim.SGD([p], 0.25)
    for key, value in (("velocity.0", mo.ones((3,))), ("velocity.1", mo.ones((2,)))):
        wrong = {name: given for name, given in state.items() if name != "velocity.0"}
        with pytest.raises((KeyError, ValueError), match=r"velocity\.0"):
            optimizer.load_state_dict({**wrong, key: value})
        assert set(optimizer.state_dict()) == {"steps", "param_groups"}
        assert (optimizer.lr, optimizer.momentum) == (0.25, 0.0)
    # What an option has left may be missing, and may be there.
    optimizer.load_state_dict(state)
    optimizer.momentum = 0.0
    optimizer.load_state_dict(optimizer.state_dict())
    assert set(optimizer.state_dict()) == {"steps", "param_groups", "velocity.0"}
    optimizer.load_state_dict(optim.SGD([p], 0.5).state_dict())
    assert set(optimizer.state_dict()) == {"steps", "param_groups"}


# Options that come and go.


def test_amsgrad_that_comes_later():
    """What has been largest counts from then on, and is kept while the option is off."""
    p = mo.zeros((1,), "float64")
    optimizer = optim.Adam([p], 1.0, betas=(0.0, 0.0))
    moved = 0.0
    for amsgrad, gradient, step in [
        (False, 4.0, 1.0),
        (True, 2.0, 1.0),
        (True, 1.0, 0.5),
        (False, 1.0, 1.0),
        (True, 1.0, 0.5),
    ]:
        optimizer.amsgrad = amsgrad
        optimizer.apply([mo.full((1,), gradient, "float64")])
        moved -= step
        close(p, [moved], rtol=1e-7)
    same(optimizer.state_dict()["largest.0"], np.array([4.0]))


MAXIMIZERS = sorted(
    name
    for name in optim.__all__
    if isinstance(cls := getattr(optim, name), type)
    and issubclass(cls, optim.Optimizer)
    and cls not in (optim.Optimizer, optim.LBFGS)  # which has no such option
)


@pytest.mark.parametrize("name", MAXIMIZERS)
def test_maximizing_is_minimizing_by_the_negative_gradient(rng, name):
    start, gs = floats(rng, (4, 3), "float64"), floats(rng, (STEPS, 4, 3), "float64")
    up, down = mo.array(start), mo.array(start)
    one = getattr(optim, name)([up], 0.05, maximize=True)
    two = getattr(optim, name)([down], 0.05)
    for t, g in enumerate(gs):
        # Also as an option that is set between steps.
        one.maximize, two.maximize = t % 3 != 1, t % 3 == 1
        one.apply([mo.array(g if t % 3 != 1 else -g)])
        two.apply([mo.array(-g if t % 3 != 1 else g)])
    same(up, down.numpy())
    assert (up.numpy() != start).any()


def test_maximizing_a_group():
    """Weight decay still draws to zero, as it is no part of what is maximised."""
    a, b = mo.array(np.ones(2)), mo.array(np.ones(2))
    optimizer = optim.SGD([{"params": a, "maximize": True}, {"params": b}], 0.25, weight_decay=0.5)
    optimizer.step((a * 3 + b * 3).sum())
    same(a, np.full(2, 1 + 0.25 * (3 - 0.5)))
    same(b, np.full(2, 1 - 0.25 * (3 + 0.5)))


# Groups.


def test_groups(rng, compiled):
    arrays = [floats(rng, (k + 2,), "float64") for k in range(3)]
    a, b, c = (mo.array(array) for array in arrays)
    optimizer = optim.SGD(
        [{"params": [a]}, {"params": b, "lr": 0.01, "momentum": 0.9}], lr=0.1, weight_decay=0.5
    )
    assert [group["lr"] for group in optimizer.param_groups] == [0.1, 0.01]
    states = [{}, {}, {}]
    options = [
        {"lr": 0.1, "weight_decay": 0.5},
        {"lr": 0.01, "momentum": 0.9, "weight_decay": 0.5},
        {"lr": 0.2, "momentum": 0.5},
    ]

    def step(count, starts):
        gs = [floats(rng, (k + 2,), "float64") for k in range(count)]
        optimizer.apply([mo.array(g) for g in gs])
        for k, g in enumerate(gs):
            t = optimizer.steps - starts[k]
            arrays[k] = sgd(arrays[k], g, t, states[k], options[k])

    for _ in range(3):
        step(2, [0, 0])
    optimizer.add_param_group({"params": [c], "lr": 0.2, "momentum": 0.5, "weight_decay": 0.0})
    mo.sync([a, b])
    counts = []
    for _ in range(4):
        step(3, [0, 0, 3])
        mo.sync([a, b, c])
        counts.append(programs())
    assert counts[1] == counts[-1]
    for var, expected in zip((a, b, c), arrays, strict=True):
        close(var, expected, rtol=1e-12)
    # Set for all, and for one.
    optimizer.lr = 0.3
    assert [group["lr"] for group in optimizer.param_groups] == [0.3] * 3
    optimizer.param_groups[1]["lr"] = 0.7
    assert optimizer.lr == 0.3
    state = optimizer.state_dict()
    assert set(state) == {"steps", "param_groups", "velocity.1", "velocity.2"}
    with pytest.raises(ValueError, match="load_state_dict: 3 groups given, expected 1"):
        optim.SGD([a]).load_state_dict(state)


def test_groups_start_anew():
    """The bias correction of Adam counts the steps of the group."""
    a, b = mo.array(np.zeros(2)), mo.array(np.zeros(2))
    optimizer = optim.Adam([a], 0.1)
    g = mo.array(np.ones(2))
    for _ in range(3):
        optimizer.apply([g])
    optimizer.add_param_group({"params": [b]})
    optimizer.apply({a: g, b: g})
    close(b, np.full(2, -0.1), rtol=1e-7)
    close(a, np.full(2, -0.4), rtol=1e-7)


def test_groups_of_several_types(rng):
    """Numbers of a group in a type that only another one has are no trouble."""
    a, b = mo.array(np.ones(3, "float32")), mo.array(np.ones(3, "float64"))
    optimizer = optim.SGD([{"params": a}, {"params": b, "lr": 0.5}], lr=0.25)
    for _ in range(3):
        optimizer.apply({a: mo.ones((3,)), b: mo.ones((3,), "float64")})
    same(a, np.full(3, 0.25, "float32"))
    same(b, np.full(3, -0.5))


@pytest.mark.parametrize(
    "call, kind, message",
    [
        (lambda p: optim.SGD({"params": [p]}), TypeError, "SGD: given a dict, expected a seq"),
        (lambda p: optim.SGD([{"lr": 1}]), TypeError, "expected a dict with 'params'"),
        (
            lambda p: optim.SGD([{"params": p, "beta": 1}]),
            ValueError,
            "SGD: a group has 'beta', the options are lr, momentum",
        ),
        (lambda p: optim.SGD([{"params": p}, {"params": p}]), ValueError, "is given twice"),
        (lambda p: optim.SGD([p], -1), ValueError, "SGD: lr is -1, expected 0 or more"),
        (lambda p: optim.SGD([p], momentum=-1), ValueError, "SGD: momentum is -1"),
        (
            lambda p: optim.SGD([p], momentum=0.5, dampening=0.5, nesterov=True),
            ValueError,
            "no dampening, which is 0.5",
        ),
        (lambda p: optim.RMSprop([p], alpha=1), ValueError, r"alpha is 1, expected it in \[0, 1"),
        (lambda p: optim.Adadelta([p], rho=-1), ValueError, r"rho is -1, expected it in"),
        (lambda p: optim.NAdam([p], betas=(0, 1)), ValueError, r"NAdam: betas are \(0, 1\)"),
        (lambda p: optim.Adagrad([p], eps=-1), ValueError, "Adagrad: eps is -1"),
        (lambda p: optim.SGD([p], None), TypeError, "SGD: lr is None, expected a number"),
        (lambda p: optim.Adam([p], lr="1"), TypeError, "Adam: lr is '1', expected a number"),
        (lambda p: optim.SGD([{"params": p, "lr": None}]), TypeError, "SGD: lr is None"),
        (lambda p: optim.RMSprop([p], alpha=None), TypeError, "RMSprop: alpha is None"),
        (lambda p: optim.Adam([p], betas=0.5), TypeError, "betas are 0.5, expected a tuple"),
        (lambda p: optim.Lion([p], betas=(0.5, None)), TypeError, "Lion: a beta is None"),
    ],
)
def test_errors(call, kind, message):
    with pytest.raises(kind, match=message):
        call(mo.ones((2,)))


def test_a_group_that_is_refused_changes_nothing():
    p, q = mo.ones((2,)), mo.ones((2,))
    optimizer = optim.Adam([p])
    for wrong in [{"params": [q], "eps": -1}, {"params": [q, p]}, {"params": [q, 3]}]:
        with pytest.raises((ValueError, TypeError)):
            optimizer.add_param_group(wrong)
    assert len(optimizer.param_groups) == len(optimizer.parameters) == 1
    optimizer.apply([mo.ones((2,))])


def test_momentum_that_comes_later(rng):
    """State is there as soon as an option asks for it."""
    p = mo.array(np.zeros(2))
    optimizer = optim.SGD([p], 1.0)
    for momentum in (0.0, 0.5, 0.5):
        optimizer.momentum = momentum
        optimizer.apply([mo.array(np.ones(2))])
    close(p, np.full(2, -(1 + 1 + 1.5)))
    assert set(optimizer.state_dict()) == {"steps", "param_groups", "velocity.0"}


# Clipping.


@pytest.mark.parametrize("order", [1, 2, math.inf])
def test_clipping_by_norm(rng, order):
    gs = [floats(rng, shape, "float64") for shape in [(3, 2), (4,), ()]]
    norm = np.linalg.norm(np.concatenate([g.ravel() for g in gs]), order)
    for bound in (0.5, 100.0):
        clipped, found = optim.clip_grad_norm([mo.array(g) for g in gs], bound, order)
        close(found, norm, rtol=1e-12)
        for own, g in zip(clipped, gs, strict=True):
            close(own, g * min(1, bound / (norm + 1e-6)), rtol=1e-12)
    clipped, found = optim.clip_grad_norm([np.full(2, 3e4, "float16")], 1.0)
    assert clipped[0].dtype == "float16" and found.dtype == "float32"
    close(clipped[0].cast("float32"), np.full(2, 0.5**0.5), rtol=1e-3)


def test_clipping_by_value(rng):
    g = floats(rng, (50,))
    (clipped,) = optim.clip_grad_value([g], 0.5)
    same(clipped, np.clip(g, np.float32(-0.5), np.float32(0.5)))
    same(optim.clip_grad_value([g], math.inf)[0], g)
    assert optim.clip_grad_norm([], 1.0)[0] == []


def test_clipping_within_a_step(rng, compiled):
    """Another bound at each step is no other program."""
    net = nn.Linear(3, 2)
    optimizer = optim.Adam(net.parameters(), 0.1)
    x, counts = mo.array(floats(rng, (5, 3))), []
    for k in range(5):
        gradients = mo.grad((net(x) ** 2).sum(), optimizer.parameters)
        gradients, norm = optim.clip_grad_norm(gradients, 0.1 + k)
        optimizer.apply(gradients)
        mo.sync(net.parameters())
        assert norm.item() > 0
        counts.append(programs())
    assert counts[1] == counts[-1]


def test_errors_of_clipping():
    with pytest.raises(ValueError, match="clip_grad_norm: max_norm is -1, expected"):
        optim.clip_grad_norm([mo.ones(2)], -1)
    with pytest.raises(ValueError, match="clip_grad_value: clip_value is -1, expected"):
        optim.clip_grad_value([mo.ones(2)], -1)
    with pytest.raises(TypeError, match="clip_grad_norm: gradients are a Var, expected a seq"):
        optim.clip_grad_norm(mo.ones(2), 1)
    with pytest.raises(TypeError, match="clip_grad_value: a gradient is int64, expected floats"):
        optim.clip_grad_value([mo.array([1])], 1)


@pytest.mark.parametrize(
    "make",
    [
        lambda p: optim.SGD(p, 0.1, momentum=0.9),
        lambda p: optim.Adam(p, 0.1, betas=(0.9, 0.9)),
        lambda p: optim.Lion(p, 0.1, betas=(0.9, 0.9)),
        lambda p: optim.RMSprop(p, 0.1, alpha=0.9, momentum=0.9),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_decays_ends(make, dtype):
    """A tenth of the least numbers rounds to nothing: they would be there for ever."""
    w = mo.array(np.ones(3, dtype))
    optimizer = make([w])
    least = np.finfo(dtype).tiny
    optimizer.apply([mo.array(np.array([1.0, 30 * least, 1e6 * least], dtype))])
    nothing = mo.zeros(3, dtype=dtype)
    for _ in range(60):
        optimizer.apply([nothing])
    for name, state in optimizer.state_dict().items():
        if getattr(state, "dtype", None) == dtype:
            sizes = np.abs(state.numpy())
            assert ((sizes == 0) | (sizes >= least)).all(), name
