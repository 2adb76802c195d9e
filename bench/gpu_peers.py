# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The time of workloads by PyTorch on a GPU, eager and compiled.

    python gpu_peers.py ROUNDS SIZE=NAME...

It is run by a Python that has PyTorch, whichever that is, and prints a line of JSON for
each workload. Times are between two events, in the median of the rounds.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
import torch
from ops.torch_ops import Torch, TorchCompile
from workloads import WORKLOADS


def tensor_on_gpu(self: Torch, array: np.ndarray) -> Any:
    """Return a tensor of the GPU with the elements of an array."""
    return torch.from_numpy(array).cuda()


def seconds(call: Callable[[], Any]) -> float:
    """Return what a call takes on the GPU."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    call()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / 1e3


def measure(library: Torch, name: str, size: str, rounds: int) -> dict[str, Any]:
    """Return the seconds of a workload, or why there are none."""
    workload = WORKLOADS[name]
    try:
        call = library.prepare(workload, workload.arrays(size))
        for _ in range(3):
            call()
        return {"seconds": median(seconds(call) for _ in range(rounds))}
    except Exception as error:
        return {"reason": f"{type(error).__name__}: {error}".splitlines()[0][:200]}


def main() -> None:
    """Measure what the command line names."""
    rounds, *rows = sys.argv[1:]
    if not torch.cuda.is_available():
        sys.exit(f"PyTorch {torch.__version__} finds no GPU")
    torch.set_default_device("cuda")
    Torch.tensor = tensor_on_gpu  # type: ignore[method-assign]
    for row in rows:
        size, name = row.split("=", 1)
        for library in (Torch(), TorchCompile()):
            result = measure(library, name, size, int(rounds))
            print(json.dumps({"name": name, "size": size, "peer": library.title, **result}))
            sys.stdout.flush()
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
