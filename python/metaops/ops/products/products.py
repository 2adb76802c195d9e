# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of vectors and matrices beside `metaops.matmul`.

All sums of products are contractions, as `metaops.einsum` records them: one
kernel, nothing of the products in memory. Operands are promoted to a common
type; integers keep it, and booleans are combined by "and" and "or".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ... import _core
from ..._core import Var, matmul
from ..._errors import at_line
from ..._typing import (
    VarLike,
    as_integer,
    as_line,
    as_var,
    float_among,
    normalised_axis,
    shown,
    unrounded,
    whole_number,
)
from .contraction import contract, einsum

__all__ = [
    "cross",
    "dot",
    "inner",
    "kron",
    "matrix_power",
    "matrix_transpose",
    "matvec",
    "multi_dot",
    "outer",
    "tensordot",
    "vdot",
    "vecdot",
    "vecmat",
]


def _names(first: int, count: int) -> tuple[str, ...]:
    return tuple(f"{k}" for k in range(first, first + count))


def _contracted(a: Var, b: Var, dims: Sequence[int], others: Sequence[int], what: str) -> Var:
    """Sum over pairs of dimensions; a's remaining dimensions come before b's."""
    for axis, other in zip(dims, others, strict=True):
        if a.shape[axis] != b.shape[other]:
            raise at_line(
                ValueError(
                    f"{what} of shapes {a.shape} and {b.shape}: dimension {axis} of the first"
                    f" has not the extent of dimension {other} of the second"
                )
            )
    left, right = list(_names(0, a.ndim)), list(_names(a.ndim, b.ndim))
    for axis, other in zip(dims, others, strict=True):
        right[other] = left[axis]
    kept = [name for axis, name in enumerate(left) if axis not in dims]
    kept += [name for axis, name in enumerate(right) if axis not in others]
    return contract([a, b], [tuple(left), tuple(right)], tuple(kept))


def tensordot(
    a: VarLike, b: VarLike, axes: int | tuple[int | Sequence[int], int | Sequence[int]] = 2
) -> Var:
    """Return sums of products over pairs of dimensions, as ``numpy.tensordot``.

    Parameters
    ----------
    a, b
        Tensors of any shapes.
    axes
        A number n: the last n dimensions of a and the first n of b. Or two lists: the
        dimensions of a and those of b, in the same order.

    Returns
    -------
    Var
        The other dimensions of a, then those of b.

    Raises
    ------
    ValueError
        If the lists have different lengths, dimensions are out of range or given
        twice, or extents differ.
    """
    a, b = as_var(a), as_var(b)
    if isinstance(axes, (tuple, list)):
        if len(axes) != 2:
            raise at_line(ValueError(f"tensordot: axes is {shown(axes)}, expected two lists"))
        dims, others = (
            [normalised_axis(axis, x.ndim) for axis in _listed(given)]
            for x, given in zip((a, b), axes, strict=True)
        )
    else:
        count = whole_number("tensordot", "axes", axes)
        if count > min(a.ndim, b.ndim):
            raise at_line(
                ValueError(
                    f"tensordot of shapes {a.shape} and {b.shape}: axes is {count}, expected at"
                    f" most {min(a.ndim, b.ndim)}"
                )
            )
        dims, others = list(range(a.ndim - count, a.ndim)), list(range(count))
    if len(dims) != len(others) or len({*dims}) != len(dims) or len({*others}) != len(others):
        raise at_line(
            ValueError(
                f"tensordot: axes are {shown(dims)} and {shown(others)}, expected two lists of"
                " one length, each without repetition"
            )
        )
    return _contracted(a, b, dims, others, "tensordot")


def _listed(dims: int | Sequence[int]) -> Sequence[int]:
    return dims if isinstance(dims, Sequence) else (dims,)


def inner(a: VarLike, b: VarLike) -> Var:
    """Return sums of products over the last dimensions; with a number, the product.

    Raises
    ------
    ValueError
        If the last extents differ.
    """
    a, b = as_var(a), as_var(b)
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    return _contracted(a, b, [a.ndim - 1], [b.ndim - 1], "inner")


def dot(a: VarLike, b: VarLike) -> Var:
    """Return sums of products over a's last dimension, as ``numpy.dot``.

    That of b is the last but one, or the only one. With a number it is the product.
    For batches of matrices, which are paired, there is `metaops.matmul`.

    Raises
    ------
    ValueError
        If the extents differ.
    """
    a, b = as_var(a), as_var(b)
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    return _contracted(a, b, [a.ndim - 1], [max(b.ndim - 2, 0)], "dot")


