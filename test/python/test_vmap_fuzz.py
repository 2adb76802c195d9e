# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random graphs that are mapped over examples: what each gives is what a loop gives."""

import sys
from functools import partial

import metaops as mo
import numpy as np
import pytest
from random_graphs import ALL, DIFFERENTIATED, ENTRIES, Node, draw_numbers, generate, leaf_numbers
from test_random_graphs import explain_failure
from vmap_checks import PARTS, REFUSED, check_gradients, check_values

PER_TEST = 10
pytestmark = pytest.mark.filterwarnings("error")


class _Settings:
    """What a message says of a seed."""

    def __init__(self, seed):
        self.seed, self.flags = seed, {}


def check_seeds(check, seeds, dtypes):
    """Check the recipes of some seeds; one that fails is shown as small as it becomes."""
    sets = 0
    for seed in seeds:
        recipe = generate(seed, 3 + seed % 9, dtypes)
        try:
            sets += check(recipe, seed)
        except Exception as error:

            def again(smaller, settings, check=check):
                check(smaller, settings.seed)

            pytest.fail(explain_failure(recipe, again, _Settings(seed), error, dtypes))
    return sets


@pytest.mark.parametrize("first", range(0, 100, PER_TEST))
def test_values(first):
    with mo.flag_scope(backend="interpreter"):
        assert check_seeds(check_values, range(first, first + PER_TEST), ALL) > PER_TEST


@pytest.mark.rest
@pytest.mark.parametrize("part", [part for part in PARTS if part != "nothing"])
def test_parts(part):
    """Functions, checkpoints, branches and loops of graphs."""
    first = 1000 * [*PARTS].index(part)
    with mo.flag_scope(backend="interpreter"):
        assert check_seeds(partial(check_values, most=3, part=part), range(first, first + 4), ALL)
        check = partial(check_gradients, part=part)
        assert check_seeds(check, range(first, first + 3), DIFFERENTIATED) > 0


@pytest.mark.parametrize("first", range(0, 40, PER_TEST))
def test_gradients(first):
    with mo.flag_scope(backend="interpreter"):
        assert check_seeds(check_gradients, range(first, first + PER_TEST), DIFFERENTIATED) > 0


@pytest.mark.parametrize("name", [name for name in ENTRIES if name not in REFUSED])
def test_each_operator_compiled(name):
    """Both of its operands differ among examples, or one of them, and those of two maps."""
    seeds = sum(map(ord, name))
    rng = np.random.default_rng(seeds)
    leaves = [Node("leaf", (), leaf_numbers(rng, "float64", ALL), k) for k in (0, 1)]
    recipe = [*leaves, Node(name, (0, 1), draw_numbers(rng, 24), 2)]
    check = partial(check_values, most=3)
    assert check(recipe, seeds) > 0


def main(count: int, first: int) -> None:
    """Check so many graphs, in all parts in turn, compiled and interpreted."""
    sets, failed = 0, []
    for seed in range(first, first + count):
        part = [*PARTS][seed % len(PARTS)]
        backend = "compiled" if seed % 11 == 0 else "interpreter"
        check, dtypes = check_values, ALL
        if seed % 3 == 2:
            check, dtypes = check_gradients, DIFFERENTIATED
        try:
            with mo.flag_scope(backend=backend):
                recipe = generate(seed, 3 + seed % 9, dtypes)
                options = {"most": 3} if check is check_values else {}
                sets += check(recipe, seed, part=part, **options)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            failed.append(seed)
            text = str(error).strip().splitlines()
            print(f"{seed} {part} {check.__name__}: {type(error).__name__}: {text[:1]}", flush=True)
    print(f"{count} graphs from {first}: {sets} sets, {len(failed)} failed {failed}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
