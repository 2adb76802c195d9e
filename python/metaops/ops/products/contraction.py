# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Einstein's summation convention.

An expression becomes a list of pairwise contractions, whose order is chosen by
their cost. Each is a broadcast, a product and a sum, as a matrix product is, so
it is compiled to one kernel and the products are never in memory. What only one
operand has, diagonals and sums, is done to that operand first.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..._core import Var
from ..._typing import shown
from ._contraction_order import Path, best_path, checked_path, cost_of, without_sums
from ._subscripts import Labels, arguments, fail, fit, fitted, parse

__all__ = ["einsum", "einsum_path"]


class _Operand(NamedTuple):
    """What is done to an operand: it is summed, permuted, and then broadcast."""

    summed: tuple[int, ...]
    order: tuple[int, ...] | None
    new: tuple[int, ...]


class _Pair(NamedTuple):
    """A contraction: its operands, the shape of all products, and what is summed."""

    operands: tuple[_Operand, ...]
    points: tuple[int, ...]
    summed: tuple[int, ...]


@functools.lru_cache(maxsize=1024)
def _pair(labels: tuple[Labels, ...], shapes: tuple[tuple[int, ...], ...], result: Labels) -> _Pair:
    """Plan a contraction of one or two operands.

    The points of the product are numbered as a matrix product's are: first what the
    result keeps but for its last index, then what is summed, then the last.
    """
    found = [label for own in labels for label in own]
    shared = {label for label in found if found.count(label) > 1}
    inner = tuple(label for label in labels[0] if label in shared and label not in result)
    points = (*result[:-1], *inner, *result[-1:])
    extents = {
        label: extent
        for own, shape in zip(labels, shapes, strict=True)
        for label, extent in zip(own, shape, strict=True)
    }
    operands = []
    for own in labels:
        left = [label for label in own if label in points]
        order = tuple(left.index(label) for label in points if label in left)
        operands.append(
            _Operand(
                tuple(axis for axis, label in enumerate(own) if label not in points),
                None if order == tuple(range(len(order))) else order,
                tuple(axis for axis, label in enumerate(points) if label not in left),
            )
        )
    shape = tuple(extents[label] for label in points)
    return _Pair(tuple(operands), shape, tuple(axis for axis, k in enumerate(points) if k in inner))


def contract(tensors: Sequence[Var], labels: Sequence[Labels], result: Labels) -> Var:
    """Return the sum of products of one or two operands whose labels do not repeat."""
    plan = _pair(tuple(labels), tuple(x.shape for x in tensors), result)
    terms = []
    for x, (summed, order, new) in zip(tensors, plan.operands, strict=True):
        if summed:
            # What no other operand and no result has.
            x = _reduced(x, summed)
        if order is not None:
            x = x.transpose(order)
        terms.append(x.broadcast(plan.points, new) if new else x)
    if len(terms) == 1:
        return terms[0]
    first, second = terms
    products = first & second if first.dtype == second.dtype == "bool" else first * second
    return _reduced(products, plan.summed) if plan.summed else products


def _reduced(x: Var, axes: tuple[int, ...]) -> Var:
    """Return sums, of booleans whether one is true; integers stay of their type."""
    if "float" in x.dtype:
        return x.sum(axes)
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    shape = [x.shape[axis] for axis in kept]
    kind = "or" if x.dtype == "bool" else "add"
    return x.reindex_reduce(kind, shape, [f"i{axis}" for axis in kept])


@functools.lru_cache(maxsize=512)
def _planned(
    labels: tuple[Labels, ...],
    result: Labels,
    extents: tuple[tuple[str, int], ...],
    method: str | Path,
) -> Path:
    if isinstance(method, str):
        return best_path(labels, result, dict(extents), method)
    return checked_path(len(labels), method)


def _method(optimize: Any) -> str | Path:
    if isinstance(optimize, bool):
        return "optimal" if optimize else "none"
    if isinstance(optimize, str) and optimize in ("optimal", "greedy"):
        return optimize
    if isinstance(optimize, Sequence) and not isinstance(optimize, str):
        steps = optimize[1:] if optimize[:1] == ["einsum_path"] else optimize
        try:
            return tuple(tuple(operator.index(place) for place in step) for step in steps)
        except TypeError:
            pass
    raise fail(f"optimize is {shown(optimize)}, expected a bool, 'optimal', 'greedy' or a path")