def vdot(a: VarLike, b: VarLike) -> Var:
    """Return the sum of products of the elements, in row-major order.

    Raises
    ------
    ValueError
        If the numbers of elements differ.
    """
    a, b = as_var(a), as_var(b)
    if a.size != b.size:
        raise at_line(
            ValueError(f"vdot of shapes {a.shape} and {b.shape}: expected as many elements")
        )
    return _contracted(a.reshape((-1,)), b.reshape((-1,)), [0], [0], "vdot")


def vecdot(a: VarLike, b: VarLike, dim: int = -1) -> Var:
    """Return the sums of products along one dimension of tensors that broadcast.

    Parameters
    ----------
    a, b
        Tensors with a dimension; other dimensions broadcast.
    dim
        The dimension, of both tensors.

    Raises
    ------
    ValueError
        If `dim` is out of range, its extents differ, or the shapes do not broadcast.
    """
    a, b = (_moved_last(as_var(x), dim) for x in (a, b))
    if a.shape[-1] != b.shape[-1]:
        raise at_line(
            ValueError(
                f"vecdot: dimension {dim} has the extents {a.shape[-1]} and {b.shape[-1]},"
                " expected equal ones"
            )
        )
    return einsum("...i,...i->...", a, b)


def _moved_last(x: Var, dim: int) -> Var:
    x, axis = as_line(x, dim)
    if axis == x.ndim - 1:
        return x
    return x.transpose([*(k for k in range(x.ndim) if k != axis), axis])


def matvec(a: VarLike, b: VarLike) -> Var:
    """Return the products of matrices ``(..., m, n)`` with vectors ``(..., n)``.

    Raises
    ------
    ValueError
        If the shapes do not fit.
    """
    a, b = as_var(a), as_var(b)
    if a.ndim < 2 or b.ndim < 1 or a.shape[-1] != b.shape[-1]:
        raise at_line(
            ValueError(f"matvec of shapes {a.shape} and {b.shape}: expected (..., m, n), (..., n)")
        )
    return matmul(a, b.unsqueeze(-1)).squeeze(-1)


def vecmat(a: VarLike, b: VarLike) -> Var:
    """Return the products of vectors ``(..., n)`` with matrices ``(..., n, m)``.

    Raises
    ------
    ValueError
        If the shapes do not fit.
    """
    a, b = as_var(a), as_var(b)
    if a.ndim < 1 or b.ndim < 2 or a.shape[-1] != b.shape[-2]:
        raise at_line(
            ValueError(f"vecmat of shapes {a.shape} and {b.shape}: expected (..., n), (..., n, m)")
        )
    return matmul(a.unsqueeze(-2), b).squeeze(-2)


def outer(a: VarLike, b: VarLike) -> Var:
    """Return all products of an element of a with one of b, each flattened.

    Returns
    -------
    Var
        Shape ``(a.size, b.size)``.
    """
    a, b = as_var(a), as_var(b)
    return a.reshape((a.size, 1)) * b.reshape((1, b.size))


def kron(a: VarLike, b: VarLike) -> Var:
    """Return Kronecker's product: blocks of b, each times an element of a.

    Returns
    -------
    Var
        Dimension k has the extent ``a.shape[k] * b.shape[k]``. The tensor of fewer
        dimensions gets leading ones of extent 1.
    """
    a, b = as_var(a), as_var(b)
    rank = max(a.ndim, b.ndim)
    first = (1,) * (rank - a.ndim) + a.shape
    second = (1,) * (rank - b.ndim) + b.shape
    blocks = a.reshape([n for m in first for n in (m, 1)])
    blocks = blocks * b.reshape([n for m in second for n in (1, m)])
    return blocks.reshape([n * m for n, m in zip(first, second, strict=True)])


def cross(a: VarLike, b: VarLike, dim: int = -1) -> Var:
    """Return the cross product of vectors of three numbers.

    Integers wrap in the type to which both are promoted; halves are computed in float32.

    Parameters
    ----------
    a, b
        Tensors of three numbers along the dimension; the others broadcast.
    dim
        The dimension, of both tensors and of the result.

    Raises
    ------
    ValueError
        If `dim` is out of range or has another extent, or the shapes do not broadcast.
    """
    a, b = as_var(a), as_var(b)
    for x in (a, b):
        if x.shape[normalised_axis(dim, x.ndim)] != 3:
            raise at_line(
                ValueError(
                    f"cross of shapes {a.shape} and {b.shape}: expected the extent 3 of"
                    f" dimension {dim}"
                )
            )

    def turned(x: Var, places: int) -> Var:
        axis = normalised_axis(dim, x.ndim)
        names = [f"i{k}" if k != axis else f"(i{k}+{places})%3" for k in range(x.ndim)]
        return x.reindex(x.shape, names)

    dtype = float_among([a.dtype, b.dtype])
    a, b = unrounded(a), unrounded(b)
    result = turned(a, 1) * turned(b, 2) - turned(a, 2) * turned(b, 1)
    return result if dtype is None else result.cast(dtype)


