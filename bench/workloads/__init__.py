# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is measured: each workload once, in terms that all libraries run."""

from __future__ import annotations

from . import elementwise, movement, networks, normalization, reductions
from .base import Workload

#: All workloads by their names, in the order of the table.
WORKLOADS: dict[str, Workload] = {
    workload.name: workload
    for module in (elementwise, movement, reductions, normalization, networks)
    for workload in module.WORKLOADS
}

#: What the profile of a row shows that is slower than a peer, by the row's name.
NOTES: dict[str, str] = {
    name: note
    for module in (elementwise, movement, reductions, normalization, networks)
    for name, note in module.NOTES.items()
}

__all__ = ["NOTES", "WORKLOADS", "Workload"]
