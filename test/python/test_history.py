# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training loops as people write them: parameters are updated in place, memory
stays flat, and the numbers are NumPy's. docs/History.md has the rules.

Every scenario is a pair of loops, one with Vars and one with arrays. Losses are
sums of element-wise functions of the parameters, so that a program needs no
memory for gradients: a parameter that is not updated in place shows in the peak.
"""

import gc
import re

import metaops as mo
import numpy as np
import pytest
from util import bytes_in_use, close, floats

SHAPE = (64, 64)
# The bytes of a parameter. Losses, numbers and their like take 512 bytes each.
UNIT = 4 * 64 * 64
RATE = 0.05


def line_of(function, offset):
    """Return "file.py:N" of a line of a function, counted from its `def`."""
    code = function.__code__
    return f"{code.co_filename}:{code.co_firstlineno + offset}"


def loss_of(p, x):
    return ((p * x).tanh() ** 2).sum()


def gradient_of(p, x):
    """Return the derivative of `loss_of` by p."""
    t = np.tanh(p * x)
    return 2 * t * (1 - t * t) * x


class Scenario:
    """A loop over steps, and what it makes of the same numbers in NumPy.

    Attributes
    ----------
    units : int
        How many tensors of the parameter's size the loop keeps: parameters, data,
        states.
    extra : int
        How many more a step may take and give back.
    """

    units = 2
    extra = 0

    def __init__(self, rng):
        # So small that a loss's curvature cannot make a step unstable.
        self.x = floats(rng, SHAPE, low=-1, high=1)
        self.p = floats(rng, SHAPE)
        self.var_x, self.var_p = mo.array(self.x), mo.array(self.p)
        self.optimizer = mo.optim.SGD([self.var_p], RATE)

    def step(self, i):
        """Take a step of the loop under test."""
        raise NotImplementedError

    def reference(self, i):
        """Take the same step in NumPy; the default is plain gradient descent."""
        self.p = self.p - RATE * gradient_of(self.p, self.x)

    def pairs(self):
        """Return Vars, each with the array that it should be equal to."""
        return [(self.var_p, self.p)]


class Plain(Scenario):
    def step(self, i):
        self.optimizer.step(loss_of(self.var_p, self.var_x))


class LossHeld(Scenario):
    def step(self, i):
        self.loss = loss_of(self.var_p, self.var_x)
        self.optimizer.step(self.loss)


class LossPrintedBefore(Scenario):
    def step(self, i):
        loss = loss_of(self.var_p, self.var_x)
        self.text = f"{loss:.4f}"
        self.optimizer.step(loss)

    def reference(self, i):
        assert float(self.text) == pytest.approx((np.tanh(self.p * self.x) ** 2).sum(), rel=1e-4)
        super().reference(i)


class LossPrintedAfter(LossPrintedBefore):
    def step(self, i):
        loss = loss_of(self.var_p, self.var_x)
        self.optimizer.step(loss)
        self.text = f"{loss:.4f}"


class LossFetched(Scenario):
    def __init__(self, rng):
        super().__init__(rng)
        self.values = []

    def step(self, i):
        loss = loss_of(self.var_p, self.var_x)
        loss.fetch(lambda value: self.values.append(value.item()))
        self.optimizer.step(loss)


class LastLossesKept(Scenario):
    """The last four losses, never asked for."""

    def __init__(self, rng):
        super().__init__(rng)
        self.losses = []

    def step(self, i):
        loss = loss_of(self.var_p, self.var_x)
        self.losses = [*self.losses, loss][-4:]
        self.optimizer.step(loss)


class RunningTotal(Scenario):
    """The sum of all losses, asked for at the end."""

    def __init__(self, rng):
        super().__init__(rng)
        self.var_total, self.total = mo.array(0.0), 0.0

    def step(self, i):
        loss = loss_of(self.var_p, self.var_x)
        self.var_total = self.var_total + loss.detach()
        self.optimizer.step(loss)

    def reference(self, i):
        self.total += (np.tanh(self.p * self.x) ** 2).sum(dtype="float64")
        super().reference(i)

    def pairs(self):
        return [*super().pairs(), (self.var_total, np.float32(self.total))]


class RunningTotalWithHistory(RunningTotal):
    """The same, through which gradients could be asked for."""

    def step(self, i):
        loss = loss_of(self.var_p, self.var_x)
        self.var_total = self.var_total + loss
        self.optimizer.step(loss)


class WithMomentum(Scenario):
    units = 3

    def __init__(self, rng):
        super().__init__(rng)
        self.optimizer = mo.optim.SGD([self.var_p], RATE, momentum=0.9)
        self.velocity = 0

    def step(self, i):
        self.optimizer.step(loss_of(self.var_p, self.var_x))

    def reference(self, i):
        self.velocity = 0.9 * self.velocity + gradient_of(self.p, self.x)
        self.p = self.p - np.float32(RATE) * self.velocity.astype("float32")


class GradientsSummed(Scenario):
    """Four gradients are added, then applied."""

    # Where all is synced after each step: each partial sum, as history of the next.
    units = 5
    extra = 1

    def __init__(self, rng):
        super().__init__(rng)
        self.var_sum, self.sum = None, 0

    def step(self, i):
        gradient = mo.grad(loss_of(self.var_p, self.var_x * float(1 + i % 4)), self.var_p)
        self.var_sum = gradient if self.var_sum is None else self.var_sum + gradient
        if i % 4 == 3:
            self.optimizer.apply([self.var_sum])
            self.var_sum = None

    def reference(self, i):
        self.sum = self.sum + gradient_of(self.p, self.x * np.float32(1 + i % 4))
        if i % 4 == 3:
            self.p = self.p - np.float32(RATE) * self.sum
            self.sum = 0


class GradientsAccumulated(GradientsSummed):
    """As before, in a Var that is updated with each gradient."""

    def __init__(self, rng):
        super().__init__(rng)
        self.var_sum = mo.zeros(SHAPE)

    def step(self, i):
        gradient = mo.grad(loss_of(self.var_p, self.var_x * float(1 + i % 4)), self.var_p)
        self.var_sum.update(self.var_sum + gradient)
        if i % 4 == 3:
            self.optimizer.apply([self.var_sum])
            self.var_sum.update(mo.zeros(SHAPE))


class TwoNetworks(Scenario):
    """A generator p and a critic q take turns."""

    units = 3

    def __init__(self, rng):
        super().__init__(rng)
        self.q = floats(rng, SHAPE)
        self.var_q = mo.array(self.q)
        self.critic = mo.optim.SGD([self.var_q], RATE)

    def step(self, i):
        fake = (self.var_x * self.var_p).tanh()
        self.critic.step(((fake.detach() * self.var_q) ** 2).sum())
        self.optimizer.step(-((fake * self.var_q) ** 2).sum())

    def reference(self, i):
        fake = np.tanh(self.x * self.p)
        self.q = self.q - RATE * 2 * fake * fake * self.q
        self.p = self.p + RATE * 2 * fake * self.q**2 * (1 - fake * fake) * self.x

    def pairs(self):
        return [*super().pairs(), (self.var_q, self.q)]


class TwoNetworksAllHeld(TwoNetworks):
    """The same, with everything kept until the next step."""

    # The image that is held, and the generator that made it: as large as the
    # image, it is not worth computing that earlier.
    units = 5

    def step(self, i):
        self.fake = (self.var_x * self.var_p).tanh()
        self.critic_loss = ((self.fake.detach() * self.var_q) ** 2).sum()
        self.critic.step(self.critic_loss)
        self.generator_loss = -((self.fake * self.var_q) ** 2).sum()
        self.optimizer.step(self.generator_loss)


class TwiceDifferentiated(Scenario):
    """The loss is the squared norm of a gradient."""

    def step(self, i):
        gradient = mo.grad(loss_of(self.var_p, self.var_x), self.var_p)
        self.optimizer.step((gradient * gradient).sum())

    def reference(self, i):
        t2 = np.tanh(self.p * self.x) ** 2
        curvature = 2 * self.x**2 * (1 - t2) * (1 - 3 * t2)
        self.p = self.p - RATE * 2 * gradient_of(self.p, self.x) * curvature


class TwiceDifferentiatedAndPrinted(TwiceDifferentiated):
    def step(self, i):
        loss = loss_of(self.var_p, self.var_x)
        loss.item()
        gradient = mo.grad(loss, self.var_p)
        penalty = (gradient * gradient).sum()
        penalty.item()
        self.optimizer.step(penalty)


ALL = [
    Plain,
    LossHeld,
    LossPrintedBefore,
    LossPrintedAfter,
    LossFetched,
    LastLossesKept,
    RunningTotal,
    RunningTotalWithHistory,
    WithMomentum,
    GradientsSummed,
    GradientsAccumulated,
    TwoNetworks,
    TwoNetworksAllHeld,
    TwiceDifferentiated,
    TwiceDifferentiatedAndPrinted,
]


def by_name(scenarios):
    return pytest.mark.parametrize("make", scenarios, ids=lambda scenario: scenario.__name__)


@by_name(ALL)
def test_numbers_are_numpys(make, rng):
    scenario = make(rng)
    for i in range(12):
        scenario.step(i)
        scenario.reference(i)
    for var, array in scenario.pairs():
        close(var, array.astype("float32"), rtol=2e-4, atol=2e-5)


@by_name(ALL)
def test_parameters_are_updated_in_place(compiled, make, rng):
    """A step takes no memory for a parameter's new value beside the old one."""
    gc.collect()
    mo.sync_all()
    base = mo.stats()["bytes_in_use"]
    scenario = make(rng)
    for i in range(16):
        mo.reset_peak()
        scenario.step(i)
        mo.sync_all()
        if i >= 8:
            stats = mo.stats()
            kept, peak = [(stats[name] - base) / UNIT for name in ("bytes_in_use", "peak_bytes")]
            assert kept < scenario.units + 0.5, f"{kept} tensors after step {i}"
            assert peak < scenario.units + scenario.extra + 0.5, f"{peak} tensors in step {i}"


