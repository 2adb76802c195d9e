# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Classes that pickles name as `metaops.tuning`'s; see `metaops.tools.tuning`."""

from metaops.tools.tuning import TunedKernel, Tuning

__all__ = ["TunedKernel", "Tuning"]
