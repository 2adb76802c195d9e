# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Averages of a model's parameters over steps: stochastic weight averaging, moving averages."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from .. import _core
from .._core import Var
from .._errors import at_line
from .._typing import shown, unrounded
from ..gradients import no_grad
from ..nn.batch_norm_layers import BatchNorm
from ..nn.module import Module
from ..ops.elementwise.elementwise import where

__all__ = ["AveragedModel", "update_bn"]


class AveragedModel(Module):
    """A copy of a model, whose parameters are averages of the model's over steps.

    The average is that of all values with the same weight (Izmailov et al., 2018), or a
    moving one with a decay::

        averaged = mo.optim.AveragedModel(model, decay=0.999)
        for x, y in batches:
            optimizer.step(mo.nn.cross_entropy_loss(model(x), y))
            averaged.update_parameters(model)
        averaged.eval()

    The count of values is a value, so an update may be part of a recorded function.
    Averages of halves are kept in float32, so that small changes add up.

    Parameters
    ----------
    model
        Copied as it is; the first update takes its parameters.
    decay
        How much of the average an update keeps, in [0, 1); None for the mean of all.
    use_buffers
        Whether buffers of floats are averaged, too. Others are copied.

    Attributes
    ----------
    module : Module
        The copy, which is what is called.
    n_averaged : Var
        int64, a buffer: how many values the averages are of.

    Raises
    ------
    TypeError
        If the model is no module.
    ValueError
        If the decay is not in [0, 1).
    """

    def __init__(
        self, model: Module, decay: float | None = None, use_buffers: bool = False
    ) -> None:
        if not isinstance(model, Module):
            raise at_line(TypeError(f"AveragedModel: model is {shown(model)}, expected a module"))
        if decay is not None and not 0.0 <= decay < 1.0:
            raise at_line(
                ValueError(f"AveragedModel: decay is {shown(decay)}, expected it in [0, 1)")
            )
        self.module = copy.deepcopy(model)
        for parameter in self.module.parameters():
            parameter.assign(unrounded(parameter))
        self.module.requires_grad_(False)
        self.decay = decay
        self.use_buffers = bool(use_buffers)
        self.n_averaged = _core.array(0, "int64")

    def execute(self, *args: Any, **kwargs: Any) -> Any:
        """Return what the copy makes of its arguments."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Take the parameters of the model into the averages, and its buffers.

        Raises
        ------
        ValueError
            If the model has other tensors than the copy.
        """
        own, given = self.module.state_dict(), model.state_dict()
        if own.keys() != given.keys() or any(own[key].shape != given[key].shape for key in own):
            raise at_line(
                ValueError("AveragedModel: the model has other tensors than the one copied")
            )
        buffers = {name for name, _ in model.named_buffers()}
        # One that has several names is averaged once.
        for name, average in {
            id(average): (name, average) for name, average in own.items()
        }.values():
            value = given[name].detach()
            is_averaged = name not in buffers or (self.use_buffers and "float" in value.dtype)
            average.update(self._average(average, value) if is_averaged else value)
        self.n_averaged.update(self.n_averaged + 1)

    def _average(self, average: Var, value: Var) -> Var:
        """Return the average after a value; the first is the value."""
        value = value.cast(average.dtype)
        if self.decay is None:
            weight: Any = 1.0 / (self.n_averaged + 1).cast(average.dtype)
        else:
            weight = 1.0 - self.decay
        # The copy may hold what is not finite.
        return where(self.n_averaged == 0, value, average + (value - average) * weight)


def update_bn(batches: Iterable[Any], model: Module) -> None:
    """Have the statistics of batch normalisations be those of batches, as of averages.

    Parameters
    ----------
    batches
        Inputs of the model, or lists and tuples of which the first is one.
    model
        Called with each; it is trained or not afterwards as before.

    Raises
    ------
    TypeError
        If the model is no module, or the batches are no sequence.
    """
    if not isinstance(model, Module):
        raise at_line(TypeError(f"update_bn: model is {shown(model)}, expected a module"))
    if not isinstance(batches, Iterable):
        raise at_line(TypeError(f"update_bn: batches are {shown(batches)}, expected a sequence"))
    layers = [
        layer
        for layer in model.modules()
        if isinstance(layer, BatchNorm) and layer.running_mean is not None
    ]
    if not layers:
        return
    momenta = [layer.momentum for layer in layers]
    modes = [(module, vars(module).get("is_train")) for module in model.modules()]
    for layer in layers:
        for tensor, first in (
            (layer.running_mean, 0.0),
            (layer.running_var, 1.0),
            (layer.num_batches_tracked, 0),
        ):
            assert tensor is not None
            tensor.update(_core.full(tensor.shape, first, tensor.dtype))
        layer.momentum = None  # the mean of all batches
    model.train()
    try:
        with no_grad():
            for batch in batches:
                model(batch[0] if isinstance(batch, list | tuple) else batch)
    finally:
        for layer, momentum in zip(layers, momenta, strict=True):
            layer.momentum = momentum
        for module, own in modes:
            if own is None:
                vars(module).pop("is_train", None)
            else:
                module.is_train = own
