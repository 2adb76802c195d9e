# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops as a physicist, a student of language models and a statistician write them."""

from . import derivatives, evaluation, lengths, several, states, text, training
from .hand import LOOPS, Hand, Loop

__all__ = [
    "LOOPS",
    "Hand",
    "Loop",
    "derivatives",
    "evaluation",
    "lengths",
    "several",
    "states",
    "text",
    "training",
]