def matrix_transpose(x: VarLike) -> Var:
    """Return x with its last two dimensions exchanged.

    Raises
    ------
    ValueError
        If there are fewer than two.
    """
    x = as_var(x)
    if x.ndim < 2:
        raise at_line(
            ValueError(f"matrix_transpose: x has shape {x.shape}, expected two dimensions or more")
        )
    return x.transpose([*range(x.ndim - 2), x.ndim - 1, x.ndim - 2])


def matrix_power(x: VarLike, exponent: int) -> Var:
    """Return square matrices multiplied with themselves, by repeated squaring.

    Parameters
    ----------
    x
        Shape ``(..., n, n)``.
    exponent
        0 is the identity; a negative one is the power of the inverse, a float.

    Raises
    ------
    ValueError
        If the matrices are not square.
    TypeError
        If `exponent` is no integer.
    numpy.linalg.LinAlgError
        Where values are asked for: if `exponent` is negative, and a matrix singular.
    """
    x = as_var(x)
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise at_line(ValueError(f"matrix_power: x has shape {x.shape}, expected square matrices"))
    count = as_integer("matrix_power", "exponent", exponent)
    if count < 0:
        # Linear algebra is made of what is here.
        from ...linalg.equations import inv

        x, count = inv(x), -count
    if count == 0:
        row, column = (_core.iota(x.shape, axis, "int64") for axis in (-2, -1))
        return (row == column).cast(x.dtype)
    result, square = None, x
    while True:
        if count & 1:
            result = square if result is None else _core.matmul(result, square)
        count >>= 1
        if not count:
            return +x if result is x else result  # type: ignore[return-value]
        square = _core.matmul(square, square)


def multi_dot(tensors: Sequence[VarLike]) -> Var:
    """Return the product of several matrices in the order of the fewest multiplications.

    Parameters
    ----------
    tensors
        Two or more matrices. The first may be a row and the last a column, of one
        dimension each, which the result has not.

    Raises
    ------
    ValueError
        If there are fewer than two, or ranks or extents do not fit.

    References
    ----------
    T. Cormen et al., "Introduction to Algorithms", chapter 15.2: dynamic programming
    over where the last product cuts the chain.
    """
    if not isinstance(tensors, list | tuple):
        raise at_line(TypeError(f"multi_dot: tensors is {shown(tensors)}, expected a list"))
    chain = [as_var(x) for x in tensors]
    if len(chain) < 2:
        raise at_line(ValueError(f"multi_dot: given {len(chain)} matrices, expected two or more"))
    has_row, has_column = chain[0].ndim == 1, chain[-1].ndim == 1
    if has_row:
        chain[0] = chain[0].reshape((1, -1))
    if has_column:
        chain[-1] = chain[-1].reshape((-1, 1))
    for number, x in enumerate(chain):
        if x.ndim != 2 or (number and x.shape[0] != chain[number - 1].shape[1]):
            shapes = ", ".join(str(tuple(y.shape)) for y in chain)
            raise at_line(ValueError(f"multi_dot: shapes {shapes} do not fit, expected matrices"))
    result = _chained(chain)
    shape = (*result.shape[: not has_row], *result.shape[1 : 2 - has_column])
    return result if len(shape) == 2 else result.reshape(shape)


def _chained(chain: Sequence[Var]) -> Var:
    extents = [chain[0].shape[0], *(x.shape[1] for x in chain)]
    cost = {(k, k): 0 for k in range(len(chain))}
    cuts = {}
    for length in range(1, len(chain)):
        for first in range(len(chain) - length):
            last = first + length
            cost[first, last], cuts[first, last] = min(
                (
                    cost[first, cut]
                    + cost[cut + 1, last]
                    + extents[first] * extents[cut + 1] * extents[last + 1],
                    cut,
                )
                for cut in range(first, last)
            )
    return _product(chain, cuts, 0, len(chain) - 1)


def _product(
    chain: Sequence[Var], cuts: Mapping[tuple[int, int], int], first: int, last: int
) -> Var:
    """Return the product of the matrices from the first to the last, cut where it says."""
    if first == last:
        return chain[first]
    cut = cuts[first, last]
    return _core.matmul(_product(chain, cuts, first, cut), _product(chain, cuts, cut + 1, last))
