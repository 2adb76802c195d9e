# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions of the package that know complex numbers, each with its form for them.

A form is called as the function is, where an argument is complex or a complex type is asked
for. A function that has none raises a ``TypeError``, which names it: what makes a tensor of
a `Complex` within the package refuses it.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from .. import _core
from .._core import Var
from .._errors import at_line
from .._typing import VarLike, whole_number
from ..compat import array_api
from ..ops.create import creation
from ..ops.elementwise import elementwise
from ..ops.index import choices, gathering
from ..ops.products import contraction, products
from ..ops.reduce import cumulative, reduction
from ..ops.shape import blocks, diagonals, padding, repeating, shaping, splitting, stacking, windows
from ..ops.signal import differences, filters
from ..random import sampling
from . import arithmetic, formulas, inverses, reductions
from .creation import cast, drawn, drawn_like, filled, filled_like, made, made_real
from .dtypes import dtype_of, find_dtype, of_halves, promoted_half
from .halves import bilinear, linear, multilinear, one_by_one
from .operands import as_complex, concerns_complex, placed, zeros_beside
from .pair import Complex, separated

__all__ = ["FORMS", "alternative_of", "matmul", "written_in_python"]

Form = Callable[..., Any]


def _written(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function the name and the text of that of the extension which it calls."""
    name = function.__name__.strip("_")
    function.__name__ = function.__qualname__ = name
    function.__doc__ = getattr(_core, name).__doc__
    return function


@_written
def matmul(a: VarLike, b: VarLike) -> Var:
    """Return matrix products, which are those of the extension's function."""
    return _core.matmul(a, b)


def _of_formula(formula: Callable[[Var, Var], formulas.Halves]) -> Form:
    """Return the form of a function of each element."""

    def form(x: Any) -> Complex:
        z = as_complex(x)
        return Complex._of(*formula(z.real, z.imag))

    return form


def _to_real(formula: Callable[[Var, Var], Var]) -> Form:
    """Return the form of a function of each element whose values are real."""

    def form(x: Any) -> Var:
        z = as_complex(x)
        return formula(z.real, z.imag)

    return form


def _negative(a: Var, b: Var) -> formulas.Halves:
    return -a, -b


def _conj(a: Var, b: Var) -> formulas.Halves:
    return a.clone(), -b


def _rsqrt(a: Var, b: Var) -> formulas.Halves:
    return formulas.reciprocal(*formulas.sqrt(a, b))


_FORMULAS: dict[str, Callable[[Var, Var], formulas.Halves]] = {
    "exp": formulas.exp,
    "exp2": formulas.exp2,
    "expm1": formulas.expm1,
    "log": formulas.log,
    "log1p": formulas.log1p,
    "log2": formulas.log2,
    "log10": formulas.log10,
    "sqrt": formulas.sqrt,
    "rsqrt": _rsqrt,
    "sign": formulas.sign,
    "sin": formulas.sin,
    "cos": formulas.cos,
    "tan": formulas.tan,
    "sinh": formulas.sinh,
    "cosh": formulas.cosh,
    "tanh": formulas.tanh,
    "negative": _negative,
    "conj": _conj,
    "positive": lambda a, b: (a.clone(), b.clone()),
    "reciprocal": formulas.reciprocal,
} | {
    spelling: getattr(inverses, name)
    for name in inverses.__all__
    for spelling in (name, name.replace("a", "arc", 1))
}

_TO_REAL: dict[str, Callable[[Var, Var], Var]] = {
    "abs": formulas.magnitude,
    "absolute": formulas.magnitude,
    "real": lambda a, b: a,
    "imag": lambda a, b: b,
    "isnan": lambda a, b: elementwise.isnan(a) | elementwise.isnan(b),
    "isinf": lambda a, b: elementwise.isinf(a) | elementwise.isinf(b),
    "isfinite": lambda a, b: elementwise.isfinite(a) & elementwise.isfinite(b),
    "logical_not": lambda a, b: (a == 0) & (b == 0),
}

#: Functions that are linear in the parameters that are named.
_LINEAR: list[tuple[Any, str, str]] = [
    (
        shaping,
        "expand_dims flatten flip fliplr flipud moveaxis permute permute_dims ravel reshape rot90"
        " squeeze swapaxes transpose unsqueeze broadcast_to",
        "x",
    ),
    (stacking, "cat column_stack concat concatenate dstack hstack stack vstack", "tensors"),
    (stacking, "append insert", "x values"),
    (stacking, "delete unbind unstack", "x"),
    (splitting, "array_split dsplit hsplit split vsplit", "x"),
    (repeating, "repeat repeat_interleave roll tile", "x"),
    (windows, "sliding_window_view", "x"),
    (blocks, "block", "blocks"),
    (blocks, "block_diag", "tensors"),
    (blocks, "diag_embed resize unflatten", "x"),
    (diagonals, "diag diagflat diagonal trace tril triu", "x"),
    (gathering, "gather take take_along_axis", "x"),
    (gathering, "put_along_axis", "x values"),
    (gathering, "scatter_add", "x src"),
    (choices, "compress extract", "x"),
    (choices, "select", "choices default"),
    (creation, "linspace", "start stop"),
    (differences, "diff ediff1d", "x"),
    (differences, "trapezoid", "y"),
    (products, "matrix_transpose", "x"),
    (reduction, "mean sum", "x initial"),
    (cumulative, "cumsum cumulative_sum", "x"),
]

#: Functions of several tensors, each of which has a result of its own.
_ONE_BY_ONE: list[tuple[Any, str]] = [
    (shaping, "atleast_1d atleast_2d atleast_3d broadcast_arrays"),
    (creation, "meshgrid"),
]

#: Functions that are linear in both of their first parameters.
_BILINEAR: list[tuple[Any, str]] = [
    (products, "cross dot inner kron matvec outer tensordot"),
    (filters, "convolve"),
]


def _einsum(*operands: Any, **options: Any) -> Any:
    def product(given: list[Any]) -> Var:
        return contraction.einsum(*given, **options)

    return multilinear(product, list(operands))


def _matrix_power(x: Any, exponent: int) -> Complex:
    z = as_complex(x)
    real = products.matrix_power(z.real, 0)
    result = Complex._of(real, elementwise.multiply(real, 0))
    for _ in range(whole_number("matrix_power", "exponent", exponent)):
        result = bilinear(matmul, None, result, z)
    return result


def _multi_dot(tensors: Any) -> Any:
    if len(tensors) < 2:
        # It raises.
        return products.multi_dot([as_complex(x).real for x in tensors])
    return functools.reduce(lambda x, y: bilinear(products.dot, None, x, y), tensors)


def _cumulative_prod(
    x: Any, dim: Any = None, *, dtype: Any = None, include_initial: bool = False
) -> Complex:
    z = as_complex(x)
    # It raises where the dimension is missing.
    edge = cumulative.cumulative_prod(z.real, dim, include_initial=True)
    axis = 0 if dim is None else dim % z.ndim
    result = reductions.cumprod(z, axis, dtype)
    if not include_initial:
        return result
    first = edge[(slice(None),) * axis + (slice(0, 1),)].detach()
    return Complex._of(
        _core.concat([first.cast(result.real.dtype), result.real], axis),
        _core.concat([zeros_beside(first).cast(result.real.dtype), result.imag], axis),
    )


def _pad(x: Any, widths: Any, mode: Any = "constant", value: Any = 0) -> Any:
    if mode in ("maximum", "minimum"):
        raise at_line(
            TypeError(f"pad: mode is {mode!r}, expected another one: complex numbers have no order")
        )
    return linear(padding.pad, ("x", "value"), x, widths, mode, value)


# Values


def _sync_halves(vars: Any) -> None:
    _core.sync(separated([vars] if isinstance(vars, Complex) else list(vars)))


def _fetch_halves(vars: Any) -> list[Any]:
    _sync_halves(vars)
    return [x.numpy() for x in vars]


# Tests of all elements


def _all_close(*args: Any, **kwargs: Any) -> Var:
    return reduction.all(arithmetic.isclose(*args, **kwargs))


def _array_equal(x: Any, y: Any, equal_nan: bool = False) -> Var:
    first, second = as_complex(x), as_complex(y)
    if first.shape != second.shape:
        return _core.full((), False, "bool")
    return reduction.all(arithmetic.isclose(first, second, 0, 0, equal_nan))


def _of_nonzero(function: Callable[..., Var]) -> Form:
    """Return the form of a function that asks which elements are not 0."""

    def form(x: Any, *args: Any, **kwargs: Any) -> Var:
        return function(arithmetic.not_equal(x, 0), *args, **kwargs)

    return form


# Types


def _result_type(*given: Any) -> Any:
    typed = [dtype_of(x) for x in given if not isinstance(x, bool | int | float | complex)]
    return of_halves(promoted_half(typed))


def _can_cast(from_: Any, to: Any, /) -> bool:
    source, target = dtype_of(from_), dtype_of(to)
    return find_dtype(target) is not None and of_halves(promoted_half([source, target])) == target


def _isdtype(dtype: Any, kind: Any) -> bool:
    own = dtype_of(dtype)
    for each in kind if isinstance(kind, tuple) else (kind,):
        if isinstance(each, str) and each in array_api.KINDS:
            if own in array_api.KINDS[each]:
                return True
        elif own == dtype_of(each):
            return True
    return False


def _astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Complex:
    z = as_complex(x)
    return z if not copy and device is None and z is x and z.dtype == dtype else cast(x, dtype)


def _forms() -> dict[str, Form]:
    forms: dict[str, Form] = {name: _of_formula(f) for name, f in _FORMULAS.items()}
    forms |= {name: _to_real(f) for name, f in _TO_REAL.items()}
    for module, names, operands in _LINEAR:
        for name in names.split():
            forms[name] = functools.partial(linear, getattr(module, name), operands.split())
    for module, names in _BILINEAR:
        for name in names.split():
            forms[name] = functools.partial(bilinear, getattr(module, name), None)
    for module, names in _ONE_BY_ONE:
        for name in names.split():
            forms[name] = functools.partial(one_by_one, getattr(module, name))
    for name in ("vdot", "vecdot", "vecmat"):
        forms[name] = functools.partial(bilinear, getattr(products, name), 0)
    for name in ("arange", "empty", "eye", "identity", "ones", "zeros"):
        module = diagonals if name in ("eye", "identity") else creation
        forms[name] = functools.partial(made_real, getattr(module, name))
    # Halves of normal numbers have half the variance each, which makes theirs 1.
    for name, scale in (("rand", 1.0), ("randn", math.sqrt(0.5))):
        function = getattr(sampling, name)
        forms[name] = functools.partial(drawn, function, scale)
        forms[f"{name}_like"] = functools.partial(drawn_like, function, scale)
    for name in ("all", "any", "count_nonzero"):
        forms[name] = _of_nonzero(getattr(reduction, name))
    return forms | {
        "add": arithmetic.add,
        "allclose": _all_close,
        "array": made,
        "array_equal": _array_equal,
        "asarray": made,
        "astype": _astype,
        "can_cast": _can_cast,
        "cast": cast,
        "correlate": functools.partial(bilinear, filters.correlate, 1),
        "cumprod": reductions.cumprod,
        "cumulative_prod": _cumulative_prod,
        "divide": arithmetic.divide,
        "einsum": _einsum,
        "empty_like": lambda x, dtype=None, **options: filled_like(x, 0, dtype, **options),
        "equal": arithmetic.equal,
        "fetch_sync": _fetch_halves,
        "float_power": lambda x, y: arithmetic.power(as_complex(x, "float64"), y),
        "full": filled,
        "full_like": filled_like,
        "isclose": arithmetic.isclose,
        "isdtype": _isdtype,
        "matrix_power": _matrix_power,
        "matmul": functools.partial(bilinear, matmul, None),
        "multi_dot": _multi_dot,
        "multiply": arithmetic.multiply,
        "not_equal": arithmetic.not_equal,
        "ones_like": lambda x, dtype=None, **options: filled_like(x, 1, dtype, **options),
        "pad": _pad,
        "pow": arithmetic.power,
        "prod": reductions.prod,
        "result_type": _result_type,
        "square": arithmetic.square,
        "std": reductions.std,
        "subtract": arithmetic.subtract,
        "stop_grad": lambda x: as_complex(x).detach(),
        "sync": _sync_halves,
        "tensor": made,
        "true_divide": arithmetic.divide,
        "var": reductions.var,
        "where": arithmetic.where,
        "zeros_like": lambda x, dtype=None, **options: filled_like(x, 0, dtype, **options),
    }


FORMS = {name: placed(form) for name, form in _forms().items()}


@_written
def _stop_grad(x: VarLike) -> Var:
    return _core.stop_grad(x)


@_written
def _sync(vars: Any) -> None:
    _core.sync(vars)


@_written
def _fetch_sync(vars: Any) -> Any:
    return _core.fetch_sync(vars)


_OF_EXTENSION: dict[str, Callable[..., Any]] = {
    "matmul": matmul,
    "stop_grad": _stop_grad,
    "sync": _sync,
    "fetch_sync": _fetch_sync,
}


def written_in_python(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that has a form, as one that is not the extension's own.

    What the package calls itself has no form.
    """
    return _OF_EXTENSION.get(name, function)


def alternative_of(forms: dict[Any, Form]) -> Form:
    """Return what calls of functions go to that refuse their arguments.

    Parameters
    ----------
    forms
        The forms of functions, by the objects that are called.
    """

    def alternative(function: Any, /, *args: Any, **kwargs: Any) -> Any:
        form = forms.get(function)
        if form is None or not concerns_complex((*args, *kwargs.values())):
            return NotImplemented
        return form(*args, **kwargs)

    return alternative
