# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops that are constant in size in NumPy are so here: programs, operators and
bytes do not grow, however the loop is written. docs/History.md has the rules.

Every loop is a class: `step` takes a step with Vars, `reference` the same with
arrays. None uses an optimiser of the package, unless it says so.
"""

import collections
import gc
import time

import metaops as mo
import numpy as np
import pytest
from util import close, floats

RATE = np.float32(0.1)
ROWS, INPUTS, OUTPUTS = 8, 6, 3


def loss_of(w, x, y):
    return (((x @ w).tanh() - y) ** 2).mean()


def loss_and_gradient(w, x, y):
    """Return the same of arrays, and its derivative by w."""
    p = np.tanh(x @ w)
    e = p - y
    return (e * e).mean(), x.T @ (2 * e * (1 - p * p) / e.size)


class Loop:
    """A loop over steps.

    Attributes
    ----------
    period : int
        After how many steps all is as before.
    programs : int or None
        How many programs a period runs at most; None if steps differ.
    """

    period = 1
    programs = 1

    def __init__(self, rng):
        self.rng = rng
        self.x, self.y = floats(rng, (ROWS, INPUTS)), floats(rng, (ROWS, OUTPUTS), low=-1, high=1)
        self.w = floats(rng, (INPUTS, OUTPUTS))
        # Floats that are held: gradients by them could be asked for.
        self.X, self.Y = mo.array(self.x), mo.array(self.y)
        self.W = mo.array(self.w)

    def step(self, i):
        """Take a step of the loop under test."""
        raise NotImplementedError

    def reference(self, i):
        """Take the same step in NumPy; the default is plain gradient descent."""
        self.w = self.w - RATE * loss_and_gradient(self.w, self.x, self.y)[1]

    def pairs(self):
        """Return Vars, each with the array that it should be equal to."""
        return [(self.W, self.w)]


class DescentPrintedAfter(Loop):
    def step(self, i):
        loss = loss_of(self.W, self.X, self.Y)
        self.W -= mo.grad(loss, self.W) * RATE
        self.value = float(loss)

    def reference(self, i):
        loss, gradient = loss_and_gradient(self.w, self.x, self.y)
        assert self.value == pytest.approx(loss, rel=1e-4)
        self.w = self.w - RATE * gradient


class DescentPrintedBefore(DescentPrintedAfter):
    def step(self, i):
        loss = loss_of(self.W, self.X, self.Y)
        self.value = float(loss)
        self.W -= mo.grad(loss, self.W) * RATE


class DescentReboundPrintedAfter(DescentPrintedAfter):
    def step(self, i):
        loss = loss_of(self.W, self.X, self.Y)
        self.W = self.W - mo.grad(loss, self.W) * RATE
        self.value = float(loss)


class DescentReboundPrintedBefore(DescentPrintedAfter):
    def step(self, i):
        loss = loss_of(self.W, self.X, self.Y)
        self.value = float(loss)
        self.gradient = mo.grad(loss, self.W)  # held until the next step
        self.W = self.W - self.gradient * RATE


class DescentNeverPrinted(Loop):
    def step(self, i):
        self.W -= mo.grad(loss_of(self.W, self.X, self.Y), self.W) * RATE


class DescentReboundNeverPrinted(Loop):
    def step(self, i):
        self.loss = loss_of(self.W, self.X, self.Y)
        self.W = self.W - mo.grad(self.loss, self.W) * RATE


class DescentPrintedNowAndThen(Loop):
    period = 10
    programs = 11

    def step(self, i):
        loss = loss_of(self.W, self.X, self.Y)
        self.W -= mo.grad(loss, self.W) * RATE
        if i % 10 == 9:
            float(loss)


class DescentFetched(Loop):
    def __init__(self, rng):
        super().__init__(rng)
        self.fetched, self.losses = [], []

    def step(self, i):
        loss = loss_of(self.W, self.X, self.Y)
        loss.fetch(lambda value: self.fetched.append(value.item()))
        self.W -= mo.grad(loss, self.W) * RATE

    def reference(self, i):
        self.losses.append(loss_and_gradient(self.w, self.x, self.y)[0])
        super().reference(i)
        # From the second step on, a step computes the loss of the one before; the thread
        # of callbacks holds it until the callback has its copy.
        deadline = time.monotonic() + 60
        while i > 1 and len(self.fetched) < i:
            assert time.monotonic() < deadline
            time.sleep(1e-3)

    def pairs(self):
        mo.sync_all()
        np.testing.assert_allclose(self.fetched, self.losses, rtol=1e-4)
        return super().pairs()


class Batches(DescentPrintedAfter):
    """A batch of its own for each step; the losses are kept, and not looked at."""

    def __init__(self, rng):
        super().__init__(rng)
        self.losses = collections.deque(maxlen=5)

    def step(self, i):
        self.x = floats(self.rng, (ROWS, INPUTS))
        self.X = mo.array(self.x)
        loss = loss_of(self.W, self.X, self.Y)
        self.losses.append(loss * 2)
        self.W -= mo.grad(loss, self.W) * RATE
        self.value = float(loss)


class Parameters(Loop):
    """Several parameters, each with a loss of its own."""

    count = 4

    def __init__(self, rng):
        super().__init__(rng)
        self.w = [floats(rng, (INPUTS, OUTPUTS + k)) for k in range(self.count)]
        self.y = [floats(rng, (ROWS, OUTPUTS + k)) for k in range(self.count)]
        self.W, self.Y = [mo.array(w) for w in self.w], [mo.array(y) for y in self.y]

    def loss(self):
        losses = [loss_of(w, self.X, y) for w, y in zip(self.W, self.Y, strict=True)]
        return sum(losses[1:], losses[0])

    def step(self, i):
        loss = self.loss()
        for w, gradient in zip(self.W, mo.grad(loss, self.W), strict=True):
            w -= gradient * RATE
        float(loss)

    def reference(self, i):
        self.w = [
            w - RATE * loss_and_gradient(w, self.x, y)[1]
            for w, y in zip(self.w, self.y, strict=True)
        ]

    def pairs(self):
        return list(zip(self.W, self.w, strict=True))


class EightParametersRebound(Parameters):
    count = 8

    def step(self, i):
        loss = self.loss()
        float(loss)
        gradients = mo.grad(loss, self.W)
        self.W = [w - g * RATE for w, g in zip(self.W, gradients, strict=True)]


class ParametersOneByOne(Parameters):
    def step(self, i):
        loss = self.loss()
        for w in self.W:
            w -= mo.grad(loss, w) * RATE


class Momentum(Loop):
    look = True

    def __init__(self, rng):
        super().__init__(rng)
        self.v = np.zeros_like(self.w)
        self.V = mo.zeros(self.w.shape)

    def step(self, i):
        loss = loss_of(self.W, self.X, self.Y)
        self.V = self.V * 0.9 + mo.grad(loss, self.W)
        self.W -= self.V * RATE
        if self.look:
            float(loss)

    def reference(self, i):
        self.v = np.float32(0.9) * self.v + loss_and_gradient(self.w, self.x, self.y)[1]
        self.w = self.w - RATE * self.v

    def pairs(self):
        return [*super().pairs(), (self.V, self.v)]


class MomentumNeverPrinted(Momentum):
    look = False


class Adam(Loop):
    def __init__(self, rng):
        super().__init__(rng)
        self.m, self.s = np.zeros_like(self.w), np.zeros_like(self.w)
        self.M, self.S = mo.zeros(self.w.shape), mo.zeros(self.w.shape)

    def step(self, i):
        loss = loss_of(self.W, self.X, self.Y)
        g = mo.grad(loss, self.W)
        self.M = self.M * 0.9 + g * 0.1
        self.S = self.S * 0.99 + g * g * 0.01
        m, s = self.M / (1 - 0.9 ** (i + 1)), self.S / (1 - 0.99 ** (i + 1))
        self.W = self.W - m / (s.sqrt() + 1e-3) * 0.01
        self.value = loss.item()

    def reference(self, i):
        g = loss_and_gradient(self.w, self.x, self.y)[1]
        self.m = (self.m * 0.9 + g * 0.1).astype("float32")
        self.s = (self.s * 0.99 + g * g * 0.01).astype("float32")
        m, s = self.m / (1 - 0.9 ** (i + 1)), self.s / (1 - 0.99 ** (i + 1))
        self.w = (self.w - m / (np.sqrt(s) + 1e-3) * 0.01).astype("float32")


class AverageOfWeights(Loop):
    """With the package's optimiser or without."""

    explicit = False

    def __init__(self, rng):
        super().__init__(rng)
        self.average = self.w
        self.Average = mo.array(self.w)
        self.optimizer = mo.optim.SGD([self.W], float(RATE))

    def step(self, i):
        loss = loss_of(self.W, self.X, self.Y)
        if self.explicit:
            self.optimizer.step(loss)
        else:
            self.W -= mo.grad(loss, self.W) * RATE
        self.Average = self.Average * 0.9 + self.W * 0.1

    def reference(self, i):
        super().reference(i)
        self.average = self.average * np.float32(0.9) + self.w * np.float32(0.1)

    def pairs(self):
        return [*super().pairs(), (self.Average, self.average)]