def _several(tensors: Sequence[Var], labels: Sequence[Labels], result: Labels) -> Var:
    """Contract some operands in one step: all but the last two are multiplied out."""
    x, own = tensors[0], labels[0]
    for number in range(1, len(tensors) - 1):
        both = tuple(dict.fromkeys((*own, *labels[number])))
        x, own = contract([x, tensors[number]], [own, labels[number]], both), both
    if len(tensors) == 1:
        return contract(tensors, labels, result)
    return contract([x, tensors[-1]], [own, labels[-1]], result)


def einsum(*operands: Any, optimize: bool | str | Sequence[Any] = True) -> Var:
    """Return a sum of products that is written by indices, as ``numpy.einsum``.

    Two ways to call it: ``einsum("ij,jk->ik", a, b)``, or with each operand followed
    by its list of integers, and that of the result at the end:
    ``einsum(a, [0, 1], b, [1, 2], [0, 2])``.

    Parameters
    ----------
    operands
        The subscripts and the tensors, any number of them. A letter is an index; one
        that is not in the result is summed over. Without ``->`` the result has what
        occurs once, in the alphabet's order. A letter twice in one term is a diagonal.
        An ellipsis stands for all further dimensions, which broadcast.
    optimize
        The order of contractions: True or ``"optimal"`` for that of the fewest
        multiplications (of up to eight operands; ``"greedy"`` of more), ``"greedy"``
        for the pair at each step that leaves the least, False for one step, or a path
        as of `einsum_path`.

    Returns
    -------
    Var
        Of the operands' common type; integers keep theirs, as in a matrix product, and
        booleans are combined by "and" and "or".

    Raises
    ------
    ValueError
        If the subscripts are no expression, or do not fit the operands.
    TypeError
        If an index of a list is no integer.

    Examples
    --------
    >>> a, b = mo.rand(3, 4), mo.rand(4, 5)
    >>> mo.einsum("ij,jk->ik", a, b).shape
    (3, 5)
    """
    text, given = arguments(operands)
    method = _method(optimize)
    expression = parse(text, tuple(x.ndim for x in given))
    found = fit(expression.operands, tuple(x.shape for x in given))
    tensors, labels, result = fitted(given, found), list(found.labels), expression.result
    if len(tensors) <= 2:
        return _finished(contract(tensors, labels, result), given)
    path = _planned(found.labels, result, found.extents, method)
    for step in path:
        taken = [tensors[place] for place in step]
        terms = [labels[place] for place in step]
        for place in sorted(step, reverse=True):
            del tensors[place], labels[place]
        wanted = {*result, *(label for term in labels for label in term)}
        kept = _order(terms, wanted) if tensors else result
        tensors.append(_several(taken, terms, kept))
        labels.append(kept)
    return _finished(tensors[0], given)


def _order(terms: Sequence[Labels], wanted: set[str]) -> Labels:
    """Return what an intermediate result keeps: first what all terms have, as batches."""
    kept = [k for k in dict.fromkeys(label for term in terms for label in term) if k in wanted]
    return tuple(sorted(kept, key=lambda label: not all(label in term for term in terms)))


def _finished(result: Var, given: Sequence[Var]) -> Var:
    """Return a Var of its own, not an operand."""
    return +result if any(result is x for x in given) else result


def einsum_path(
    *operands: Any, optimize: bool | str | Sequence[Any] = True
) -> tuple[list[Any], str]:
    """Return the order in which `einsum` contracts, and a description of it.

    Parameters
    ----------
    operands, optimize
        As of `einsum`.

    Returns
    -------
    list
        ``"einsum_path"``, then for each step the places of what is contracted. Its
        result goes to the end of the list of operands. `einsum` takes it as `optimize`.
    str
        The steps with the number of their multiplications.
    """
    text, given = arguments(operands)
    expression = parse(text, tuple(x.ndim for x in given))
    found = fit(expression.operands, tuple(x.shape for x in given))
    result, extents = expression.result, dict(found.extents)
    path = _planned(found.labels, result, found.extents, _method(optimize))
    terms = without_sums(found.labels, result)
    naive = cost_of(terms, extents)
    lines, total = [], 0
    for step in path:
        taken = [terms[place] for place in step]
        terms = [term for place, term in enumerate(terms) if place not in step]
        wanted = {*result, *(label for term in terms for label in term)}
        kept = _order(taken, wanted) if terms else result
        cost = cost_of(taken, extents)
        total += cost
        terms.append(kept)
        shown_terms = ",".join("".join(term) for term in taken)
        lines.append(f"{cost:>16,}  {shown_terms}->{''.join(kept)}")
    head = f"{'multiplications':>16}  contraction"
    tail = f"{total:>16,}  in all; {naive:,} in one step"
    return ["einsum_path", *path], "\n".join([head, *lines, tail])
