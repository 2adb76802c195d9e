# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients that are given to optimisers: each moves its own parameter, or none is moved."""

from itertools import permutations

import metaops as mo
import numpy as np
import pytest
from metaops import optim
from metaops._targets import noted
from util import close, same

ORDERS = list(permutations(range(3)))
#: Of each of three parameters, its group.
GROUPS = [(0, 0, 0), (0, 0, 1), (0, 1, 1), (0, 1, 2)]
RATES = [1.0, 0.5, 0.25]


def three():
    """Return three parameters of one shape, and a loss by which they move differently."""
    parameters = [mo.zeros((2, 2)) for _ in range(3)]
    loss = sum((p * (k + 1.0)).sum() for k, p in enumerate(parameters))
    return parameters, loss


def grouped(parameters, groups, order):
    """Return an optimiser of parameters in another order, and the rate of each of them."""
    chosen = [
        {"params": [parameters[k] for k, g in zip(order, groups, strict=True) if g == group]}
        | {"lr": RATES[group]}
        for group in range(groups[-1] + 1)
    ]
    rates = {k: RATES[g] for k, g in zip(order, groups, strict=True)}
    return optim.SGD(chosen), [rates[k] for k in range(3)]


#: Ways of changing the gradients of parameters before they are given.
WAYS = {
    "as they are": lambda parameters, gradients: gradients,
    "clipped by norm": lambda parameters, gradients: optim.clip_grad_norm(gradients, 1e9)[0],
    "clipped by value": lambda parameters, gradients: optim.clip_grad_value(gradients, 1e9),
    "not clipped": lambda parameters, gradients: optim.clip_grad_value(gradients, np.inf),
    "a dict": lambda parameters, gradients: dict(zip(parameters, gradients, strict=True)),
    "a dict of others": lambda parameters, gradients: {
        p: g * 1.0 for p, g in zip(parameters, gradients, strict=True)
    },
    "in place": lambda parameters, gradients: [g.assign(g * 1.0) for g in gradients],
    "a generator": lambda parameters, gradients: (g for g in gradients),
}


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("way", WAYS)
def test_every_parameter_moves_by_its_own_gradient(groups, order, way):
    for asked in ORDERS:
        parameters, loss = three()
        optimizer, rates = grouped(parameters, groups, order)
        targets = [parameters[k] for k in asked]
        optimizer.apply(WAYS[way](targets, mo.grad(loss, targets)))
        for k, (p, rate) in enumerate(zip(parameters, rates, strict=True)):
            same(p, np.full((2, 2), -rate * (k + 1), "float32"))


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("left_out", range(3))
def test_a_gradient_that_is_left_out(groups, order, left_out):
    for way in ("None", "dict"):
        parameters, loss = three()
        optimizer, rates = grouped(parameters, groups, order)
        gradients = mo.grad(loss, parameters)
        if way == "None":
            gradients[left_out] = None
        else:
            del (gradients := dict(zip(parameters, gradients, strict=True)))[parameters[left_out]]
        optimizer.apply(gradients)
        for k, p in enumerate(parameters):
            moved = 0.0 if k == left_out else -rates[k] * (k + 1)
            same(p, np.full((2, 2), moved, "float32"))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("groups", GROUPS[1:])
def test_an_order_that_nothing_tells_is_refused(groups, order):
    parameters, loss = three()
    optimizer, _ = grouped(parameters, groups, order)
    total = [g + 0.0 for g in mo.grad(loss, parameters)]
    for gradients in (total, total[::-1], [total[0], None, total[1]]):
        with pytest.raises(ValueError, match=r"tells the order.*apply\(dict\(zip\(parameters"):
            optimizer.apply(gradients)
    assert optimizer.steps == 0
    for p in parameters:
        same(p, np.zeros((2, 2), "float32"))


def test_places_count_in_one_group():
    parameters, _ = three()
    optimizer = optim.SGD(parameters, 1.0)
    optimizer.apply([mo.full((2, 2), float(k)) for k in range(3)])
    for k, p in enumerate(parameters):
        same(p, np.full((2, 2), -float(k), "float32"))


def test_shapes_tell_the_order_of_groups():
    """Two of a group may have one shape."""
    a, b, c = mo.zeros((2,)), mo.zeros((2,)), mo.zeros((3,))
    optimizer = optim.SGD([{"params": [a, b]}, {"params": c}], 1.0)
    optimizer.apply([mo.ones((2,)), mo.full((2,), 2.0), mo.full((3,), 3.0)])
    assert [p.numpy()[0] for p in (a, b, c)] == [-1, -2, -3]


