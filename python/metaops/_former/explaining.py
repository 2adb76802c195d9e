# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Classes that pickles name as `metaops.explaining`'s; see `metaops.tools.explaining`."""

from metaops.tools.explaining import (
    Access,
    Explanation,
    Grid,
    KeptValue,
    KernelExplanation,
    Loop,
    Stage,
)

__all__ = ["Access", "Explanation", "Grid", "KernelExplanation", "KeptValue", "Loop", "Stage"]