class AverageOfOptimisedWeights(AverageOfWeights):
    explicit = True
    period = 2
    programs = 2


class Recurrent(Loop):
    """A state that goes from batch to batch; gradients reach one step back."""

    detaches = False

    def __init__(self, rng):
        super().__init__(rng)
        self.u = floats(rng, (5, 5), low=-0.4, high=0.4)
        self.U = mo.array(self.u)
        self.v = floats(rng, (INPUTS, 5), low=-0.4, high=0.4)
        self.V = mo.array(self.v)
        self.h = np.zeros((ROWS, 5), "float32")
        self.H = mo.zeros((ROWS, 5))

    def step(self, i):
        if self.detaches:
            self.H = self.H.detach()
        self.H = (self.H @ self.U + self.X @ self.V).tanh()
        loss = (self.H**2).mean()
        self.U -= mo.grad(loss, self.U) * RATE
        float(loss)

    def reference(self, i):
        old = self.h
        self.h = np.tanh(old @ self.u + self.x @ self.v)
        back = 2 * self.h / self.h.size * (1 - self.h**2)
        self.u = self.u - RATE * (old.T @ back)

    def pairs(self):
        return [(self.U, self.u), (self.H, self.h)]


class RecurrentDetached(Recurrent):
    detaches = True


class RecurrentOptimised(Recurrent):
    """The same with the package's optimiser."""

    programs = 2

    def __init__(self, rng):
        super().__init__(rng)
        self.optimizer = mo.optim.SGD([self.U], float(RATE))

    def step(self, i):
        self.H = (self.H @ self.U + self.X @ self.V).tanh()
        loss = (self.H**2).mean()
        self.optimizer.step(loss)
        float(loss)


