# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random tensors, and the keys that they depend on.

The room is a function, too: ``mo.random(shape)`` are numbers from [0, 1).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Any

from .._rooms import Room, open_room

_ROOM = __doc__


class _Random(Room):
    """The room, and the function `random` that is in it."""

    # Asked by `inspect` for a signature.
    @property
    def __wrapped__(self) -> Callable[..., Any]:
        function: Callable[..., Any] = import_module("metaops._session").PUBLIC["random"]
        return function

    # For people, who ask for help on the function.
    @property
    def __doc__(self) -> str:  # type: ignore[override]
        return f"{_ROOM}\n``mo.random{inspect.signature(self)}``\n\n{self.__wrapped__.__doc__}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__wrapped__(*args, **kwargs)

    def __reduce__(self) -> str:
        return "random"  # of the package


_Random.__module__ = "metaops"
open_room(__name__, _Random)
