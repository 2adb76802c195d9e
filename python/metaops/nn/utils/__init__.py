# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is done to modules: tensors that are computed from others."""

from ...compat._names import publish as _publish
from .parametrizations import remove_parametrizations, spectral_norm, weight_norm

__all__ = ["remove_parametrizations", "spectral_norm", "weight_norm"]

_publish(vars(), __all__)
