# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Derivatives: of any order, since gradients are made of the same operators."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any, overload

import numpy as np

from . import _core
from ._core import Var, is_grad_enabled
from ._errors import at_line
from ._targets import note
from ._typing import shown
from .complex_numbers.pair import Complex, separated, together
from .func.derivatives import NoForwardModeError
from .scopes import Scope

__all__ = [
    "enable_grad",
    "grad",
    "hessian_vector_product",
    "is_grad_enabled",
    "jvp",
    "no_grad",
    "vjp",
]


class no_grad(Scope):  # noqa: N801 (used like a function)
    """Cut off from gradients what a ``with`` block, or a function, records.

    Results of operators recorded inside are constants to `grad`, as if each had
    been detached; a Var from outside keeps its gradient for what is recorded
    outside. What is changed in place inside becomes such a constant. A Var made
    inside may itself be differentiated by.

    The scope is that of the thread, or of the asynchronous task, that enters it.

    Examples
    --------
    >>> with mo.no_grad():
    ...     prediction = model(x)
    >>> @mo.no_grad()
    ... def evaluate(model, x): ...
    """

    def _enter(self) -> None:
        _core.enter_grad_mode(False)

    def _leave(self) -> None:
        _core.leave_grad_mode()


class enable_grad(Scope):  # noqa: N801 (used like a function)
    """Let gradients flow again through what is recorded inside of a `no_grad`."""

    def _enter(self) -> None:
        _core.enter_grad_mode(True)

    def _leave(self) -> None:
        _core.leave_grad_mode()


def _checked(vars: Sequence[Var], what: str) -> Sequence[Var]:
    """Return a sequence of Vars, with both halves for a Complex.

    One Var is none, though it could be iterated over.
    """
    given: Any = vars
    if isinstance(given, Sequence):
        halves = separated(list(given)) if any(isinstance(x, Complex) for x in given) else given
        if all(isinstance(var, Var) for var in halves):
            return halves
    raise at_line(TypeError(f"{what} are {shown(given)}, expected a sequence of Vars"))


def _check_pairs(values: Sequence[Var], weights: Sequence[Var], what: str) -> None:
    """Raise ValueError unless there is one weight of each value's shape."""
    if not values or len(values) != len(weights):
        raise at_line(ValueError(f"{what}: {len(values)} values and {len(weights)} weights given"))
    for value, weight in zip(values, weights, strict=True):
        if value.shape != weight.shape:
            raise at_line(
                ValueError(f"{what}: a value has shape {value.shape}, its weight {weight.shape}")
            )


@overload
def grad(loss: Var, targets: Var, allow_unused: bool | None = None) -> Var: ...
@overload
def grad(loss: Var, targets: Complex, allow_unused: bool | None = None) -> Complex: ...
@overload
def grad(loss: Var, targets: Sequence[Var], allow_unused: bool | None = None) -> list[Var]: ...
@overload
def grad(
    loss: Var, targets: Sequence[Var | Complex], allow_unused: bool | None = None
) -> list[Var | Complex]: ...
def grad(loss: Var, targets: Any, allow_unused: bool | None = None) -> Any:
    """Return gradients of the sum of the loss by the targets.

    Where a target has been rebound since the loss was recorded, by a step or by
    ``w += 1``, the gradient is by the value that the loss was made of.

    An optimiser's `apply` knows by which parameter a gradient is that comes from here;
    not so of what is computed with it.

    Parameters
    ----------
    loss
        A float tensor; its elements are summed.
    targets
        The tensors by which is differentiated. The gradient by a `Complex` is that by its
        real parts, and 1j times that by its imaginary ones, so that descent subtracts it.
    allow_unused
        Whether the loss may depend on none of the targets (True), or has to depend on
        each (False). By default it has to depend on some; a gradient by another one is
        zero.

    Returns
    -------
    Var, Complex or list of these
        A Var for a Var, a Complex for a Complex, a list for a sequence.

    Raises
    ------
    ValueError
        If the loss does not depend on the targets, as `allow_unused` says.
    TypeError
        If the loss or a target is not of floats.
    RuntimeError
        If a value that is needed is gone, such as one that an update has written over.
    """
    _check_allowance(allow_unused)
    if isinstance(targets, Var):
        gradient = _core.grad(loss, targets, allow_unused)
        note([gradient], [targets])
        return gradient
    given: Any = loss
    if isinstance(given, Complex):
        raise at_line(TypeError(f"grad: loss is {shown(given)}, expected real numbers"))
    # What can be gone through once is.
    is_complex = isinstance(targets, Complex)
    several = [targets] if is_complex else targets
    several = list(several) if isinstance(several, Iterable) else several
    halves = separated(several)
    gradients = _core.grad(loss, halves, allow_unused)
    note(gradients, halves)
    if halves is several:
        return gradients
    made = together(several, gradients)
    return made[0] if is_complex else made


