# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Classes that pickles name as `metaops.sorting`'s; see `metaops.ops.sort.sorting`."""

from metaops.ops.sort.sorting import Sorted

__all__ = ["Sorted"]
