# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that know their derivatives, written as PyTorch's: by static methods of a context."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NoReturn

from .. import _core
from .._core import Var
from .._errors import at_line
from .._typing import shown
from ..trees import tree_leaves
from .derivatives import Function

__all__ = ["ContextFunction"]


class FunctionContext:
    """What a call of a `ContextFunction` keeps for its gradient.

    Attributes of any name may be set. Those that ``backward`` sets stay as well, unless they
    hold tensors, which would keep the call alive. ``needs_input_grad`` says of each argument
    whether it is a tensor of floats, which has a gradient.

    Examples
    --------
    >>> class Square(mo.ContextFunction):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x
    ...     @staticmethod
    ...     def backward(ctx, gradient):
    ...         (x,) = ctx.saved_tensors
    ...         return 2 * x * gradient if ctx.needs_input_grad[0] else None
    >>> x = mo.array([1.0, 2.0])
    >>> mo.grad(Square.apply(x), x)
    Var([2, 4], dtype=float32)
    """

    #: The tensors that were given to `save_for_backward`.
    saved_tensors: tuple[Any, ...] = ()
    needs_input_grad: tuple[bool, ...] = ()
    _constant: tuple[Any, ...] = ()
    _materializes = True

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors, or None, for the gradient, as ``saved_tensors``."""
        for number, tensor in enumerate(tensors):
            if tensor is not None and not isinstance(tensor, Var):
                raise at_line(
                    TypeError(
                        f"save_for_backward: argument {number} is {shown(tensor)}, expected a"
                        " tensor or None; keep other objects as attributes of ctx"
                    )
                )
        self.saved_tensors = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors, or None, for ``jvp``, as ``saved_tensors``."""
        self.save_for_backward(*tensors)

    def mark_non_differentiable(self, *results: Any) -> None:
        """Have no gradient flow through results, which are given as ``forward`` returns them."""
        self._constant = results

    def set_materialize_grads(self, value: bool) -> None:
        """Say whether ``backward`` is given zeros (True) or None where a gradient is missing."""
        self._materializes = bool(value)

    def mark_dirty(self, *_: Any) -> NoReturn:
        """Raise an error: arguments may not be changed in place."""
        raise at_line(
            RuntimeError("mark_dirty: a function may not change its arguments; return the results")
        )


