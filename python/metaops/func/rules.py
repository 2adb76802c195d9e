# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that are given rules for their derivatives, as JAX's are."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from typing import Any

from .. import _core
from .._core import Var
from .._errors import at_line
from .._typing import shown
from ..gradients import vjp
from ..ops.create.creation import zeros_like
from ..trees import children_of, tree_leaves, tree_map
from .derivatives import Function, by_position

__all__ = ["custom_jvp", "custom_vjp"]


#: Functions whose rule runs on this thread. Called in it they are what they are without.
_running: ContextVar[tuple[Any, ...]] = ContextVar("metaops.running_rules", default=())


class _Place:
    """A stand-in in a structure for a leaf that is not kept."""

    def __init__(self, leaf: Any) -> None:
        self.is_float = isinstance(leaf, Var) and "float" in leaf.dtype
        self.shape: tuple[int, ...] = leaf.shape if self.is_float else ()
        self.dtype: str = leaf.dtype if self.is_float else ""

    def filled(self, derivative: Var | None) -> Var | None:
        """Return a derivative, zeros where there is none, or None by what has none."""
        if derivative is None and self.is_float:
            return _core.zeros(self.shape, self.dtype)
        return derivative


def _filled(places: Any, derivatives: Sequence[Var | None]) -> Any:
    """Return a structure of derivatives."""
    given = iter(derivatives)
    return tree_map(lambda place: place.filled(next(given)), places)


def _leaves_by(places: Any, derivatives: Any, what: str) -> list[Var | None]:
    """Return the leaves of a structure of derivatives, in the order of the places.

    None stands for a structure of zeros.
    """
    own = children_of(places)
    if own is None:
        return [derivatives]
    if derivatives is None:
        return [None] * len(tree_leaves(places))
    given = children_of(derivatives)
    if given is None or given.keys() != own.keys():
        raise at_line(
            ValueError(f"{what} is {shown(derivatives)}, expected the structure of its argument")
        )
    return [leaf for key in own for leaf in _leaves_by(own[key], given[key], what)]


def _pair(what: str, returned: Any) -> tuple[Any, Any]:
    """Return the two things that a rule returns."""
    if isinstance(returned, tuple | list) and len(returned) == 2:
        return returned[0], returned[1]
    raise at_line(ValueError(f"{what} has returned {shown(returned)}, expected two things"))


