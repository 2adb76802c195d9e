# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Costs of code of the user's own, and meta-operators beside it.

1. A step of a program that is code, one that is a kernel, and one that is a NumPy function.
2. Compiling a source, finding it on disk, and calling it for 10,000 shapes.
3. The same function in meta-operators and as code: one that fusion helps, and one whose
   trips each need the one before.

The tables are those of docs/OwnKernels.md.

    python bench/own_kernels.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import metaops as mo
import numpy as np

STEPS = 400
COPY = "for (int i = 0; i < in0_shape0; i++) @out(i) = @in0(i);"

SMOOTH = """
for (int64_t i = begin; i < end; i++) {
  float sum = 0;
  for (int64_t j = 0; j < in0_shape1; j++) {
    float x = @in0(i, j) * @in1(j);
    sum += x / (1 + std::exp(-x));
  }
  @out(i) = sum;
}
"""

LIMITED = """
float y = 0;
for (int64_t i = 0; i < in0_shape0; i++) {
  y = std::min(std::max(0.9f * y + @in0(i), -1.f), 1.f);
  @out(i) = y;
}
"""


def best(call: Callable[[], Any], calls: int = 15) -> float:
    """Return the least seconds of a call, behind one that compiles."""
    call()
    times = []
    for _ in range(calls):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return min(times)


def step_microseconds(step: Callable[[mo.Var], mo.Var]) -> float:
    """Return what a step of a long recorded function takes."""

    def chain(x: mo.Var) -> mo.Var:
        for _ in range(STEPS):
            x = step(x)
        return x

    x, recorded = mo.ones(4), mo.jit(chain)
    return best(lambda: recorded(x).numpy()) / STEPS * 1e6


def same(x: Any) -> Any:
    """Return the argument."""
    return x


def steps() -> dict[str, float]:
    """Return microseconds of steps of each kind."""
    return {
        "`mo.code` of 4 elements": step_microseconds(lambda x: mo.code((4,), "float32", [x], COPY)),
        "a kernel of 4 elements": step_microseconds(lambda x: mo.stop_fuse(x * 1.5)),
        "`mo.host_call` of 4 elements": step_microseconds(
            lambda x: mo.host_call(same, (4,), "float32", x)
        ),
    }


#: Run in a process of its own: prints the seconds of the first call of a source.
FIRST = """
import time, metaops as mo
x = mo.ones(4)
x.numpy()
begin = time.perf_counter()
mo.code((4,), "float32", [x], {source!r}).numpy()
print(time.perf_counter() - begin)
"""


def first_milliseconds(folder: str) -> float:
    """Return what the first call of a process takes, with this folder of libraries."""
    made = subprocess.run(
        [sys.executable, "-c", FIRST.format(source=COPY)],
        env={**os.environ, "METAOPS_CACHE_DIR": folder},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(made.stdout) * 1e3


def compiling() -> dict[str, float]:
    """Return milliseconds until the first value of a source is there."""
    new, kept = [], []
    for _ in range(5):
        with tempfile.TemporaryDirectory() as folder:
            new.append(first_milliseconds(folder))
            kept.append(first_milliseconds(folder))
    return {"compiled": median(new), "found on disk": median(kept)}


def shapes(count: int) -> tuple[int, float]:
    """Return how many libraries so many shapes need, and the milliseconds of each shape."""
    from metaops import cache

    with tempfile.TemporaryDirectory() as folder, mo.flag_scope(cache_dir=folder):
        x = np.ones(count + 1, "float32")
        begin = time.perf_counter()
        for n in range(1, count + 1):
            mo.code((n,), "float32", [mo.array(x[:n])], COPY + "// of any shape").numpy()
        taken = time.perf_counter() - begin
        return cache.info(folder).libraries, taken / count * 1e3


def smooth(x: mo.Var, w: mo.Var) -> mo.Var:
    """Return sums of rows of x * w * sigmoid(x * w), in meta-operators."""
    scaled = x * w
    return (scaled * mo.sigmoid(scaled)).sum(1)


def smooth_code(x: mo.Var, w: mo.Var) -> mo.Var:
    """Return the same, as code."""
    return mo.code(x.shape[:1], x.dtype, [x, w], SMOOTH, parallel=1)


def limited(x: mo.Var) -> mo.Var:
    """Return a filter whose output is limited, in meta-operators."""

    def step(y: mo.Var, row: mo.Var) -> tuple[mo.Var, mo.Var]:
        y = (0.9 * y + row).clamp(-1, 1)
        return y, y

    return mo.scan(step, mo.zeros(()), x)[1]


def limited_code(x: mo.Var) -> mo.Var:
    """Return the same, as code."""
    return mo.code(x.shape, x.dtype, [x], LIMITED)


def compare(operators: Callable[..., mo.Var], code: Callable[..., mo.Var], *args: Any) -> Any:
    """Return milliseconds of both, which compute the same."""
    recorded = [mo.jit(operators), mo.jit(code)]
    values = [fn(*args).numpy() for fn in recorded]
    if not np.allclose(*values, rtol=1e-3, atol=1e-3):
        raise AssertionError("the two compute different values")
    return [best(lambda fn=fn: fn(*args).numpy()) * 1e3 for fn in recorded]


def main() -> None:
    """Print all tables."""
    print(f"Threads: {mo.get_num_threads()}\n\n| a step of a program | us |\n| --- | --- |")
    for name, taken in steps().items():
        print(f"| {name} | {taken:.2f} |")
    print("\n| until the first value of a source | ms |\n| --- | --- |")
    for name, taken in compiling().items():
        print(f"| {name} | {taken:.0f} |")
    libraries, taken = shapes(10_000)
    print(f"\n10,000 shapes: libraries {libraries}, {taken:.2f} ms for each shape\n")
    rng = np.random.default_rng(0)
    x = mo.array(rng.standard_normal((1024, 1024)).astype("float32"))
    w = mo.array(rng.standard_normal(1024).astype("float32"))
    signal = mo.array(rng.standard_normal(10_000).astype("float32"))
    print("| ms | meta-operators | `mo.code` | faster |\n| --- | --- | --- | --- |")
    rows = {
        "sums of 1,024 rows of `x * w * sigmoid(x * w)`": compare(smooth, smooth_code, x, w),
        "a filter of 10,000 samples that is limited": compare(limited, limited_code, signal),
    }
    for name, (operators, code) in rows.items():
        winner = "meta-operators" if operators < code else "`mo.code`"
        ratio = max(operators, code) / min(operators, code)
        print(f"| {name} | {operators:.3f} | {code:.3f} | {winner}, {ratio:.1f} times |")


if __name__ == "__main__":
    main()