class KMeans(Loop):
    def __init__(self, rng):
        super().__init__(rng)
        self.centers = self.x[:3].copy()
        self.Centers = mo.array(self.centers)

    def step(self, i):
        distances = ((self.X.unsqueeze(1) - self.Centers) ** 2).sum(2)
        nearest = (distances == distances.min(1, keepdims=True)).float32()
        weights = nearest.sum(0).unsqueeze(1)
        means = (nearest.unsqueeze(2) * self.X.unsqueeze(1)).sum(0) / mo.maximum(weights, 1.0)
        self.Centers = self.Centers * 0.5 + mo.where(weights > 0, means, self.Centers) * 0.5
        float(distances.min(1).sum())

    def reference(self, i):
        distances = ((self.x[:, None] - self.centers) ** 2).sum(2)
        nearest = (distances == distances.min(1, keepdims=True)).astype("float32")
        weights = nearest.sum(0)[:, None]
        means = (nearest[:, :, None] * self.x[:, None]).sum(0) / np.maximum(weights, 1)
        self.centers = (self.centers + np.where(weights > 0, means, self.centers)) / 2

    def pairs(self):
        return [(self.Centers, self.centers.astype("float32"))]


class Heat(Loop):
    """A field that is smoothed, with a coefficient of floats for each place."""

    def __init__(self, rng):
        super().__init__(rng)
        self.c = floats(rng, (12, 12), low=0.1, high=0.2)
        self.C = mo.array(self.c)
        self.u = floats(rng, (12, 12))
        self.U = mo.array(self.u)

    def step(self, i):
        u = mo.pad(self.U, [(1, 1), (1, 1)])
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        self.U = self.U + self.C * (around - self.U * 4)
        self.look()

    def look(self):
        float(self.U.sum())

    def reference(self, i):
        u = np.pad(self.u, 1)
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        self.u = self.u + self.c * (around - self.u * 4)

    def pairs(self):
        return [(self.U, self.u)]


