# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables of a model's layers: shapes, parameters and operations.

The model is called once while it is recorded, and nothing is computed. Hooks tell when a
layer begins and ends; its operations are those that have been recorded between.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from threading import get_ident
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _core
from .._core import Var
from .._errors import at_line
from .._typing import shown
from ..tracing.arguments import flatten, rebuild_call
from ..tracing.effects import Recording, recording
from ..trees import tree_leaves
from .step_costs import StepCosts, cost_of_step, in_columns

if TYPE_CHECKING:
    from ..nn import Module

__all__ = ["summary"]

_HEADS = ("layer", "output", "parameters", "FLOPs")


class LayerSummary:
    """A layer of a model.

    Attributes
    ----------
    name : str
        As in `Module.named_modules`; '' of the model itself.
    kind : str
        The name of its class.
    depth : int
        In how many layers it is.
    outputs : list of tuple of int
        The shapes of what its last call has returned.
    parameters : int
        The elements of its parameters, with those of layers in it.
    flops : int
        The operations on floats of all of its calls, with those of layers in it.
    calls : int
        How often it is called.
    """

    def __init__(self, name: str, kind: str, depth: int, parameters: int) -> None:
        self.name = name
        self.kind = kind
        self.depth = depth
        self.parameters = parameters
        self.outputs: list[tuple[int, ...]] = []
        self.flops = 0
        self.calls = 0

    def __repr__(self) -> str:
        return " ".join(self.cells()).strip()

    def cells(self) -> tuple[str, ...]:
        """Return the row of a table."""
        label = f"{self.name.rpartition('.')[2]}: {self.kind}" if self.depth else self.kind
        times = f" (x{self.calls})" if self.calls > 1 else ""
        shapes = " ".join(map(str, self.outputs)) if self.calls else "not called"
        return "  " * self.depth + label + times, shapes, f"{self.parameters:,}", f"{self.flops:,}"


class ModelSummary(NamedTuple):
    """The layers of a model, and sums of them. Its text is a table.

    Attributes
    ----------
    layers : list of LayerSummary
        The model, and then all layers in it.
    parameters : int
        The elements of all parameters, each counted once.
    parameter_bytes, buffer_bytes : int
        What these take, and what tensors take that are not trained.
    flops : int
        The operations on floats of a call; a multiplication and an addition are two.
    step : StepCosts or None
        The costs of the step that was given.
    """

    layers: list[LayerSummary]
    parameters: int
    parameter_bytes: int
    buffer_bytes: int
    flops: int
    step: StepCosts | None = None

    def __str__(self) -> str:
        lines = in_columns([_HEADS, *(layer.cells() for layer in self.layers)], 2)
        lines.append(
            f"{self.parameters:,} parameters of {self.parameter_bytes:,} bytes, beside them"
            f" {self.buffer_bytes:,} bytes; {self.flops:,} FLOPs"
        )
        return "\n".join([*lines, "", str(self.step)] if self.step else lines)

    def __repr__(self) -> str:
        return str(self)


def _size(tensors: list[Var], *, in_bytes: bool = False) -> int:
    """Return the elements of tensors, or the bytes, each counted once."""
    each = {id(tensor): tensor for tensor in tensors}.values()
    return sum(tensor.size * (tensor.dtype.itemsize if in_bytes else 1) for tensor in each)


class _Counter:
    """Counts what the layers of a model record."""

    def __init__(self, model: Module) -> None:
        #: Of each layer that is being called, the trace, which may be that of a body of
        #: control flow, and the operations before.
        self._begun: list[tuple[Any, int]] = []
        self.layers: dict[int, LayerSummary] = {}
        self._modules = []
        #: Other threads may call the layers, too.
        self._thread = get_ident()
        for name, module in model.named_modules():
            depth = name.count(".") + 1 if name else 0
            size = _size(module.parameters())
            self.layers[id(module)] = LayerSummary(name, type(module).__name__, depth, size)
            self._modules.append(module)

    def watched(self) -> ExitStack:
        """Return a scope in which calls of layers are counted."""
        scope = ExitStack()
        for module in self._modules:
            # The first before all others, and the last behind them.
            scope.enter_context(module.register_forward_pre_hook(self._begin, prepend=True))
            scope.enter_context(module.register_forward_hook(self._end))
        return scope

    def _begin(self, module: Module, args: Any) -> None:
        if get_ident() != self._thread:
            return
        current = recording()
        assert current is not None
        self._begun.append((current.trace, current.trace.count_flops()))

    def _end(self, module: Module, args: Any, result: Any) -> None:
        if get_ident() != self._thread:
            return
        layer = self.layers[id(module)]
        trace, before = self._begun.pop()
        layer.flops += trace.count_flops() - before
        layer.calls += 1
        layer.outputs = [leaf.shape for leaf in tree_leaves(result) if isinstance(leaf, Var)]


