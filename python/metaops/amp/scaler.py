# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Losses that are scaled, so that gradients are numbers of float16."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, overload
from weakref import WeakValueDictionary

import numpy as np

from .._core import Var, array
from .._errors import at_line
from .._targets import note_alike
from .._typing import as_count, as_var, shown, unrounded
from ..ops.elementwise.elementwise import isfinite, maximum, where
from ..ops.shape.stacking import stack
from ..optim.optimizer import Optimizer

__all__ = ["GradScaler"]

#: The options of a state, beside the scale.
_OPTIONS = ("growth_factor", "backoff_factor", "growth_interval")
#: The least scale, and the largest: smaller numbers of float32 have fewer digits.
_LEAST, _MOST = float(np.finfo("float32").tiny), float(np.finfo("float32").max)
#: Gradients that `unscale_` has returned, by identity.
_unscaled: WeakValueDictionary[int, Var] = WeakValueDictionary()


class GradScaler:
    """Scales losses, and skips steps whose gradients are not finite.

    Gradients of float16 are 0 below 6e-8, and infinite above 65504. Those of a loss that
    is multiplied by a scale are divided by it in float32 before the step. Where one is
    infinite or NaN, the step is skipped: no parameter moves, no state of the optimiser
    changes, and its count of steps that are taken stays. `update` then makes the scale
    smaller; after a number of steps that were taken it makes it larger.

    Nothing is read for that: the scale, whether there was such a gradient and the counts
    are values, so a step does not wait for the one before, and works in `metaops.jit`::

        with mo.amp.autocast("float16"):
            loss = model_loss(x)
        scaler.step(optimizer, scaler.scale(loss))
        scaler.update()

    Parameters
    ----------
    init_scale
        The first scale.
    growth_factor, backoff_factor
        By what the scale grows, above 1, and becomes smaller, between 0 and 1.
    growth_interval
        How many steps in turn have to be taken before it grows.
    enabled
        Whether anything is done; if not, losses are as they are and steps are the
        optimiser's.

    Raises
    ------
    ValueError
        If a number is none that makes sense.
    """

    def __init__(
        self,
        init_scale: float = 65536.0,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        _check(init_scale, growth_factor, backoff_factor)
        self.growth_factor = growth_factor
        self.backoff_factor = backoff_factor
        self.growth_interval = as_count("GradScaler: growth_interval", growth_interval)
        self._enabled = bool(enabled)
        self._scale = array(init_scale, "float32")
        #: The number of steps since the scale has changed.
        self._tracker = array(0, "int32")
        #: 1 if a gradient since the last update was not finite, else 0.
        self._found = array(0.0, "float32")

    def is_enabled(self) -> bool:
        """Return whether anything is done."""
        return self._enabled

    def get_scale(self) -> float:
        """Return the scale, which is waited for."""
        return float(self._scale) if self._enabled else 1.0

    @overload
    def scale(self, outputs: Var) -> Var: ...
    @overload
    def scale(self, outputs: Sequence[Var]) -> Sequence[Var]: ...
    def scale(self, outputs: Var | Sequence[Var]) -> Var | Sequence[Var]:
        """Return a loss, or each of several, multiplied by the scale."""
        if not self._enabled:
            return outputs
        if not isinstance(outputs, Var):
            return [self.scale(output) for output in outputs]
        wide = unrounded(outputs)
        return wide * self._scale.cast(wide.dtype)

    def unscale_(self, gradients: Any) -> Any:
        """Return gradients of a scaled loss divided by the scale, in float32 at least.

        All are NaN where one is not finite, so that `apply` skips the step. Between, they
        may be clipped::

            gradients = scaler.unscale_(mo.grad(scaler.scale(loss), optimizer.parameters))
            gradients, norm = mo.optim.clip_grad_norm(gradients, 1.0)
            scaler.apply(optimizer, gradients)
            scaler.update()

        Parameters
        ----------
        gradients
            As `Optimizer.apply` takes them: several, such as `metaops.grad` returns, or a
            dict by parameters. None is none. They are not changed: the result is.

        Raises
        ------
        ValueError
            If one has been unscaled before.
        """
        if isinstance(gradients, Mapping):
            return dict(zip(gradients, self.unscale_(gradients.values()), strict=True))
        result = [None if gradient is None else as_var(gradient) for gradient in gradients]
        places = [place for place, gradient in enumerate(result) if gradient is not None]
        given = [gradient for gradient in result if gradient is not None]
        if not self._enabled or not given:
            return result
        if any(_unscaled.get(id(gradient)) is gradient for gradient in given):
            raise at_line(
                ValueError(
                    "unscale_: a gradient is given that has been divided by the scale before"
                )
            )
        wide = [unrounded(gradient) for gradient in given]
        are_finite = stack([isfinite(gradient).all() for gradient in wide]).all()
        self._found.update(maximum(self._found, where(are_finite, 0.0, 1.0)))
        # One factor, which is NaN: 0 times it is NaN, too.
        inverse = where(are_finite, 1.0 / self._scale, math.nan)
        unscaled = [
            where(are_finite, gradient, 1.0) * inverse.cast(gradient.dtype) for gradient in wide
        ]
        note_alike(unscaled, given)
        _unscaled.update((id(gradient), gradient) for gradient in unscaled)
        for place, gradient in zip(places, unscaled, strict=True):
            result[place] = gradient
        return result

    def step(
        self,
        optimizer: Optimizer,
        loss: Var | Sequence[Var],
        *,
        accumulate: bool = False,
        clip_norm: float | None = None,
        clip_value: float | None = None,
    ) -> None:
        """Take a step of an optimiser by a loss that was scaled, or skip it.

        Parameters
        ----------
        optimizer
            One of `metaops.optim`. Its `steps` counts those that are skipped, too; the
            numbers of a step, as Adam's corrections, are those of the count of steps that
            were taken, "taken" in its state.
        loss
            What `scale` has returned. Of several, the sum is one loss.
        accumulate, clip_norm, clip_value
            As of `Optimizer.step`; bounds are those of gradients that are unscaled. Of
            gradients that are added up, one that is not finite skips the step of all.

        Raises
        ------
        TypeError, ValueError
            As `Optimizer.step`.
        """
        if not self._enabled:
            optimizer.step(loss, accumulate=accumulate, clip_norm=clip_norm, clip_value=clip_value)
            return
        self._check(optimizer)
        optimizer._step(loss, accumulate, clip_norm, clip_value, self.unscale_)

    def apply(self, optimizer: Optimizer, gradients: Any) -> None:
        """Take a step by gradients that `unscale_` has returned, or skip it.

        Parameters
        ----------
        optimizer
            As of `step`.
        gradients
            As `Optimizer.apply` takes them.

        Raises
        ------
        TypeError, ValueError
            As `Optimizer.apply`.
        """
        if not self._enabled:
            optimizer.apply(gradients)
            return
        self._check(optimizer)
        optimizer._apply_given(gradients, may_skip=True)

    def update(self, new_scale: float | Var | None = None) -> None:
        """Make the scale smaller or larger, as the steps since the last update were.

        Parameters
        ----------
        new_scale
            The scale from now on, whatever the steps were. A tensor whose number is not
            positive, or infinite, leaves it as it is.

        Raises
        ------
        ValueError
            If it is a Python number that is not positive, or infinite.
        """
        if not self._enabled:
            return
        grown = self._tracker + 1
        is_due = grown >= self.growth_interval
        is_found = self._found > 0.0
        if new_scale is not None:
            if not isinstance(new_scale, Var):
                _check_scale(new_scale)
            new = as_var(new_scale).cast("float32")
            self._scale.update(where((new >= _LEAST) & isfinite(new), new, self._scale))
        else:
            larger = self._scale * self.growth_factor
            # A scale that is infinite would be so for ever.
            kept = where(is_due, where(isfinite(larger), larger, self._scale), self._scale)
            # And one that is 0.
            smaller = maximum(self._scale * self.backoff_factor, _LEAST)
            self._scale.update(where(is_found, smaller, kept))
        self._tracker.update(where(is_found, 0, where(is_due, 0, grown)))
        self._found.update(self._found * 0.0)

    def state_dict(self) -> dict[str, Any]:
        """Return the scale, the number of steps since it has changed, and the options."""
        if not self._enabled:
            return {}
        options = {name: getattr(self, name) for name in _OPTIONS}
        return {"scale": +self._scale, **options, "_growth_tracker": +self._tracker}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take what `state_dict` returned, here or in PyTorch, or what was saved of it.

        Raises
        ------
        KeyError
            If a name is missing.
        ValueError
            If a number is none that makes sense. Nothing is changed by a call that raises.
        """
        if not self._enabled:
            return
        scale, tracker = (_read(state, name) for name in ("scale", "_growth_tracker"))
        growth, backoff, interval = (_read(state, name) for name in _OPTIONS)
        _check(scale, growth, backoff)
        interval = as_count("GradScaler: growth_interval", int(interval))
        as_count("GradScaler: _growth_tracker", int(tracker), 0)
        self.growth_factor, self.backoff_factor, self.growth_interval = growth, backoff, interval
        self._scale.update(array(scale, "float32"))
        self._tracker.update(array(int(tracker), "int32"))
        self._found.update(array(0.0, "float32"))

    @staticmethod
    def _check(optimizer: object) -> None:
        if not isinstance(optimizer, Optimizer):
            raise at_line(
                TypeError(f"GradScaler: optimizer is {shown(optimizer)}, expected one of mo.optim")
            )


def _check(scale: Any, growth: Any, backoff: Any) -> None:
    """Raise a ``ValueError`` unless these are numbers that a scaler can have."""
    _check_scale(scale)
    for name, value, makes_sense, expected in (
        ("growth_factor", growth, 1.0 < growth < math.inf, "a number above 1"),
        ("backoff_factor", backoff, 0.0 < backoff < 1.0, "a number between 0 and 1"),
    ):
        if not makes_sense:
            raise at_line(ValueError(f"GradScaler: {name} is {shown(value)}, expected {expected}"))


def _check_scale(scale: Any) -> None:
    """Raise a ``ValueError`` unless this is a scale that float32 has, with its digits."""
    if not _LEAST <= scale <= _MOST:
        raise at_line(
            ValueError(
                f"GradScaler: scale is {shown(scale)}, expected a positive number,"
                f" {_LEAST:.3g} at least and {_MOST:.3g} at most"
            )
        )


def _read(state: Mapping[str, Any], name: str) -> Any:
    """Return a number of a state, which may be a tensor there."""
    value = state[name]
    return value.item() if hasattr(value, "item") else value