class _Call(Function):
    """A call of a function that has rules: of all leaves of its arguments."""

    rules: Any

    def __init__(self, rules: _Rules, args: tuple[Any, ...]) -> None:
        self.rules = rules
        self.__name__ = rules.__name__
        self.fixed = [args[i] for i in rules.nondiff_argnums]
        moving = [arg for i, arg in enumerate(args) if i not in rules.nondiff_argnums]
        self.places = tree_map(_Place, moving)
        self.count = len(args)
        self.results: Any = None

    def _arguments(self, leaves: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Return all arguments, and those that derivatives are by."""
        given = iter(leaves)
        moving = tree_map(lambda _: next(given), self.places)
        fixed, rest = iter(self.fixed), iter(moving)
        every = [
            next(fixed) if i in self.rules.nondiff_argnums else next(rest)
            for i in range(self.count)
        ]
        return every, moving

    def _returned(self, result: Any) -> tuple[Any, ...]:
        """Return the leaves of a result, of which the places stay."""
        self.results = tree_map(_Place, result)
        return tuple(tree_leaves(result))


class _VjpCall(_Call):
    def execute(self, *leaves: Any) -> Any:
        every, _ = self._arguments(leaves)
        if not _core.is_grad_enabled():
            return self._returned(self.rules.function(*every))
        token = _running.set((*_running.get(), self.rules))
        try:
            returned = self.rules.forward(*every)
        finally:
            _running.reset(token)
        result, self.residuals = _pair(f"{self.__name__}: fwd", returned)
        return self._returned(result)

    def grad(self, *gradients: Any) -> Any:
        of_result = _filled(self.results, gradients)
        given = self.rules.backward(*self.fixed, self.residuals, of_result)
        if not isinstance(given, tuple | list) or len(given) != len(self.places):
            raise at_line(
                ValueError(
                    f"{self.__name__}: bwd has returned {shown(given)}, expected a tuple of "
                    f"{len(self.places)}, a gradient for each argument"
                )
            )
        leaves = []
        for number, (place, gradient) in enumerate(zip(self.places, given, strict=True)):
            leaves += _leaves_by(place, gradient, f"{self.__name__}: bwd's gradient {number}")
        return tuple(leaves)


class _JvpCall(_Call):
    def execute(self, *leaves: Any) -> Any:
        every, self.primals = self._arguments(leaves)
        return self._returned(self.rules.function(*every))

    def _push(self, tangents: Any) -> list[Any]:
        """Return the leaves of the result's tangent."""
        returned = self.rules.rule(*self.fixed, tuple(self.primals), tuple(tangents))
        _, moved = _pair(f"{self.__name__}: the rule", returned)
        return _leaves_by(self.results, moved, f"{self.__name__}: the rule's tangent")

    def jvp(self, *tangents: Any) -> Any:
        return tuple(self._push(_filled(self.places, tangents)))

    def grad(self, *gradients: Any) -> Any:
        # Results of the rule are linear in the tangents, so gradients by these are the same
        # wherever they are.
        leaves = tree_leaves(self.primals)
        floats = [place.is_float for place in tree_leaves(self.places)]
        tangents = [
            leaf.detach() if is_float else None
            for leaf, is_float in zip(leaves, floats, strict=True)
        ]
        moved = self._push(_filled(self.places, tangents))
        pairs = [
            (tangent, gradient)
            for tangent, gradient in zip(moved, gradients, strict=True)
            if tangent is not None and gradient is not None
        ]
        by = [tangent for tangent in tangents if tangent is not None]
        found: list[Var] = []
        if pairs and by:
            found = vjp([tangent for tangent, _ in pairs], by, [given for _, given in pairs])
        given = iter(found or [zeros_like(tangent) for tangent in by])
        return tuple(next(given) if is_float else None for is_float in floats)


def _places(what: str, numbers: Any) -> tuple[int, ...]:
    """Return places of arguments, each once."""
    places = tuple(numbers) if isinstance(numbers, Iterable) else (numbers,)
    for place in places:
        if isinstance(place, bool) or not isinstance(place, int):
            raise at_line(
                TypeError(
                    f"{what}: nondiff_argnums has {shown(place)}, expected places of arguments"
                )
            )
        if place < 0:
            raise at_line(
                ValueError(
                    f"{what}: nondiff_argnums has {place}, expected places from the first, 0, on"
                )
            )
    return tuple(dict.fromkeys(places))


class _Rules:
    """A function that has rules, and says so by its name and its text."""

    __name__: str
    _call: type[_Call]

    def __init__(
        self, function: Callable[..., Any], nondiff_argnums: int | Sequence[int] = ()
    ) -> None:
        if not callable(function):
            raise at_line(TypeError(f"{type(self).__name__}: {shown(function)} is no function"))
        self.function = function
        functools.update_wrapper(self, function)
        self.__name__ = getattr(function, "__name__", type(function).__name__)
        self.nondiff_argnums = _places(type(self).__name__, nondiff_argnums)

    def _is_ready(self) -> bool:
        raise NotImplementedError

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self._is_ready():
            raise at_line(RuntimeError(f"{self.__name__} has no rules yet; give it some first"))
        if kwargs:
            args = by_position(self.__name__, self.function, args, kwargs)
        if self.nondiff_argnums and max(self.nondiff_argnums) >= len(args):
            raise at_line(
                TypeError(
                    f"{self.__name__} is given {len(args)} arguments, and number "
                    f"{max(self.nondiff_argnums)} is in nondiff_argnums"
                )
            )
        if any(rules is self for rules in _running.get()):
            return self.function(*args)
        call = self._call(self, args)
        leaves = tree_leaves([arg for i, arg in enumerate(args) if i not in self.nondiff_argnums])
        made = iter(_core.call_function(call, tuple(leaves)))
        return tree_map(lambda _: next(made), call.results)


class custom_vjp(_Rules):  # noqa: N801 (used like a function)
    """Give a function a rule for gradients.

    The rule is two functions, given by ``defvjp``: the first one returns what the function
    does, and residuals; the second one takes the residuals and the gradient by the result,
    and returns a tuple of gradients by the arguments, of which None is zeros. What the
    function takes and returns may be structures of tensors.

    Where no gradients flow, the function itself is called.

    Parameters
    ----------
    function
        The function.
    nondiff_argnums
        Arguments that have no gradients, by their places: the second function is given them
        first.

    Examples
    --------
    >>> @mo.custom_vjp
    ... def clip_gradient(x):
    ...     return x
    >>> clip_gradient.defvjp(lambda x: (x, None), lambda _, g: (g.clamp(-1, 1),))
    >>> x = mo.array([0.5, 3.0])
    >>> mo.grad(clip_gradient(x) ** 2, x)
    Var([1, 1], dtype=float32)
    """

    _call = _VjpCall
    forward: Callable[..., Any] | None = None
    backward: Callable[..., Any] | None = None

    def defvjp(self, fwd: Callable[..., Any], bwd: Callable[..., Any]) -> None:
        """Set the rule."""
        self.forward, self.backward = fwd, bwd

    def _is_ready(self) -> bool:
        return self.forward is not None


class custom_jvp(_Rules):  # noqa: N801 (used like a function)
    """Give a function a rule for tangents, from which gradients follow.

    The rule, given by ``defjvp``, takes a tuple of arguments and one of their tangents, and
    returns the result and its tangent. That has to be linear in the tangents.

    Parameters
    ----------
    function
        The function.
    nondiff_argnums
        Arguments that do not move, by their places: the rule is given them first.

    Examples
    --------
    >>> @mo.custom_jvp
    ... def log1pexp(x):
    ...     return mo.log(1 + mo.exp(x))
    >>> @log1pexp.defjvp
    ... def rule(primals, tangents):
    ...     (x,), (moved,) = primals, tangents
    ...     return log1pexp(x), (1 - 1 / (1 + mo.exp(x))) * moved
    >>> x = mo.array([0.0, 100.0])
    >>> mo.grad(log1pexp(x), x)
    Var([0.5, 1], dtype=float32)
    """

    _call = _JvpCall
    rule: Callable[..., Any] | None = None

    def defjvp(self, jvp: Callable[..., Any]) -> Callable[..., Any]:
        """Set the rule, and return it."""
        self.rule = jvp
        return jvp

    def _is_ready(self) -> bool:
        return self.rule is not None