@pytest.mark.parametrize("groups", GROUPS)
def test_some_gradients_that_were_changed(groups):
    """What is known has to agree with the places, and may be enough."""
    parameters, loss = three()
    optimizer, rates = grouped(parameters, groups, (0, 1, 2))
    one, two, three_ = mo.grad(loss, parameters)
    optimizer.apply([one, two * 1.0, three_])
    for k, (p, rate) in enumerate(zip(parameters, rates, strict=True)):
        same(p, np.full((2, 2), -rate * (k + 1), "float32"))
    with pytest.raises(ValueError, match=r"gradient 0 is by parameter 2 of optimizer\.parameters"):
        optimizer.apply([three_, two * 1.0, one])
    with pytest.raises(ValueError, match=r"gradient 1 is by parameter 0 of optimizer\.parameters"):
        optimizer.apply([one, one, three_])
    assert optimizer.steps == 1


def test_gradients_by_other_tensors():
    """Gradients at another place move parameters; with those of parameters they do not."""
    parameters, _ = three()
    optimizer = optim.SGD(parameters, 1.0)
    moved = [p + 1.0 for p in parameters]
    optimizer.apply(mo.grad(sum((p * p).sum() for p in moved), moved))
    close(parameters[0], np.full((2, 2), -2.0))
    other = mo.ones((2, 2))
    loss = sum((p * p).sum() for p in [*parameters, other])
    gradients = mo.grad(loss, [parameters[0], other, parameters[2]])
    with pytest.raises(ValueError, match=r"gradient 1 is by no parameter of optimizer\.parameters"):
        optimizer.apply(gradients)
    optimizer.apply(dict(zip(parameters, gradients, strict=True)))
    close(parameters[1], np.full((2, 2), -4.0))


def test_wrong_dicts():
    parameters, loss = three()
    optimizer = optim.SGD(parameters, 1.0)
    gradients = mo.grad(loss, parameters)
    with pytest.raises(ValueError, match=r"given for a Var of shape \(4,\).*none of optimizer"):
        optimizer.apply({mo.ones((4,)): mo.ones((4,))})
    with pytest.raises(ValueError, match=r"given for parameter 0 .* is by parameter 2"):
        optimizer.apply(dict(zip(parameters, gradients[::-1], strict=True)))
    with pytest.raises(ValueError, match=r"a gradient has shape \(4,\), its parameter \(2, 2\)"):
        optimizer.apply({parameters[0]: mo.ones((4,))})
    with pytest.raises(ValueError, match=r"2 gradients given, expected 3.*or a dict"):
        optimizer.apply(gradients[:2])
    assert optimizer.steps == 0


def test_products_with_jacobians_are_gradients():
    parameters, _ = three()
    optimizer, rates = grouped(parameters, (0, 1, 2), (2, 1, 0))
    outputs = [p * (k + 1.0) for k, p in enumerate(parameters)]
    optimizer.apply(mo.vjp(outputs, parameters, [mo.ones((2, 2))] * 3))
    for k, (p, rate) in enumerate(zip(parameters, rates, strict=True)):
        same(p, np.full((2, 2), -rate * (k + 1), "float32"))


def test_steps_by_dicts_are_repeated():
    parameters = [mo.array(np.zeros(4, "float32")) for _ in range(2)]
    optimizer = optim.SGD([{"params": p} for p in parameters], 1.0)
    gradients = [mo.array(np.full(4, k + 1, "float32")) for k in range(2)]
    recorded = []
    for _ in range(4):
        before = mo.stats()["values_recorded"]
        optimizer.apply(dict(zip(parameters, gradients, strict=True)))
        recorded.append(mo.stats()["values_recorded"] - before)
    assert recorded[0] > 0
    assert recorded[2:] == [0, 0]
    same(parameters[1], np.full(4, -8, "float32"))


def test_what_is_noted_goes_with_the_gradient():
    p = mo.ones((2,))
    gradient = mo.grad((p * p).sum(), p)
    assert noted(id(gradient)) is not None
    key = id(gradient)
    del gradient
    assert noted(key) is None
    gradients = mo.grad((p * p).sum(), [p])
    del p
    assert noted(id(gradients[0])) is not None
    # It is by nothing that lives.
    other = mo.zeros((2,))
    optim.SGD([other], 1.0).apply(gradients)
    same(other, np.full(2, -2.0, "float32"))
