# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions at one place: how their results move where their arguments do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _core
from .._core import Var
from .._errors import at_line
from .._typing import shown
from ..control_flow.bodies import Body, check_callable
from ..control_flow.structures import leaves_of, rebuild
from ..gradients import jvp
from ..ops.create.creation import zeros_like
from ..tracing.effects import BodyRecording

__all__ = ["linearize"]


def linearize(fn: Callable[..., Any], *args: Any) -> tuple[Any, Callable[..., Any]]:
    """Return a function's result, and the linear function that its tangents are.

    That is what `jvp` gives for any tangents, and is recorded once: a call computes what
    depends on the tangents, of values that were computed with the result. As in JAX.

    Parameters
    ----------
    fn : callable
        Called once, to be recorded: takes and returns tensors of floats, in lists, tuples and
        dicts. Tensors from outside may be used as they are, and do not move. It cannot ask
        for values or update what is outside.
    *args
        Where it is taken.

    Returns
    -------
    (result, function)
        The function takes tangents, structures like the arguments, and returns those of the
        result. It may be differentiated, mapped and recorded, and so may the result.

    Raises
    ------
    TypeError
        If `fn` is no function, or an argument or a result is none of floats; by calls, if a
        tangent has another structure or dtype.
    ValueError
        By calls, if a tangent has another shape.
    RuntimeError
        If the function cannot be recorded, or calls one whose tangents are not known.

    Examples
    --------
    >>> y, moves = mo.linearize(lambda x: x * x, mo.array([1.0, 3.0]))
    >>> moves(mo.array([1.0, 0.5]))
    Var([2, 3], dtype=float32)
    """
    check_callable("linearize", "fn", fn)
    structure, places = _leaves_of("args", args)
    point = [leaf for _, leaf in places]
    tangents = [zeros_like(leaf) for leaf in point]
    body = _Linearized(fn, structure, [*point, *tangents], len(point))
    with body:
        values, linear, count, captured = body.finish_linear()
        computed = values.record([*point, *tangents, *captured])
        results, residuals = computed[: len(computed) - count], computed[len(computed) - count :]
        kind = body.structure

    def moves(*tangents: Any) -> Any:
        given, leaves = _leaves_of("tangents", tangents)
        _check_tangents(places, leaves)
        moved = linear.record([*residuals, *(leaf for _, leaf in leaves)])
        del given
        return rebuild(kind, moved)

    return rebuild(kind, results), moves


def _leaves_of(name: str, tree: Any) -> tuple[Any, list[tuple[str, Var]]]:
    """Return a structure, and its leaves behind their paths: tensors of floats."""
    leaves = []
    for path, leaf in leaves_of("linearize", name, tree):
        value = leaf if isinstance(leaf, Var) else _core.array(leaf)
        if "float" not in value.dtype:
            raise at_line(
                TypeError(f"linearize: {path} is {shown(leaf)}, expected a tensor of floats")
            )
        leaves.append((path, value))
    return tree, leaves


def _check_tangents(points: list[tuple[str, Var]], tangents: list[tuple[str, Var]]) -> None:
    """Raise an error unless there is a tangent like each argument."""
    given, expected = ([path.partition("[")[2] for path, _ in each] for each in (tangents, points))
    if given != expected:
        raise at_line(
            TypeError(
                f"linearize: {len(given)} tangents are given, in other places than those of the"
                f" {len(expected)} tensors that it was taken at; expected structures like these"
            )
        )
    for (_, point), (path, tangent) in zip(points, tangents, strict=True):
        if tangent.shape != point.shape:
            raise at_line(
                ValueError(
                    f"linearize: {path} has shape {tangent.shape}, expected that of the argument,"
                    f" {point.shape}"
                )
            )
        if tangent.dtype != point.dtype:
            raise at_line(
                TypeError(
                    f"linearize: {path} is {tangent.dtype}, expected the argument's {point.dtype}"
                )
            )


class _LinearRecording(BodyRecording):
    """A function that is being recorded with its tangents."""

    __slots__ = ()
    _why = "which would be done once for all tangents"


class _Linearized(Body):
    """A function that is recorded with its tangents, the last leaves."""

    _recording = _LinearRecording

    def __init__(
        self, fn: Callable[..., Any], structure: Any, leaves: list[Var], count: int
    ) -> None:
        self._count = count

        def with_tangents(*given: Var) -> Any:
            point = list(given[:count])
            result = fn(*rebuild(structure, point))
            places = leaves_of(f"linearize: the function{self.line}", "result", result)
            values = [leaf if isinstance(leaf, Var) else _core.array(leaf) for _, leaf in places]
            for (path, _), value in zip(places, values, strict=True):
                if "float" not in value.dtype:
                    raise at_line(
                        TypeError(
                            f"linearize: the function{self.line} returns {shown(value)} as {path},"
                            " expected tensors of floats"
                        )
                    )
            self._result = rebuild(result, [...] * len(places))
            return [values, jvp(values, point, list(given[count:])) if values else []]

        super().__init__("linearize: the function", with_tangents, leaves, leaves)
        self.structure, self._result = self._result, None

    def finish_linear(self) -> tuple[Any, Any, int, list[Var]]:
        """Return the functions of the values and of the tangents; see `Trace.finish_linear`."""
        leaves = [leaf for _, leaf in self.leaves]
        half = len(leaves) // 2
        made = self._trace.finish_linear(leaves[:half], leaves[half:], self._count)
        self.leaves = []
        leaves.clear()
        self._check_leaks()
        return made
