# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles workloads and kinds for a GPU that is not here, into the cache on disk.

    gpu_fill.py CHIP [NAME...]

Nothing is run: the programs are made that an estimate of their memory needs. Prints how
many there are, and what could not be compiled, as where shapes depend on values.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import metaops as mo
import numpy as np
from contact.kinds import KINDS
from ops.base import listed
from ops.metaops_ops import MetaOps
from workloads import WORKLOADS, Workload, select
from workloads.base import Input, Integers

SIZES = ("odd", "large", "million", "own")


def unset(entry: Input) -> np.ndarray:
    """Return an input of which nobody looks at the elements."""
    shape = entry if isinstance(entry, tuple) else entry.shape
    dtype = "int32" if isinstance(entry, Integers) else "float32"
    # At a cache line, so that it is used where it is.
    memory = np.empty(math.prod(shape) * 4 + 64, "uint8")
    start = -memory.ctypes.data % 64
    return memory[start : start + math.prod(shape) * 4].view(dtype).reshape(shape)


def compile_workload(workload: Workload, size: str) -> None:
    """Have the programs of a workload compiled."""
    tensors = [mo.asarray(unset(entry)) for entry in workload.shapes[size]]
    xs, cotangents = workload.divide(tensors)
    results = listed(workload.body(MetaOps(), *xs))
    if workload.gradients:
        gradients = mo.vjp(results, [xs[k] for k in workload.gradients], cotangents)
        results = gradients if workload.mode == "backward" else results + gradients
    mo.estimate(results)


def jobs(names: Sequence[str]) -> Iterator[tuple[str, Callable[[], object]]]:
    """Return what is compiled, by its title."""
    for name in select(names):
        for size in SIZES:
            if size in WORKLOADS[name].shapes:
                yield f"{name}, {size}", partial(compile_workload, WORKLOADS[name], size)
    for title, kind in () if names else KINDS.items():
        yield title, lambda kind=kind: mo.estimate(kind.record(kind.arrays()))


def main() -> None:
    """Compile what the command line names, or all."""
    chip, *names = sys.argv[1:]
    failed = []
    with mo.device(f"cuda:{chip}"):
        for title, compile_one in jobs(names):
            try:
                compile_one()
            except Exception as error:
                failed.append(f"{title}: {error}".splitlines()[0][:120])
    counts = mo.stats()
    print(
        f"{counts['programs_compiled']} programs with {counts['kernels_compiled']} kernels in"
        f" {counts['compile_seconds']:.0f} s"
    )
    print("\n".join(failed))


if __name__ == "__main__":
    main()