def sizes(*names):
    gc.collect()
    stats = mo.stats()
    return [stats[name] for name in names]


@by_name(ALL)
def test_memory_and_graph_are_flat(make, rng):
    """200 steps; every fortieth is followed by a sync of all."""
    scenario = make(rng)
    pending, synced = [], []
    for i in range(200):
        scenario.step(i)
        if i % 40 == 35:
            pending.append(sizes("live_vars", "ops_in_block"))
        elif i % 40 == 39:
            mo.sync_all()
            synced.append(sizes("live_vars", "ops_in_block", "bytes_in_use", "programs_compiled"))
    assert pending == pending[:1] * 5
    # The first sync, and the first step after it, may be programs of their own.
    assert synced[1:] == synced[1:2] * 4


# A network whose gradients are reductions


def test_a_network_trains_in_place(compiled, rng):
    """Two layers and Adam against NumPy; gradients are in the program's scratch memory."""
    n, width, rows = 40, 96, 16
    shapes = [(n, width), (width,), (width, n), (n,)]
    arrays = [floats(rng, shape, low=-0.2, high=0.2) for shape in shapes]
    x, y = floats(rng, (rows, n)), floats(rng, (rows, n))
    parameters = [mo.array(array) for array in arrays]
    var_x, var_y = mo.array(x), mo.array(y)
    optimizer = mo.optim.Adam(parameters, 0.01)
    means, squares = [np.zeros(s) for s in shapes], [np.zeros(s) for s in shapes]
    for i in range(1, 13):
        w0, b0, w1, b1 = parameters
        loss = ((mo.relu(var_x @ w0 + b0) @ w1 + b1 - var_y) ** 2).mean()
        value = loss.item() if i % 2 else None
        optimizer.step(loss)
        before = mo.stats()
        mo.reset_peak()
        mo.sync(parameters)
        after = mo.stats()
        if i > 2:
            taken = after["peak_bytes"] - before["bytes_in_use"] - mo.last_program().arena_bytes
            # Beside scratch memory, numbers; these take 512 bytes each.
            numbers = 512 * (after["allocations"] - before["allocations"])
            assert taken - numbers < 0.5 * arrays[0].nbytes, f"step {i} took {taken} bytes"
        del loss

        w0, b0, w1, b1 = arrays
        hidden = np.maximum(x @ w0 + b0, 0)
        error = hidden @ w1 + b1 - y
        if value is not None:
            assert value == pytest.approx((error**2).mean(), rel=1e-4)
        error *= 2 / error.size
        back = (error @ w1.T) * (hidden > 0)
        gradients = [x.T @ back, back.sum(0), hidden.T @ error, error.sum(0)]
        for k, gradient in enumerate(gradients):
            means[k] = 0.9 * means[k] + 0.1 * gradient
            squares[k] = 0.999 * squares[k] + 0.001 * gradient**2
            size = means[k] / (1 - 0.9**i) / (np.sqrt(squares[k] / (1 - 0.999**i)) + 1e-8)
            arrays[k] = (arrays[k] - 0.01 * size).astype("float32")
    for parameter, array in zip(parameters, arrays, strict=True):
        close(parameter, array, rtol=1e-3, atol=1e-4)


