# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Classes that pickles name as `metaops.distinct`'s; see `metaops.ops.sort.distinct`."""

from metaops.ops.sort.distinct import Unique, UniqueCounts, UniqueInverse

__all__ = ["Unique", "UniqueCounts", "UniqueInverse"]
