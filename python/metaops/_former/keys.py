# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Classes that pickles name as `metaops.keys`'s; see `metaops.random.keys`."""

from metaops.random.keys import Key

__all__ = ["Key"]
