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
    "running_average",
    "running_minimum",
    "values_that_wait",
]
#: What a step may take more later. One more look at each value that waits is 15 % after
#: 500 steps.
GROWTH = 1.05


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    if not count_instructions.is_there():
        pytest.skip("Valgrind is not there")
    return count_instructions.count(LOOPS, tmp_path_factory.mktemp("counts"))


@pytest.mark.rest
@pytest.mark.parametrize("name", LOOPS)
def test_steps_take_no_more_instructions(counted, name):
    early, later, late = counted[name]
    assert later <= early * GROWTH
    assert late <= later * GROWTH
