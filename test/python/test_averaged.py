# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What trainings do beside steps: averages of models, sums and bounds of gradients, groups."""

from __future__ import annotations

import math

import metaops as mo
import numpy as np
import pytest
from metaops import nn, optim

pytestmark = pytest.mark.processor


def make_model():
    mo.seed(1)
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 1))


def batches(count, seed=0):
    rng = np.random.default_rng(seed)
    return [mo.array(rng.standard_normal((8, 3)), "float32") for _ in range(count)]


# Averages


@pytest.mark.parametrize("is_recorded", [False, True])
@pytest.mark.parametrize("decay", [None, 0.75])
def test_averages_are_those_of_numpy(decay, is_recorded):
    model = make_model()
    averaged = optim.AveragedModel(model, decay)
    optimizer = optim.SGD(model.parameters(), 0.1)

    def step(x):
        optimizer.step((model(x) ** 2).sum())
        averaged.update_parameters(model)

    run = mo.jit(step) if is_recorded else step
    expected, names = None, [name for name, _ in model.named_parameters()]
    for count, x in enumerate(batches(6)):
        run(x)
        values = {name: p.numpy().astype("float64") for name, p in model.named_parameters()}
        if expected is None:
            expected = values
        weight = 1 / (count + 1) if decay is None else 1 - decay
        expected = {key: old + (values[key] - old) * weight for key, old in expected.items()}
    state = averaged.module.state_dict()
    for name in names:
        np.testing.assert_allclose(state[name].numpy(), expected[name], rtol=1e-5, atol=1e-7)
    # Buffers are copied.
    for name, value in model.named_buffers():
        np.testing.assert_array_equal(state[name].numpy(), value.numpy())
    assert averaged.n_averaged.item() == 6
    assert averaged.parameters() == []


def test_buffers_are_averaged_where_asked():
    model = make_model()
    averaged = optim.AveragedModel(model, 0.5, use_buffers=True)
    means = []
    for x in batches(2):
        model(x)
        averaged.update_parameters(model)
        means.append(model[1].running_mean.numpy())
    np.testing.assert_allclose(
        averaged.module[1].running_mean.numpy(), np.mean(means, 0), rtol=1e-6
    )
    assert averaged.module[1].num_batches_tracked.item() == 2


def test_averages_of_halves_are_in_float32():
    model = nn.Linear(3, 2).bfloat16()
    averaged = optim.AveragedModel(model, decay=0.999)
    for _ in range(3):
        averaged.update_parameters(model)
    assert averaged.module.weight.dtype == "float32"
    np.testing.assert_array_equal(averaged.module.weight.numpy(), model.weight.float().numpy())


def test_an_average_is_called_and_saved(tmp_path):
    model = make_model()
    averaged = optim.AveragedModel(model)
    averaged.update_parameters(model)
    x = batches(1)[0]
    np.testing.assert_array_equal(averaged.eval()(x).numpy(), model.eval()(x).numpy())
    averaged.save(tmp_path / "averaged.npz")
    other = optim.AveragedModel(make_model())
    other.load(tmp_path / "averaged.npz")
    assert other.n_averaged.item() == 1


def test_averages_of_what_is_none():
    with pytest.raises(TypeError, match=r"AveragedModel: model is \d, expected a module"):
        optim.AveragedModel(3)
    with pytest.raises(ValueError, match=r"AveragedModel: decay is 1\.0, expected it in \[0, 1\)"):
        optim.AveragedModel(nn.Linear(2, 2), 1.0)
    with pytest.raises(ValueError, match="other tensors than the one copied"):
        optim.AveragedModel(nn.Linear(2, 2)).update_parameters(nn.Linear(2, 3))


def test_statistics_of_an_average():
    model, given = make_model(), batches(5)
    model.eval()
    model[0].is_train = True
    optim.update_bn(given, model)
    rows = model[0](mo.cat(given)).numpy().reshape(5, 8, 4).astype("float64")
    np.testing.assert_allclose(model[1].running_mean.numpy(), rows.mean((0, 1)), rtol=1e-5)
    variance = rows.var(1, ddof=1).mean(0)
    np.testing.assert_allclose(model[1].running_var.numpy(), variance, rtol=1e-5)
    assert (model[1].momentum, model[1].is_train, model[0].is_train) == (0.1, False, True)
    optim.update_bn(((x, None) for x in given), nn.Linear(3, 3))


# Options of steps