def summary(
    model: Module, *args: Any, step: Callable[..., Any] | None = None, **kwargs: Any
) -> ModelSummary:
    """Return the layers of a model: the shapes of results, parameters and operations.

    The model is recorded, and nothing is computed: no statistic, random number or
    parameter changes, and attributes of layers are as before. One that makes layers in
    its first call has to be called before, so that they are there.

    Parameters
    ----------
    model : Module
        The model, as it is called: trained, or used.
    *args, **kwargs
        What it is called with; the values of tensors do not matter.
    step
        A function of the same arguments that uses or trains the model, made by `jit` or not.
        It is compiled, as by its first call, and not run: its memory, the time that it should
        take and its kernels are told, by the lines that have recorded what they compute. What
        it updates is there a second time for as long; see `StepCosts`. Memory that a step is
        given by `donate` counts twice.

    Returns
    -------
    ModelSummary
        Its `layers`, `parameters`, `parameter_bytes`, `buffer_bytes`, `flops` and `step`;
        printed, it is a table, or two. Operations are those on floats of the program as it
        is recorded, before it is simplified: a product of an n x m and an m x k matrix has
        2 n m k, and a loop has those of a trip as often as it is known to run. A layer that
        is called in a loop, a branch or a checkpoint has those of one trip.

    Raises
    ------
    TypeError
        If the model is no module, or the step no function.
    RuntimeError
        If one asks for a value, which it has none of while it is recorded.

    Examples
    --------
    >>> model = mo.nn.Sequential(mo.nn.Linear(8, 16), mo.nn.ReLU())
    >>> print(mo.summary(model, mo.zeros((4, 8))))
    layer        output   parameters  FLOPs
    Sequential   (4, 16)         144  1,088
      0: Linear  (4, 16)         144  1,088
      1: ReLU    (4, 16)           0      0
    144 parameters of 576 bytes, beside them 0 bytes; 1,088 FLOPs
    """
    from ..nn import Module
    from ..nn.attributes import AttributesTakenBack

    if not isinstance(model, Module):
        raise at_line(TypeError(f"summary: model is {shown(model)}, expected a module"))
    if step is not None and not callable(step):
        raise at_line(TypeError(f"summary: step is {shown(step)}, expected a function"))
    leaves: list[Var] = []
    for value in (*args, *(kwargs[name] for name in sorted(kwargs))):
        flatten(value, leaves, [], [])
    trace = _core.begin_trace(list(dict.fromkeys(leaves)))
    made = dict(zip(dict.fromkeys(leaves), trace.arguments, strict=True))
    given, named, _ = rebuild_call(args, kwargs, [made[leaf] for leaf in leaves], [])
    counter = _Counter(model)
    try:
        with Recording(trace), AttributesTakenBack(), counter.watched():
            result = model(*given, **named)
            flops = trace.count_flops()
            del result, given, named
    finally:
        made.clear()
        trace.close()
    parameters = model.parameters()
    of_parameters = _size(parameters, in_bytes=True)
    total = _size(list(model.state_dict().values()), in_bytes=True)
    layers = list(counter.layers.values())
    sizes = _size(parameters), of_parameters, total - of_parameters
    with AttributesTakenBack():
        costs = None if step is None else cost_of_step(step, args, kwargs)
    return ModelSummary(layers, *sizes, flops, costs)
