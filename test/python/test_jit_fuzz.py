# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random graphs as recorded functions: calls give what the same operators give without.

A third of the graphs of test_random_graphs.py. Their leaves are arguments or captured, and
between calls they are rebound or others; old values are held, and calls fail.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import metaops as mo
import numpy as np
import pytest
from graph_checks import check_same, outputs
from random_graphs import Node, generate, run

pytestmark = pytest.mark.filterwarnings("error")

CALLS, PER_TEST = 6, 10

Answers = list[tuple[str, Any, str]]


class Stop(Exception):
    """An exception of the user's function."""


class Calls:
    """A sequence of calls of a random graph, which is the same each time."""

    def __init__(self, recipe: Sequence[Node], seed: int) -> None:
        self.recipe = recipe
        self.seed = seed
        self.leaves = run(recipe).leaves
        self.rng = Random(seed)

    def run(self, wrap: Callable[[Any], Any], *, fails: bool) -> Answers:
        """Make the calls, and return what they have given and left.

        Parameters
        ----------
        wrap
            Returns the function that is called, given the graph's.
        fails
            Have calls fail that are to fail. Otherwise they are left out, which is the same.
        """
        rng = self.rng = Random(self.seed)
        leaves = [mo.array(data, dtype=dtype) for data, dtype in self.leaves]
        mo.sync_all()
        captured = {place for place in range(len(leaves)) if rng.random() < 0.3}
        is_failing = [False]

        def function(*given: mo.Var) -> list[mo.Var]:
            rest = iter(given)
            taken = [leaf if at in captured else next(rest) for at, leaf in enumerate(leaves)]
            graph = run(self.recipe, given=iter(taken))
            if is_failing[0]:
                raise Stop
            return list(outputs(graph, self.recipe).values())

        called = wrap(function)
        answers: Answers = []
        held: list[mo.Var] = []
        for number in range(CALLS):
            self.change(leaves, captured, held, number)
            is_failing[0] = rng.random() < 0.2
            mo.seed(number)
            if not is_failing[0] or fails:
                given = [leaf for at, leaf in enumerate(leaves) if at not in captured]
                try:
                    answers += note(f"call {number}", called(*given))
                except Stop:
                    assert is_failing[0]
            if rng.random() < 0.5:
                answers += note(f"leaves behind call {number}", leaves)
        return [*answers, *note("held", held), *note("leaves", leaves)]

    def change(
        self, leaves: list[mo.Var], captured: set[int], held: list[mo.Var], number: int
    ) -> None:
        """Rebind some leaves, replace others, and hold old values."""
        for at, (data, dtype) in enumerate(self.leaves):
            kind = self.rng.random()
            if kind < 0.3:
                held.append(leaves[at].reshape(-1) if kind < 0.15 else leaves[at].cast("float32"))
            if kind < 0.5:
                continue
            # The same numbers at other places: indices stay in their bounds.
            other = mo.array(np.roll(data, number), dtype=dtype)
            if kind < 0.65:
                leaves[at].update(other)
            elif kind < 0.8:
                leaves[at].assign(other)
            elif at not in captured:
                leaves[at] = other


def note(label: str, values: Sequence[mo.Var]) -> Answers:
    """Return the numbers of tensors."""
    arrays = mo.fetch_sync(list(values)) if values else []
    return [
        (f"{label}, {place}", array, str(value.dtype))
        for place, (array, value) in enumerate(zip(arrays, values, strict=True))
    ]


def check_calls(seed: int, mode: str) -> int:
    """Compare calls of a recorded function with those of the function; return the hits."""
    # Functions that are recorded bring nothing to another device.
    recipe = [node for node in generate(seed, 3 + seed % 9) if node.entry != "transfer"]
    calls = Calls(recipe, seed)
    expected = calls.run(lambda function: function, fails=False)
    made: list[Any] = []

    def wrap(function: Any) -> Any:
        made.append(mo.jit(function))
        return made[0]

    with mo.flag_scope(jit=mode, poison_memory=True):
        given = calls.run(wrap, fails=True)
    assert len(given) == len(expected)
    for (label, value, dtype), (_, other, _) in zip(given, expected, strict=True):
        try:
            check_same(value, other, dtype)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}, {label}: {error}") from None
    return mo.jit_info(made[0]).hits


@pytest.mark.parametrize("first", range(0, 100, PER_TEST))
def test_calls_of_random_graphs(compiled: None, first: int) -> None:
    modes = ("on", "on", "check")
    hits = [check_calls(3 * seed, modes[seed % 3]) for seed in range(first, first + PER_TEST)]
    assert sum(hits) > 0