class HeatFromZeros(Heat):
    """The field begins as a constant; what is printed is another value."""

    def __init__(self, rng):
        super().__init__(rng)
        self.u = np.zeros((12, 12), "float32")
        self.U = mo.zeros((12, 12))

    def step(self, i):
        super().step(i)
        self.U += self.C

    def look(self):
        float((self.X * 2).sum())

    def reference(self, i):
        super().reference(i)
        self.u = self.u + self.c


class PowerIteration(Loop):
    def __init__(self, rng):
        super().__init__(rng)
        a = floats(rng, (7, 7), low=0)
        self.a = a + a.T
        self.A = mo.array(self.a)
        self.v = np.ones(7, "float32")
        self.V = mo.ones(7)

    def step(self, i):
        v = (self.A * self.V).sum(1)
        norm = (v * v).sum().sqrt()
        self.V = v / norm
        self.value = norm.item()

    def reference(self, i):
        v = self.a @ self.v
        assert self.value == pytest.approx(np.linalg.norm(v), rel=1e-4)
        self.v = v / np.linalg.norm(v)

    def pairs(self):
        return [(self.V, self.v)]


class Ascent(Loop):
    """An input is changed so that a fixed network gives more."""

    def step(self, i):
        score = -loss_of(self.W, self.X, self.Y)
        self.X += mo.grad(score, self.X) * RATE
        self.X = mo.clip(self.X, -1.0, 1.0)
        float(score)

    def reference(self, i):
        p = np.tanh(self.x @ self.w)
        e = p - self.y
        gradient = (2 * e * (1 - p * p) / e.size) @ self.w.T
        self.x = np.clip(self.x - RATE * gradient, -1, 1)

    def pairs(self):
        return [(self.X, self.x)]


class Replay(Loop):
    """The last states in a list; a step is made from the oldest."""

    def __init__(self, rng):
        super().__init__(rng)
        self.list = [self.x + k for k in range(4)]
        self.List = [mo.array(x) for x in self.list]

    def step(self, i):
        oldest = self.List.pop(0)
        self.List.append((oldest * 0.5 + self.List[-1] * 0.5).tanh())
        if i % 2 == 0:
            float(oldest.sum())

    period = 4
    programs = 4

    def reference(self, i):
        oldest = self.list.pop(0)
        self.list.append(np.tanh((oldest + self.list[-1]) / 2))

    def pairs(self):
        return list(zip(self.List, self.list, strict=True))


class Ring(Loop):
    """The same in the rows of one tensor."""

    def __init__(self, rng):
        super().__init__(rng)
        self.r = floats(rng, (5, 6))
        self.R = mo.array(self.r)

    def step(self, i):
        self.R[i % 5] = (self.R[(i + 1) % 5] * 0.9).tanh()
        float(self.R[i % 5].sum())

    def reference(self, i):
        self.r[i % 5] = np.tanh(self.r[(i + 1) % 5] * np.float32(0.9))

    def pairs(self):
        return [(self.R, self.r)]


class Adversaries(Loop):
    """A generator p and a critic q take turns."""

    programs = 2

    def __init__(self, rng):
        super().__init__(rng)
        self.p, self.q = (floats(rng, (ROWS, INPUTS), low=0.5, high=1) for _ in range(2))
        self.P, self.Q = mo.array(self.p), mo.array(self.q)

    def step(self, i):
        fake = (self.X * self.P).tanh()
        critic = ((fake.detach() * self.Q) ** 2).mean()
        self.Q -= mo.grad(critic, self.Q) * RATE
        generator = -((fake * self.Q.detach()) ** 2).mean()
        self.P -= mo.grad(generator, self.P) * RATE
        float(critic), float(generator)

    def reference(self, i):
        fake = np.tanh(self.x * self.p)
        self.q = self.q - RATE * 2 * fake * fake * self.q / fake.size
        self.p = self.p + RATE * 2 * fake * self.q**2 * (1 - fake * fake) * self.x / fake.size

    def pairs(self):
        return [(self.P, self.p), (self.Q, self.q)]


