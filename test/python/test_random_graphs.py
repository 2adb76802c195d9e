# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random graphs of all operators: what is compiled equals what is interpreted.

So do first and second derivatives equal finite differences, and forward mode. What
fails is made small first. The seeds are fixed, and together they have to exercise
every operator of the dialect; `script/fuzz` takes others.
"""

import re
from collections import Counter

import metaops as mo
import pytest
from graph_checks import (
    Settings,
    as_mlir,
    check_derivatives,
    check_values,
    count_recorded,
    seed_line,
)
from operator_table import (
    ELEMENTWISE,
    MLIR_TYPES,
    STRUCTURE,
    read_definitions,
    read_kinds,
    read_prefixes,
    read_reductions,
)
from random_graphs import ALL, COVERED, DIFFERENTIATED, UPDATES, Node, generate, run
from shrinking import Budget, leave_out, shrink
from util import on_processor

PER_TEST = 20
VALUES = range(0, 340, PER_TEST)
#: On an emulated GPU half of them: all operators are among these.
DERIVATIVES = range(0, 120 if on_processor(mo.zeros(())) else 60, PER_TEST)

#: Entries that the tests of this file have exercised, by test and first seed.
EXERCISED = {}


def check_seeds(check, seeds, dtypes):
    """Check the recipes of some seeds; one that fails is shown as small as it becomes."""
    counts = Counter()
    for seed in seeds:
        settings = Settings(seed)
        recipe = generate(seed, 3 + seed % 9, dtypes)
        try:
            counts += check(recipe, settings)
        except Exception as error:
            pytest.fail(explain_failure(recipe, check, settings, error, dtypes))
    return counts


def explain_failure(recipe, check, settings, error, dtypes, seconds=20):
    """Return a text that has the error, and the small recipe that makes such a one."""

    def fails(smaller):
        try:
            check(smaller, settings)
        except Exception as other:
            return type(other) is type(error)
        return False

    small = shrink(recipe, fails, seconds)
    return (
        f"seed {settings.seed}, {settings.flags}: {type(error).__name__}: {error}\n"
        f"{seed_line(small)}\n{as_mlir(small, dtypes)}"
    )


@pytest.mark.parametrize("first", VALUES)
def test_values(compiled, first):
    EXERCISED["values", first] = check_seeds(check_values, range(first, first + PER_TEST), ALL)


@pytest.mark.parametrize("first", DERIVATIVES)
def test_derivatives(compiled, first):
    seeds = range(first, first + PER_TEST)
    counts = check_seeds(check_derivatives, seeds, DIFFERENTIATED)
    EXERCISED["derivatives", first] = counts


# --- What was exercised ---------------------------------------------------------------


def test_every_operator_has_an_entry():
    """An operator that is new to the dialect needs an entry in the table."""
    known = set(COVERED) | STRUCTURE
    missing = set(read_definitions()) - known
    assert not missing, (
        f"add {sorted(missing)} to ELEMENTWISE in operator_table.py, "
        "or an entry to random_graphs.py"
    )
    gone = set(ELEMENTWISE) - set(read_definitions())
    assert not gone, f"{sorted(gone)} of operator_table.py are no operators of the dialect"
    for name in ELEMENTWISE:
        assert read_definitions()[name].dtypes, f"metaop.{name}: element types are not known"


def all_exercised():
    if len(EXERCISED) < len(VALUES) + len(DERIVATIVES):
        pytest.skip("needs all tests of this file")
    return sum(EXERCISED.values(), Counter())


def test_every_operator_was_exercised():
    counts = all_exercised()
    operators = {name.split()[1] for name in counts if name.startswith("operator ")}
    missing = set(read_definitions()) - STRUCTURE - operators
    assert not missing, f"no graph has had {sorted(missing)}"
    pairs = {
        f"operator {name} {MLIR_TYPES[dtype]}"
        for name in ELEMENTWISE
        for dtype in read_definitions()[name].dtypes
    }
    # Seeds for all pairs would take longer.
    missing = sorted(pairs - set(counts))
    assert len(missing) < len(pairs) / 20, missing


def test_every_kind_was_exercised():
    counts = all_exercised()
    kinds = {
        "reduce": {"add", "mul", "max", "min"},
        "reindex_reduce": set(read_reductions()),
        "scatter": {"add", "max", "min"},
        "prefix": set(read_prefixes()),
        "cmp": set(read_kinds("ComparePredicate")),
    }
    wanted = {f"kind {name} {kind}" for name, all in kinds.items() for kind in all}
    wanted |= {f"shape {name}" for name in ["0-d", "0-sized", "1", "odd", "long", "broadcast"]}
    wanted |= {
        f"index {form}" for form in ["slice", "integer", "array", "mask", "newaxis", "ellipsis"]
    }
    wanted |= {f"update {name}" for name in [*UPDATES, "w -= lr * g", "w *= g", "x[key] = v"]}
    wanted |= {"update x[key] += v"}
    wanted |= {f"update x.at[key].{kind}(v)" for kind in ["add", "max", "min", "set"]}
    assert not wanted - set(counts), sorted(wanted - set(counts))


def test_most_was_compared():
    counts = all_exercised()
    for order in (1, 2):
        compared = counts[f"order {order} compared"]
        assert compared > 7 * DERIVATIVES.stop / 12
        assert counts[f"order {order} not smooth"] < compared / 10
        assert counts[f"order {order} not zero"] > compared / 2
    # Otherwise none would be tested.
    assert counts["schedules accepted"] > 20


# --- Shrinking ----------------------------------------------------------------------


def has_tanh_of_reduce(recipe):
    """Whether a graph, which is claimed to be wrong, has a tanh of what is reduced."""
    graph = run(recipe)
    text = mo.dump()
    del graph
    reduced = set()
    for name, operator, rest in re.findall(r"(%\w+) = metaop\.(\w+)(.*)", text):
        if operator == "reduce" or reduced & set(re.findall(r"%\w+", rest)):
            reduced.add(name)
            if operator == "tanh":
                return True
    return False


@pytest.mark.processor
def test_shrinking_finds_what_is_wrong():
    """Of a graph of ten operators, the two remain that are claimed to be wrong."""
    numbers = tuple(0.03 + 0.01 * n for n in range(24))
    noise = ["exp", "add", "sin", "sub"]
    recipe = [Node("leaf", (), numbers, 0)]
    for number, name in enumerate([*noise, "reduce", "tanh", *noise], 1):
        recipe.append(Node(name, (number - 1,), numbers, number))
    assert has_tanh_of_reduce(recipe)
    small = shrink(recipe, has_tanh_of_reduce, seconds=20)
    assert has_tanh_of_reduce(small)
    assert [node.entry for node in small if node.entry != "leaf"] == ["reduce", "tanh"]
    text = as_mlir(small)
    recorded = count_recorded(text)
    assert sum(count for name, count in recorded.items() if name.startswith("operator")) <= 5
    assert "metaop.buffer" not in text
    assert "func.func @main(%" in text
    # The line makes the same recipe again.
    assert eval(seed_line(small), {"Node": Node}) == small


def test_a_wrong_result_is_explained(compiled):
    """What a check says of a graph is told with the small graph."""

    def check(recipe, settings):
        if has_tanh_of_reduce(recipe):
            raise AssertionError("planted")
        return Counter()

    numbers = (0.0,) * 24
    nodes = [("leaf", ()), ("cos", (0,)), ("reduce", (1,)), ("tanh", (2,)), ("sin", (3,))]
    recipe = [Node(name, reads, numbers, at) for at, (name, reads) in enumerate(nodes)]
    text = explain_failure(recipe, check, Settings(0), AssertionError("planted"), ALL)
    assert "planted" in text
    assert "metaop.tanh" in text
    assert "metaop.cos" not in text


def test_leaving_out():
    def fails(parts):
        return {3, 11} <= set(parts)

    assert leave_out(range(20), fails, Budget(5)) == [3, 11]
