# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Losses that L-BFGS is compared at, written for either library's tensors.

    python test/python/lbfgs_cases.py

writes what PyTorch's LBFGS makes of them to data/lbfgs.json, in float64: the parameters and the
loss after each call of `step`, and the number of evaluations.
"""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

FILE = pathlib.Path(__file__).parent / "data" / "lbfgs.json"
STEPS = 4

_RNG = np.random.default_rng(0)
_X, _Y = _RNG.normal(size=(12, 3)), _RNG.normal(size=(12, 2))
_W, _V = _RNG.normal(size=(3, 4)), _RNG.normal(size=(4, 2))


def rosenbrock(p: Sequence[Any], tensor: Callable[[np.ndarray], Any]) -> Any:
    """Return Rosenbrock's function of two parameters of several numbers, 0 at 1."""
    x, y = p
    return (100 * (y - x**2) ** 2 + (1 - x) ** 2).sum()


def regression(p: Sequence[Any], tensor: Callable[[np.ndarray], Any]) -> Any:
    """Return the mean square of what a layer of hyperbolic tangents makes wrong, and a decay."""
    w, v = p
    error = (tensor(_X) @ w).tanh() @ v - tensor(_Y)
    return (error**2).mean() + 0.01 * (w**2).sum()


def quadratic(p: Sequence[Any], tensor: Callable[[np.ndarray], Any]) -> Any:
    """Return a square form whose curvatures are far from each other."""
    return (tensor(np.array([1.0, 10.0, 100.0])) * (p[0] - 0.5) ** 2).sum()


STARTS = {
    rosenbrock: [np.array([-1.2, 0.5]), np.array([1.0, -1.0])],
    regression: [_W, _V],
    quadratic: [np.array([3.0, -2.0, 1.0])],
}
WOLFE = {"line_search_fn": "strong_wolfe"}

#: A loss, and options.
CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "rosenbrock by search": (rosenbrock, WOLFE),
    "rosenbrock by few": (rosenbrock, {**WOLFE, "max_iter": 3, "history_size": 2}),
    "rosenbrock by short steps": (rosenbrock, {"lr": 0.1, "max_iter": 5}),
    "rosenbrock by evaluations": (rosenbrock, {**WOLFE, "max_iter": 10, "max_eval": 4}),
    "regression by search": (regression, {**WOLFE, "max_iter": 8}),
    "regression by steps": (regression, {"lr": 0.5, "max_iter": 6, "history_size": 3}),
    "regression by long steps": (regression, {**WOLFE, "lr": 4.0, "max_iter": 3}),
    "quadratic to the end": (quadratic, {**WOLFE, "tolerance_grad": 1e-3}),
    "quadratic by changes": (quadratic, {"lr": 0.7, "tolerance_change": 1e-2}),
}


def main() -> None:
    """Write what PyTorch computes."""
    import torch

    found = {}
    for name, (loss, options) in CASES.items():
        parameters = [torch.tensor(p, requires_grad=True) for p in STARTS[loss]]
        optimizer = torch.optim.LBFGS(parameters, **options)

        def closure(loss: Any = loss, own: Any = parameters, optimizer: Any = optimizer) -> Any:
            optimizer.zero_grad()
            value = loss(own, torch.from_numpy)
            value.backward()
            return value

        rows = []
        for _ in range(STEPS):
            before = optimizer.step(closure).item()
            state = optimizer.state[parameters[0]]
            values = [p.detach().numpy().ravel().tolist() for p in parameters]
            counts = [state["n_iter"], state["func_evals"]]
            rows.append({"before": before, "values": values, "counts": counts})
        found[name] = rows
    lines = [f"{json.dumps(name)}: {json.dumps(rows)}" for name, rows in found.items()]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