# Ends of histories


def test_a_gradient_through_an_overwritten_value_names_the_update(compiled, rng):
    x, p = mo.array(floats(rng, SHAPE)), mo.array(floats(rng, SHAPE))
    loss = loss_of(p, x)
    value = loss.item()

    def update():
        p.update(p * 0.5)
        mo.sync_all()

    update()
    message = re.escape(line_of(update, 1))
    for _ in range(2):
        with pytest.raises(RuntimeError, match=message):
            mo.grad(loss, x).sync()
    with pytest.raises(RuntimeError, match="keep a Var of the old value"):
        mo.grad(loss, x).sync()
    # What was computed is not lost, and the session goes on.
    assert loss.item() == value
    close(mo.grad(loss_of(p, x), x).sum(), mo.grad(loss_of(p, x), x).numpy().sum(), rtol=1e-4)


def test_a_gradient_after_an_optimisers_step_names_the_step(compiled, rng):
    x, p = mo.array(floats(rng, SHAPE)), mo.array(floats(rng, SHAPE))
    optimizer = mo.optim.SGD([p], RATE)

    def step():
        loss = loss_of(p, x)
        loss.sync()
        optimizer.step(loss)
        mo.sync_all()
        return loss

    loss = step()
    with pytest.raises(RuntimeError, match=re.escape(line_of(step, 3))):
        mo.grad(loss, x).sync()


