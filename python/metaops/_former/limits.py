# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Classes that pickles name as `metaops.limits`'s; see `metaops.ops.create.limits`."""

from metaops.ops.create.limits import finfo, iinfo

__all__ = ["finfo", "iinfo"]