class Metrics(Loop):
    """Sums of losses over batches, with gradients through the one and not the other."""

    programs = 2

    def __init__(self, rng):
        super().__init__(rng)
        self.total, self.Total, self.Detached = 0.0, mo.array(0.0), mo.array(0.0)

    def step(self, i):
        loss = loss_of(self.W, self.X, self.Y)
        self.Total += loss
        self.Detached += loss.detach()
        self.W -= mo.grad(loss, self.W) * RATE
        if self.looks_at == "loss":
            float(loss)
        elif self.looks_at == "total":
            float(self.Total)

    looks_at = "loss"

    def reference(self, i):
        loss, gradient = loss_and_gradient(self.w, self.x, self.y)
        self.total += loss
        self.w = self.w - RATE * gradient

    def pairs(self):
        total = np.float32(self.total)
        return [*super().pairs(), (self.Total, total), (self.Detached, total)]


class MetricsOfTotals(Metrics):
    looks_at = "total"


class MetricsNeverPrinted(Metrics):
    looks_at = None
    programs = 1


class MetricsOfOptimised(Metrics):
    """With the package's optimiser, and nothing asked for."""

    programs = 1

    def __init__(self, rng):
        super().__init__(rng)
        self.optimizer = mo.optim.SGD([self.W], float(RATE))

    def step(self, i):
        loss = loss_of(self.W, self.X, self.Y)
        self.Total += loss
        self.Detached += loss.detach()
        self.optimizer.step(loss)


class Moments(Loop):
    """A running mean and variance of batches."""

    def __init__(self, rng):
        super().__init__(rng)
        self.mean, self.var = np.zeros(INPUTS, "float32"), np.ones(INPUTS, "float32")
        self.Mean, self.Var = mo.zeros(INPUTS), mo.ones(INPUTS)

    def step(self, i):
        self.x = floats(self.rng, (ROWS, INPUTS))
        x = mo.array(self.x)
        mean = x.mean(0)
        self.Mean = self.Mean * 0.9 + mean * 0.1
        self.Var = self.Var * 0.9 + ((x - mean) ** 2).mean(0) * 0.1
        float(mean.sum())

    def reference(self, i):
        self.mean = (self.mean * 0.9 + self.x.mean(0) * 0.1).astype("float32")
        self.var = (self.var * 0.9 + self.x.var(0) * 0.1).astype("float32")

    def pairs(self):
        return [(self.Mean, self.mean), (self.Var, self.var)]


class Accumulation(Loop):
    """Four gradients are added, then applied."""

    period = 4
    programs = 5

    def __init__(self, rng):
        super().__init__(rng)
        self.sum = 0
        self.Sum = mo.zeros(self.w.shape)

    def step(self, i):
        loss = loss_of(self.W, self.X * float(1 + i % 4), self.Y)
        self.Sum = self.Sum + mo.grad(loss, self.W)
        float(loss)
        if i % 4 == 3:
            self.W -= self.Sum * RATE
            self.Sum = mo.zeros(self.w.shape)

    def reference(self, i):
        self.sum = self.sum + loss_and_gradient(self.w, self.x * np.float32(1 + i % 4), self.y)[1]
        if i % 4 == 3:
            self.w = self.w - RATE * self.sum
            self.sum = 0


class LineSearch(Loop):
    """A step is made shorter until the loss falls."""

    programs = None

    def step(self, i):
        loss = loss_of(self.W, self.X, self.Y)
        before, gradient, rate = float(loss), mo.grad(loss, self.W), 4.0
        while True:
            tried = self.W - gradient * rate
            if float(loss_of(tried, self.X, self.Y)) < before or rate < 0.1:
                break
            rate /= 2
        self.W = tried
        self.rate = rate

    def reference(self, i):
        gradient = loss_and_gradient(self.w, self.x, self.y)[1]
        self.w = self.w - np.float32(self.rate) * gradient


