# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""By what gradients are: the tensor that each one was asked for by.

A note is about a Var, not its value, and keeps neither the gradient nor the tensor. What
is computed with a gradient is another Var, of which nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import repeat
from weakref import ref

from ._core import Var

__all__ = ["note", "note_alike", "noted", "target_of"]

#: Gradients and what they are by, by the gradients' `id`.
_notes: dict[int, tuple[ref[Var], ref[Var]]] = {}

#: Returns None for an `id` if nothing is noted about what has it.
noted = _notes.get


def note(gradients: Sequence[Var], targets: Iterable[Var]) -> None:
    """Note by what gradients are."""
    # A note goes with its gradient, before another Var can have the `id`. No line of
    # Python is run for each.
    keys = list(map(id, gradients))
    forget = map(partial, repeat(_notes.pop), keys)
    pairs = zip(map(ref, gradients, forget), map(ref, targets), strict=True)
    _notes.update(zip(keys, pairs, strict=True))


def target_of(gradient: object) -> Var | None:
    """Return what a gradient is by, or None if that is not known, or gone."""
    found = _notes.get(id(gradient))
    return None if found is None else found[1]()


def note_alike(gradients: Sequence[Var], others: Sequence[Var]) -> None:
    """Note that gradients are by what these others are, as far as that is known."""
    pairs = [
        (gradient, target)
        for gradient, target in zip(gradients, map(target_of, others), strict=True)
        if target is not None
    ]
    note([gradient for gradient, _ in pairs], [target for _, target in pairs])
