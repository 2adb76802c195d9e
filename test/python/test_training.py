# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training loops: nothing is compiled twice, nothing grows, results do not
depend on what is looked at."""

import gc
import inspect

import metaops as mo
import numpy as np
import pytest
from util import close, floats, same

COUNTERS = ["programs_compiled", "kernels_compiled"]


@pytest.fixture(autouse=True)
def collected():
    """Let go of what earlier tests have left in cycles: operators are counted here."""
    gc.collect()


def counters():
    stats = mo.stats()
    return [stats[name] for name in COUNTERS]


class Net(mo.Module):
    def __init__(self):
        # A bias in front of the norm has a gradient of nothing but rounding errors,
        # which Adam scales up to whole steps.
        self.conv = mo.nn.Conv2d(1, 3, 3, padding=1, bias=False)
        self.norm = mo.nn.BatchNorm2d(3)
        self.pool = mo.nn.MaxPool2d(2)
        self.head = mo.nn.Linear(12, 4)

    def execute(self, x):
        return self.head(self.pool(mo.relu(self.norm(self.conv(x)))).flatten(1))


@pytest.mark.parametrize("optimizer", ["Adam", "AdamW", "SGD"])
def test_nothing_is_compiled_from_the_third_iteration(rng, optimizer):
    x, y = mo.array(floats(rng, (64, 1, 4, 4))), mo.array(rng.integers(0, 4, 64))
    net = Net()
    if optimizer == "SGD":
        opt = mo.optim.SGD(net.parameters(), 0.1, momentum=0.9, weight_decay=1e-4, nesterov=True)
    else:
        opt = getattr(mo.optim, optimizer)(net.parameters(), 0.01, weight_decay=1e-4)
    schedule = mo.optim.lr_scheduler.CosineAnnealingLR(opt, 20)
    losses, counts = [], []
    for i in range(14):
        batch = slice(i * 4, i * 4 + 8)
        loss = mo.nn.cross_entropy_loss(net(x[batch]), y[batch])
        loss.fetch(lambda value: losses.append(value.item()))
        opt.step(loss)
        schedule.step()
        counts.append(counters())
    mo.sync_all()
    # The update of iteration i runs in iteration i + 1 or when all is synced.
    assert counts[3] == counters(), counts
    assert len(losses) == 14
    assert np.isfinite(losses).all()


def test_a_loop_that_reads_the_loss_compiles_nothing_either(rng):
    x, y = mo.array(floats(rng, (40, 5))), mo.array(floats(rng, (40, 1)))
    layer = mo.nn.Linear(5, 1)
    opt = mo.optim.Adam(layer.parameters(), 0.01)
    losses = []
    for i in range(12):
        loss = mo.nn.mse_loss(layer(x[i * 3 : i * 3 + 4]), y[i * 3 : i * 3 + 4])
        losses.append(loss.item())
        opt.step(loss)
        opt.lr *= 0.9
        mo.sync(layer.parameters())
        if i == 2:
            before = counters()
    assert counters() == before
    assert len(set(losses)) == 12


def test_memory_and_graph_stay_flat(rng):
    x, y = mo.array(floats(rng, (64, 4))), mo.array(rng.integers(0, 3, 64))
    net = mo.Sequential(mo.nn.Linear(4, 6), mo.nn.BatchNorm(6), mo.tanh, mo.nn.Linear(6, 3))
    opt = mo.optim.Adam(net.parameters(), 0.01)
    losses = []
    seen = []
    for i in range(2000):
        batch = slice(i % 48, i % 48 + 16)
        loss = mo.nn.cross_entropy_loss(net(x[batch]), y[batch])
        loss.fetch(lambda value: losses.append(value.item()))
        opt.step(loss)
        if i >= 10 and i % 10 == 0:
            # Losses that are still to be fetched hold what they are computed from.
            mo.sync_all()
            stats = mo.stats()
            seen.append((stats["ops_in_block"], stats["bytes_in_use"], stats["live_vars"]))
    mo.sync_all()
    assert len(losses) == 2000
    assert np.mean(losses[-50:]) < np.mean(losses[:50])
    operators, memory, variables = (np.array(column) for column in zip(*seen, strict=True))
    assert operators.max() - operators.min() <= 50
    assert operators[-1] <= operators[0] + 5
    assert memory[-1] <= memory[0] + 4096
    assert variables[-1] <= variables[0] + 2


def train(rng, look):
    """Train for a few steps, looking at values in one of several ways."""
    mo.seed(3)
    net = Net()
    x, y = mo.array(floats(rng, (24, 1, 4, 4))), mo.array(rng.integers(0, 4, 24))
    opt = mo.optim.Adam(net.parameters(), 0.05)
    losses = []
    for i in range(6):
        batch = slice(i * 4, i * 4 + 4)
        scores = net(x[batch])
        loss = mo.nn.cross_entropy_loss(scores, y[batch])
        if look == "print":
            losses.append(float(str(loss.item())))
        elif look == "everything":
            scores.sync()
            losses.append(loss.item())
        elif look == "fetch":
            loss.fetch(lambda value: losses.append(value.item()))
        opt.step(loss)
        if look == "after":
            losses.append(loss.item())
        if look == "everything":
            mo.sync_all()
    mo.sync_all()
    return losses, [tensor.numpy() for tensor in net.state_dict().values()]


@pytest.mark.processor
@pytest.mark.parametrize("look", ["print", "fetch", "everything", "after"])
def test_looking_changes_nothing(look):
    _, expected = train(np.random.default_rng(1), "nothing")
    expected_losses, _ = train(np.random.default_rng(1), "fetch")
    losses, state = train(np.random.default_rng(1), look)
    # The value may be computed by another kernel, so up to rounding.
    close(np.array(losses), np.array(expected_losses), rtol=1e-5)
    for actual, reference in zip(state, expected, strict=True):
        close(actual, reference, rtol=2e-4, atol=2e-5)


def test_the_same_program_gives_the_same_bits():
    first = train(np.random.default_rng(1), "fetch")
    second = train(np.random.default_rng(1), "fetch")
    assert first[0] == second[0]
    for a, b in zip(first[1], second[1], strict=True):
        np.testing.assert_array_equal(a, b)


def test_generator_and_discriminator_in_turn(rng):
    """A GAN in one dimension: two optimisers, graphs that share parameters."""
    generator = mo.Sequential(mo.nn.Linear(2, 8), mo.tanh, mo.nn.Linear(8, 1))
    critic = mo.Sequential(mo.nn.Linear(1, 8), mo.tanh, mo.nn.Linear(8, 1))
    opt_g = mo.optim.Adam(generator.parameters(), 0.02, betas=(0.5, 0.9))
    opt_c = mo.optim.Adam(critic.parameters(), 0.02, betas=(0.5, 0.9))
    for i in range(300):
        real = mo.array((rng.standard_normal((32, 1)) * 0.3 + 2).astype("float32"))
        fake = generator(mo.random((32, 2)))
        loss = mo.softplus(-critic(real)).mean() + mo.softplus(critic(fake.detach())).mean()
        opt_c.step(loss)
        opt_g.step(mo.softplus(-critic(fake)).mean())
        if i == 5:
            mo.sync_all()
            before = counters()
        if i == 50:
            operators = mo.stats()["ops_in_block"]
        if i == 100:
            assert mo.stats()["ops_in_block"] == operators
    mo.sync_all()
    assert counters()[1] == before[1]
    made = generator(mo.random((256, 2))).numpy()
    assert abs(made.mean() - 2) < 0.5


def test_fetch_comes_in_order_and_errors_surface(rng):
    x = mo.array(floats(rng, (3,)))
    seen = []
    for i in range(5):
        (x * i).sum().fetch(lambda value, i=i: seen.append(i))
    mo.sync_all()
    assert seen == [0, 1, 2, 3, 4]
    arrays = []
    mo.fetch(x + 1, x + 2, lambda *values: arrays.extend(values))
    mo.sync_all()
    close(arrays[1], x.numpy() + 2)

    def fail(value):
        raise KeyError("from the callback")

    (x * 9).fetch(fail)
    with pytest.raises(KeyError, match="from the callback"):
        mo.sync_all()
    close(x * 2, x.numpy() * 2)


def test_many_operators_without_a_sync(rng):
    """A long chain neither overflows the stack nor takes long to drop."""
    x = mo.array(floats(rng, (4,)))
    y = x
    for _ in range(3000):
        y = y * 1.0 + 0.0
    mo.flags.backend = "interpreter"
    close(y, x)
    del y
    x.sync()
    assert mo.stats()["ops_in_block"] < 3000


def test_a_gradient_through_a_donated_buffer_names_the_update(rng):
    start = floats(rng, (256, 256))
    p, factor = mo.array(start).sync(), mo.array(2.0).sync()
    before = (p * p * factor).sum()
    p.update(p * 0.5)
    line = inspect.currentframe().f_lineno - 1
    mo.sync([p])
    # What is small was computed with the update. The gradient needs all of the old value,
    # over which the new one was written.
    close(before, 2 * (start.astype("float64") ** 2).sum(), rtol=1e-5)
    with pytest.raises(RuntimeError, match=rf"update at \S*test_training\.py:{line} "):
        mo.grad(before, factor).item()
    same(p, start * np.float32(0.5))


def test_dropout_in_a_loop(rng):
    net = mo.Sequential(mo.nn.Linear(4, 64), mo.nn.Dropout(0.5), mo.nn.Linear(64, 1))
    opt = mo.optim.SGD(net.parameters(), 0.01)
    x = mo.array(floats(rng, (8, 4)))
    losses = []
    for i in range(8):
        loss = (net(x) ** 2).mean()
        loss.fetch(lambda value: losses.append(value.item()))
        opt.step(loss)
        if i == 4:
            mo.sync_all()
            before = counters()
    assert counters() == before
    net.eval()
    close(net(x), net(x).numpy())
    assert not np.array_equal(net.train()(x).numpy(), net(x).numpy())
