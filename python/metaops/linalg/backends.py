# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The library that computes."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from .. import _core

__all__ = ["Backend", "backend"]


class Backend(NamedTuple):
    """A library of linear algebra."""

    library: str
    path: str
    integer_bits: int


@cache
def backend() -> Backend:
    """Return which library factors matrices, where it is, and which integers it has.

    It is looked for when it is needed first: among what the process has loaded, such as the
    library of NumPy's wheel, then on the system.

    Returns
    -------
    Backend
        With `library`, `path` and `integer_bits`.

    Raises
    ------
    RuntimeError
        If there is none; the message says what was looked for.

    Examples
    --------
    >>> mo.linalg.backend().library
    'LAPACK'
    """
    path, bits = _core.describe_lapack()
    return Backend("LAPACK", path, bits)
