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
import string
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from ._contraction_order import Path, best_path, checked_path, cost_of, without_sums
from ._core import Var
from ._errors import at_line
from ._typing import as_var, shown

__all__ = ["einsum", "einsum_path"]

#: The indices of an operand. Those that an ellipsis stands for are ".0", ".1", ...
#: counted from the last, as they broadcast.
Labels: TypeAlias = tuple[str, ...]

_LETTERS = string.ascii_uppercase + string.ascii_lowercase


def _fail(text: str) -> ValueError:
    return at_line(ValueError(f"einsum: {text}"))


def contract(x: Var, y: Var | None, labels: Sequence[Labels], result: Labels) -> Var:
    """Return the sum of products of one or two operands whose labels do not repeat.

    The points of the product are numbered as a matrix product's are: first what
    the result keeps but for its last index, then what is summed, then the last.
    """
    x = _without(x, labels[0], (*result, *labels[1]) if y is not None else result)
    left = tuple(k for k in labels[0] if k in result or (y is not None and k in labels[1]))
    if y is None:
        return _permuted(x, left, result)
    y = _without(y, labels[1], (*result, *left))
    right = tuple(k for k in labels[1] if k in result or k in left)
    summed = tuple(k for k in left if k not in result)
    points = (*result[:-1], *summed, *result[-1:])
    extents = dict(zip(left, x.shape, strict=True)) | dict(zip(right, y.shape, strict=True))
    shape = tuple(extents[k] for k in points)
    terms = [_spread(x, left, points, shape), _spread(y, right, points, shape)]
    if x.dtype == y.dtype == "bool":
        return _reduced("or", terms[0] & terms[1], points, result)
    return _reduced("add", terms[0] * terms[1], points, result)


def _reduced(kind: str, x: Var, labels: Labels, kept: Labels) -> Var:
    """Reduce the labels that are not kept; integers stay of their type."""
    axes = [axis for axis, label in enumerate(labels) if label not in kept]
    if not axes:
        return x
    if "float" in x.dtype:
        return x.sum(axes)
    places = [axis for axis in range(len(labels)) if axis not in axes]
    shape = [x.shape[axis] for axis in places]
    return x.reindex_reduce(kind, shape, [f"i{axis}" for axis in places])


def _without(x: Var, labels: Labels, kept: Iterable[str]) -> Var:
    """Sum over what no other operand and no result has."""
    return _reduced("or" if x.dtype == "bool" else "add", x, labels, tuple(kept))


def _permuted(x: Var, labels: Labels, order: Labels) -> Var:
    axes = [labels.index(label) for label in order]
    return x if axes == sorted(axes) else x.transpose(axes)


def _spread(x: Var, labels: Labels, points: Labels, shape: tuple[int, ...]) -> Var:
    x = _permuted(x, labels, tuple(label for label in points if label in labels))
    new = [axis for axis, label in enumerate(points) if label not in labels]
    return x.broadcast(shape, new) if new else x


class _Expression:
    """What an einsum says: the labels of its operands and of its result."""

    def __init__(self, operands: Sequence[Labels], result: Labels) -> None:
        self.operands = tuple(operands)
        self.result = result


def _expanded(text: str, term: str, rank: int | None) -> Labels:
    """Return the labels of a term; its ellipsis becomes one label per dimension."""
    head, dots, tail = term.partition("...")
    for letter in head + tail:
        if letter not in _LETTERS:
            raise _fail(
                f"the term {term!r} of {text!r} has {letter!r}, expected letters and one ellipsis"
            )
    count = 0 if rank is None else rank - len(head) - len(tail)
    if rank is not None and (count < 0 or (count > 0 and not dots)):
        given = f"an operand of {rank} dimension{'s' * (rank != 1)}"
        raise _fail(f"the term {term!r} of {text!r} does not fit {given}")
    return (*head, *(f".{k}" for k in reversed(range(count if dots else 0))), *tail)


@functools.lru_cache(maxsize=512)
def _parse(text: str, ranks: tuple[int, ...]) -> _Expression:
    text = text.replace(" ", "")
    inputs, arrow, output = text.partition("->")
    terms = inputs.split(",")
    if len(terms) != len(ranks):
        raise _fail(f"{text!r} has {len(terms)} terms, given {len(ranks)} operands")
    operands = [_expanded(text, term, rank) for term, rank in zip(terms, ranks, strict=True)]
    letters = [label for labels in operands for label in labels]
    dots = sorted({k for k in letters if k[0] == "."}, key=lambda k: -int(k[1:]))
    if not arrow:
        once = sorted(k for k in set(letters) if letters.count(k) == 1 and k[0] != ".")
        return _Expression(operands, (*dots, *once))
    head, has_dots, tail = output.partition("...")
    named = (*_expanded(text, head, None), *_expanded(text, tail, None))
    result = (*named[: len(head)], *(dots if has_dots else ()), *named[len(head) :])
    for label in named:
        if label not in letters:
            raise _fail(f"the result of {text!r} has {label!r}, which no operand has")
        if named.count(label) > 1:
            raise _fail(f"the result of {text!r} has {label!r} more than once")
    if dots and not has_dots:
        raise _fail(f"the result of {text!r} has no ellipsis, but operands have")
    return _Expression(operands, result)


