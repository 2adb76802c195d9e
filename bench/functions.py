# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of all examples at once, beside JAX's: time per call, recording included.

    functions.py [metaops | jax] [--task TASK...]

On one processor: `OMP_NUM_THREADS=1 taskset -c 0 python bench/functions.py jax`. Tasks are the
gradients of each of 64 images by a small network's parameters, the Hessian of a perceptron of
1,009 parameters, and the Jacobian, 256 x 256, of two layers.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

Task = Callable[[], Any]


def draw(*shape: int, scale: float = 1.0) -> Any:
    """Return random numbers, the same in each run."""
    rng = np.random.default_rng(sum(shape))
    return (rng.standard_normal(shape) * scale).astype("float32")


IMAGES, LABELS = draw(64, 1, 8, 8), np.arange(64) % 10
KERNELS = [draw(16, 1, 3, 3, scale=0.3), draw(32, 16, 3, 3, scale=0.1)]
LAST = draw(128, 10, scale=0.1)
PERCEPTRON = [draw(15, 40, scale=0.3), draw(40), draw(40, 9, scale=0.3), draw(9)]
DATA, GOALS = draw(64, 15), draw(64, 9)
LAYERS = [draw(256, 256, scale=1 / 16), draw(257, 256, scale=1 / 16)[1:]]
POINT = draw(256)


def metaops_tasks() -> dict[str, Task]:
    """Return the tasks, by names."""
    import metaops as mo
    from metaops import nn

    images, labels = mo.array(IMAGES), mo.array(LABELS)
    network = [mo.array(KERNELS[0]), mo.zeros(16), mo.array(KERNELS[1]), mo.zeros(32)]
    network += [mo.array(LAST), mo.zeros(10)]
    perceptron = [mo.array(x) for x in PERCEPTRON]
    data, goals = mo.array(DATA), mo.array(GOALS)
    first, second, point = mo.array(LAYERS[0]), mo.array(LAYERS[1]), mo.array(POINT)

    def loss(image: Any, label: Any) -> Any:
        y = image[None]
        for kernel, bias in (network[:2], network[2:4]):
            y = nn.max_pool2d(mo.relu(nn.conv2d(y, kernel, bias, padding=1)), 2)
        return nn.cross_entropy_loss(y.reshape((1, -1)) @ network[4] + network[5], label[None])

    def error(p: list[Any]) -> Any:
        return ((mo.tanh(data @ p[0] + p[1]) @ p[2] + p[3] - goals) ** 2).mean()

    each = mo.vmap(lambda image, label: mo.grad(loss(image, label), network))
    hessian = mo.hessian(error)
    jacobian = mo.jacobian(lambda x: mo.tanh(second @ mo.tanh(first @ x)))
    recorded = mo.jit(each), mo.jit(hessian), mo.jit(jacobian)

    def run(call: Callable[..., Any], *args: Any) -> Task:
        return lambda: mo.sync(mo.tree_leaves(call(*args)))

    return {
        "gradients": run(each, images, labels),
        "gradients, jit": run(recorded[0], images, labels),
        "hessian": run(hessian, perceptron),
        "hessian, jit": run(recorded[1], perceptron),
        "jacobian": run(jacobian, point),
        "jacobian, jit": run(recorded[2], point),
    }


def jax_tasks() -> dict[str, Task]:
    """Return the tasks as JAX has them, compiled."""
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
    import jax
    import jax.numpy as jnp

    images, labels = jnp.array(IMAGES), jnp.array(LABELS)
    network = [jnp.array(KERNELS[0]), jnp.zeros(16), jnp.array(KERNELS[1]), jnp.zeros(32)]
    network += [jnp.array(LAST), jnp.zeros(10)]
    perceptron = [jnp.array(x) for x in PERCEPTRON]
    first, second, point = jnp.array(LAYERS[0]), jnp.array(LAYERS[1]), jnp.array(POINT)

    def loss(p: list[Any], image: Any, label: Any) -> Any:
        y = image[None]
        for kernel, bias in (p[:2], p[2:4]):
            y = jax.lax.conv_general_dilated(y, kernel, (1, 1), "SAME")
            y = jax.nn.relu(y + bias[None, :, None, None])
            window = (1, 1, 2, 2)
            y = jax.lax.reduce_window(y, -jnp.inf, jax.lax.max, window, window, "VALID")
        return -jax.nn.log_softmax(y.reshape(-1) @ p[4] + p[5])[label]

    def error(p: list[Any]) -> Any:
        return jnp.mean((jnp.tanh(DATA @ p[0] + p[1]) @ p[2] + p[3] - GOALS) ** 2)

    each = jax.jit(jax.vmap(jax.grad(loss), (None, 0, 0)))
    hessian = jax.jit(jax.hessian(error))
    jacobian = jax.jit(jax.jacrev(lambda x: jnp.tanh(second @ jnp.tanh(first @ x))))
    return {
        "gradients": lambda: jax.block_until_ready(each(network, images, labels)),
        "hessian": lambda: jax.block_until_ready(hessian(perceptron)),
        "jacobian": lambda: jax.block_until_ready(jacobian(point)),
    }


def measure(task: Task, turns: int = 9) -> tuple[float, float]:
    """Return the least and the median time of a call in milliseconds, of some turns."""
    for _ in range(5):
        task()
    begin = time.perf_counter()
    task()
    calls = max(1, int(0.05 / (time.perf_counter() - begin)))
    times = []
    for _ in range(turns):
        begin = time.perf_counter()
        for _ in range(calls):
            task()
        times.append((time.perf_counter() - begin) / calls * 1e3)
    return min(times), statistics.median(times)


def main() -> None:
    """Measure tasks and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("library", nargs="?", default="metaops", choices=["metaops", "jax"])
    parser.add_argument("--task", nargs="+", help="the first words of some tasks")
    options = parser.parse_args()
    tasks = metaops_tasks() if options.library == "metaops" else jax_tasks()
    print("| task | least, ms | median, ms |\n| --- | --- | --- |")
    for name, task in tasks.items():
        if not options.task or name.split(",")[0] in options.task:
            least, median = measure(task)
            print(f"| {name} | {least:.3f} | {median:.3f} |")


if __name__ == "__main__":
    main()
