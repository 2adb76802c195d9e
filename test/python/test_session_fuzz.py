# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random sessions (random_sessions.py) ask for the same whatever is asked for between.

They are compared with the same operators run one by one. A gradient may be an error where
an update has ended its history, and is never another number.
"""

import metaops as mo
import numpy as np
import pytest
from random_sessions import Run, draw
from tiers import draws

LENGTH = 60


def is_close(value, other):
    """Whether two answers agree; lists of gradients are asked for one by one."""
    if value is None or value.dtype == object:
        return True
    return np.allclose(value, other, rtol=5e-3, atol=5e-4)


def failures(seed, flags):
    """Return what differs, how many answers there were, and how many were errors."""
    actions = draw(seed, LENGTH)
    with mo.flag_scope(lazy_execution=False):
        expected = Run(seed).run(actions).values
    before = mo.stats()
    with mo.flag_scope(**flags):
        given = Run(seed).run(actions).values
    after = mo.stats()
    repeated, recorded = (
        after[name] - before[name] for name in ("operators_repeated", "values_recorded")
    )
    # Nothing is computed a third time.
    assert repeated <= recorded
    wrong, errors = [], 0
    other = dict(expected)
    for label, value in given:
        if isinstance(value, RuntimeError):
            errors += 1
        elif label not in other or isinstance(other[label], RuntimeError):
            continue  # op by op there was an error
        elif isinstance(value, Exception) or isinstance(other[label], Exception):
            if type(value) is not type(other[label]):
                wrong.append((label, value, other[label]))
        elif not is_close(value, other[label]):
            wrong.append((label, value, other[label]))
    return wrong, len(given), errors


@pytest.mark.parametrize("seed", draws(range(40)))
def test_what_is_asked_for_between_changes_no_number(seed):
    wrong, _, _ = failures(seed, {"poison_memory": True})
    assert not wrong


@pytest.mark.parametrize("seed", draws(range(8)))
def test_so_it_is_with_little_room(seed):
    flags = {"poison_memory": True, "saved_values_budget": 100, "history_bytes": 4096}
    wrong, _, _ = failures(seed, flags)
    assert not wrong


def test_most_of_it_is_answered():
    """Errors are for gradients whose history an update has ended, and are not the rule."""
    counts = [failures(seed, {})[1:] for seed in range(20)]
    answers, errors = (sum(count) for count in zip(*counts, strict=True))
    assert 0 < errors < answers / 10
