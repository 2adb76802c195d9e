# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Optimisers that look at signs, and at averages of parameters: Rprop, ASGD."""

from __future__ import annotations

from collections.abc import Iterable

from .._core import Var
from .._domains import NOT_NEGATIVE, POSITIVE_FINITE, check_rising
from .._errors import at_line
from .._typing import as_number, shown
from ..ops.elementwise.elementwise import clip, maximum, sign, where
from .adaptive import _decay, _decayed
from .optimizer import Group, Numbers, Optimizer

__all__ = ["ASGD", "Rprop"]


class Rprop(Optimizer):
    """Resilient backpropagation (Riedmiller and Braun, 1993): steps by signs alone.

    Each number has a step of its own, which grows while the sign of its gradient stays.
    Where the sign changes the step shrinks, and the number stays for once.

    Parameters
    ----------
    parameters
        As in `Optimizer`.
    lr
        The first step of each number.
    etas
        By what steps shrink and grow.
    step_sizes
        The smallest and the largest step.
    maximize, master
        As in `Optimizer`.

    Raises
    ------
    ValueError
        As `Optimizer`, or if the etas are not below and above 1, or the step sizes fall.
    """

    is_recorded_once = True

    def __init__(
        self,
        parameters: Iterable[Var] | Iterable[Group],
        lr: float = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50.0),
        *,
        maximize: bool = False,
        master: bool = False,
    ) -> None:
        super().__init__(
            parameters, lr, etas=etas, step_sizes=step_sizes, maximize=maximize, master=master
        )

    def _check_options(self, group: Group) -> None:
        super()._check_options(group)
        shrinks, grows = group["etas"]
        if not 0.0 < shrinks < 1.0 < grows:
            raise at_line(
                ValueError(
                    f"Rprop: etas are {shown(group['etas'])}, expected one in (0, 1) and one above"
                )
            )
        least, most = group["step_sizes"]
        sizes = {"the least of step_sizes": least, "the largest": most}
        POSITIVE_FINITE.check("Rprop", **sizes)
        check_rising("Rprop", **sizes)

    def _numbers(self, group: Group, step: int) -> dict[str, float]:
        shrinks, grows = group["etas"]
        least, most = group["step_sizes"]
        return {"shrinks": shrinks, "grows": grows, "least": least, "most": most}

    def _update(self, index: int, parameter: Var, gradient: Var, n: Numbers) -> Var:
        same = sign(gradient * self._kept["gradient"][index])
        factor = where(same > 0, n["grows"], where(same < 0, n["shrinks"], 1.0))
        size = clip(self._kept["step"][index] * factor, n["least"], n["most"])
        gradient = where(same < 0, 0.0, gradient)
        self._keep("gradient", index, gradient)
        self._keep("step", index, size)
        return parameter - sign(gradient) * size

    def _new_state(self, group: Group) -> dict[str, float]:
        return {"gradient": 0.0, "step": group["lr"]}


class ASGD(Optimizer):
    """Averaged gradient descent (Polyak and Juditsky, 1992; Bottou, 2010).

    Step t has the rate ``lr / (1 + lambd * lr * t) ** alpha``, t counted from 0. The
    averages of the parameters are "average" in `state_dict`.

    Parameters
    ----------
    parameters, lr
        As in `Optimizer`.
    lambd
        How fast the parameters and the rate decay.
    alpha
        The power of the rate's decay.
    t0
        The step from which the parameters are averaged; before, the average is the
        parameters.
    weight_decay
        The weight of the squared parameters' half in the loss.
    maximize, master
        As in `Optimizer`.
    """

    is_recorded_once = True

    _NOT_NEGATIVE = Optimizer._NOT_NEGATIVE | {"lambd", "alpha"}
    _FRACTIONS = frozenset()

    def __init__(
        self,
        parameters: Iterable[Var] | Iterable[Group],
        lr: float = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
        master: bool = False,
    ) -> None:
        super().__init__(
            parameters,
            lr,
            lambd=lambd,
            alpha=alpha,
            t0=t0,
            weight_decay=weight_decay,
            maximize=maximize,
            master=master,
        )

    def _check_options(self, group: Group) -> None:
        super()._check_options(group)
        NOT_NEGATIVE.check("ASGD", t0=as_number("ASGD", "t0", group["t0"]))

    def _numbers(self, group: Group, step: int) -> dict[str, float]:
        lr, lambd, before = group["lr"], group["lambd"], step - 1
        rate = lr / (1.0 + lambd * lr * before) ** group["alpha"]
        share = 1.0 / max(1.0, before - group["t0"])
        shrink = 1.0 - lambd * rate
        return {"rate": rate, "shrink": shrink, "share": share, "rest": 1.0 - share} | _decay(group)

    def _counted_numbers(self, group: Group) -> dict[str, float]:
        return {name: group[name] for name in ("lr", "lambd", "alpha", "t0")}

    def _at_count(self, index: int, n: Numbers, count: Var) -> Numbers:
        before = count - 1
        rate = n["lr"] / (1.0 + n["lambd"] * n["lr"] * before) ** n["alpha"]
        share = 1.0 / maximum(before - n["t0"], 1.0)
        shrink = 1.0 - n["lambd"] * rate
        return {**n, "rate": rate, "shrink": shrink, "share": share, "rest": 1.0 - share}

    def _update(self, index: int, parameter: Var, gradient: Var, n: Numbers) -> Var:
        gradient = _decayed(parameter, gradient, n)
        moved = n["shrink"] * parameter - n["rate"] * gradient
        average = n["rest"] * self._kept["average"][index] + n["share"] * moved
        self._keep("average", index, average)
        return moved

    def _new_state(self, group: Group) -> dict[str, float]:
        return {"average": 0.0}