def _term_of(sublist: Any) -> str:
    """Return a list of integers and ellipses as letters, in the integers' order."""
    if isinstance(sublist, str) or not isinstance(sublist, Iterable) or isinstance(sublist, Var):
        raise at_line(TypeError(f"einsum: indices are {shown(sublist)}, expected a list"))
    term = ""
    for item in sublist:
        if item is Ellipsis:
            term += "..."
            continue
        try:
            number = operator.index(item)
        except TypeError:
            raise at_line(
                TypeError(f"einsum: an index is {shown(item)}, expected an integer or ...")
            ) from None
        if not 0 <= number < len(_LETTERS):
            raise _fail(f"an index is {number}, expected 0 to {len(_LETTERS) - 1}")
        term += _LETTERS[number]
    return term


def _arguments(operands: Sequence[Any]) -> tuple[str, list[Var]]:
    """Return the subscripts and the tensors of either form of a call."""
    if not operands:
        raise _fail("given nothing, expected subscripts and operands")
    if isinstance(operands[0], str):
        text, tensors = operands[0], operands[1:]
    else:
        pairs = len(operands) // 2
        terms = [_term_of(operands[2 * k + 1]) for k in range(pairs)]
        text, tensors = ",".join(terms), operands[: 2 * pairs : 2]
        if len(operands) % 2:
            text += "->" + _term_of(operands[-1])
    if not tensors:
        raise _fail(f"given no operands for {text!r}")
    return text, [as_var(tensor) for tensor in tensors]


def _diagonal(x: Var, labels: Labels) -> tuple[Var, Labels]:
    """Read repeated labels of an operand along their diagonal."""
    distinct = tuple(dict.fromkeys(labels))
    if len(distinct) == len(labels):
        return x, labels
    shape = []
    for label in distinct:
        extents = [n for n, k in zip(x.shape, labels, strict=True) if k == label]
        if len(set(extents)) > 1:
            raise _fail(f"the index {label!r} of one operand has extents {extents}, expected equal")
        shape.append(extents[0])
    return x.reindex(shape, [f"i{distinct.index(label)}" for label in labels]), distinct


def _fitted(
    operands: Sequence[Var], terms: Sequence[Labels]
) -> tuple[list[Var], list[Labels], dict[str, int]]:
    """Return operands without repeated labels, and without dimensions that broadcast."""
    tensors, labels = [], []
    extents: dict[str, int] = {}
    for x, term in zip(operands, terms, strict=True):
        x, term = _diagonal(x, term)
        tensors.append(x)
        labels.append(term)
        for label, extent in zip(term, x.shape, strict=True):
            known = extents.setdefault(label, extent)
            if known == 1:
                extents[label] = extent
            elif extent not in (1, known):
                name = "the ellipsis" if label[0] == "." else f"the index {label!r}"
                raise _fail(f"{name} has the extents {known} and {extent}, expected equal ones")
    for number, (x, term) in enumerate(zip(tensors, labels, strict=True)):
        kept = [k for k, n in zip(term, x.shape, strict=True) if n == extents[k]]
        if len(kept) < len(term):
            labels[number] = tuple(kept)
            tensors[number] = x.reshape([extents[k] for k in kept])
    return tensors, labels, extents


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
    raise _fail(f"optimize is {shown(optimize)}, expected a bool, 'optimal', 'greedy' or a path")


def _several(tensors: Sequence[Var], labels: Sequence[Labels], result: Labels) -> Var:
    """Contract some operands in one step: all but the last two are multiplied out."""
    x, own = tensors[0], labels[0]
    if len(tensors) == 1:
        return contract(x, None, [own], result)
    for number in range(1, len(tensors) - 1):
        both = tuple(dict.fromkeys((*own, *labels[number])))
        x, own = contract(x, tensors[number], [own, labels[number]], both), both
    return contract(x, tensors[-1], [own, labels[-1]], result)


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
    text, given = _arguments(operands)
    method = _method(optimize)
    expression = _parse(text, tuple(x.ndim for x in given))
    tensors, labels, extents = _fitted(given, expression.operands)
    result = expression.result
    if len(tensors) <= 2:
        return _finished(_several(tensors, labels, result), given)
    path = _planned(tuple(labels), result, tuple(extents.items()), method)
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
    text, given = _arguments(operands)
    expression = _parse(text, tuple(x.ndim for x in given))
    _, labels, extents = _fitted(given, expression.operands)
    result = expression.result
    method = _method(optimize)
    path = _planned(tuple(labels), result, tuple(extents.items()), method)
    terms = without_sums(labels, result)
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
