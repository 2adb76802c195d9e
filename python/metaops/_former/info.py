# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Classes that pickles name as `metaops.info`'s; see `metaops.tools.info`."""

from metaops.tools.info import LastProgram

__all__ = ["LastProgram"]
