# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operators of workloads, by MetaOps and by each of its peers.

A workload is a function of an `Ops` and of tensors. What Python's operators do
(arithmetic, slices) it writes as such; everything else is a method here, which
each library implements with what it offers for the purpose. A method that a
library lacks is not defined for it, and its column stays empty.
"""
