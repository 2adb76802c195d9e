# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Optimisers of matrices: Adafactor and Muon."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from .._core import Var, matmul
from .._domains import DEVIATION
from .._errors import at_line
from .._typing import as_count, as_number, shown
from ..ops.create.limits import finfo
from ..ops.elementwise.elementwise import maximum, minimum
from ..ops.elementwise.functions import rsqrt, sqrt
from .optimizer import Group, Numbers, Optimizer

__all__ = ["Adafactor", "Muon"]


def _root_mean_square(x: Var) -> Var:
    return sqrt((x * x).sum() / max(x.size, 1))


class Adafactor(Optimizer):
    """Adafactor (Shazeer and Stern, 2018): the squares' means by rows and by columns.

    Of a parameter with two dimensions or more, the mean squares of the gradient are kept
    of rows and of columns (the last two dimensions), as their product stands for those of
    all elements: the state is small.

    Parameters
    ----------
    parameters
        As in `Optimizer`.
    lr
        The largest rate relative to the parameters' size; step t has ``1 / sqrt(t)`` at
        most.
    beta2_decay
        Step t takes the share ``t ** beta2_decay`` of the new squares.
    eps
        The least root of a mean square (by default that of the dtype that steps are
        computed in), and the least size of a parameter that counts.
    d
        Steps whose root mean square is larger are scaled to it.
    weight_decay
        Each step multiplies the parameters by ``1 - lr * weight_decay``.
    maximize, master
        As in `Optimizer`.
    """

    is_recorded_once = True

    _NOT_NEGATIVE = frozenset({"lr", "weight_decay"})

    def __init__(
        self,
        parameters: Iterable[Var] | Iterable[Group],
        lr: float = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
        master: bool = False,
    ) -> None:
        super().__init__(
            parameters,
            lr,
            beta2_decay=beta2_decay,
            eps=eps,
            d=d,
            weight_decay=weight_decay,
            maximize=maximize,
            master=master,
        )

    def _check_options(self, group: Group) -> None:
        super()._check_options(group)
        if not group["beta2_decay"] <= 0:
            raise at_line(
                ValueError(
                    f"Adafactor: beta2_decay is {shown(group['beta2_decay'])}, expected 0 or less"
                )
            )
        if not group["d"] >= 1:
            raise at_line(ValueError(f"Adafactor: d is {shown(group['d'])}, expected 1 or more"))
        eps = group["eps"]
        if not (isinstance(eps, tuple | list) and len(eps) == 2):
            raise at_line(
                TypeError(f"Adafactor: eps is {shown(eps)}, expected two numbers, as (None, 1e-3)")
            )
        for number in eps if eps[0] is not None else eps[1:]:
            DEVIATION.check("Adafactor", eps=as_number("Adafactor", "eps", number))

    def _numbers(self, group: Group, step: int) -> dict[str, float]:
        share = float(step) ** group["beta2_decay"]
        first, size = group["eps"]
        numbers = {"share": share, "rest": 1.0 - share, "size": size, "d": group["d"]}
        if first is not None:
            numbers["eps"] = first
        if group["weight_decay"]:
            numbers["shrink"] = 1.0 - group["lr"] * group["weight_decay"]
        return numbers | {"rate": min(group["lr"], 1.0 / math.sqrt(step))}

    def _counted_numbers(self, group: Group) -> dict[str, float]:
        return {"lr": group["lr"], "beta2_decay": group["beta2_decay"]}

    def _at_count(self, index: int, n: Numbers, count: Var) -> Numbers:
        share = count ** n["beta2_decay"]
        return {**n, "share": share, "rest": 1.0 - share, "rate": minimum(n["lr"], rsqrt(count))}

    def _update(self, index: int, parameter: Var, gradient: Var, n: Numbers) -> Var:
        eps: Any = n["eps"] if "eps" in n else finfo(parameter.dtype).eps
        rate = maximum(n["size"], _root_mean_square(parameter)) * n["rate"]
        squares = gradient * gradient
        if parameter.ndim > 1:
            row = self._mean("row", index, squares.mean(-1, True), n)
            column = self._mean("column", index, squares.mean(-2, True), n)
            square = row * column / maximum(row.mean(-2, True), eps)
        else:
            square = self._mean("row", index, squares, n)
        step = rsqrt(maximum(square, eps * eps)) * gradient
        scale = rate / maximum(1.0, _root_mean_square(step) / n["d"])
        moved = parameter * n["shrink"] if "shrink" in n else parameter
        return moved - scale * step

    def _mean(self, name: str, index: int, squares: Var, n: Numbers) -> Var:
        kept = self._kept[name][index]
        return self._keep(name, index, n["rest"] * kept + n["share"] * squares)

    def _new_state(self, group: Group) -> dict[str, float]:
        return {"row": 0.0, "column": 0.0}

    def _state_shape(self, name: str, parameter: Var) -> tuple[int, ...]:
        shape = parameter.shape
        if len(shape) < 2:
            return shape if name == "row" else ()
        return (*shape[:-1], 1) if name == "row" else (*shape[:-2], 1, shape[-1])


