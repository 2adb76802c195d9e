# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules of functions that know their derivatives, where they are called in a trace.

Behind the trace there is no Python to ask. So the rules are recorded with the call, of
derivatives that have no values, each as a body of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

from .. import _core
from .._core import Var
from ..control_flow.bodies import Body
from ..func.derivatives import Function

__all__ = ["record_rules"]

#: The depth to which rules are recorded within rules, for derivatives of derivatives. A function
#: whose rule calls the function would have no end.
_DEPTH = 2

_depth: ContextVar[int] = ContextVar("metaops.depth_of_rules", default=0)


def _is_float(value: Any) -> bool:
    return isinstance(value, Var) and "float" in value.dtype


def _check(what: str, returned: Any, by: Sequence[Any], one: str) -> list[Any]:
    """Return the derivatives by tensors of floats, zeros for None."""
    derivatives = list(returned) if isinstance(returned, tuple | list) else [returned]
    _core.check_derivatives(what, derivatives, list(by), one)
    return [
        _core.zeros(value.shape, value.dtype) if derivative is None else derivative
        for derivative, value in zip(derivatives, by, strict=True)
        if _is_float(value)
    ]


def _record(
    function: Function, method: str, given: Sequence[Any], by: Sequence[Any], one: str
) -> Any:
    """Record a method of derivatives of what is given, which returns those of others."""
    leaves = [value for value in given if _is_float(value)]
    what = f"{type(function).__name__}.{method}"

    def rule(*derivatives: Var) -> list[Any]:
        rest = iter(derivatives)
        spread = [next(rest) if _is_float(value) else None for value in given]
        ask: Callable[..., Any] = getattr(function, method)
        return _check(what, ask(*spread), by, one)

    before = dict(function.__dict__)
    try:
        with Body(what, rule, leaves, leaves) as body:
            function.__dict__.clear()
            function.__dict__.update(before)
            return body.finish([value.dtype for value in by if _is_float(value)])
    finally:
        function.__dict__.clear()
        function.__dict__.update(before)


def record_rules(
    function: Function, arguments: tuple[Any, ...], results: tuple[Any, ...]
) -> list[Any]:
    """Return the rules of a call for gradients and, where there is a ``jvp``, for tangents.

    None where it has no ``grad``, and where rules are recorded within rules, too deep.
    """
    depth = _depth.get()
    has_grad = type(function).grad is not Function.grad
    if depth > _DEPTH or not has_grad or not any(map(_is_float, arguments)):
        return []
    token = _depth.set(depth + 1)
    try:
        rules = [_record(function, "grad", results, arguments, "argument")]
        if type(function).jvp is not Function.jvp:
            rules.append(_record(function, "jvp", arguments, results, "result"))
    finally:
        _depth.reset(token)
    return rules
