# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The loops of test/python/people_loops in PyTorch, as its users write them.

Each has the name, the model, the sizes and the data of the loop it stands beside, draws
its numbers from the same generator in the same order, and asks for the same values at the
same places. So the numbers that both return agree. Files are those of people_loops.

How they are written is PyTorch's own way: ``zero_grad``, ``backward`` and ``step``,
parameters and caches that are changed in place, losses that are detached where they are
kept. Names of a step are local variables: whether they live until the next step makes no
difference where nothing is pending, so a named loop and an unnamed one are the same here.

Left out is what has no counterpart:

* training_asks_all_every_1_SGD waits for all that is pending. Nothing ever is in PyTorch,
  on a processor; it would be training_asks_nothing_every_1_SGD once more.
"""

from . import derivatives, evaluation, lengths, several, states, text, training
from .hand import LOOPS, Hand, Step

__all__ = [
    "LOOPS",
    "Hand",
    "Step",
    "derivatives",
    "evaluation",
    "lengths",
    "several",
    "states",
    "text",
    "training",
]
