# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What must hold of random graphs that are mapped over examples: each is as in a loop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from random import Random
from typing import Any

import metaops as mo
import numpy as np
from graph_checks import check_same, outputs
from random_graphs import ALL, DIFFERENTIATED, Node, run

#: The examples of the outer map, and of one inside of it.
OUTER, INNER = 3, 2

#: They rebind their arguments, or bring values to other devices, which no such function may.
REFUSED = {"update", "transfer"}

#: Which leaves the outer map gives rows of, and which the inner one.
Sets = tuple[frozenset[int], frozenset[int]]


def varied(data: Any, dtype: str, examples: tuple[int, ...]) -> mo.Var:
    """Return arrays with the same elements as one, in other orders."""
    array = np.asarray(data)
    rows = [np.roll(array, 7 * k + 1) for k in range(int(np.prod(examples)))]
    return mo.array(np.stack(rows).reshape(*examples, *array.shape), dtype=dtype)


def all_sets(count: int, rng: Random, most: int) -> list[Sets]:
    """Return sets of leaves for the outer and the inner map, some if there are many."""
    subsets = [
        frozenset(k for k in range(count) if chosen >> k & 1)
        for chosen in range(1 << min(count, 8))
    ]
    pairs = [(outer, frozenset[int]()) for outer in subsets if outer]
    pairs += [(outer, inner) for outer, inner in product(subsets, subsets) if outer and inner]
    everything = frozenset(range(count))
    first: list[Sets] = [(everything, frozenset()), (everything, everything)]
    return first + rng.sample(pairs, min(most, len(pairs)))


class Mapped:
    """A function of leaves, some of which differ among examples."""

    def __init__(
        self, function: Callable[..., list[mo.Var]], leaves: list[tuple[Any, str]], sets: Sets
    ) -> None:
        self.function, (self.outer, self.inner) = function, sets
        self.given = [
            varied(data, dtype, self._examples(k))
            if self._examples(k)
            else mo.array(data, dtype=dtype)
            for k, (data, dtype) in enumerate(leaves)
        ]

    def _examples(self, leaf: int) -> tuple[int, ...]:
        return (OUTER,) * (leaf in self.outer) + (INNER,) * (leaf in self.inner)

    def _dims(self, chosen: frozenset[int]) -> tuple[int | None, ...]:
        return tuple(0 if k in chosen else None for k in range(len(self.given)))

    def map(self) -> list[mo.Var]:
        """Return what two maps, one within the other, make of the examples."""
        function = self.function
        if self.inner:
            function = mo.vmap(function, self._dims(self.inner), randomness="different")
        return mo.vmap(function, self._dims(self.outer), randomness="different")(*self.given)

    def loop(self) -> list[mo.Var]:
        """Return what a loop makes of them."""
        inner = range(INNER if self.inner else 1)
        results = [[self.function(*self._take(i, j)) for j in inner] for i in range(OUTER)]
        joined = []
        for number in range(len(results[0][0])):
            rows = [mo.stack([each[number] for each in row]) for row in results]
            joined.append(mo.stack(rows if self.inner else [row[0] for row in rows]))
        return joined

    def _take(self, i: int, j: int) -> Iterable[mo.Var]:
        for k, var in enumerate(self.given):
            row = var[i] if k in self.outer else var
            yield row[j] if k in self.inner else row


class _Own(mo.Function):
    """A function whose derivatives are those of its operators."""

    def __init__(self, function: Callable[..., list[mo.Var]]) -> None:
        self.function = function

    def execute(self, *given: mo.Var) -> list[mo.Var]:
        self.given = given
        return self.function(*given)

    def grad(self, *gradients: mo.Var | None) -> tuple[mo.Var | None, ...]:
        # A rule that is recorded differentiates values that it makes itself.
        given = [x.detach() for x in self.given]
        results = self.function(*given)
        pairs = [pair for pair in zip(results, gradients, strict=True) if pair[1] is not None]
        floats = [x for x in given if "float" in x.dtype]
        made = iter(mo.vjp([y for y, _ in pairs], floats, [g for _, g in pairs]))
        return tuple(next(made) if "float" in x.dtype else None for x in self.given)


