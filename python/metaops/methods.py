# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attaches to Var the methods that are written in Python."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from . import _core, operators, printing
from ._core import Var
from ._precision import rule_of, set_member_rules
from ._quick import moving_method, reduction_method, rounding_method
from .compat._names import ABSENT, READ_ONLY
from .complex_numbers import members
from .fetching import fetch
from .ops.elementwise import activations, elementwise, functions, rounding
from .ops.index import gathering
from .ops.index.at import at
from .ops.products import products
from .ops.reduce import cumulative, norms, reduction
from .ops.shape import diagonals, repeating, shaping, splitting
from .ops.sort import distinct, quantiles, searching, sorting


def _fetch(self: Var, callback: Callable[..., object]) -> None:
    """Call `callback` with the value as a NumPy array once it is computed.

    Nothing is computed by this call: the value comes with the next program
    that does, at the latest with `metaops.sync_all`.
    """
    fetch(self, callback)


# Copies and pickles. Instances of a subclass have attributes of their own.


def _make(cls: type[Var], value: Any, dtype: str | None = None) -> Var:
    """Make an instance of a class whose ``__init__`` may take anything."""
    result = cls.__new__(cls)
    Var.__init__(result, value, dtype)
    return result


def _attributes(var: Var) -> dict[str, Any]:
    return getattr(var, "__dict__", {})


def _read_only(found: property, name: str, advice: str) -> property:
    """Return a property of Var such that assigning to it says what to write."""

    def refuse(self: Var, value: object) -> None:
        raise AttributeError(f"Var.{name} cannot be assigned: {advice}")

    return property(found.fget, refuse, None, found.__doc__)


def _copy(self: Var) -> Var:
    """Return another Var of the same value, through which gradients flow."""
    if type(self) is Var:
        return self.clone()
    result = _make(type(self), self)
    _attributes(result).update(_attributes(self))
    return result


def _deepcopy(self: Var, memo: dict[int, Any]) -> Var:
    """Return a copy, with copies of a subclass's attributes."""
    if type(self) is Var:
        return self.clone()
    result = _make(type(self), self)
    memo[id(self)] = result
    _attributes(result).update(copy.deepcopy(_attributes(self), memo))
    return result


def _reduce(self: Var) -> tuple[Any, ...]:
    """Return how to make a Var with the same elements, without its history."""
    value, dtype = self.numpy(), str(self.dtype)
    if type(self) is Var:
        # By the public name, whose use makes a session.
        from . import array

        return array, (value, dtype)
    return _make, (type(self), value, dtype), _attributes(self)


def _dir(self: Var) -> list[str]:
    """Return the names of attributes, without those that only raise an error."""
    return sorted({*object.__dir__(self)} - ABSENT.keys())


# The tables of members are also what the stub of Var is written from, by
# test/python/public_names.py.