class Bounces(Loop):
    """Balls in a box: positions and speeds, clipped."""

    def __init__(self, rng):
        super().__init__(rng)
        self.v = floats(rng, self.x.shape, low=-0.1, high=0.1)
        self.V = mo.array(self.v)

    def step(self, i):
        self.X = self.X + self.V
        out = mo.abs(self.X) > 1.5
        self.V = mo.where(out, -self.V, self.V) - 0.01
        self.X = mo.clip(self.X, -1.5, 1.5)
        self.value = self.X.max().item()

    def reference(self, i):
        self.x = self.x + self.v
        out = np.abs(self.x) > 1.5
        self.v = np.where(out, -self.v, self.v) - np.float32(0.01)
        self.x = np.clip(self.x, -1.5, 1.5)
        assert self.value == pytest.approx(self.x.max(), abs=1e-5)

    def pairs(self):
        return [(self.X, self.x), (self.V, self.v)]


class Evaluation(Loop):
    """Losses of batches are added up, without gradients."""

    def __init__(self, rng):
        super().__init__(rng)
        self.total, self.Total = 0.0, mo.array(0.0)

    def step(self, i):
        self.x = floats(self.rng, (ROWS, INPUTS))
        with mo.no_grad():
            loss = loss_of(self.W, mo.array(self.x), self.Y)
            self.Total = self.Total + loss
        float(loss)

    def reference(self, i):
        self.total += loss_and_gradient(self.w, self.x, self.y)[0]

    def pairs(self):
        return [(self.Total, np.float32(self.total))]


def subclasses(of):
    return [one for cls in of.__subclasses__() for one in [cls, *subclasses(cls)]]


ALL = subclasses(Loop)
STEPS = 48
#: Histories of a few steps.
FEW_BYTES = 8000


@pytest.fixture
def settled():
    """Leave nothing of other tests, and no program on its way when a step is over."""
    mo.sync_all()
    # What there is now is collected once, and not after each step.
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    with mo.flag_scope(asynchronous=False):
        yield


def sizes():
    gc.collect()
    stats = mo.stats()
    names = ["programs_compiled", "ops_in_block", "bytes_in_use", "live_vars"]
    return {name: stats[name] for name in names}


