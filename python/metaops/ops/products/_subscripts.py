# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The subscripts of `metaops.einsum`: what is written, and what it says of operands."""

from __future__ import annotations

import functools
import operator
import string
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

from ..._core import Var
from ..._errors import at_line
from ..._typing import as_var, shown

__all__ = ["Expression", "Fit", "Labels", "arguments", "fail", "fit", "fitted", "parse"]

#: The indices of an operand. Those that an ellipsis stands for are ".0", ".1", ...
#: counted from the last, as they broadcast.
Labels: TypeAlias = tuple[str, ...]

_LETTERS = string.ascii_uppercase + string.ascii_lowercase


def fail(text: str) -> ValueError:
    """Return an error that names the function and the user's line."""
    return at_line(ValueError(f"einsum: {text}"))


class Expression(NamedTuple):
    """What an einsum says: the labels of its operands and of its result."""

    operands: tuple[Labels, ...]
    result: Labels


def _expanded(text: str, term: str, rank: int | None) -> Labels:
    """Return the labels of a term; its ellipsis becomes one label per dimension."""
    head, dots, tail = term.partition("...")
    for letter in head + tail:
        if letter not in _LETTERS:
            raise fail(
                f"the term {term!r} of {text!r} has {letter!r}, expected letters and one ellipsis"
            )
    count = 0 if rank is None else rank - len(head) - len(tail)
    if rank is not None and (count < 0 or (count > 0 and not dots)):
        given = f"an operand of {rank} dimension{'s' * (rank != 1)}"
        raise fail(f"the term {term!r} of {text!r} does not fit {given}")
    return (*head, *(f".{k}" for k in reversed(range(count if dots else 0))), *tail)


@functools.lru_cache(maxsize=512)
def parse(text: str, ranks: tuple[int, ...]) -> Expression:
    """Return what subscripts say of operands of these ranks."""
    text = text.replace(" ", "")
    inputs, arrow, output = text.partition("->")
    terms = inputs.split(",")
    if len(terms) != len(ranks):
        raise fail(f"{text!r} has {len(terms)} terms, given {len(ranks)} operands")
    operands = [_expanded(text, term, rank) for term, rank in zip(terms, ranks, strict=True)]
    letters = [label for labels in operands for label in labels]
    dots = sorted({k for k in letters if k[0] == "."}, key=lambda k: -int(k[1:]))
    if not arrow:
        once = sorted(k for k in set(letters) if letters.count(k) == 1 and k[0] != ".")
        return Expression(tuple(operands), (*dots, *once))
    head, has_dots, tail = output.partition("...")
    named = (*_expanded(text, head, None), *_expanded(text, tail, None))
    result = (*named[: len(head)], *(dots if has_dots else ()), *named[len(head) :])
    for label in named:
        if label not in letters:
            raise fail(f"the result of {text!r} has {label!r}, which no operand has")
        if named.count(label) > 1:
            raise fail(f"the result of {text!r} has {label!r} more than once")
    if dots and not has_dots:
        raise fail(f"the result of {text!r} has no ellipsis, but operands have")
    return Expression(tuple(operands), result)


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
            raise fail(f"an index is {number}, expected 0 to {len(_LETTERS) - 1}")
        term += _LETTERS[number]
    return term


def arguments(operands: Sequence[Any]) -> tuple[str, list[Var]]:
    """Return the subscripts and the tensors of either form of a call."""
    if not operands:
        raise fail("given nothing, expected subscripts and operands")
    if isinstance(operands[0], str):
        text, tensors = operands[0], operands[1:]
    else:
        pairs = len(operands) // 2
        terms = [_term_of(operands[2 * k + 1]) for k in range(pairs)]
        text, tensors = ",".join(terms), operands[: 2 * pairs : 2]
        if len(operands) % 2:
            text += "->" + _term_of(operands[-1])
    if not tensors:
        raise fail(f"given no operands for {text!r}")
    return text, [as_var(tensor) for tensor in tensors]


class Fit(NamedTuple):
    """How operands become ones without repeated labels and without broadcasting."""

    #: For each operand: the shape and the places of its diagonal, if it has one, and
    #: the shape without extents of 1 that broadcast, if there are any.
    steps: tuple[tuple[tuple[tuple[int, ...], tuple[str, ...]] | None, tuple[int, ...] | None], ...]
    labels: tuple[Labels, ...]
    extents: tuple[tuple[str, int], ...]


def _diagonal(labels: Labels, shape: tuple[int, ...]) -> tuple[Labels, tuple[int, ...]]:
    """Return the labels and the extents of an operand whose repeated labels are one."""
    distinct = tuple(dict.fromkeys(labels))
    extents = []
    for label in distinct:
        own = [n for n, k in zip(shape, labels, strict=True) if k == label]
        if len(set(own)) > 1:
            raise fail(f"the index {label!r} of one operand has extents {own}, expected equal")
        extents.append(own[0])
    return distinct, tuple(extents)


@functools.lru_cache(maxsize=512)
def fit(terms: tuple[Labels, ...], shapes: tuple[tuple[int, ...], ...]) -> Fit:
    """Return how operands of these shapes fit the terms, or raise an error."""
    diagonals = [_diagonal(*pair) for pair in zip(terms, shapes, strict=True)]
    extents: dict[str, int] = {}
    for labels, shape in diagonals:
        for label, extent in zip(labels, shape, strict=True):
            known = extents.setdefault(label, extent)
            if known == 1:
                extents[label] = extent
            elif extent not in (1, known):
                name = "the ellipsis" if label[0] == "." else f"the index {label!r}"
                raise fail(f"{name} has the extents {known} and {extent}, expected equal ones")
    steps, kept_labels = [], []
    for term, (labels, shape) in zip(terms, diagonals, strict=True):
        kept = tuple(k for k, n in zip(labels, shape, strict=True) if n == extents[k])
        places = tuple(f"i{labels.index(label)}" for label in term)
        steps.append(
            (
                (shape, places) if len(labels) < len(term) else None,
                tuple(extents[k] for k in kept) if len(kept) < len(labels) else None,
            )
        )
        kept_labels.append(kept)
    return Fit(tuple(steps), tuple(kept_labels), tuple(extents.items()))


def fitted(operands: Sequence[Var], found: Fit) -> list[Var]:
    """Return operands without repeated labels, and without dimensions that broadcast."""
    tensors = []
    for x, (diagonal, shape) in zip(operands, found.steps, strict=True):
        if diagonal is not None:
            x = x.reindex(*diagonal)
        tensors.append(x if shape is None else x.reshape(shape))
    return tensors
