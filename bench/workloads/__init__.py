# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is measured: each workload once, in terms that all libraries run."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence

from . import (
    contractions,
    elementwise,
    movement,
    networks,
    normalization,
    orders,
    reductions,
)
from .base import Workload

MODULES = (elementwise, movement, reductions, orders, normalization, networks, contractions)

#: All workloads by their names, in the order of the table.
WORKLOADS: dict[str, Workload] = {
    workload.name: workload for module in MODULES for workload in module.WORKLOADS
}

#: Notes on rows that are slower than a peer, by the row's name: what their profiles show.
NOTES: dict[str, str] = {name: note for module in MODULES for name, note in module.NOTES.items()}

#: The groups of `contractions`, in the order of the tables.
CONTRACTIONS = tuple(dict.fromkeys(workload.group for workload in contractions.WORKLOADS))


def select(patterns: Sequence[str]) -> list[str]:
    """Return the names of workloads that match, or whose group does; all for no pattern.

    `contractions` are the groups of these, `kernels` all others.
    """

    def matches(workload: Workload, pattern: str) -> bool:
        family = "contractions" if workload.group in CONTRACTIONS else "kernels"
        titles = (workload.name, workload.group, family)
        return any(title == pattern or fnmatch.fnmatch(title, pattern) for title in titles)

    return [
        name
        for name, workload in WORKLOADS.items()
        if not patterns or any(matches(workload, pattern) for pattern in patterns)
    ]


__all__ = ["CONTRACTIONS", "NOTES", "WORKLOADS", "Workload", "select"]
