# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains two networks against each other for minutes, and says if memory is flat.

Batches have ever changing lengths, losses are fetched, printed and kept, values
are asked for at odd places, and errors are raised and caught: in recording, in
gradients through overwritten values, in callbacks. Every 30 seconds the sizes
are printed. Memory is flat if nothing grew over the second half.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import metaops as mo
import numpy as np
from common import shown
from metaops import nn

COLUMNS = ["resident", "bytes_in_use", "bytes_reserved", "live_vars", "ops_in_block"]
# By how much each may grow over the second half: a part of its size, and a number.
ALLOWED = {
    "resident": (0.01, 1 << 20),
    "bytes_in_use": (0.05, 1 << 16),
    "bytes_reserved": (0.05, 1 << 20),
    "live_vars": (0.0, 8),
    "ops_in_block": (0.05, 64),
}


class Pair:
    """A generator and a critic of vectors, with their optimisers."""

    def __init__(self) -> None:
        self.noise = 8
        self.generator = mo.Sequential(
            nn.Linear(self.noise, 32), nn.ReLU(), nn.BatchNorm(32), nn.Linear(32, 16)
        )
        self.critic = mo.Sequential(nn.Linear(16, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
        self.move_generator = mo.optim.Adam(self.generator.parameters(), 1e-3, (0.5, 0.9))
        self.move_critic = mo.optim.Adam(self.critic.parameters(), 1e-3, (0.5, 0.9))

    def losses(self, real: mo.Var) -> tuple[mo.Var, mo.Var]:
        """Take a step of both; return their losses."""
        ones, zeros = mo.ones((real.shape[0], 1)), mo.zeros((real.shape[0], 1))
        fake = self.generator(mo.randn(real.shape[0], self.noise))
        loss = nn.bce_with_logits_loss
        critic = loss(self.critic(real), ones) + loss(self.critic(fake.detach()), zeros)
        self.move_critic.step(critic)
        generator = loss(self.critic(fake), ones)
        self.move_generator.step(generator)
        return critic, generator


def expect(kind: type[Exception], run: Callable[[], object]) -> None:
    """Run what has to fail, and fail if it does not."""
    try:
        run()
    except kind:
        return
    raise AssertionError(f"expected {kind.__name__}")


def fail_on_purpose(pair: Pair, step: int) -> None:
    """Make an error of one of several kinds, and go on."""
    weight = pair.critic.parameters()[0]
    if step % 3 == 0:
        expect(ValueError, lambda: weight + mo.ones((7, 5)))
    elif step % 3 == 1:

        def callback(value: np.ndarray) -> None:
            raise KeyError(value.shape)

        expect(KeyError, lambda: (mo.fetch((weight * 2).sum(), callback), mo.sync_all()))
    else:
        x, p = mo.ones((4, 4)), mo.array(np.full((4, 4), 0.5, "float32"))
        value = (x * p).exp().sum()
        value.sync()
        p.update(p * 2)
        mo.sync_all()
        expect(RuntimeError, lambda: mo.grad(value, x).sync())


def resident() -> int:
    """Return the bytes of this process that are in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def train(minutes: float, every: float) -> list[list[float]]:
    """Train; return rows of the time and the sizes."""
    rng = np.random.default_rng(0)
    mo.seed(0)
    pair = Pair()
    kept: list[mo.Var] = []
    fetched: list[float] = []
    rows: list[list[float]] = []
    begin = time.monotonic()
    step = 0
    print("| " + " | ".join(["seconds", "steps", *COLUMNS, "programs", "kernels"]) + " |")
    print("| " + " | ".join(["--:"] * (len(COLUMNS) + 4)) + " |")
    while time.monotonic() - begin < 60 * minutes:
        length = int(rng.integers(2, 50))
        real = mo.array(rng.normal(0.5, 0.3, (length, 16)).astype("float32"))
        critic, generator = pair.losses(real)
        critic.fetch(lambda value: fetched.append(value.item()))
        kept = [*kept, generator][-20:]
        if step % 7 == 3:
            str(critic)
        if step % 11 == 5:
            mo.sync(pair.generator.parameters())
        if step % 50 == 49:
            fail_on_purpose(pair, step // 50)
            kept[rng.integers(len(kept))].item()
            del fetched[:-10]
        step += 1
        if time.monotonic() - begin >= every * (len(rows) + 1):
            mo.sync_all()
            stats = {**mo.stats(), "resident": resident()}
            rows.append([time.monotonic() - begin, *(stats[name] for name in COLUMNS)])
            ends = [stats["programs_compiled"], stats["kernels_compiled"]]
            entries = [round(rows[-1][0]), step, *map(round, rows[-1][1:]), *ends]
            print("| " + " | ".join(map(str, entries)) + " |", flush=True)
    assert np.isfinite(fetched).all(), "a loss is not finite"
    return rows


def judge(rows: list[list[float]]) -> bool:
    """Print the growth of every size over the second half; return if all are flat."""
    half = np.array(rows[len(rows) // 2 :])
    if len(half) < 4:
        print("too short for a verdict: let it run for at least 8 lines")
        return True
    flat = True
    for k, name in enumerate(COLUMNS, 1):
        slope = np.polyfit(half[:, 0], half[:, k], 1)[0]
        growth = slope * (half[-1, 0] - half[0, 0])
        part, number = ALLOWED[name]
        allowed = part * half[:, k].mean() + number
        flat &= bool(growth <= allowed)
        verdict = "flat" if growth <= allowed else "GROWS"
        print(f"{name}: {shown(float(growth))} more at the end of the second half: {verdict}")
    return flat


def main() -> None:
    """Train and judge; the exit code says whether memory is flat."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("minutes", type=float)
    parser.add_argument("--every", type=float, default=30, help="seconds between lines")
    options = parser.parse_args()
    flat = judge(train(options.minutes, options.every))
    print("memory is flat" if flat else "memory is NOT flat")
    sys.exit(not flat)


if __name__ == "__main__":
    main()
