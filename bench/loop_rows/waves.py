# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A wave in a plane, step by step: what the first gradients take, and what later ones do.

The loss is the mean square of the last state, and derivatives are by the speeds, one for each
place. First calls are with all recording and compilation, in processes of their own, with
nothing on disk.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from common import Table, compare_steps, repeated

#: The steps of each task.
TASKS = ["20", "200", "2000"]
#: The extent of the plane.
EXTENT = 64

Call = Callable[[], Any]


def make_arrays() -> list[np.ndarray]:
    """Return the first state, the speeds, and a direction of these."""
    rng = np.random.default_rng(0)
    axis = np.linspace(-1, 1, EXTENT)
    state = np.exp(-20 * (axis[:, None] ** 2 + axis**2))
    speeds = rng.uniform(0.05, 0.2, (EXTENT, EXTENT))
    return [x.astype("float32") for x in (state, speeds, rng.normal(size=speeds.shape))]


def bend(u: Any, roll: Any) -> Any:
    """Return the sum of a place's neighbours beyond itself; borders meet."""
    return roll(u, 1, 0) + roll(u, -1, 0) + roll(u, 1, 1) + roll(u, -1, 1) - 4 * u


def make_metaops(steps: int) -> dict[str, Call]:
    """Return calls of a gradient, and of a Hessian times a direction, by mo.scan."""
    import metaops as mo

    state, speeds, direction = (mo.array(x).sync() for x in make_arrays())

    def find_loss() -> Any:
        def step(pair: Any, _: None) -> Any:
            u, before = pair
            return (2 * u - before + speeds * bend(u, mo.roll), u), None

        (u, _), _ = mo.scan(step, (state, state), length=steps)
        return (u**2).mean()

    return {
        "gradient": lambda: mo.grad(find_loss(), speeds).sync(),
        "Hessian": lambda: mo.hessian_vector_product(find_loss(), [speeds], [direction])[0].sync(),
    }


def make_jax(steps: int) -> dict[str, Call]:
    """Return the same calls by jax.lax.scan, compiled."""
    import jax
    import jax.numpy as jnp

    state, speeds, direction = map(jnp.asarray, make_arrays())

    def find_loss(speeds: Any) -> Any:
        def step(pair: Any, _: None) -> Any:
            u, before = pair
            return (2 * u - before + speeds * bend(u, jnp.roll), u), None

        (u, _), _ = jax.lax.scan(step, (state, state), length=steps)
        return (u**2).mean()

    gradient = jax.grad(find_loss)
    derive = jax.jit(gradient)
    turn = jax.jit(lambda x, v: jax.jvp(gradient, (x,), (v,))[1])
    return {
        "gradient": lambda: derive(speeds).block_until_ready(),
        "Hessian": lambda: turn(speeds, direction).block_until_ready(),
    }


def measure(task: str, quick: bool) -> dict[str, dict[str, float]]:
    """Return the seconds of first and later calls, by what they compute and by library."""
    contestants = {"MetaOps": make_metaops(int(task)), "jax.lax.scan": make_jax(int(task))}
    result: dict[str, dict[str, float]] = {}
    for what in ("gradient", "Hessian"):
        found: dict[str, np.ndarray] = {}
        firsts: dict[str, float] = {}
        for name, calls in contestants.items():
            begin = time.perf_counter()
            found[name] = np.asarray(calls[what]())
            firsts[f"first {name}"] = time.perf_counter() - begin
        mine, expected = found.values()
        scale = np.abs(expected).max()
        np.testing.assert_allclose(mine / scale, expected / scale, atol=1e-2)
        steps = {name: repeated(calls[what]) for name, calls in contestants.items()}
        result[what] = firsts | compare_steps(steps, *((2, 0.01) if quick else (5, 0.1)))
    return result


def make_tables(measured: dict[int, dict[str, Any]]) -> list[Table]:
    """Return the table of first and later calls."""
    table = Table(
        f"A wave in a plane of {EXTENT} x {EXTENT}",
        ["what", "steps", "processors", "first s", "jax", "later ms", "jax.lax.scan", "ours / jax"],
        note="First calls compile; later ones record anew, where JAX's were traced once.",
    )
    for cores, tasks in measured.items():
        for task, found in tasks.items():
            for what, times in found.items():
                ours, jax = times["MetaOps"] * 1e3, times["jax.lax.scan"] * 1e3
                firsts = [times["first MetaOps"], times["first jax.lax.scan"]]
                table.add(what, int(task), cores, *firsts, ours, jax, ours / jax)
    return [table]
