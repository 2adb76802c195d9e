# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Classes that pickles name as `metaops.memory`'s; see `metaops.tools.memory`."""

from metaops.tools.memory import MemoryHolder, MemorySummary

__all__ = ["MemoryHolder", "MemorySummary"]