@pytest.mark.parametrize("is_recorded", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_gradients_that_are_added_up_are_those_of_a_sum(is_recorded, dtype):
    p, q = mo.ones((2, 3)).cast(dtype), mo.ones((2, 3)).cast(dtype)
    first, second = optim.Adam([p], 0.125), optim.Adam([q], 0.125)
    losses = [lambda w, k=k: (w.float() ** 2 * (k + 1)).sum() for k in range(3)]

    def step(number):
        first.step(losses[number](p), accumulate=number < 2)

    run = mo.jit(step) if is_recorded else step
    for _ in range(3):
        for number in range(3):
            run(number)
        second.step([loss(q) for loss in losses])
    tolerance = {"float32": 1e-6, "bfloat16": 0}[dtype]
    np.testing.assert_allclose(p.float().numpy(), q.float().numpy(), rtol=tolerance)
    assert first.steps == second.steps == 3


def test_a_sum_is_saved(tmp_path):
    p, q = mo.ones(3), mo.ones(3)
    first = optim.SGD([p], 1.0)
    first.step((p * 2).sum(), accumulate=True)
    mo.save(first.state_dict(), tmp_path / "state.npz")
    second = optim.SGD([q], 1.0)
    second.load_state_dict(mo.load(tmp_path / "state.npz"))
    second.step((q * 3).sum())
    assert q.tolist() == [-4, -4, -4]
    with pytest.raises(ValueError, match=r"'accumulated\.0' has shape \(2,\), expected \(3,\)"):
        second.load_state_dict({**second.state_dict(), "accumulated.0": mo.ones(2)})


def test_a_parameter_that_has_a_sum_alone():
    p, q = mo.ones(3), mo.ones(3)
    optimizer = optim.SGD([p, q], 1.0)
    optimizer.step((p * 2).sum(), accumulate=True)
    optimizer.step((q * 3).sum())
    assert (p.tolist(), q.tolist()) == ([-1] * 3, [-2] * 3)


@pytest.mark.parametrize("is_recorded", [False, True])
def test_bounds_of_a_step_are_those_of_the_functions(is_recorded):
    p, q = mo.ones((2, 3)), mo.ones((2, 3))
    unused = mo.ones(2)
    first, second = optim.SGD([p, unused], 0.1), optim.SGD([q], 0.1)

    def step():
        first.step((p**3).sum(), clip_norm=1.5, clip_value=1.0)

    run = mo.jit(step) if is_recorded else step
    for _ in range(3):
        run()
        gradients = optim.clip_grad_value(mo.grad((q**3).sum(), [q]), 1.0)
        second.apply(optim.clip_grad_norm(gradients, 1.5)[0])
    np.testing.assert_allclose(p.numpy(), q.numpy(), rtol=1e-6)
    with pytest.raises(ValueError, match="max_norm is -1, expected a number that is not negative"):
        first.step((p**2).sum(), clip_norm=-1)


def test_scaled_losses_are_added_up_and_bounded():
    p, q = mo.ones((2, 3)), mo.ones((2, 3))
    first, second, scaler = optim.Adam([p], 0.1), optim.Adam([q], 0.1), mo.amp.GradScaler(2.0**6)
    for factors in ([1.0, 2.0], [math.inf, 1.0], [3.0, 4.0]):
        for number, factor in enumerate(factors):
            loss = scaler.scale((p**2 * factor).sum())
            scaler.step(first, loss, accumulate=number == 0, clip_norm=1.0)
        scaler.update()
        if math.isfinite(sum(factors)):
            second.step((q**2 * sum(factors)).sum(), clip_norm=1.0)
    np.testing.assert_allclose(p.numpy(), q.numpy(), rtol=1e-6)
    assert scaler.get_scale() == 2.0**5


# Groups


def test_groups_by_names():
    model = make_model()
    groups = optim.groups_by_name(model, {r"^3\.": {"lr": 0.5}, "bias": {"weight_decay": 0.0}})
    names = {id(p): name for name, p in model.named_parameters()}
    assert [[names[id(p)] for p in group["params"]] for group in groups] == [
        ["0.weight", "1.weight"],
        ["3.weight", "3.bias"],
        ["0.bias", "1.bias"],
    ]
    optimizer = optim.AdamW(groups, 0.1, weight_decay=0.3)
    told = [(group["lr"], group["weight_decay"]) for group in optimizer.param_groups]
    assert told == [(0.1, 0.3), (0.5, 0.3), (0.1, 0.0)]
    assert len(optim.groups_by_name(model.named_parameters(), {"": {}})) == 1


def test_patterns_that_find_nothing():
    model = nn.Linear(2, 2)
    with pytest.raises(ValueError, match="'norm' finds none of the parameters weight, bias"):
        optim.groups_by_name(model, {"norm": {}})
    with pytest.raises(ValueError, match=r"'\(' is no regular expression"):
        optim.groups_by_name(model, {"(": {}})


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: optim.groups_by_name(mo.ones(3), {}), "named_parameters is .*, expected a module"),
        (lambda: optim.groups_by_name([mo.ones(3)], {}), "or pairs of a name and a Var"),
        (lambda: optim.groups_by_name([], {"x": 3}), "patterns are .*, expected dicts by texts"),
        (lambda: optim.update_bn([], mo.ones(3)), "update_bn: model is .*, expected a module"),
        (lambda: optim.update_bn(3, nn.Linear(2, 2)), "batches are 3, expected a sequence"),
    ],
)
def test_other_arguments_are_refused(call, says):
    with pytest.raises(TypeError, match=says):
        call()


