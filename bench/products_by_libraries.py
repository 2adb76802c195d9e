# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of bfloat16 by generated kernels, by a library, and by PyTorch.

Times are those of a call, recording included, by turns in one process; results are compared
with a product in f64 first. PyTorch takes part where it is installed. METAOPS_ONEDNN says where
the library is, if it is no package of this Python.

    python bench/products_by_libraries.py [--quick] [--threads 1] [--output FOLDER]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple

import metaops as mo
import numpy as np
from common import Table, compare_steps, repeated, write_report

#: Results are right to so much, beside the largest: those of each operator are rounded.
TOLERANCE = 2.0**-6


class Row(NamedTuple):
    """A product, with what follows it."""

    batch: int
    m: int
    k: int
    n: int
    #: The second factor is transposed, as a layer's weights are.
    is_layer: bool = False
    #: tanh follows, of the sum with a bias.
    is_activated: bool = False

    def __str__(self) -> str:
        batch = f"{self.batch} x " if self.batch > 1 else ""
        kind = ", bias and tanh" if self.is_activated else ", transposed" * self.is_layer
        return f"{batch}{self.m} x {self.k} x {self.n}{kind}"


ROWS = [
    Row(1, 64, 64, 64),
    Row(1, 256, 256, 256),
    Row(1, 512, 512, 512),
    Row(1, 1024, 1024, 1024),
    Row(1, 64, 1024, 1024, is_layer=True),
    Row(1, 2048, 256, 1024, is_layer=True),
    Row(1, 2048, 256, 1024, is_layer=True, is_activated=True),
    Row(1, 2048, 64, 2048),
    Row(32, 64, 64, 64),
    Row(64, 128, 64, 128),
]


def make(row: Row) -> tuple[np.ndarray[Any, Any], ...]:
    """Return the factors and the bias of a row, rounded to bfloat16."""
    rng = np.random.default_rng(0)
    batch = (row.batch,) if row.batch > 1 else ()
    second = (row.n, row.k) if row.is_layer else (row.k, row.n)
    shapes = [(*batch, row.m, row.k), (*batch, *second), (row.n,)]
    given = [rng.standard_normal(shape).astype("float32") for shape in shapes]
    return tuple((x.view(np.uint32) & 0xFFFF0000).view(np.float32) for x in given)


def compute(row: Row, module: Any, a: Any, b: Any, bias: Any) -> Any:
    """Return a row's result by a library."""
    y = a @ (b.T if row.is_layer else b)
    return module.tanh(y + bias) if row.is_activated else y


def libraries(row: Row) -> dict[str, Callable[[], Any]]:
    """Return a call of each contestant, which ends when its values are there."""
    given = make(row)
    ours = [mo.array(x).astype("bfloat16").sync() for x in given]

    def call(libraries: str) -> Callable[[], Any]:
        def run() -> Any:
            if mo.flags.libraries != libraries:
                mo.flags.libraries = libraries
            return compute(row, mo, *ours).sync()

        return run

    calls: dict[str, Callable[[], Any]] = {"generated": call("off"), "oneDNN": call("rules")}
    if find_spec("torch"):
        import torch

        theirs = [torch.from_numpy(x).bfloat16() for x in given]
        calls["PyTorch"] = lambda: compute(row, torch, *theirs)
    return calls


def check(row: Row, calls: dict[str, Callable[[], Any]]) -> None:
    """Compare each contestant's result with one in f64."""
    exact = compute(row, np, *(x.astype("float64") for x in make(row)))
    for name, call in calls.items():
        result = call()
        values = result.float().numpy() if name == "PyTorch" else result.astype("float32").numpy()
        error = float(np.abs(values - exact).max() / np.abs(exact).max())
        if not error <= TOLERANCE:
            raise SystemExit(f"{row}: {name} is off by {error}")


def measure(rounds: int, target: float, threads: int) -> Table:
    """Return milliseconds a call, and the kernels' time over the library's."""
    names = list(libraries(ROWS[0]))
    title = f"Products of bfloat16, threads: {threads}, in milliseconds"
    table = Table(title, ["product", *names, "generated / oneDNN"])
    for row in ROWS:
        calls = libraries(row)
        check(row, calls)
        times = compare_steps({n: repeated(call) for n, call in calls.items()}, rounds, target)
        ratio = times["generated"] / times["oneDNN"]
        table.add(str(row), *(times[name] * 1e3 for name in names), ratio)
    return table


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer turns")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--output", help="a folder for the table")
    arguments = parser.parse_args()
    mo.set_num_threads(arguments.threads)
    if find_spec("torch"):
        import torch

        torch.set_num_threads(arguments.threads)
    rounds, target = (3, 0.05) if arguments.quick else (9, 0.2)
    table = measure(rounds, target, arguments.threads)
    write_report("products-by-libraries", [table], arguments.output)


if __name__ == "__main__":
    main()
