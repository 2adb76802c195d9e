# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Heads of attention: parts of a state's width (Vaswani et al., 2017, section 3.2.2)."""

from __future__ import annotations

from .._core import Var

__all__ = ["merge_heads", "split_heads"]


def split_heads(x: Var, heads: int) -> Var:
    """Return states ``(N, L, width)`` as ``(N, heads, L, width / heads)``."""
    N, L, width = x.shape
    return x.reshape(N, L, heads, width // heads).transpose(0, 2, 1, 3)


def merge_heads(x: Var) -> Var:
    """Return states ``(N, heads, L, depth)`` as ``(N, L, heads * depth)``."""
    N, heads, L, depth = x.shape
    return x.transpose(0, 2, 1, 3).reshape(N, L, heads * depth)
