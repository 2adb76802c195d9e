# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Methods that have NumPy's parameters, whose usual calls cost hardly more than without."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from . import _core
from ._core import Var
from ._devices import device
from ._errors import at_line

__all__ = ["moving_method", "reduction_method", "rounding_method"]


def _published(method: Any, name: str, function: Callable[..., Var]) -> Callable[..., Any]:
    """Give a method the signature and the text of the function that it stands for."""
    method.__name__ = method.__qualname__ = name
    method.__doc__ = function.__doc__
    signature = inspect.signature(function)
    first, *others = signature.parameters.values()
    method.__signature__ = signature.replace(parameters=[first.replace(name="self"), *others])
    return _core.wrap_function(method, "metaops", f"Var.{name}")


def reduction_method(
    name: str, plain: Callable[..., Var], function: Callable[..., Var]
) -> Callable[..., Any]:
    """Return a method: `plain` of dimensions and `keepdims`, else a function with options.

    `axis` is a parameter here, and no other spelling of one, since those are looked up
    only after a call failed.
    """
    known = [*inspect.signature(function).parameters][1:]

    def method(
        self: Var,
        dim: Any = None,
        keepdims: bool = False,
        *,
        axis: Any = None,
        dtype: Any = None,
        initial: Any = None,
        where: Any = None,
        out: Any = None,
    ) -> Var:
        if axis is None:
            axis = dim
        elif dim is not None:
            raise at_line(TypeError(f"Var.{name}: dim is given twice; axis is another name of it"))
        if dtype is None and initial is None and where is None and out is None:
            return plain(self, axis, keepdims)
        options = {"dtype": dtype, "initial": initial, "where": where, "out": out}
        given = {key: value for key, value in options.items() if value is not None}
        if absent := [key for key in given if key not in known]:
            raise at_line(
                TypeError(
                    f"Var.{name}: there is no parameter '{absent[0]}'; the parameters are"
                    f" {', '.join(known)}"
                )
            )
        return function(self, axis, keepdims, **given)

    return _published(method, name, function)


def rounding_method(plain: Callable[..., Var], function: Callable[..., Var]) -> Callable[..., Any]:
    """Return the method `round`: `plain`, or a function where decimals are given."""

    def method(self: Var, decimals: Any = 0, *, out: Any = None) -> Var:
        return plain(self) if decimals == 0 and out is None else function(self, decimals, out=out)

    return _published(method, "round", function)


def moving_method(plain: Callable[..., Var]) -> Callable[..., Any]:
    """Return the method `to`: `plain`, but for complex types and a GPU that is not there."""

    def method(self: Var, destination: Any) -> Any:
        if isinstance(destination, str):
            if destination.startswith("complex"):
                from .complex_numbers.table import FORMS

                return FORMS["cast"](self, destination)
            if destination.startswith("cuda"):
                destination = device(destination)
        return plain(self, destination)

    return _published(method, "to", plain)
