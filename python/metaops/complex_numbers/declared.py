# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The members of a Complex that `members` attaches, as type checkers are to know them."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

from .._core import Var

if TYPE_CHECKING:
    from .at import ComplexParts
    from .pair import Complex

__all__ = ["Attached"]

ToComplex: TypeAlias = "Callable[..., Complex]"
ToVar: TypeAlias = "Callable[..., Var]"


class Attached:
    """The base class of Complex, which declares what is attached to that."""

    __slots__ = ()

    if TYPE_CHECKING:
        T: Complex
        H: Complex
        mT: Complex  # noqa: N815 (the array API's name)
        at: ComplexParts
        split: Callable[..., list[Complex]]
        __array_namespace__: Callable[..., ModuleType]
        __array_ufunc__: Callable[..., Any]

        def __add__(self, other: Any) -> Complex: ...

        def __radd__(self, other: Any) -> Complex: ...

        def __sub__(self, other: Any) -> Complex: ...

        def __rsub__(self, other: Any) -> Complex: ...

        def __mul__(self, other: Any) -> Complex: ...

        def __rmul__(self, other: Any) -> Complex: ...

        def __truediv__(self, other: Any) -> Complex: ...

        def __rtruediv__(self, other: Any) -> Complex: ...

        def __pow__(self, other: Any) -> Complex: ...

        def __rpow__(self, other: Any) -> Complex: ...

        def __matmul__(self, other: Any) -> Complex: ...

        def __rmatmul__(self, other: Any) -> Complex: ...

        def __eq__(self, other: Any) -> Var: ...  # type: ignore[override]

        def __ne__(self, other: Any) -> Var: ...  # type: ignore[override]

        def __neg__(self) -> Complex: ...

        def __pos__(self) -> Complex: ...

        def __abs__(self) -> Var: ...

        def __contains__(self, value: Any) -> bool: ...

        def __getitem__(self, key: Any) -> Complex: ...

        def __setitem__(self, key: Any, value: Any) -> None: ...

        acos: ToComplex
        acosh: ToComplex
        asin: ToComplex
        asinh: ToComplex
        astype: ToComplex
        atan: ToComplex
        atanh: ToComplex
        broadcast: ToComplex
        broadcast_to: ToComplex
        cast: ToComplex
        conj: ToComplex
        contiguous: ToComplex
        cos: ToComplex
        cosh: ToComplex
        cumprod: ToComplex
        cumsum: ToComplex
        diagonal: ToComplex
        dot: ToComplex
        exp: ToComplex
        exp2: ToComplex
        expm1: ToComplex
        flatten: ToComplex
        flip: ToComplex
        gather: ToComplex
        log: ToComplex
        log10: ToComplex
        log1p: ToComplex
        log2: ToComplex
        mean: ToComplex
        moveaxis: ToComplex
        permute: ToComplex
        pow: ToComplex
        prod: ToComplex
        ravel: ToComplex
        reciprocal: ToComplex
        repeat: ToComplex
        reshape: ToComplex
        roll: ToComplex
        rsqrt: ToComplex
        scatter_add: ToComplex
        sign: ToComplex
        sin: ToComplex
        sinh: ToComplex
        sqrt: ToComplex
        square: ToComplex
        squeeze: ToComplex
        stop_grad: ToComplex
        sum: ToComplex
        swapaxes: ToComplex
        t: ToComplex
        take: ToComplex
        tan: ToComplex
        tanh: ToComplex
        tile: ToComplex
        to: ToComplex
        to_device: ToComplex
        trace: ToComplex
        transpose: ToComplex
        tril: ToComplex
        triu: ToComplex
        unsqueeze: ToComplex
        view: ToComplex
        abs: ToVar
        all: ToVar
        angle: ToVar
        any: ToVar
        isfinite: ToVar
        isinf: ToVar
        isnan: ToVar
        std: ToVar
        var: ToVar
