# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Steps of people's loops take no more instructions, however long a loop has gone on.

What test_people.py counts is what is recorded, kept and run; here is what finding that
out costs, of which the machine's load says nothing.
"""

import count_instructions
import pytest

#: Those that hold more and more, or from one step to the next.
LOOPS = [
    "bad_batches",
    "by_hand",
    "list_of_losses",
    "list_of_states_products_looked_at",
    "momentum_by_hand",
    "power_iteration",
    "running_average",
    "running_minimum",
    "values_that_wait",
]
#: Loops whose histories grow if nothing bounds them.
AT_THE_BOUND = ["by_hand", "list_of_states_products_looked_at", "power_iteration"]
#: Factor by which a step may take more later. One more look at each value that waits is 15 % after
#: 500 steps.
GROWTH = 1.05


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    if not count_instructions.is_there():
        pytest.skip("Valgrind is not there")
    return count_instructions.count(LOOPS, tmp_path_factory.mktemp("counts"))


@pytest.fixture(scope="module")
def counted_at_the_bound(tmp_path_factory):
    if not count_instructions.is_there():
        pytest.skip("Valgrind is not there")
    folder = tmp_path_factory.mktemp("counts_at_the_bound")
    return count_instructions.count(AT_THE_BOUND, folder, history_bytes=100_000)


@pytest.mark.rest
@pytest.mark.parametrize("name", AT_THE_BOUND)
def test_so_it_is_where_histories_end(counted_at_the_bound, name):
    """From the fiftieth iteration on each makes room for itself."""
    _, later, late = counted_at_the_bound[name]
    assert late <= later * GROWTH


@pytest.mark.rest
@pytest.mark.parametrize("name", LOOPS)
def test_steps_take_no_more_instructions(counted, name):
    early, later, late = counted[name]
    assert later <= early * GROWTH
    assert late <= later * GROWTH
