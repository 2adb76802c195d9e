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
    "a": ("input",),
    "axes": ("dims",),
    "b": ("other",),
    "correction": ("ddof", "unbiased"),
    "destination": ("device", "dtype", "other"),
    "dim": ("axis", "dims"),
    "dims": ("axis", "dim"),
    "eps": ("epsilon",),
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
    "num": ("steps",),
    "obj": ("data", "object"),
    "order": ("ord", "p"),
    "parameters": ("params",),
    "probability": ("p",),
    "second": ("axis2", "dim1"),
    "sections": ("split_size", "split_size_or_sections"),
    "shape": ("size",),
    "slope": ("negative_slope",),
    "stop": ("end",),
    "t_0": ("T_0",),
    "t_max": ("T_max",),
    "t_mult": ("T_mult",),
    "targets": ("inputs",),
    "tensors": ("arrays",),
    "value": ("constant_values", "fill_value"),
    "widths": ("pad_width",),
    "x": ("a", "input", "input1", "x1"),
    "y": ("input2", "other", "x2"),
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
    "grad": Absent(_GRADIENTS),
    "requires_grad": Absent(
        "gradients flow to every float Var; `detach`, `stop_grad` and mo.no_grad cut them"
    ),
}


def _publish_class(cls: type) -> None:
    for name, member in list(vars(cls).items()):
        if (
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