class Muon(Optimizer):
    """Muon (Jordan et al., 2024): momentum made nearly orthogonal, of matrices.

    The singular values of each step are brought near 1 by an iteration of products of
    matrices, in the dtype that the step is computed in.

    Parameters
    ----------
    parameters
        As in `Optimizer`, all of two dimensions. Others, such as biases, are for another
        optimiser.
    lr
        The learning rate.
    weight_decay
        Each step multiplies the parameters by ``1 - lr * weight_decay``.
    momentum
        How much of the mean gradient is kept.
    nesterov
        Whether the momentum is Nesterov's.
    ns_coefficients
        Of x, its cube and its fifth power in the iteration.
    eps
        The least norm by which the momentum is divided.
    ns_steps
        How often the iteration is made.
    adjust_lr_fn
        What the rate of an m x n matrix is multiplied by: "original" (also None)
        ``sqrt(max(1, m / n))``, or "match_rms_adamw" ``0.2 * sqrt(max(m, n))``.
    maximize, master
        As in `Optimizer`.

    Raises
    ------
    ValueError
        As `Optimizer`, or if a parameter is no matrix.
    """

    is_recorded_once = True

    def __init__(
        self,
        parameters: Iterable[Var] | Iterable[Group],
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
        *,
        maximize: bool = False,
        master: bool = False,
    ) -> None:
        super().__init__(
            parameters,
            lr,
            weight_decay=weight_decay,
            momentum=momentum,
            nesterov=nesterov,
            ns_coefficients=ns_coefficients,
            eps=eps,
            ns_steps=ns_steps,
            adjust_lr_fn=adjust_lr_fn,
            maximize=maximize,
            master=master,
        )

    def _check_options(self, group: Group) -> None:
        super()._check_options(group)
        for parameter in group["params"]:
            if parameter.ndim != 2:
                raise at_line(
                    ValueError(f"Muon: a parameter has shape {parameter.shape}, expected matrices")
                )
        name = group["adjust_lr_fn"]
        if name not in (None, "original", "match_rms_adamw"):
            raise at_line(
                ValueError(
                    f"Muon: adjust_lr_fn is {shown(name)}, expected 'original' or 'match_rms_adamw'"
                )
            )
        if as_count("Muon: ns_steps", group["ns_steps"]) > 99:
            raise at_line(ValueError(f"Muon: ns_steps is {group['ns_steps']}, expected 1 to 99"))

    def _numbers(self, group: Group, step: int) -> dict[str, float]:
        momentum = group["momentum"]
        numbers = {"momentum": momentum, "rest": 1.0 - momentum, "rate": group["lr"]}
        numbers |= dict(zip("abc", group["ns_coefficients"], strict=True))
        numbers |= {"eps": group["eps"], "shrink": 1.0 - group["lr"] * group["weight_decay"]}
        # The names tell formulas apart.
        numbers[f"of {group['ns_steps']} steps"] = 0.0
        numbers[group["adjust_lr_fn"] or "original"] = 0.0
        return numbers | ({"nesterov": 1.0} if group["nesterov"] else {})

    def _update(self, index: int, parameter: Var, gradient: Var, n: Numbers) -> Var:
        mean = n["momentum"] * self._kept["mean"][index] + n["rest"] * gradient
        self._keep("mean", index, mean)
        if "nesterov" in n:
            mean = n["momentum"] * mean + n["rest"] * gradient
        rows, columns = parameter.shape
        if "original" in n:
            ratio = math.sqrt(max(1.0, rows / max(columns, 1)))
        else:
            ratio = 0.2 * math.sqrt(max(rows, columns))
        (steps,) = (int(name.split()[1]) for name in n if name.startswith("of "))
        step = _orthogonal(mean.transpose((1, 0)) if rows > columns else mean, steps, n)
        step = step.transpose((1, 0)) if rows > columns else step
        return n["shrink"] * parameter - n["rate"] * ratio * step

    def _new_state(self, group: Group) -> dict[str, float]:
        return {"mean": 0.0}


def _orthogonal(x: Var, steps: int, n: Numbers) -> Var:
    """Return a wide matrix with its singular values near 1, by an iteration of Newton's kind."""
    length = sqrt((x * x).sum())
    x = x / maximum(length, n["eps"])
    for _ in range(steps):
        gram = matmul(x, x.transpose((1, 0)))
        x = n["a"] * x + matmul(n["b"] * gram + n["c"] * matmul(gram, gram), x)
    return x