# Sums of gradients, and what was recorded with others


def test_steps_take_sums_that_were_made_after_they_were_recorded():
    for is_recorded in (False, True):
        p = mo.ones(3)
        optimizer = optim.SGD([p], 1.0)

        def add(x, p=p, optimizer=optimizer):
            optimizer.step((p * x).sum(), accumulate=True)

        def step(x, p=p, optimizer=optimizer):
            optimizer.step((p * x).sum())

        step_of = mo.jit(step)
        add_of = mo.jit(add) if is_recorded else add
        x, expected = mo.ones(3), 1
        for number in range(1, 30):
            for _ in range(number % 3):
                add_of(x * number)
            step_of(x)
            expected -= number % 3 * number + 1
            assert p.tolist() == [expected] * 3
        assert optimizer.steps == 29
        assert not [name for name in optimizer.state_dict() if name.startswith("accumulated")]


def test_sums_that_are_loaded_are_taken_by_what_was_recorded():
    p = mo.ones(3)
    optimizer = optim.SGD([p], 1.0)
    add = mo.jit(lambda: optimizer.step((p * 1.0).sum(), accumulate=True))
    step = mo.jit(lambda: optimizer.step((p * 1.0).sum()))
    empty = optimizer.state_dict()
    add()
    one = optimizer.state_dict()
    step()
    assert p.tolist() == [-1, -1, -1]
    optimizer.load_state_dict(one)
    add()
    step()
    assert p.tolist() == [-4, -4, -4]
    add()
    optimizer.load_state_dict(empty)
    step()
    assert p.tolist() == [-5, -5, -5]


def test_sums_are_gone_behind_the_step():
    """A parameter without a gradient stays where it is, whatever was added up before."""
    p, q = mo.ones(3), mo.ones(3)
    optimizer = optim.Adam([p, q], 0.1)
    optimizer.step((p * q).sum(), accumulate=True)
    optimizer.step((p * q).sum())
    before = q.numpy()
    for _ in range(3):
        optimizer.step((p * p).sum())
    np.testing.assert_array_equal(q.numpy(), before)
    assert optimizer.state_dict()["counts"] == [4, 1]


def test_a_call_that_is_refused_loses_no_sum():
    p = mo.ones(3)
    optimizer = optim.SGD([p], 1.0)
    optimizer.step(p.sum(), accumulate=True)
    for options in ({"clip_norm": -1.0}, {"clip_value": math.nan}):
        for accumulate in (False, True):
            with pytest.raises(ValueError, match="expected a number that is not negative"):
                optimizer.step(p.sum(), accumulate=accumulate, **options)
    optimizer.step(p.sum())
    assert p.tolist() == [-1, -1, -1]


def test_gradients_that_are_given_leave_sums_for_the_next_step():
    p = mo.ones(3)
    optimizer = optim.SGD([p], 1.0)
    optimizer.step((p * 4).sum(), accumulate=True)
    optimizer.apply([mo.ones(3)])
    assert p.tolist() == [0, 0, 0]
    optimizer.step(p.sum())
    assert p.tolist() == [-5, -5, -5]


@pytest.mark.parametrize("name", ["accumulated.7", "accumulated.x", "accumulated.-1"])
def test_sums_of_parameters_that_are_not_there(name):
    optimizer = optim.SGD([mo.ones(3)], 1.0)
    with pytest.raises(ValueError, match=f"given '{name}', expected the number of one of 1 par"):
        optimizer.load_state_dict({**optimizer.state_dict(), name: mo.ones(3)})


def test_a_parameter_of_several_layers_is_averaged_once():
    class Tied(nn.Module):
        def __init__(self):
            self.first, self.second = nn.Linear(2, 2), nn.Linear(2, 2)
            self.second.weight = self.first.weight

        def execute(self, x):
            return self.second(self.first(x))

    model = Tied()
    averaged = optim.AveragedModel(model, decay=0.5)
    for value in (0.0, 1.0):
        model.first.weight.assign(mo.full((2, 2), value))
        averaged.update_parameters(model)
    assert averaged.module.second.weight is averaged.module.first.weight
    assert averaged.module.first.weight.tolist() == [[0.5, 0.5], [0.5, 0.5]]
