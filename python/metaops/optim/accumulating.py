# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What becomes of gradients before a step: sums over several losses, bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from .._core import Var, array, full
from .._devices import device_of
from .._errors import at_line
from .._typing import unrounded
from ..ops.elementwise.elementwise import isfinite, where
from ..ops.shape.stacking import stack
from ..tracing.effects import Effect, outside, perform, recording
from .clipping import check_bound, clip_grad_norm, clip_grad_value
from .keeping import numeric_of
from .skipping import Skipper

__all__ = ["Accumulator", "Gradients", "bounded", "check_bounds"]

#: Of each parameter the gradient, if there is one.
Gradients = list["Var | None"]

#: Sums of gradients by the numbers of parameters.
Sums = dict[int, Var]

_SUMS = "accumulated."


def _are_same(first: Sums, second: Sums) -> bool:
    return first.keys() == second.keys() and all(first[key] is second[key] for key in first)


class ChangeSums(Effect):
    """A change of which sums there are, by an optimiser's step or before it.

    A function that is recorded when there are others is another program.
    """

    def __init__(self, owner: Accumulator, after: Sums) -> None:
        super().__init__(owner)
        self._before = owner._sums
        self._after = after

    def advance(self) -> list[float] | None:
        """Have there be the sums that are behind the step."""
        owner = self.owner
        if owner is None or not _are_same(owner._sums, self._before):
            return None
        owner._sums = self._after
        return []

    def take_back(self) -> None:
        """Have there be those before it."""
        if self.owner is not None:
            self.owner._sums = self._before


class Accumulator(Skipper):
    """Keeps sums of gradients between steps."""

    #: The sums since the last step, by the numbers of parameters.
    _sums: Sums
    #: Those that recorded functions add to or take, which are used again.
    _lent: Sums

    def _add_to_sums(self, gradients: Gradients) -> None:
        """Add gradients to the sums, which the next step is by."""
        sums = dict(self._sums)
        for index, gradient in enumerate(gradients):
            if gradient is None:
                continue
            parameter = self.parameters[index]
            wide = gradient.cast(numeric_of(parameter)[0])
            if index in sums:
                sums[index].update(sums[index] + wide)
                continue
            sums[index] = self._new_sum(index)
            sums[index].update(+wide)
        self._change_sums(sums)

    def _new_sum(self, index: int) -> Var:
        """Return a tensor of which the value does not matter."""
        if index in self._lent:
            return self._lent[index]
        parameter = self.parameters[index]
        with outside(), device_of(parameter):
            return full(parameter.shape, 0.0, numeric_of(parameter)[0])

    def _with_sums(self, gradients: Gradients, may_skip: bool) -> Gradients:
        """Return gradients with the sums added; if one is not finite, that skips the step."""
        if not self._sums:
            return gradients
        result: Gradients = []
        for index, gradient in enumerate(gradients):
            total = self._sums.get(index)
            if total is None:
                result.append(gradient)
            else:
                result.append(+total if gradient is None else total + gradient.cast(total.dtype))
        return _all_or_none(result) if may_skip else result

    def _change_sums(self, after: Sums) -> None:
        """Have there be other sums, and in each call of what is recorded."""
        if recording() is None:
            self._sums = after
            return
        self._lent = {**self._lent, **self._sums, **after}
        perform(ChangeSums(self, after))

    def _sums_state(self) -> dict[str, Var]:
        """Return the sums by names, for `state_dict`."""
        return {f"{_SUMS}{index}": total for index, total in self._sums.items()}

    def _loaded_sums(self, state: Mapping[str, Any]) -> dict[int, Var]:
        """Return the sums that a state has."""
        result = {}
        for key in state:
            if not key.startswith(_SUMS):
                continue
            place = key[len(_SUMS) :]
            index = int(place) if place.isdecimal() else len(self.parameters)
            if index >= len(self.parameters):
                raise at_line(
                    ValueError(
                        f"load_state_dict: given {key!r}, expected the number of one of"
                        f" {len(self.parameters)} parameters"
                    )
                )
            parameter, given = self.parameters[index], state[key]
            with device_of(parameter):
                value = given.numpy() if isinstance(given, Var) else given
                result[index] = array(value, numeric_of(parameter)[0])
            if result[index].shape != parameter.shape:
                raise at_line(
                    ValueError(
                        f"{key!r} has shape {result[index].shape}, expected {parameter.shape}"
                    )
                )
        return result


def _all_or_none(gradients: Gradients) -> Gradients:
    """Return gradients, or NaN instead of all if a number is not finite."""
    are_finite = stack([isfinite(given).all() for given in gradients if given is not None]).all()
    return _changed(gradients, lambda given: [where(are_finite, each, math.nan) for each in given])


def check_bounds(clip_norm: float | None, clip_value: float | None) -> None:
    """Raise a ``ValueError`` if a bound of a step is negative."""
    if clip_value is not None:
        check_bound("clip_grad_value: clip_value", clip_value)
    if clip_norm is not None:
        check_bound("clip_grad_norm: max_norm", clip_norm)


def bounded(gradients: Gradients, clip_norm: float | None, clip_value: float | None) -> Gradients:
    """Return gradients within bounds; those of halves are in float32 then."""
    if clip_value is not None:
        gradients = _changed(gradients, lambda given: clip_grad_value(given, clip_value))
    if clip_norm is not None:
        gradients = _changed(gradients, lambda given: clip_grad_norm(given, clip_norm)[0])
    return gradients


def _changed(gradients: Gradients, change: Callable[[list[Var]], list[Var]]) -> Gradients:
    given = [unrounded(gradient) for gradient in gradients if gradient is not None]
    changed = iter(change(given))
    return [None if gradient is None else next(changed) for gradient in gradients]
