# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mixed precision: products in halves, parameters and sums in float32."""

from .. import _session  # noqa: F401 (parts of it need all of a session)
from ..compat._names import publish as _publish
from .autocasting import autocast
from .scaler import GradScaler

__all__ = ["GradScaler", "autocast"]

_publish(vars(), __all__)