def _in_branch(function: Callable[..., list[mo.Var]]) -> Callable[..., list[mo.Var]]:
    """Return a function that takes either of two branches, as the first of its floats says."""

    def call(*given: mo.Var) -> list[mo.Var]:
        floats = [x for x in given if "float" in x.dtype]
        if not floats:
            return function(*given)
        pred = (floats[0].cast("float64") * 0.5).sum() > 0
        other = [-x if x is floats[0] else x for x in given]
        return mo.cond(pred, lambda: function(*given), lambda: function(*other))

    return call


def _in_loop(function: Callable[..., list[mo.Var]]) -> Callable[..., list[mo.Var]]:
    """Return a function of which the last of some trips gives the results."""

    def call(*given: mo.Var) -> list[mo.Var]:
        rows = [mo.stack([x, x, x]) for x in given]
        _, made = mo.scan(lambda carry, row: (carry, function(*row)), 0, rows)
        return [each[-1] for each in made]

    return call


#: Functions that those of the fuzzer are put into.
PARTS: dict[str, Callable[[Callable[..., list[mo.Var]]], Callable[..., list[mo.Var]]]] = {
    "nothing": lambda function: function,
    "jit": lambda function: mo.jit(lambda *given: function(*given)),
    "checkpoint": mo.checkpoint,
    "function": lambda function: lambda *given: _Own(function)(*given),
    "branch": _in_branch,
    "loop": _in_loop,
    "checkpoint in a loop": lambda function: _in_loop(mo.checkpoint(function)),
}


def compare(mapped: Mapped, seed: int) -> None:
    """Fail unless a map gives what a loop gives."""
    mo.seed(seed)
    actual = mapped.map()
    mo.seed(seed)
    expected = mapped.loop()
    dtypes = [str(var.dtype) for var in expected]
    assert [str(var.dtype) for var in actual] == dtypes
    for one, other, dtype in zip(
        mo.fetch_sync(actual), mo.fetch_sync(expected), dtypes, strict=True
    ):
        check_same(one, other, dtype)


def check_values(recipe: Sequence[Node], seed: int, most: int = 12, part: str = "nothing") -> int:
    """Compare the values of a graph in one of PARTS; return at how many sets of leaves."""
    recipe = [node for node in recipe if node.entry not in REFUSED]
    leaves = run(recipe).leaves

    def function(*given: mo.Var) -> list[mo.Var]:
        return list(outputs(run(recipe, ALL, 0.0, iter(given)), recipe).values())

    sets = all_sets(len(leaves), Random(seed), most) if leaves else []
    for each in sets:
        compare(Mapped(PARTS[part](function), leaves, each), seed)
    return len(sets)


def check_gradients(recipe: Sequence[Node], seed: int, part: str = "nothing") -> int:
    """Compare gradients for each example, and gradients of a map, of a graph in one of PARTS."""
    recipe = [node for node in recipe if node.entry not in REFUSED]
    graph = run(recipe, DIFFERENTIATED)
    leaves, has_inputs = graph.leaves, bool(graph.inputs)
    del graph
    if not has_inputs:
        return 0
    floats = [k for k, (_, dtype) in enumerate(leaves) if dtype == "float64"]

    def losses(*given: mo.Var) -> list[mo.Var]:
        made = run(recipe, DIFFERENTIATED, 0.0, iter(given))
        vars = [v.var for v in made.values.values() if v.var.dtype == "float64"]
        return [sum((mo.tanh(x * 0.125).sum() for x in vars), mo.zeros((), "float64"))]

    in_part = PARTS[part](losses)

    def loss(*given: mo.Var) -> mo.Var:
        return in_part(*given)[0]

    def gradients(*given: mo.Var) -> list[mo.Var]:
        return mo.grad(loss(*given), [given[k] for k in floats], allow_unused=True)

    def squares(*given: mo.Var) -> list[mo.Var]:
        return [mo.square(loss(*given))]

    sets = all_sets(len(leaves), Random(seed), 4)
    for each in sets:
        compare(Mapped(gradients, leaves, each), seed)
        by_map, by_loop = Mapped(squares, leaves, each), Mapped(squares, leaves, each)
        mo.seed(seed)
        one = mo.grad(by_map.map()[0], [by_map.given[k] for k in floats], True)
        mo.seed(seed)
        other = mo.grad(by_loop.loop()[0], [by_loop.given[k] for k in floats], True)
        for x, y in zip(mo.fetch_sync(one), mo.fetch_sync(other), strict=True):
            check_same(x, y, "float64")
    return len(sets)
