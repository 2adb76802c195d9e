# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names that other libraries have for the same things.

`docs/Names.md` is the table for users. Each function has one name for each of its
parameters, which its signature shows; the spellings here are looked up when a call
gives a keyword that is none of these names.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import FunctionType
from typing import Any

from . import _core

__all__ = ["ABSENT", "SPELLINGS", "Absent", "publish"]

#: Other spellings of parameters, for every function that has one of the name.
SPELLINGS: dict[str, tuple[str, ...]] = {
    "a": ("input", "x1"),
    "axes": ("dims",),
    "b": ("other", "x2"),
    "correction": ("ddof", "unbiased"),
    "destination": ("device", "dtype", "other"),
    "dim": ("axis", "dims"),
    "dim1": ("axis1",),
    "dim2": ("axis2",),
    "dims": ("axis", "dim"),
    "eps": ("epsilon",),
    "exponent": ("n",),
    "first": ("axis1", "dim0"),
    "high": ("a_max", "max"),
    "index": ("indices",),
    "indexes": ("indices",),
    "indices": ("index",),
    "is_train": ("training",),
    "keepdims": ("keepdim",),
    "log_probabilities": ("input",),
    "loss": ("outputs",),
    "low": ("a_min", "min"),
    "lr": ("learning_rate",),
    "m": ("M",),
    "n": ("N",),
    "num": ("steps",),
    "obj": ("data", "object"),
    "offset": ("diagonal", "k"),
    "order": ("ord", "p"),
    "parameters": ("params",),
    "probability": ("p",),
    "rate": ("lam",),
    "reps": ("dims",),
    "second": ("axis2", "dim1"),
    "sections": ("indices_or_sections",),
    "shape": ("size",),
    "shift": ("shifts",),
    "slope": ("negative_slope",),
    "stop": ("end",),
    "t_0": ("T_0",),
    "t_max": ("T_max",),
    "t_mult": ("T_mult",),
    "targets": ("inputs",),
    "tensors": ("arrays",),
    "value": ("constant_values", "end_values", "fill_value"),
    "widths": ("pad_width",),
    "x": ("a", "arr", "input", "input1", "x1"),
    "y": ("b", "input2", "other", "x2"),
}

_core.set_spellings(SPELLINGS)


class Absent:
    """An attribute that other libraries have, whose error says what to use here."""

    def __init__(self, advice: str) -> None:
        self.advice = advice

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> Absent:
        if instance is None:
            return self
        raise AttributeError(f"{owner.__name__} has no {self.name}: {self.advice}")


_GRADIENTS = (
    "gradients are values: mo.grad(loss, parameters) returns them, and"
    " optimizer.step(loss) computes and applies them"
)
#: Attributes of Var that other libraries' tensors have.
ABSENT: dict[str, Absent] = {
    "backward": Absent(_GRADIENTS),
    "chunk": Absent("x.split(n) makes n parts, and mo.array_split(x, n) such that differ by 1"),
    "expand": Absent("x.broadcast_to(shape) repeats it to a shape"),
    "grad": Absent(_GRADIENTS),
    "index_add": Absent("x.at[index].add(y) is x with y added there"),
    "index_select": Absent("x.take(index, dim) takes slices"),
    "masked_fill": Absent("x.at[mask].set(y) is x with y there, as mo.where(mask, y, x)"),
    "requires_grad": Absent(
        "gradients flow to every float Var; `detach`, `stop_grad` and mo.no_grad cut them"
    ),
    "scatter": Absent("x.at[key].set(y) and mo.put_along_axis(x, index, y, dim) put y into x"),
    "scatter_reduce": Absent("x.at[key] has add, max and min"),
}


def _publish_class(cls: type) -> None:
    for name, member in list(vars(cls).items()):
        if isinstance(member, staticmethod | classmethod) and not name.startswith("_"):
            qualname = f"{cls.__name__}.{name}"
            wrapped = _core.wrap_function(member.__func__, cls.__module__, qualname)
            setattr(cls, name, type(member)(wrapped))
        elif (
            isinstance(member, FunctionType)
            and (name == "__init__" or not name.startswith("_"))
            and not getattr(member, "__isabstractmethod__", False)
        ):
            qualname = f"{cls.__name__}.{name}"
            setattr(cls, name, _core.wrap_function(member, cls.__module__, qualname))


def publish(namespace: dict[str, Any], names: Iterable[str]) -> None:
    """Have the functions and classes of a module take all spellings of parameters.

    A call with a keyword that is none of them raises a ``TypeError`` of one line with
    the parameters and the nearest of their names. Calls with arguments by position,
    or with the names of the signature, only pass through. Within the package
    functions call each other directly.

    Parameters
    ----------
    namespace
        The module's variables.
    names
        Those of the module that users see.
    """
    for name in names:
        value = namespace[name]
        if isinstance(value, FunctionType):
            namespace[name] = _core.wrap_function(value, namespace["__name__"], name)
        elif isinstance(value, type) and value.__module__.startswith("metaops."):
            for cls in value.__mro__:
                if cls.__module__.startswith("metaops."):
                    _publish_class(cls)