def _check_allowance(allow_unused: object) -> None:
    """Raise TypeError unless what a caller allows is a bool or None."""
    if not isinstance(allow_unused, bool | np.bool_ | None):
        given = shown(allow_unused)
        raise at_line(TypeError(f"grad: allow_unused is {given}, expected a bool or None"))


def vjp(outputs: Sequence[Var], inputs: Sequence[Var], cotangents: Sequence[Var]) -> list[Var]:
    """Return cotangents times the Jacobian of the outputs by the inputs.

    Parameters
    ----------
    outputs
        Float tensors computed from the inputs.
    inputs
        The tensors by which is differentiated.
    cotangents
        One per output, of its shape.

    Returns
    -------
    list of Var
        One per input, of its shape and dtype; zeros where nothing depends on it.

    Raises
    ------
    ValueError
        If numbers or shapes do not agree.
    TypeError
        If an argument is not a sequence of Vars.
    """
    given = inputs
    outputs, inputs = _checked(outputs, "vjp: outputs"), _checked(inputs, "vjp: inputs")
    cotangents = _checked(cotangents, "vjp: cotangents")
    _check_pairs(outputs, cotangents, "vjp")
    products = [(x * c).sum() for x, c in zip(outputs, cotangents, strict=True)]
    return together(given, grad(reduce(operator.add, products), inputs, allow_unused=True))


def jvp(outputs: Sequence[Var], inputs: Sequence[Var], tangents: Sequence[Var]) -> list[Var]:
    """Return the Jacobian of the outputs by the inputs, times tangents.

    In forward mode: one pass over the operators, at the cost of a few times their
    own, however many outputs there are.

    Parameters
    ----------
    outputs
        Float tensors computed from the inputs.
    inputs
        The tensors by which is differentiated.
    tangents
        One per input, of its shape.

    Returns
    -------
    list of Var
        One per output, of its shape and dtype.

    Raises
    ------
    ValueError
        If numbers or shapes do not agree.
    TypeError
        If an argument is not a sequence of Vars.
    """
    given = outputs
    outputs, inputs = _checked(outputs, "jvp: outputs"), _checked(inputs, "jvp: inputs")
    tangents = _checked(tangents, "jvp: tangents")
    _check_pairs(inputs, tangents, "jvp")
    return together(given, _core.jvp(outputs, inputs, tangents))


def hessian_vector_product(loss: Var, inputs: Sequence[Var], vectors: Sequence[Var]) -> list[Var]:
    """Return the Hessian of a loss by the inputs, times vectors.

    Parameters
    ----------
    loss
        A float tensor; its elements are summed.
    inputs
        The tensors by which is differentiated.
    vectors
        One per input, of its shape.

    Returns
    -------
    list of Var
        One per input, of its shape and dtype.

    Raises
    ------
    ValueError
        If numbers or shapes do not agree.
    TypeError
        If an argument is not a sequence of Vars.
    """
    what = "hessian_vector_product"
    given = inputs
    inputs, vectors = _checked(inputs, f"{what}: inputs"), _checked(vectors, f"{what}: vectors")
    _check_pairs(inputs, vectors, what)
    gradients = grad(loss, inputs, allow_unused=True)
    try:
        # Forward over reverse.
        return together(given, _core.jvp(gradients, inputs, vectors))
    except NoForwardModeError:
        return together(given, vjp(gradients, inputs, vectors))
