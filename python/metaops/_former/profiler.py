# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Classes that pickles name as `metaops.profiler`'s; see `metaops.tools.profiler`."""

from metaops.tools.profiler import (
    AccessCounts,
    KernelCounts,
    KernelProfile,
    ProfileReport,
    ProgramProfile,
)

__all__ = ["AccessCounts", "KernelCounts", "KernelProfile", "ProfileReport", "ProgramProfile"]