class ContextFunction:
    """A function with derivatives of its own, written as PyTorch's: a base class.

    A subclass has static methods. ``forward(ctx, *args)`` computes; ``backward(ctx,
    *gradients)`` is given the gradients by each result, and returns one for each argument,
    or None. ``jvp(ctx, *tangents)``, which need not be there, is for forward mode. With a
    ``setup_context(ctx, inputs, output)``, ``forward`` is given the arguments alone.

    It is called by ``apply``. What is said of `Function` holds here, too: what ``forward``
    reads beside its arguments is a constant to it.

    Examples
    --------
    >>> class Clip(mo.ContextFunction):
    ...     @staticmethod
    ...     def forward(ctx, x, bound):
    ...         ctx.bound = bound
    ...         return x
    ...     @staticmethod
    ...     def backward(ctx, gradient):
    ...         return gradient.clamp(-ctx.bound, ctx.bound), None
    >>> x = mo.array([0.5, 3.0])
    >>> mo.grad(Clip.apply(x, 1.0) ** 2, x)
    Var([1, 1], dtype=float32)
    """

    @staticmethod
    def forward(*args: Any) -> Any:
        """Return the results for the arguments: a tensor, or a tuple."""
        raise NotImplementedError("a ContextFunction has no forward")

    @staticmethod
    def setup_context(ctx: FunctionContext, inputs: tuple[Any, ...], output: Any) -> None:
        """Keep in the context what the gradient needs."""

    @staticmethod
    def backward(ctx: FunctionContext, *gradients: Any) -> Any:
        """Return the gradients by the arguments, given those by the results."""
        raise NotImplementedError("a ContextFunction has no backward")

    @staticmethod
    def jvp(ctx: FunctionContext, *tangents: Any) -> Any:
        """Return the tangents of the results, given those of the arguments."""
        raise NotImplementedError("a ContextFunction has no jvp")

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Return what ``forward`` returns for the arguments."""
        has_gradient = cls.backward is not ContextFunction.backward
        has_tangents = cls.jvp is not ContextFunction.jvp
        call = _KINDS[has_gradient, has_tangents](cls)
        returned = _core.call_function(call, args)
        return call.stop_constants(returned)


def _is_float(value: Any) -> bool:
    return isinstance(value, Var) and "float" in value.dtype


def _holds_tensor(value: Any) -> bool:
    return any(isinstance(leaf, Var) for leaf in tree_leaves(value))


class _Call(Function):
    """A call of a `ContextFunction`."""

    #: Names by which errors call methods: as the user has written them.
    method_names: ClassVar[dict[str, str]] = {"execute": "forward", "grad": "backward"}

    def __init__(self, function: type[ContextFunction]) -> None:
        self.function = function
        self.__name__ = function.__name__
        self.context = FunctionContext()
        self.count = 0
        #: Of each result its shape and type, None for what is no tensor; and whether a
        #: gradient flows through it.
        self.results: list[tuple[tuple[int, ...], str] | None] = []
        self.flows: list[bool] = []

    def execute(self, *args: Any) -> Any:
        self.count = len(args)
        context = self.context
        context.needs_input_grad = tuple(map(_is_float, args))
        if self.function.setup_context is ContextFunction.setup_context:
            returned = self.function.forward(context, *args)
        else:
            returned = self.function.forward(*args)
            self.function.setup_context(context, args, returned)
        results = returned if isinstance(returned, tuple | list) else (returned,)
        self.results = [(x.shape, x.dtype) if isinstance(x, Var) else None for x in results]
        constant = {id(result) for result in context._constant}
        self.flows = [id(result) not in constant for result in results]
        # It would keep results alive, which keep it.
        context._constant = ()
        return returned

    def stop_constants(self, returned: Any) -> Any:
        """Return results of which those that are marked have no gradient."""
        if all(self.flows):
            return returned
        if isinstance(returned, Var):
            return returned.detach()
        return type(returned)(
            x if flows or not isinstance(x, Var) else x.detach()
            for x, flows in zip(returned, self.flows, strict=True)
        )

    def _filled(self, gradients: Sequence[Any]) -> list[Any]:
        """Return gradients with zeros in the place of None, if these are wanted."""
        if not self.context._materializes:
            return list(gradients)
        return [
            _core.zeros(*kind) if gradient is None and kind is not None else gradient
            for gradient, kind in zip(gradients, self.results, strict=True)
        ]


class _WithGradient(_Call):
    """A call of a `ContextFunction` that has a ``backward``."""

    def grad(self, *gradients: Any) -> Any:
        # Assigned tensors are forgotten, as those of `Function.grad` are: they are made of
        # results, which keep the context.
        attributes = vars(self.context)
        before = attributes.copy()
        try:
            returned = self.function.backward(self.context, *self._filled(gradients))
        finally:
            for name, value in list(attributes.items()):
                if value is before.get(name) or not _holds_tensor(value):
                    continue
                if name in before:
                    attributes[name] = before[name]
                else:
                    del attributes[name]
        derivatives = list(returned) if isinstance(returned, tuple | list) else [returned]
        # More than there are arguments are taken if they are None, as PyTorch does.
        while len(derivatives) > self.count and derivatives[-1] is None:
            derivatives.pop()
        needs = self.context.needs_input_grad
        if len(derivatives) != self.count:
            return tuple(derivatives)
        return tuple(
            derivative if is_float else None
            for derivative, is_float in zip(derivatives, needs, strict=True)
        )


class _WithTangents(_Call):
    """A call of a `ContextFunction` that has a ``jvp``."""

    def jvp(self, *tangents: Any) -> Any:
        return self.function.jvp(self.context, *tangents)


class _WithBoth(_WithGradient, _WithTangents):
    """A call of a `ContextFunction` that has both."""


#: By whether there is a ``backward``, and a ``jvp``.
_KINDS: dict[tuple[bool, bool], type[_Call]] = {
    (False, False): _Call,
    (False, True): _WithTangents,
    (True, False): _WithGradient,
    (True, True): _WithBoth,
}