def test_a_var_of_the_old_value_keeps_its_history(rng):
    a, b = floats(rng, SHAPE), floats(rng, SHAPE)
    x, p = mo.array(a), mo.array(b)
    old = p.detach()
    loss = loss_of(p, x)
    loss.sync()
    p.update(p * 0.5)
    mo.sync_all()
    close(mo.grad(loss, x), gradient_of(a, b), rtol=1e-4, atol=1e-5)
    close(old, b)
    close(p, b * np.float32(0.5))


def test_a_gradient_asked_for_before_the_update_is_kept(rng):
    a, b = floats(rng, SHAPE), floats(rng, SHAPE)
    x, p = mo.array(a), mo.array(b)
    loss = loss_of(p, x)
    loss.sync()
    gradient = mo.grad(loss, x)
    p.update(p * 0.5)
    mo.sync_all()
    close(gradient, gradient_of(a, b), rtol=1e-4, atol=1e-5)
    close(p, b * np.float32(0.5))


def test_a_loss_can_be_differentiated_twice_over_before_its_update(rng):
    a, b = floats(rng, SHAPE), floats(rng, SHAPE)
    x, p = mo.array(a), mo.array(b)
    loss = loss_of(p, x)
    for _ in range(2):
        close(mo.grad(loss, x), gradient_of(a, b), rtol=1e-4, atol=1e-5)
        close(mo.grad(loss, p), gradient_of(b, a), rtol=1e-4, atol=1e-5)
    p.update(p - mo.grad(loss, p))
    close(p, b - gradient_of(b, a), rtol=1e-4, atol=1e-5)


@pytest.mark.host_memory
def test_what_numpy_sees_is_not_overwritten_and_the_next_value_is(compiled, rng):
    start = floats(rng, SHAPE)
    p = mo.array(start)
    p.sync()
    view = p.numpy(copy=False)
    taken = []
    for _ in range(3):
        before = bytes_in_use()
        mo.reset_peak()
        p.update(p * 0.5)
        mo.sync_all()
        taken.append(mo.stats()["peak_bytes"] - before)
    np.testing.assert_array_equal(view, start)
    close(p, start * np.float32(0.125))
    assert UNIT <= taken[0] < 1.5 * UNIT
    assert max(taken[1:]) < 0.5 * UNIT


def test_another_owner_of_the_memory_keeps_it(rng):
    start = floats(rng, SHAPE)
    p = mo.array(start)
    p.sync()
    views = [p.reshape(-1), p.reshape(SHAPE[::-1])]
    mo.sync(views)
    p.update(p * 0.5)
    mo.sync_all()
    close(p, start * np.float32(0.5))
    close(views[0], start.reshape(-1))
    close(views[1], start.reshape(SHAPE[::-1]))


def test_a_pending_value_of_the_old_parameter_is_right_after_the_update(rng):
    start = floats(rng, SHAPE)
    p = mo.array(start)
    waiting = p.exp()
    p.update(p * 0.5)
    mo.sync(p)
    close(waiting, np.exp(start))
    close(p, start * np.float32(0.5))


def test_losses_that_are_held_do_not_mix_the_lengths_of_steps(rng):
    """Each is computed with the updates of its own step, not of the next one's."""
    p, q = (mo.array(floats(rng, (5, 5))) for _ in range(2))
    first, second = mo.optim.SGD([p], RATE), mo.optim.SGD([q], RATE)
    data = {n: mo.array(floats(rng, (n, 5))) for n in (2, 3, 4)}
    held = []

    def step(n):
        hidden = (data[n] @ p).tanh()
        second.step(((hidden.detach() @ q) ** 2).sum())
        held.append(((hidden @ q) ** 2).sum())
        first.step(held[-1])
        stats = mo.stats()
        return stats["programs_run"] - stats["program_hits"]

    for n in (2, 3, 4) * 4:
        before = step(n)
    for n in (4, 3, 2) * 4:
        after = step(n)
    assert after == before
    assert np.isfinite([loss.item() for loss in held]).all()
