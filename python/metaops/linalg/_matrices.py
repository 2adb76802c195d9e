# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments of linear algebra, and calls of its routines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import _core
from .._core import Var
from .._defaults import get_default_dtype
from .._errors import at_line
from .._typing import VarLike, as_var
from ..compat.array_api import result_type
from ..ops.elementwise.elementwise import where
from ..ops.shape.shaping import broadcast_shapes, broadcast_to

__all__ = [
    "as_matrices",
    "as_matrix",
    "as_square",
    "broadcast_fronts",
    "call",
    "check_codes",
    "held_back",
    "rounded_like",
    "rounding_of",
]

#: Types that the routines take; others become one of these.
_COMPUTED = ("float32", "float64")


def as_matrices(*given: VarLike) -> tuple[list[Var], str]:
    """Return tensors of one float type, and the dtype that results are to have.

    Integers and booleans become the default float, halves are computed in float32.
    """
    values = [as_var(x) for x in given]
    dtype = str(result_type(*values))
    if "float" not in dtype:
        dtype = str(get_default_dtype())
    computed = dtype if dtype in _COMPUTED else "float32"
    return [x.astype(computed) for x in values], dtype


def as_square(what: str, x: Var) -> Var:
    """Return a tensor of square matrices; raise where it is none."""
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise at_line(
            ValueError(
                f"{what}: the matrices have shape {x.shape}, expected square matrices in the last "
                "two dimensions"
            )
        )
    return x


def as_matrix(what: str, x: Var) -> Var:
    """Return a tensor of matrices; raise where it has fewer than two dimensions."""
    if x.ndim < 2:
        raise at_line(
            ValueError(
                f"{what}: the matrices have shape {x.shape}, expected two dimensions or more"
            )
        )
    return x


def rounding_of(x: Var, size: int) -> float:
    """Return a relative rounding error of matrices of that size, as NumPy takes it."""
    return float(np.finfo(str(x.dtype)).eps) * size


def rounded_like(x: Var, dtype: str) -> Var:
    """Return a result in the type of what was given."""
    return x if str(x.dtype) == dtype else x.astype(dtype)


def broadcast_fronts(what: str, *tensors: Var) -> list[Var]:
    """Return tensors of matrices with the same dimensions in front of these."""
    try:
        front = broadcast_shapes(*(x.shape[:-2] for x in tensors))
    except ValueError:
        shapes = " and ".join(str(x.shape) for x in tensors)
        raise at_line(
            ValueError(f"{what}: the dimensions in front of matrices {shapes} do not go together")
        ) from None
    return [
        x if x.shape[:-2] == front else broadcast_to(x, (*front, *x.shape[-2:])) for x in tensors
    ]


def call(
    name: str,
    inputs: Sequence[Var],
    outputs: Sequence[tuple[Sequence[int], str]],
    roles: Sequence[str],
    parameters: Mapping[str, int] | None = None,
    over: Sequence[int] = (),
) -> list[Var]:
    """Record a routine of the library, which never fails."""
    given = {key: [int(value)] for key, value in (parameters or {}).items()}
    return _core.call_routine(name, inputs, outputs, given, roles, list(over), True, True)


def check_codes(what: str, info: Var, *reasons: str) -> Var:
    """Return `info`; the program fails where it is not 0, with a `LinAlgError`.

    The reason is that of the number of the first such matrix, from 1 on, or the last one;
    ``{info}`` in it is that number.
    """
    count = info.size
    numbers = 1 if count == 1 else _numbers(info, count)
    codes = where(info > 0, info + numbers * 2**32, 0)
    place = f"matrix {{matrix}} of {count}" if info.ndim else "the matrix"
    messages = [f"{what}: {place} {reason}" for reason in reasons]
    parameters: dict[str, list[Any]] = {"message": messages, "count": [count]}
    return _core.call_routine(
        "check_matrices", [codes], [(codes.shape, "int64")], parameters, [], [], True, False
    )[0]


def _numbers(info: Var, count: int) -> Var:
    """Return falling numbers, from `count` on, in the shape of `info`."""
    return count - _core.iota((count,), 0, "int64").reshape(info.shape)


def held_back(values: Sequence[Var], check: Var) -> list[Var]:
    """Return values that are there when a check has been done; without derivatives."""
    held = _core.barrier([*values, check])[: len(values)]
    return [_core.stop_grad(x) for x in held]
