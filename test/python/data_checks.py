# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What tests of loaders compare and look at."""

from __future__ import annotations

import time

import metaops as mo
import numpy as np


def read(loader):
    """Return the batches of an epoch as NumPy's arrays."""
    return [mo.tree_map(lambda x: x.numpy() if isinstance(x, mo.Var) else x, b) for b in loader]


def assert_equal(first, second):
    """Check that batches are the same."""
    assert len(first) == len(second)
    for one, other in zip(first, second, strict=True):
        leaves, others = mo.tree_leaves(one), mo.tree_leaves(other)
        assert len(leaves) == len(others) > 0
        for leaf, value in zip(leaves, others, strict=True):
            np.testing.assert_array_equal(leaf, value, strict=True)


def members(loader):
    """Return the workers that a loader has, as it knows them."""
    return [member for pool in loader._pools for member in pool._members]


def pids(loader):
    """Return the processes of a loader's workers."""
    return [member.process.pid for member in members(loader)]


def is_alive(pid):
    """Return whether a process runs."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def all_end(pids, seconds=2.0):
    """Wait for processes, and return whether all end."""
    end = time.monotonic() + seconds
    while any(map(is_alive, pids)) and time.monotonic() < end:
        time.sleep(0.02)
    return bool(pids) and not any(map(is_alive, pids))