@pytest.mark.parametrize("make", ALL, ids=lambda loop: loop.__name__)
def test_steps_are_numpys_and_do_not_grow(settled, make, rng):
    """When histories have met their bound, nothing changes from period to period."""
    with mo.flag_scope(history_bytes=FEW_BYTES):
        loop, seen = make(rng), []
        for i in range(STEPS):
            loop.step(i)
            loop.reference(i)
            seen.append(sizes())
            if i == STEPS // 2 - 1:
                runs = mo.stats()["programs_run"]
        if loop.programs:
            assert seen[-1] == seen[STEPS // 2 - 1]
            periods = STEPS // 2 / loop.period
            assert mo.stats()["programs_run"] - runs <= loop.programs * periods
        else:
            for name in seen[0]:
                early, late = seen[: STEPS // 2], seen[STEPS // 2 :]
                assert max(s[name] for s in late) <= max(s[name] for s in early)
        for var, array in loop.pairs():
            close(var, array, rtol=1e-3, atol=1e-4)


# What a step costs


@pytest.mark.parametrize("printed", [False, True])
@pytest.mark.parametrize("rebinds", [False, True])
def test_an_update_by_hand_costs_what_an_update_costs(compiled, settled, rng, printed, rebinds):
    def train(by_hand):
        x, y = mo.array(floats(rng, (ROWS, INPUTS))), mo.array(floats(rng, (ROWS, OUTPUTS)))
        w = mo.array(floats(rng, (INPUTS, OUTPUTS)))
        counts = []
        for _ in range(24):
            before = mo.stats()["programs_run"]
            loss = loss_of(w, x, y)
            new = w - mo.grad(loss, w) * RATE
            if not by_hand:
                w.update(new)
            elif rebinds:
                w = new
            else:
                w.assign(new)
            del new
            if printed:
                float(loss)
            kernels = len(mo.last_program().kernels) if counts else 0
            counts.append((mo.stats()["programs_run"] - before, kernels))
        mo.sync_all()
        assert len(set(counts[8:])) == 1
        return counts[-1]

    hand, explicit = train(True), train(False)
    assert hand[0] <= explicit[0]
    if not printed:
        assert hand == explicit


# What histories are kept for


def train_inside(w, x, y, rate, steps, look):
    for _ in range(steps):
        loss = loss_of(w, x, y)
        w = w - mo.grad(loss, w) * rate
        if look:
            float(loss)
    return w


@pytest.mark.parametrize("look", [False, True])
@pytest.mark.parametrize("keeps", [False, True])
def test_gradients_flow_through_steps_by_hand(rng, look, keeps):
    """By the rate, the data and, where it is held, the start of five steps."""
    arrays = [floats(rng, (INPUTS, OUTPUTS), "float64"), floats(rng, (ROWS, INPUTS), "float64")]
    y = mo.array(floats(rng, (ROWS, OUTPUTS), "float64"))

    def outer(w, x, rate):
        return loss_of(train_inside(w, x, y, rate, 5, look), x * 0.5, y)

    w, x = (mo.array(array) for array in arrays)
    rate = mo.array(0.3, "float64")
    targets = [rate, x, w] if keeps else [rate, x]
    if keeps:
        loss = outer(w, x, rate)
    else:
        del w
        loss = outer(mo.array(arrays[0]), x, rate)
    gradients = [g.numpy() for g in mo.grad(loss, targets)]
    eps = 1e-5

    def value(r, dx, dw):
        return outer(
            mo.array(arrays[0] + dw), mo.array(arrays[1] + dx), mo.array(r, "float64")
        ).item()

    slope = (value(0.3 + eps, 0, 0) - value(0.3 - eps, 0, 0)) / (2 * eps)
    assert gradients[0] == pytest.approx(slope, rel=1e-5)
    for number, gradient in enumerate(gradients[1:]):
        direction = rng.uniform(-1, 1, gradient.shape)
        moves = [[0, 0], [0, 0]]
        moves[0][number], moves[1][number] = eps * direction, -eps * direction
        slope = (value(0.3, *moves[0]) - value(0.3, *moves[1])) / (2 * eps)
        assert (gradient * direction).sum() == pytest.approx(slope, rel=1e-5)


def recur(h, u, steps):
    """Return the states of a recurrent network without input."""
    states = [h]
    for _ in range(steps):
        states.append((states[-1] @ u).tanh())
    return states


def gradient_through_time(h, u, steps):
    """Return the derivative by u of the sum of all states' squares' means."""
    states = [h]
    for _ in range(steps):
        states.append(np.tanh(states[-1] @ u))
    back, result = np.zeros_like(h), np.zeros_like(u)
    for t in range(steps, 0, -1):
        back = (back + 2 * states[t] / h.size) * (1 - states[t] ** 2)
        result += states[t - 1].T @ back
        back = back @ u.T
    return result


@pytest.mark.parametrize("look", ["never", "listed", "few"])
def test_gradients_flow_through_time(rng, look):
    """Through any number of steps, if nothing is asked for or all states are held."""
    steps = {"never": 60, "listed": 30, "few": 12}[look]
    h, u = floats(rng, (4, 5), "float64"), floats(rng, (5, 5), "float64", low=-0.5, high=0.5)
    state, U = mo.array(h), mo.array(u)
    total, held = mo.array(0.0, "float64"), []
    for _ in range(steps):
        state = (state @ U).tanh()
        total = total + (state**2).mean()
        if look == "listed":
            held += [state, total]
        if look != "never":
            float(total)
    close(mo.grad(total, U), gradient_through_time(h, u, steps), rtol=1e-9)


def test_a_history_that_has_ended_is_an_error_and_no_zero(rng):
    h, u = floats(rng, (4, 5)), floats(rng, (5, 5), low=-0.5, high=0.5)

    def run(steps):
        state = mo.array(h)
        for _ in range(steps):
            state = (state @ U).tanh()
            float(state.sum())
        return state

    U, other = mo.array(u), mo.array(h)
    line = run.__code__.co_firstlineno + 3
    with mo.flag_scope(history_bytes=FEW_BYTES):
        state = run(9)
        loss = (state * other).sum()
        for _ in range(2):
            with pytest.raises(RuntimeError, match=f"test_loops.py:{line}, .*history_bytes"):
                mo.grad(loss, U)
        # What the chain was not made of is not concerned, nor what is made of no chain.
        close(mo.grad(loss, other), state)
        close(mo.grad((U * other[:1]).sum(), U), np.broadcast_to(h[:1], (5, 5)))
        # Nor what is cut off on purpose.
        cut = (state.detach() @ U).sum()
        close(mo.grad(cut, U), np.broadcast_to(state.numpy().sum(0)[:, None], (5, 5)), rtol=1e-5)
        # What is made of the chain is of the chain, also when it is computed.
        later = (state * 2).sync()
        with pytest.raises(RuntimeError, match="history_bytes"):
            mo.grad(later, U)
    with mo.flag_scope(history_bytes=1 << 20):
        state = run(9)
        mo.grad((state * other).sum(), U).sync()


def test_what_is_held_keeps_its_history_until_it_is_let_go(rng):
    U, state = mo.array(floats(rng, (5, 5), low=-0.5, high=0.5)), mo.array(floats(rng, (4, 5)))
    seen = []
    with mo.flag_scope(history_bytes=FEW_BYTES, asynchronous=False):
        held = collections.deque(maxlen=8)
        for _ in range(60):
            state = (state @ U).tanh()
            held.append(state)
            float(state.sum())
            seen.append(sizes())
        assert seen[-1] == seen[30]
        early = held[0]
        mo.grad(state.sum(), early).sync()
        held.clear()
        with pytest.raises(RuntimeError, match="keep Vars of the values between"):
            mo.grad(state.sum(), early)


@pytest.mark.parametrize("step", [mo.tanh, mo.cumsum, mo.sort], ids=lambda step: step.__name__)
def test_an_end_is_known_where_nothing_of_the_chain_is_held(rng, step):
    """What is not computed between two values passes the end on."""
    start = mo.array(floats(rng, (5,)))
    with mo.flag_scope(history_bytes=40_000):
        x = start
        for steps in range(1, 30):
            x = step(x * 0.5).sync()
            if steps <= 4:
                assert np.any(mo.grad(x.sum(), start).numpy() != 0)
        for loss in (x.sum(), (x * 2).sync().sum(), (x[1:] - x[:-1]).sum()):
            with pytest.raises(RuntimeError, match="history_bytes"):
                mo.grad(loss, start)


# Loops that ask for nothing


@pytest.mark.parametrize("start", ["array", "zeros"])
def test_a_loop_that_asks_for_nothing_is_cut(settled, rng, start):
    c = mo.array(floats(rng, (4,), low=0.1, high=0.2))
    x = mo.zeros(4) if start == "zeros" else mo.array(floats(rng, (4,)))
    v = x * 1.0
    expected_x, expected_v = x.numpy().astype("float64"), v.numpy().astype("float64")
    a = c.numpy().astype("float64")
    if start == "zeros":
        x, v = mo.zeros(4), mo.zeros(4)
    seen = []
    steps = 60_000
    for i in range(steps):
        v = v * 0.5 - x * c + 0.1
        x = x + v
        expected_v = expected_v * 0.5 - expected_x * a + 0.1
        expected_x = expected_x + expected_v
        if i % 1000 == 999:
            seen.append((mo.stats()["ops_in_block"], mo.stats()["programs_compiled"]))
    operators, programs = zip(*seen, strict=True)
    assert max(operators) < 450_000
    assert max(operators[40:]) <= max(operators[:40]) * 1.1
    assert programs[-1] == programs[20] <= programs[0] + 6
    close(x, expected_x.astype("float32"), rtol=1e-3, atol=1e-4)


def test_a_list_of_losses_does_not_hold_the_parameters_of_each(compiled, settled, rng):
    """As with updates: numbers and operators are kept, and no old parameters."""
    start, data = (floats(rng, (64, 64), low=-0.1, high=0.1) for _ in range(2))
    w, x = mo.array(start), mo.array(data)
    losses, seen = [], []
    with mo.flag_scope(history_bytes=FEW_BYTES):
        for _ in range(48):
            losses.append(((w * x).tanh() ** 2).sum())
            w -= mo.grad(losses[-1], w) * RATE
            seen.append(mo.stats()["bytes_in_use"])
        # A parameter takes 16 KiB.
        assert seen[-1] - seen[23] < 24 * 2048
        first, last = losses[0].item(), losses[-1].item()
        assert last < first
        with pytest.raises(RuntimeError, match="history_bytes"):
            mo.grad(losses[8], x).sync()
        # The first one was made of no step.
        t = np.tanh(start * data)
        close(mo.grad(losses[0], x), 2 * t * (1 - t * t) * start, rtol=1e-3)