#: Methods whose usual calls cost hardly more than those of the extension, see `_quick`.
_QUICK: dict[str, Callable[..., Any]] = {
    "all": reduction.all,
    "any": reduction.any,
    "max": reduction.max,
    "mean": reduction.mean,
    "min": reduction.min,
    "prod": reduction.prod,
    "round": rounding.round,
    "sum": reduction.sum,
}
_METHODS: dict[str, Callable[..., Any]] = {
    "fetch": _fetch,
    "maximum": elementwise.maximum,
    "minimum": elementwise.minimum,
    "pow": elementwise.pow,
    "clip": elementwise.clip,
    "clamp": elementwise.clip,
    "square": elementwise.square,
    "sqr": elementwise.square,
    "acos": functions.acos,
    "acosh": functions.acosh,
    "asin": functions.asin,
    "asinh": functions.asinh,
    "atan": functions.atan,
    "atanh": functions.atanh,
    "cbrt": functions.cbrt,
    "copysign": elementwise.copysign,
    "cosh": functions.cosh,
    "deg2rad": functions.deg2rad,
    "digamma": functions.digamma,
    "erfc": functions.erfc,
    "erfinv": functions.erfinv,
    "exp2": functions.exp2,
    "expm1": functions.expm1,
    "fmod": elementwise.fmod,
    "hypot": functions.hypot,
    "isfinite": elementwise.isfinite,
    "isinf": elementwise.isinf,
    "isnan": elementwise.isnan,
    "lgamma": functions.lgamma,
    "log10": functions.log10,
    "log1p": functions.log1p,
    "log2": functions.log2,
    "logaddexp": functions.logaddexp,
    "rad2deg": functions.rad2deg,
    "reciprocal": elementwise.reciprocal,
    "rsqrt": functions.rsqrt,
    "signbit": elementwise.signbit,
    "sinh": functions.sinh,
    "tan": functions.tan,
    "trunc": rounding.trunc,
    "argsort": sorting.argsort,
    "cummax": cumulative.cummax,
    "cummin": cumulative.cummin,
    "cumprod": cumulative.cumprod,
    "cumsum": cumulative.cumsum,
    "kthvalue": sorting.kthvalue,
    "logcumsumexp": cumulative.logcumsumexp,
    "median": quantiles.median,
    "nonzero": searching.nonzero,
    "quantile": quantiles.quantile,
    "sort": sorting.sort,
    "topk": sorting.topk,
    "unique": distinct.unique,
    "var": reduction.var,
    "std": reduction.std,
    "argmax": reduction.argmax,
    "argmin": reduction.argmin,
    "norm": norms.norm,
    "logsumexp": reduction.logsumexp,
    "dot": products.dot,
    "flatten": shaping.flatten,
    "ravel": shaping.flatten,
    "squeeze": shaping.squeeze,
    "unsqueeze": shaping.unsqueeze,
    "swapaxes": shaping.swapaxes,
    "moveaxis": shaping.moveaxis,
    "flip": shaping.flip,
    "broadcast_to": shaping.broadcast_to,
    "split": splitting.split,
    "repeat": repeating.repeat,
    "tile": repeating.tile,
    "roll": repeating.roll,
    "take": gathering.take,
    "gather": gathering.gather,
    "scatter_add": gathering.scatter_add,
    "diagonal": diagonals.diagonal,
    "trace": diagonals.trace,
    "tril": diagonals.tril,
    "triu": diagonals.triu,
    "to_device": operators.to_device,
    "relu": activations.relu,
    "leaky_relu": activations.leaky_relu,
    "sigmoid": activations.sigmoid,
    "softplus": activations.softplus,
    "silu": activations.silu,
    "gelu": activations.gelu,
    "softmax": activations.softmax,
    "log_softmax": activations.log_softmax,
}
# Python and notebooks call these, never with keywords.
_SPECIAL_METHODS: dict[str, Callable[..., Any]] = {
    "__copy__": _copy,
    "__deepcopy__": _deepcopy,
    "__dir__": _dir,
    "__reduce__": _reduce,
    "__repr__": printing.represent,
    "__str__": printing.write,
    "_repr_html_": printing.represent_html,
    **operators.SPECIAL_METHODS,
}

#: Properties, by what they return.
_ATTRIBUTES: dict[str, Callable[..., Any]] = {
    "T": shaping.transpose,  # reversed dimensions, as in NumPy
    **operators.ATTRIBUTES,
}

for _name, _function in _QUICK.items():
    if _name == "round":
        _method = rounding_method(Var.round, _function)
    else:
        _plain = reduction.plain_mean if _name == "mean" else reduction.PLAIN[_name]
        _method = reduction_method(_name, _plain, _function)
    setattr(Var, _name, _core.set_rule(_method, rule_of(_name)))
setattr(Var, "to", moving_method(Var.to))  # noqa: B010
for _name, _function in _METHODS.items():
    _method = _core.wrap_function(_function, "metaops", f"Var.{_name}")
    setattr(Var, _name, _core.set_rule(_method, rule_of(_name)))
for _name, _function in _SPECIAL_METHODS.items():
    setattr(Var, _name, _function)
for _name, _advice in READ_ONLY.items():
    setattr(Var, _name, _read_only(getattr(Var, _name), _name, _advice))
for _name, _absent in ABSENT.items():
    _absent.__set_name__(Var, _name)
    setattr(Var, _name, _absent)
setattr(Var, "at", at)  # noqa: B010
for _name, _function in _ATTRIBUTES.items():
    setattr(Var, _name, property(_function))
set_member_rules()
members.attach(operators.array_ufunc)
