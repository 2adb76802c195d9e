# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops as they are written by hand, beside the same in NumPy.

Every loop is a class: `step` takes a step with Vars, `reference` the same with
arrays. None uses an optimiser of the package, unless it says so.
"""

import collections
import gc
import time

import metaops as mo
import numpy as np
import pytest
from util import floats

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
#: Histories of a few steps.
FEW_BYTES = 8000


def sizes():
    """Return what a loop must not make grow."""
    gc.collect()
    stats = mo.stats()
    names = ["programs_compiled", "ops_in_block", "bytes_in_use", "live_vars"]
    return {name: stats[name] for name in names}
