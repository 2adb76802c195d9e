# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The session's settings as attributes."""

from __future__ import annotations

from typing import Any

from . import _core

__all__ = ["flags"]


class Flags:
    """Settings of the session; reading or writing an unknown one raises AttributeError.

    Attributes
    ----------
    rules : str
        How operators are fused: "extended", or "paper" for Rules 1 to 3 alone.
    backend : str
        "compiled", or "interpreter" for the reference implementation.
    saved_values_budget : int
        Bytes that a synced value may keep so that a later gradient need not
        compute them again.
    """

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        try:
            return _core.get_flag(name)
        except ValueError as error:
            raise AttributeError(str(error)) from None

    def __setattr__(self, name: str, value: Any) -> None:
        # An unknown name is told from a bad value, which stays a ValueError.
        getattr(self, name)
        _core.set_flag(name, value)


flags = Flags()
