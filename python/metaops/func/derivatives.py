# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that know their derivatives."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from .. import _core
from .._errors import at_line
from ..complex_numbers.pair import Complex, separated, together

__all__ = ["Function"]


class NoForwardModeError(RuntimeError):
    """Tangents are asked for of a function that knows gradients alone."""


class Function:
    """A function with derivatives of its own: a base class.

    A subclass has a method ``execute``, which computes, and a method ``grad``: given the
    gradients by each result, it returns those by each argument. None is a gradient of
    zeros, either way; so are gradients by arguments that are no tensors of floats. A method
    ``jvp`` is for forward mode: given how much each argument moves, it returns how much
    each result does.

    A call, ``F()(x)`` or ``F.apply(x)``, has an object of its own: what ``execute`` keeps
    in ``self`` is there in ``grad``. It keeps its history, so gradients may be
    differentiated again. What ``execute`` reads beside its arguments is a constant to it: a
    gradient by that is an error.

    Examples
    --------
    >>> class Clamp(mo.Function):
    ...     def execute(self, x):
    ...         self.inside = (x > 0) & (x < 1)
    ...         return x.clamp(0, 1)
    ...     def grad(self, gradient):
    ...         return gradient * self.inside
    >>> x = mo.array([-1.0, 0.5, 2.0])
    >>> mo.grad(Clamp.apply(x), x)
    Var([0, 1, 0], dtype=float32)
    """

    def execute(self, *args: Any) -> Any:
        """Return the results for the arguments: a tensor, or a tuple."""
        raise NotImplementedError(f"{type(self).__name__} has no execute")

    def grad(self, *gradients: Any) -> Any:
        """Return the gradients by the arguments, given those by the results."""
        raise NotImplementedError(f"{name_of(self)} has no grad")

    def jvp(self, *tangents: Any) -> Any:
        """Return the tangents of the results, given those of the arguments."""
        _refuse_tangents(name_of(self))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return what ``execute`` returns for the arguments."""
        if kwargs:
            args = by_position(type(self).__name__, self.execute, args, kwargs)
        return call_function(self._copy(), args)

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Return what a new object's ``execute`` returns for the arguments."""
        function = cls()
        if kwargs:
            args = by_position(cls.__name__, function.execute, args, kwargs)
        return call_function(function, args)

    def _copy(self) -> Function:
        """Return an object for one call, which begins with what this one has."""
        copy: Function = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        return copy


def call_function(function: Function, args: tuple[Any, ...]) -> Any:
    """Return what a function's ``execute`` returns, whose derivatives are the function's own."""
    if any(isinstance(arg, Complex) for arg in args):
        function = _OfHalves(function, args)
        result = _core.call_function(function, tuple(separated(list(args))))
        return function.joined(result)
    return _core.call_function(function, args)


class _OfHalves(Function):
    """A call of a function that is given complex numbers, as one of their halves."""

    def __init__(self, function: Function, args: tuple[Any, ...]) -> None:
        self.function, self.__name__ = function, name_of(function)
        # Stand-ins: it keeps no tensors.
        self._args = [_placed(arg) for arg in args]
        self._results: list[Any] = []
        self._is_one = False

    def execute(self, *halves: Any) -> Any:
        result = self.function.execute(*together(self._args, halves))
        self._is_one = not isinstance(result, tuple | list)
        results = [result] if self._is_one else list(result)
        self._results = [_placed(each) for each in results]
        return tuple(separated(results))

    def grad(self, *gradients: Any) -> Any:
        given = self.function.grad(*_filled(self._results, gradients))
        several = given if isinstance(given, tuple | list) else (given,)
        return tuple(_spread(self._args, several))

    def jvp(self, *tangents: Any) -> Any:
        given = self.function.jvp(*_filled(self._args, tangents))
        several = given if isinstance(given, tuple | list) else (given,)
        return tuple(_spread(self._results, several))

    def joined(self, result: Any) -> Any:
        """Return results whose halves are given, as the function has returned them."""
        halves = list(result) if isinstance(result, tuple | list) else [result]
        made = together(self._results, halves)
        return made[0] if self._is_one else tuple(made)


def _placed(value: Any) -> Complex | None:
    """Return a stand-in for a Complex, and None for all others."""
    return Complex._of(None, None) if isinstance(value, Complex) else None


def _filled(places: list[Any], halves: Sequence[Any]) -> list[Any]:
    """Return derivatives of which halves are given: None where both are, zeros where one is."""
    made: list[Any] = []
    for each in together(places, halves):
        if isinstance(each, Complex):
            known = each._imag if each._real is None else each._real
            if known is None:
                made.append(None)
                continue
            zero = _core.full(known.shape, 0, known.dtype)
            each = Complex._of(*(zero if x is None else x for x in (each._real, each._imag)))
        made.append(each)
    return made


def _spread(places: list[Any], derivatives: Sequence[Any]) -> list[Any]:
    """Return derivatives with both halves of those by a Complex, of which a real one has one."""
    halves: list[Any] = []
    for place, each in zip(places, derivatives, strict=True):
        if place is None or isinstance(each, Complex):
            halves += separated([each])
        else:
            halves += [each, None]
    return halves


def name_of(function: Function) -> str:
    """Return what errors call a function: a call of one that has rules has the name of that."""
    name: str = getattr(function, "__name__", type(function).__name__)
    return name


def by_position(
    name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...]:
    """Return all arguments of a call by position, as derivatives are told of them.

    Raises
    ------
    TypeError
        If the function does not take them, or one by its name alone.
    """
    try:
        bound = inspect.signature(function).bind(*args, **kwargs)
    except TypeError as error:
        raise at_line(TypeError(f"{name}: {error}")) from None
    bound.apply_defaults()
    if bound.kwargs:
        first = next(iter(bound.kwargs))
        raise at_line(TypeError(f"{name}: {first} has to be given by position"))
    return bound.args


def _refuse_tangents(name: str) -> NoReturn:
    raise at_line(
        NoForwardModeError(
            f"{name} has no jvp, which forward mode needs; give it one, or ask for gradients "
            "(mo.vjp)"
        )
    )
